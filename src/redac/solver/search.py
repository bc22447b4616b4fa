"""From several starting points to one solution, and from there to a better one.

The work is a generator that stands still after every sweep. ``Search.run`` is the one loop that
drives it, and the only place where Ctrl-C or somebody's wish to stop is heeded.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Protocol

import numpy as np

from redac.solver.attempts import Attempt
from redac.solver.climb import Step, around, close, finish, settle
from redac.solver.problem import EQUAL, Problem
from redac.solver.redraw import redraw, strongest
from redac.solver.starts import Start
from redac.solver.sweep import OnSweep, Solution, Status, placed
from redac.threads import one_thread


class Monitor(Protocol):
    """Somebody who watches the runs of a search and may end it."""

    stopped: bool

    def begin(self, task: str) -> OnSweep | None:
        """A task starts; what it should call after each sweep."""
        ...

    def end(self) -> None:
        """The task has ended."""
        ...


class Search:
    """The best solution found so far, and the ways to better it."""

    def __init__(self, problem: Problem, monitor: Monitor) -> None:
        self.problem = problem
        self.monitor = monitor
        self.best: Solution | None = None
        self.value = -np.inf
        self.interrupted = False
        self._came_to: dict[int, Attempt] = {}
        # Where the runs stand that have begun and not ended: it counts if the search is ended.
        self.runs: dict[int, Step] = {}
        self._finished: set[Hashable] = set()

    def run(self, work: Iterator[None]) -> None:
        """Drive some work to its end, or until somebody stops it or presses Ctrl-C.

        What was found until then is kept; without anything to keep, Ctrl-C is passed on.
        """
        if self.is_over:
            return
        try:
            # Up to so many features all products are small.
            with one_thread(self.problem.source.n_features**2):
                for _ in work:
                    if self.monitor.stopped:
                        break
        except KeyboardInterrupt:
            self.interrupted = True
        self._take_unfinished()
        if self.best is None and self.interrupted:
            raise KeyboardInterrupt

    def try_starts(self, starts: Iterable[Start], *, automatic: bool = False) -> None:
        """Follow starts to their ends, and keep the best.

        What the first ones come to does not depend on those that follow, so that more starts never
        end lower. ``automatic`` starts are not followed to their ends where they are far behind,
        and when all have ended, components are drawn anew.
        """
        self.run(self._race(starts) if automatic else self._one_by_one(starts))

    def _one_by_one(self, starts: Iterable[Start]) -> Iterator[None]:
        for start in starts:
            number = len(self._came_to)
            yield from self._settle(number, start)
            yield from self._finish(number)

    def _race(self, starts: Iterable[Start]) -> Iterator[None]:
        """Some sweeps from all starts; then on with the best, and with those not far behind it."""
        for start in starts:
            yield from self._settle(len(self._came_to), start)
        total = self.problem.total
        values = {number: step.value for number, step in self.runs.items()}
        # Values that differ by rounding only are equal; the start that came first goes first.
        for number in sorted(values, key=lambda n: -round(values[n] / (EQUAL * total or 1.0))):
            if values[number] >= self.value - self._leeway:
                yield from self._finish(number)
        yield from self._redraw_each()

    def _redraw_each(self) -> Iterator[None]:
        """Draw components of the best anew, one at a time, those that add least first."""
        problem = self.problem
        r = len(problem.constraints)
        count = int(min(problem.strategy.redraws / problem.work, 2 * r))
        also = strongest(problem) if count else None
        in_vain = 0
        for number in range(count):
            V = self.found.V
            if in_vain == r or not V.any():
                break
            i = int(problem.contributions(V).argsort(kind="stable")[number % r])
            part = around(problem, V, also)
            step = Step(part, Solution(redraw(part.problem, part.inside(V), i)))
            before = self.value
            if self._leads_on(step) and step.value >= before - self._leeway:
                self.runs[-1] = step
                yield from self._finish(-1)
            in_vain = 0 if self.value > before else in_vain + 1

    @property
    def _leeway(self) -> float:
        """How far a run may be behind the best and is still followed to its end."""
        return self.problem.strategy.leeway / self.problem.work * self.problem.total

    def _settle(self, number: int, start: Start) -> Iterator[None]:
        """First sweeps from a start."""
        self.runs[number] = Step(self.problem.whole, Solution(start.V))
        yield from self.follow("start", number, settle(self.problem, start))
        self._note(number)

    def _finish(self, number: int) -> Iterator[None]:
        """A run to its end, unless another one went on from the same place."""
        step = self.runs[number]
        if self._leads_on(step):
            yield from self.follow("finish", number, self._to_the_end(step, is_start=number >= 0))
            self._note(number)
            self._finished.add(self.runs[number].place)
        self._take(self.runs.pop(number))

    def _to_the_end(self, step: Step, *, is_start: bool) -> Iterator[Step]:
        """A start until it has converged; a component drawn anew while that leads elsewhere."""
        known = set(self._finished)
        self._finished.add(step.place)
        last = step
        # Closed here, not by the collector of garbage: a signal that came then would be lost.
        with closing(finish(self.problem, step)) as steps:
            for last in steps:
                if not is_start and last.place in known and not self._is_ahead(last):
                    return
                yield last
        if is_start or self._is_ahead(last):
            yield from close(self.problem, last)

    def _leads_on(self, step: Step) -> bool:
        """Whether to follow a run: not where another one went on from the same place."""
        return step.place not in self._finished or self._is_ahead(step)

    def _is_ahead(self, step: Step) -> bool:
        return self.problem.is_better(step.value, self.value)

    def follow(self, task: str, number: int, steps: Iterator[Step]) -> Iterator[None]:
        """One part of a run, watched; where it stands is known at any time."""
        on_sweep = self.monitor.begin(task)
        n_sweeps = self.runs[number].solution.n_sweeps
        for step in steps:
            self.runs[number] = step
            if on_sweep is not None and step.solution.n_sweeps > n_sweeps:
                n_sweeps = step.solution.n_sweeps
                whole = step.whole
                on_sweep(whole.n_sweeps_in_all, whole.history[-1], whole.V)
            yield
        self.monitor.end()

    def _note(self, number: int) -> None:
        step = self.runs[number]
        if number >= 0:
            self._came_to[number] = Attempt.of(step.whole.V, step.value, self.problem.total)

    def _take(self, step: Step) -> None:
        """Keep where a run stands if it is the best."""
        if not step.solution.history:  # before the first sweep loadings need not be feasible
            step = step.moved(placed(step.part.problem, step.solution.V))
        self.adopt(step.whole, step.value)

    def _take_unfinished(self) -> None:
        """The work has ended, maybe early: what runs have come to counts."""
        for _, step in sorted(self.runs.items()):
            self._take(step)
        self.runs.clear()

    def adopt(self, solution: Solution, value: float) -> None:
        """Take a solution if it is the best."""
        if self.best is None or self.problem.is_better(value, self.value):
            self.best, self.value = solution, value

    @property
    def found(self) -> Solution:
        """The best solution."""
        if self.best is None:
            raise ValueError("A search needs at least one starting point.")
        if self.interrupted:
            return replace(self.best, status=Status.INTERRUPTED)
        return self.best

    @property
    def attempts(self) -> list[Attempt]:
        """What the runs from all starts came to."""
        return list(self._came_to.values())

    @property
    def is_over(self) -> bool:
        """Whether somebody has asked for an end."""
        return self.monitor.stopped or self.interrupted
