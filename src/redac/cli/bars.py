"""Progress bars: over the sweeps of a fit, as its watcher, and over a file's rows."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from redac.solver.sweep import OnSweep
    from redac.sources.base import Array

# What a search calls its reports of rounds.
PERTURBATION = "perturbation"


class SweepProgress:
    """Shows the running start, its sweeps and the variance explained so far.

    While a file is read block by block, a second bar shows how far the pass has come.
    """

    stopped = False

    def __init__(
        self, console: Console, max_sweeps: int | None = None, n_rounds: int | None = None
    ) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[counted]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._max_sweeps = max_sweeps
        self._n_rounds = n_rounds
        self._seen: dict[str, int] = {}
        self._sweeps: TaskID | None = None
        self._rows: TaskID | None = None
        self._n_passes = 0
        self._explained = ""  # by the last sweep, also while the next task has none yet

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def begin(self, task: str) -> OnSweep:
        number = self._seen[task] = self._seen.get(task, 0) + 1
        if task == PERTURBATION:
            self._on_round(number)
            return self._on_sweep
        if self._sweeps is not None:
            self._progress.remove_task(self._sweeps)
        self._n_sweeps = 0
        self._sweeps = self._progress.add_task(
            f"{task} {number}",
            total=self._max_sweeps,
            counted=f"sweep 0 {self._explained}".rstrip(),
        )
        return self._on_sweep

    def _on_round(self, number: int) -> None:
        """One bar for all rounds; with several chains only their reports can be counted."""
        if number == 1:
            if self._sweeps is not None:
                self._progress.remove_task(self._sweeps)
            self._sweeps = self._progress.add_task(
                "perturbations", total=self._n_rounds, counted=self._explained
            )
        if self._sweeps is not None and self._n_rounds is not None:
            counted = f"{number:,} of {self._n_rounds:,} {self._explained}".rstrip()
            self._progress.update(self._sweeps, completed=number, counted=counted)

    def end(self) -> None:
        return None

    def close(self) -> None:
        return None

    def _on_sweep(self, number: int, objective: float, V: Array) -> bool:
        if self._sweeps is not None:
            self._n_sweeps += 1
            self._explained = f"{100 * (1 - objective):.2f} % explained"
            counted = f"sweep {self._n_sweeps} {self._explained}"
            self._progress.update(self._sweeps, advance=1, counted=counted)
        return False

    def on_rows(self, done: int, total: int) -> None:
        """Called after each block of a pass over a file."""
        counted = f"{done:,} of {total:,} rows"
        if self._rows is None:
            self._n_passes += 1
            what = f"reading, pass {self._n_passes}"
            self._rows = self._progress.add_task(what, total=total, completed=done, counted=counted)
        else:
            self._progress.update(self._rows, completed=done, counted=counted)
        if done >= total:
            self._progress.remove_task(self._rows)
            self._rows = None
