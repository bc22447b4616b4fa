"""A run that can be broken off and gone on with: what is done is on disk, case by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.about import circumstances


class DifferentRunError(Exception):
    """The run on disk was asked for something else."""


class Run:
    """The results so far, beside those of the last whole run until this one is done."""

    def __init__(self, output: Path | None, asked: dict[str, Any], *, resume: bool = False) -> None:
        self._output = output
        self._partial = None if output is None else output.with_suffix(".partial.json")
        self._asked = asked
        self._done: list[str] = []
        self.results: dict[str, Any] = {"rows": [], "quality": [], "skipped": []}
        self.results = {"about": circumstances(), **self.results}
        if resume:
            self._go_on()

    def has(self, name: str) -> bool:
        """Whether this piece has been measured."""
        return name in self._done

    def keep(self, name: str, piece: dict[str, Any]) -> None:
        """Add what a piece gave, and write everything down."""
        for key, value in piece.items():
            if key in ("rows", "quality", "skipped"):
                self.results[key] += value
            else:
                self.results[key] = value
        self._done.append(name)
        if self._partial is not None:
            stored = {"asked": self._asked, "done": self._done, "results": self.results}
            _write(stored, self._partial)

    def finish(self) -> None:
        """Put the results in their place."""
        if self._output is not None and self._partial is not None:
            _write(self.results, self._output)
            self._partial.unlink(missing_ok=True)

    def _go_on(self) -> None:
        if self._partial is None or not self._partial.exists():
            where = "this run has no --output" if self._partial is None else self._partial.name
            raise DifferentRunError(f"--resume: there is nothing to go on with ({where}).")
        stored = json.loads(self._partial.read_text(encoding="utf-8"))
        if stored["asked"] != self._asked:
            raise DifferentRunError(
                f"--resume: {self._partial.name} was asked for {stored['asked']}, "
                f"not for {self._asked}; give the same options, or leave --resume out."
            )
        now = self.results["about"]
        self.results, self._done = stored["results"], stored["done"]
        about = self.results["about"]
        changed = [
            name
            for name, value in json.loads(json.dumps(now)).items()
            if name != "date" and about.get(name) != value
        ]
        if changed:
            raise DifferentRunError(
                f"--resume: {', '.join(changed)} changed since {self._partial.name} was begun."
            )
        about.setdefault("went_on", []).append(now["date"])


def _write(value: dict[str, Any], path: Path) -> None:
    # Whole or not at all: a run may be ended at any moment.
    unfinished = path.with_suffix(path.suffix + ".new")
    unfinished.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)
