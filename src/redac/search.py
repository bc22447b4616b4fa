"""From several starting points to one solution.

The best start wins, then perturbations try to better it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from redac import variance
from redac.constraints import Constraint
from redac.solver import OnSweep, Solution, Status, solve
from redac.sources.base import Array, Source
from redac.starts import oriented

_MOST_REDRAWN = 3


class Monitor(Protocol):
    """Somebody who watches the runs of a search and may end it."""

    stopped: bool

    def begin_run(self) -> OnSweep | None:
        """A new run starts; what it should call after each sweep."""
        ...

    def end_run(self) -> None:
        """The run has ended."""
        ...


@dataclass(frozen=True)
class Problem:
    """What is to be solved, and how exactly: everything but the starting point."""

    source: Source
    constraints: Sequence[Constraint]
    ridge: float = 0.0
    max_sweeps: int = 1000
    tol: float = 1e-7

    def run(self, start: Array, monitor: Monitor) -> Solution:
        """One run of the solver."""
        on_sweep = monitor.begin_run()
        solution = solve(
            self.source,
            self.constraints,
            oriented(start, self.constraints),
            ridge=self.ridge,
            max_sweeps=self.max_sweeps,
            tol=self.tol,
            on_sweep=on_sweep,
        )
        monitor.end_run()
        return solution

    def value(self, V: Array) -> float:
        """What the loadings explain with the best scores they can have."""
        return variance.explained(self.source.quadratic(V), V.T @ V, self.ridge)


class Search:
    """The best solution found so far, and the ways to better it.

    Ctrl-C ends a search and keeps the best.
    """

    def __init__(self, problem: Problem, monitor: Monitor) -> None:
        self.problem = problem
        self.monitor = monitor
        self.best: Solution | None = None
        self.value = -np.inf

    def try_starts(self, starts: Iterable[Array]) -> None:
        """Run from each starting point in turn."""
        try:
            for start in starts:
                self._consider(self.problem.run(start, self.monitor))
                if self._is_over:
                    break
        except KeyboardInterrupt:  # outside the solver, for instance while a start was computed
            if self.best is None:
                raise
            self.best = replace(self.best, status=Status.INTERRUPTED)

    def perturb(self, rounds: int, rng: np.random.RandomState) -> None:
        """Iterated local search: redraw one to three components, run again, keep what is better."""
        for _ in range(rounds):
            if self.best is None or self._is_over:
                break
            d, r = self.best.V.shape
            count = rng.randint(1, min(_MOST_REDRAWN, r) + 1)
            start = self.best.V.copy()
            start[:, rng.choice(r, size=count, replace=False)] = rng.standard_normal((d, count))
            self.try_starts([start])

    @property
    def found(self) -> Solution:
        """The best solution."""
        if self.best is None:
            raise ValueError("A search needs at least one starting point.")
        return self.best

    @property
    def _is_over(self) -> bool:
        interrupted = self.best is not None and self.best.status is Status.INTERRUPTED
        return self.monitor.stopped or interrupted

    def _consider(self, solution: Solution) -> None:
        value = self.problem.value(solution.V)
        if self.best is None or value > self.value:
            self.best, self.value = solution, value
        if solution.status is Status.INTERRUPTED:
            self.best = replace(self.best, status=Status.INTERRUPTED)
