"""A progress bar over the sweeps of a fit, as a scikit-learn callback."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class SweepProgress:
    """Shows the running start, its sweeps and the variance explained so far."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("sweep {task.completed}"),
            TextColumn("{task.fields[explained]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )

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
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        self._task = self._progress.add_task(what, total=context.max_subtasks, explained="")

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, metadata: dict[str, Any] | None
    ) -> bool:
        if context.task_name == "sweep" and metadata is not None:
            explained = f"{100 * (1 - metadata['objective']):.2f} % explained"
            self._progress.update(self._task, advance=1, explained=explained)
        return False
