"""Who watches a fit: a watcher of one's own, or scikit-learn's callbacks (from version 1.9 on).

The tasks form a tree: a fit has a task for each part of the way from a start ("start", "explore",
"converge") and for each report of perturbations, and the parts have their sweeps. With an older
scikit-learn the mixin and the decorator do nothing, and a watcher of one's own works all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from redac.solver.search import Monitor
from redac.solver.sweep import OnSweep
from redac.sources.base import Array

__all__ = [
    "CallbackSupportMixin",
    "FitMonitor",
    "Silent",
    "Watcher",
    "current_watcher",
    "watched",
    "with_callbacks",
]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9
    Method = TypeVar("Method", bound=Callable[..., Any])

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin: no callbacks can be set."""

    def with_callbacks(method: Method) -> Method:
        """Stands in for scikit-learn's decorator: the method as it is."""
        return method


class Watcher(Monitor, Protocol):
    """A monitor of the searches of a fit."""

    def close(self) -> None:
        """The fit has ended."""
        ...


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Within this context every fit tells this watcher, in place of the estimator's callbacks."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def current_watcher() -> Watcher | None:
    """Who watches the fits of this context; None where nobody has asked to."""
    return _watcher.get()


class Silent:
    """Nobody watches."""

    stopped = False

    def begin(self, task: str) -> OnSweep | None:
        return None

    def end(self) -> None:
        return None

    def close(self) -> None:
        return None


class FitMonitor:
    """Tells the callbacks of an estimator of every sweep; one of them may stop the search."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        *,
        max_sweeps: int,
        attributes: Callable[[Array], dict[str, Any]],
    ) -> None:
        self.stopped = False
        self._tell: dict[str, Any] = {"estimator": estimator, "X": X}
        self._max_sweeps = max_sweeps
        self._attributes = attributes
        self._fit = estimator._init_callback_context(max_subtasks=None)
        self._fit.call_on_fit_task_begin(**self._tell)

    @classmethod
    def watching(cls, estimator: Any, X: Any, **options: Any) -> Watcher:
        """The watcher of the context, or one for the callbacks that were set, or a silent one."""
        own = _watcher.get()
        if own is not None:
            return own
        if not getattr(estimator, "_skl_callbacks", None):
            return Silent()
        return cls(estimator, X, **options)

    def begin(self, task: str) -> OnSweep | None:
        self._run = self._fit.subcontext(task_name=task, max_subtasks=self._max_sweeps)
        self._run.call_on_fit_task_begin(**self._tell)
        return self._on_sweep

    def end(self) -> None:
        self.stopped |= bool(self._run.call_on_fit_task_end(**self._tell))

    def close(self) -> None:
        """The fit has ended."""
        self._fit.call_on_fit_task_end(**self._tell)

    def _on_sweep(self, number: int, objective: float, V: Array) -> bool:
        sweep = self._run.subcontext(task_name="sweep")
        sweep.call_on_fit_task_begin(**self._tell)
        self.stopped |= bool(
            sweep.call_on_fit_task_end(
                **self._tell,
                metadata={"sweep": number, "objective": objective},
                reconstruction_attributes=lambda: self._attributes(V),
            )
        )
        return self.stopped
