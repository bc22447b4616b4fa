"""Progress bars: over the sweeps of a fit, as a scikit-learn callback, and over a file's rows."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class SweepProgress:
    """Shows the running start, its sweeps and the variance explained so far.

    While a file is read block by block, a second bar shows how far the pass has come.
    """

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[counted]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._sweeps: TaskID | None = None
        self._rows: TaskID | None = None
        self._n_passes = 0

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

    def setup(self, estimator: Any, context: Any) -> None:
        self._seen: dict[str, int] = {}

    def teardown(self, estimator: Any, context: Any) -> None:
        return None

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        if context.task_name == "sweep" or context.parent is None:
            return
        number = self._seen[context.task_name] = self._seen.get(context.task_name, 0) + 1
        what = f"{context.task_name} {number}"
        if self._sweeps is not None:
            self._progress.remove_task(self._sweeps)
        self._n_sweeps = 0
        self._sweeps = self._progress.add_task(what, total=context.max_subtasks, counted="sweep 0")

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, metadata: dict[str, Any] | None
    ) -> bool:
        if context.task_name == "sweep" and metadata is not None and self._sweeps is not None:
            self._n_sweeps += 1
            explained = f"{100 * (1 - metadata['objective']):.2f} % explained"
            counted = f"sweep {self._n_sweeps} {explained}"
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
