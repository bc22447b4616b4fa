"""Progress of many searches: whoever watches is told what each is for."""

from __future__ import annotations

from redac.model.callbacks import Watcher, current_watcher
from redac.solver.sweep import OnSweep


class Labelled:
    """A watcher that calls all tasks of a search by one name."""

    def __init__(self, watcher: Watcher, label: str) -> None:
        self.stopped = False
        self._watcher = watcher
        self._label = label

    @classmethod
    def of(cls, label: str) -> Labelled | None:
        """For the watcher of this context; None where nobody watches."""
        watcher = current_watcher()
        return None if watcher is None else cls(watcher, label)

    def begin(self, task: str) -> OnSweep | None:
        return self._watcher.begin(self._label)

    def end(self) -> None:
        self._watcher.end()
        self.stopped = self._watcher.stopped

    def close(self) -> None:
        self._watcher.close()
