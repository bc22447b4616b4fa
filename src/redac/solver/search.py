"""From several starting points to one solution, and from there to a better one.

The work is a generator that stands still after every sweep. ``Search.run`` is the one loop that
drives it, and the only place where Ctrl-C or somebody's wish to stop is heeded.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Set
from contextlib import closing
from dataclasses import replace
from itertools import chain, combinations
from typing import Protocol

import numpy as np

from redac.solver.attempts import Attempt
from redac.solver.climb import Start, Step, around, converge, explore, settle
from redac.solver.problem import EQUAL, Problem
from redac.solver.redraw import redraw, strongest
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

    def __init__(self, problem: Problem, monitor: Monitor | None = None) -> None:
        self.problem = problem
        self._monitor = monitor
        self.best: Solution | None = None
        self.value = -np.inf
        self.interrupted = False
        self._came_to: dict[int, Attempt] = {}
        # Where the runs stand that have begun and not ended: it counts if the search is ended.
        self.runs: dict[int, Step] = {}
        # Supports that runs have passed on their way.
        self._seen: set[Hashable] = set()

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
                    if self._is_stopped:
                        break
        except KeyboardInterrupt:
            self.interrupted = True
        self._take_unfinished()
        if self.best is None and self.interrupted:
            raise KeyboardInterrupt

    def try_starts(self, starts: Iterable[Start], *, automatic: bool = False) -> None:
        """Follow starts to their ends, and keep the best.

        What the first ones come to does not depend on those that follow, so that more starts never
        end lower. ``automatic`` starts are given up where they are far behind and gain little, the
        first one last of all, and when all have ended, components are drawn anew.
        """
        self.run(self._race(starts) if automatic else self._one_by_one(starts))

    def _one_by_one(self, starts: Iterable[Start]) -> Iterator[None]:
        for start in starts:
            number = len(self._came_to)
            yield from self._settle(number, start)
            yield from self._finish(number)

    def _race(self, starts: Iterable[Start]) -> Iterator[None]:
        """First sweeps from all starts; then on with each of them, the best first."""
        for start in starts:
            yield from self._settle(len(self._came_to), start)
        values = {number: step.value for number, step in self.runs.items()}
        rounding = EQUAL * self.problem.total or 1.0
        # Values that differ by rounding only are equal; the start that came first goes first.
        for number in sorted(values, key=lambda number: -round(values[number] / rounding)):
            yield from self._finish(number)
        if self.found.V.any():
            yield from self._redraw_some()

    def _redraw_some(self) -> Iterator[None]:
        """Draw components of the best anew, one or two at a time, those that add least first."""
        problem = self.problem
        also = strongest(problem) if problem.n_redraws else None
        numbers = range(len(problem.constraints))
        left = [list(some) for count in (1, 2) for some in combinations(numbers, count)]
        for _ in range(min(problem.n_redraws, len(left))):
            V = self.found.V
            adds = problem.contributions(V)
            chosen = min(left, key=lambda some: adds[some].sum())
            left.remove(chosen)
            part = around(problem, V, also)
            V = part.inside(V).copy()
            V[:, chosen] = 0.0
            for i in chosen:
                V = redraw(part.problem, V, i)
            self.runs[-1] = Step(part, Solution(V))
            yield from self._finish(-1)

    def may_win(self, step: Step) -> bool:
        """Whether a run that has explored could end above the best: it gains little from there."""
        return step.value >= self.value - self.problem.strategy.rough * self.problem.total

    def _settle(self, number: int, start: Start) -> Iterator[None]:
        """First sweeps from a start."""
        self.runs[number] = Step(self.problem.whole, Solution(start.V))
        yield from self.follow("start", number, settle(self.problem, start))
        self._note(number)

    def _finish(self, number: int) -> Iterator[None]:
        """A run to its end: a start unless it meets another, others while they promise to win."""
        # The first start comes to an end of its own, also where others have been, so that more
        # starts never end lower.
        known = frozenset(self._seen) if number else frozenset()
        # Closed here, not by the collector of garbage: a signal that came then would be lost.
        with closing(explore(self.problem, self.runs[number])) as steps:
            way = chain([self.runs[number]], steps)
            yield from self.follow("explore", number, self._while_new(way, known))
        self._note(number)
        step = self.runs[number]
        if self._is_new(step, known) and (number >= 0 or self.may_win(step)):
            with closing(converge(self.problem, step)) as steps:
                strategy = self.problem.strategy
                patience = strategy.patience if number else strategy.first_patience
                run = self._while_it_may_win(steps, patience)
                yield from self.follow("converge", number, run)
            self._note(number)
        self._take(self.runs.pop(number))

    def _while_new(self, steps: Iterable[Step], known: Set[Hashable]) -> Iterator[Step]:
        for step in steps:
            yield step
            if not self._is_new(step, known):
                return
            self._seen.add(step.place)

    def _while_it_may_win(self, steps: Iterable[Step], patience: float) -> Iterator[Step]:
        """Until a run is further behind than many sweeps like its last one would gain.

        The more work a sweep is, the fewer they are. What is left to polish and exchanges may gain
        more than the last sweep, so that a sweep counts for ``tol`` at least.
        """
        problem = self.problem
        sweeps = (patience / problem.work) ** 2
        for step in steps:
            yield step
            gain = max(step.solution.gain, problem.tol) * problem.total
            if step.value < self.value - sweeps * gain:
                return

    def _is_new(self, step: Step, known: Set[Hashable]) -> bool:
        """Whether a run is where no other went on from, or ahead of them all."""
        return step.place not in known or self.problem.is_better(step.value, self.value)

    def follow(self, task: str, number: int, steps: Iterator[Step]) -> Iterator[None]:
        """One part of a run, watched; where it stands is known at any time."""
        on_sweep = self._monitor.begin(task) if self._monitor else None
        n_sweeps = self.runs[number].solution.n_sweeps
        for step in steps:
            self.runs[number] = step
            if on_sweep is not None and step.solution.n_sweeps > n_sweeps:
                n_sweeps = step.solution.n_sweeps
                whole = step.whole
                on_sweep(whole.n_sweeps_in_all, whole.history[-1], whole.V)
            yield
        if self._monitor:
            self._monitor.end()

    def report(self, task: str) -> None:
        """Tell whoever watches that something was done elsewhere."""
        if self._monitor:
            self._monitor.begin(task)
            self._monitor.end()

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
        return self.interrupted or self._is_stopped

    @property
    def _is_stopped(self) -> bool:
        return self._monitor is not None and self._monitor.stopped
