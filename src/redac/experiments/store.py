"""Finished work on disk, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import redac

Record = dict[str, Any]

# What has no influence on a figure: how it is shown, and how files of users are read.
_PRESENTATION = {"cli", "files"}
_PRESENTATION_MODULES = {
    *("disk.py", "plots.py", "report.py", "figures.py", "page.py", "summary.py", "store.py")
}
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def fingerprint() -> str:
    """A short name for the code behind the figures: it changes when the code or a library does."""
    root = Path(redac.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in _PRESENTATION and place.name not in _PRESENTATION_MODULES:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    for library in LIBRARIES:
        digest.update(f"{library} {version(library)}".encode())
    return digest.hexdigest()[:16]


def key_of(specification: Any) -> str:
    """A name for a piece of work: another one for anything that could give another result."""
    text = json.dumps([fingerprint(), specification], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Store:
    """Records in a file of one line each; a line that was cut short by an interruption is dropped.

    Records of other settings, seeds or versions stay in the file and are never mixed in: each is
    known by its key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records = {record["key"]: record for record in _read(path)}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.read_bytes().endswith(b"\n"):
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")

    def get(self, key: str) -> Record | None:
        return self._records.get(key)

    def add(self, record: Record) -> None:
        """Keep a record, at once."""
        # One write at the end of the file: lines of two runs at once do not run into each other.
        with self._path.open("ab", buffering=0) as file:
            file.write(f"{json.dumps(record)}\n".encode())
        self._records[record["key"]] = record


def _read(path: Path) -> Iterator[Record]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and "key" in record:
                yield record
