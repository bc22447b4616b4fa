"""From several starting points to one solution.

Every start is followed to its end, unless it meets the way of an earlier one, and the best wins.
Where features are many and nobody has said how many starts to try, the one that leads after some
sweeps is followed first, and others only if they are not far behind what it came to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from redac.solver.attempts import Attempt
from redac.solver.problem import Problem
from redac.solver.run import Run
from redac.solver.starts import FEW_FEATURES
from redac.solver.sweep import OnSweep, Solution, Status
from redac.sources.base import Array

# A ridge for the first sweeps keeps components apart while they look for their places, and the run
# mostly ends sooner and higher.
_FIRST_RIDGE = 0.1
# A start is not followed to its end where it is behind by a large share after some sweeps: this
# number divided by what a sweep costs, so that more is tried where less is to be done. With it 160
# random problems of 510 to 1,500 features ended no lower than with one or two starts that are all
# finished; with 1 % for all sizes 6 of 60 did.
_LEEWAY = 3e4
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


def departures(problem: Problem, starts: Iterable[Array]) -> Iterator[Departure]:
    """Ways to follow starts.

    They begin with a ridge, but for one. Among many features the first is followed as the paper
    does, so that a run ends where the plain algorithm would, or near; not with a least separation,
    which such a run comes off badly with.
    """
    plainly = problem.source.n_features > FEW_FEATURES and problem.least_separation == 0.0
    for number, start in enumerate(starts):
        yield start, 0.0 if plainly and number == 0 else _FIRST_RIDGE


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
        # What was found before the present run, which must end higher than that to count.
        self._before: tuple[Solution | None, float] = None, -np.inf
        # The supports that runs had after each part of their ways.
        self._supports: dict[str, set[bytes]] = defaultdict(set)

    def try_starts(self, starts: Iterable[Departure], *, automatic: bool = False) -> None:
        """Follow starts one after the other.

        What the first ones come to does not depend on those that follow, so that more starts never
        end lower. ``automatic`` starts are followed with less work: where features are few, those
        behind a start that has led to the supports of another are left out; where they are many,
        those that fall behind.
        """
        runs = (
            Run(self.problem, start, first_ridge, number)
            for number, (start, first_ridge) in enumerate(starts, start=len(self._came_to))
        )
        try:
            if automatic and not self._is_small:
                self._race(runs)
                return
            for run in runs:
                agreed = self._follow(run, automatic)
                if self.is_over or agreed:
                    break
        except KeyboardInterrupt:  # outside the solver, for instance while a start was computed
            if self.best is None:
                raise
            self.interrupt()

    def _race(self, runs: Iterable[Run]) -> None:
        """Some sweeps from all starts; then on with the best, and with those not far behind it."""
        began: list[Run] = []
        for run in runs:
            self._before = self.best, self.value
            self._go_on(run, "start", run.scout)
            self._go_on(run, "settle", run.settle)
            began.append(run)
        total = self.problem.total
        leeway = _LEEWAY / self.problem.work * total
        # Values that differ by rounding only are equal; the start that came first goes first.
        for run in sorted(began, key=lambda run: -round(run.value / (_EQUAL * total or 1.0))):
            if run.value >= self.value - leeway and not self._is_known(run, "settle"):
                self._before = self.best, self.value
                self._go_on(run, "finish", run.finish)

    def _follow(self, run: Run, until_agreed: bool) -> bool:
        """A run to its end, or to supports that another one has had; whether that was at once."""
        self._before = self.best, self.value
        self._go_on(run, "start", run.scout)
        if self._is_known(run, "start") and until_agreed:
            return True
        self._go_on(run, "settle", run.settle)
        if not self._is_known(run, "settle"):
            self._go_on(run, "finish", run.finish)
        return False

    def _is_known(self, run: Run, part: str) -> bool:
        """Whether another run had the same supports here: both would come to the same end."""
        known = self._supports[part]
        is_known = run.supports in known
        known.add(run.supports)
        return is_known

    def adopt(self, solution: Solution, value: float) -> None:
        """Take a solution found elsewhere if it is the best; end if it was interrupted."""
        if value > self.value + _EQUAL * self.problem.total:
            self.best, self.value = solution, value
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
        self.best, self.value = self._before
        if self.best is None or value > self.value + _EQUAL * total:
            self.best, self.value = run.solution, value
        if run.solution.status is Status.INTERRUPTED:
            self.best = replace(self.best, status=Status.INTERRUPTED)
