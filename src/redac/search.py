"""From several starting points to one solution.

Every start is explored by a few sweeps; those that do not fall behind are finished, and the best
wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from redac.attempts import Attempt
from redac.run import Problem, Run
from redac.solver import OnSweep, Solution, Status
from redac.sources.base import Array
from redac.starts import FEW_FEATURES

# A ridge for the first sweeps keeps components apart while they look for their places, and the run
# mostly ends sooner and higher.
_FIRST_RIDGE = 0.1
# A start that is behind the best by more than this share after exploring is not finished. Where
# features are few, runs are short and more of them are finished.
_BEHIND = 1e-2
_BEHIND_IF_SMALL = 3e-2
# Values that differ by no more than this share differ by rounding.
_EQUAL = 1e-10


class Monitor(Protocol):
    """Somebody who watches the runs of a search and may end it."""

    stopped: bool

    def begin(self, task: str) -> OnSweep | None:
        """A task starts; what it should call after each sweep."""
        ...

    def end(self) -> None:
        """The task has ended."""
        ...


# Where to set out from, and the ridge with which the first sweeps are made.
Departure = tuple[Array, float]


def departures(problem: Problem, starts: Iterable[Array], count: int) -> Iterator[Departure]:
    """Ways to follow so many starts.

    They begin with a ridge, but for one. Among many features the first is followed as the paper
    does, so that a run ends where the plain algorithm would, or near; not with a least separation,
    which such a run comes off badly with. If it is the only one, it is followed both ways.
    """
    plainly = problem.source.n_features > FEW_FEATURES and problem.least_separation == 0.0
    for number, start in enumerate(starts):
        ridge = 0.0 if plainly and number == 0 else _FIRST_RIDGE
        yield start, ridge
        if plainly and count == 1:
            yield start, _FIRST_RIDGE


class Search:
    """The best solution found so far, and the ways to better it.

    Ctrl-C ends a search and keeps the best.
    """

    def __init__(self, problem: Problem, monitor: Monitor) -> None:
        self.problem = problem
        self.monitor = monitor
        self.best: Solution | None = None
        self.value = -np.inf
        self._came_to: dict[int, Attempt] = {}
        self._leader: Run | None = None

    def try_starts(self, starts: Iterable[Departure], *, until_agreed: bool = False) -> None:
        """From all starting points some sweeps; then on with those that do not fall behind.

        With ``until_agreed`` starts that come to the same supports make further ones unnecessary
        where features are few, and a start costs as much as a run.
        """
        runs: list[Run] = []
        try:
            for start, first_ridge in starts:
                run = Run(self.problem, start, first_ridge, len(self._came_to))
                self._go_on(run, "start", run.scout)
                if self.is_over:
                    break
                agreed = until_agreed and self._is_small and run.supports in _supports(runs)
                runs = self._in_reach([*runs, run], 2.0)
                if agreed:
                    break
            for run in self._in_reach(runs, 2.0):
                if self._in_reach([run], 2.0):
                    self._go_on(run, "settle", run.settle)
            finished: set[bytes] = set()
            for run in self._in_reach(runs, 1.0):
                # On the same supports another run would come to the same end.
                if run.supports not in finished and self._in_reach([run], 1.0):
                    finished.add(run.supports)
                    self._go_on(run, "finish", partial(run.finish, self._height_of_others(run)))
        except KeyboardInterrupt:  # outside the solver, for instance while a start was computed
            if self.best is None:
                raise
            self.interrupt()

    def adopt(self, solution: Solution, value: float) -> None:
        """Take a solution found elsewhere if it is the best; end if it was interrupted."""
        if value > self.value + _EQUAL * self.problem.total:
            self._leader, self.best, self.value = None, solution, value
        if solution.status is Status.INTERRUPTED:
            self.interrupt()

    def interrupt(self) -> None:
        """End the search and keep the best."""
        self.best = replace(self.found, status=Status.INTERRUPTED)

    @property
    def found(self) -> Solution:
        """The best solution."""
        if self.best is None:
            raise ValueError("A search needs at least one starting point.")
        return self.best

    @property
    def attempts(self) -> list[Attempt]:
        """What the runs from all starts came to."""
        return list(self._came_to.values())

    @property
    def is_over(self) -> bool:
        """Whether somebody has asked for an end."""
        interrupted = self.best is not None and self.best.status is Status.INTERRUPTED
        return self.monitor.stopped or interrupted

    @property
    def _is_small(self) -> bool:
        return self.problem.source.n_features <= FEW_FEATURES

    def _in_reach(self, runs: list[Run], leeway: float) -> list[Run]:
        """Those that are not far behind the best, the best first."""
        total = self.problem.total
        floor = self.value - leeway * (_BEHIND_IF_SMALL if self._is_small else _BEHIND) * total
        # Values that differ by rounding only are equal; the start that came first goes first.
        ranked = sorted(runs, key=lambda run: -round(run.value / (_EQUAL * total or 1.0)))
        return [run for run in ranked if run.value >= floor]

    def _height_of_others(self, run: Run) -> float:
        """What a run must come to; a run that leads has nobody to beat."""
        return -np.inf if run is self._leader else self.value

    def _go_on(self, run: Run, task: str, work: Callable[[], None]) -> None:
        """One part of a run, watched; what it has found is kept if it is the best."""
        if self.is_over:
            return
        run.on_sweep = self.monitor.begin(task)
        try:
            work()
        finally:
            if run.solution.history or run.solution.status is Status.INTERRUPTED:
                self._consider(run)
        self.monitor.end()

    def _consider(self, run: Run) -> None:
        total, value = self.problem.total, run.appraise()
        self._came_to[run.number] = Attempt.of(run.solution.V, value, total)
        ahead = value > self.value + _EQUAL * total
        if self.best is None or ahead or run is self._leader:
            self._leader, self.best, self.value = run, run.solution, value
        if run.solution.status is Status.INTERRUPTED:
            self.best = replace(self.best, status=Status.INTERRUPTED)


def _supports(runs: Iterable[Run]) -> set[bytes]:
    return {run.supports for run in runs}
