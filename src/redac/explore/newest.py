"""One piece of work at a time, and a newer one ends the one before."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import TypeVar

from redac.model.callbacks import Silent, watched
from redac.solver.sweep import OnSweep
from redac.sources.base import Array

T = TypeVar("T")


class Cancel(Silent):
    """A watcher of fits that ends them between two sweeps when somebody says so."""

    def __init__(self) -> None:
        self.stopped = False

    def begin(self, task: str) -> OnSweep | None:
        return self._on_sweep

    def _on_sweep(self, number: int, objective: float, V: Array) -> bool:
        return self.stopped


class Newest:
    """Does what was asked for last; all that was asked for before comes to nothing."""

    def __init__(self) -> None:
        self._guard = threading.Lock()  # of the two below
        self._asked = 0
        self._current: Cancel | None = None
        self._turn = threading.Lock()  # who has it works
        self._is_over = False

    def run(self, work: Callable[[], T]) -> tuple[T, list[str]] | None:
        """The result of some work and its warnings; None if something newer was asked for."""
        with self._guard:
            self._asked += 1
            mine = self._asked
            self._stop()
        with self._turn:
            cancel = Cancel()
            with self._guard:
                if mine != self._asked or self._is_over:
                    return None
                self._current = cancel
            try:
                found = _watched(work, cancel)
            except KeyboardInterrupt:  # what searches raise that were stopped before any result
                return None
            finally:
                with self._guard:
                    self._current = None
            return None if cancel.stopped else found

    def close(self) -> None:
        """End the work of now, and begin no other."""
        with self._guard:
            self._is_over = True
            self._stop()
        with self._turn:  # whoever has it comes to its end
            pass

    def _stop(self) -> None:
        if self._current is not None:
            self._current.stopped = True


def _watched(work: Callable[[], T], cancel: Cancel) -> tuple[T, list[str]]:
    with watched(cancel), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = work()
    return result, list(dict.fromkeys(str(each.message) for each in caught))
