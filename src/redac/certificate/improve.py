"""Better components before a proof: the more they explain, the more of the search falls away.

This is the only place of the proofs that runs the solver.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redac.constraints import Constraint
from redac.solver.climb import Start
from redac.solver.perturbation import perturb
from redac.solver.problem import Problem
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.solver.sweep import OnSweep, Status
from redac.sources import Gram
from redac.sources.base import Array


@dataclass(frozen=True)
class Improved:
    """Loadings that the solver came to, and whether Ctrl-C ended its work."""

    V: Array
    interrupted: bool


def improve(
    S: Array,
    constraints: Sequence[Constraint],
    start: Array,
    *,
    rounds: int,
    sweeps: int,
    seed: int,
    deadline: float,
) -> Improved:
    """Follow loadings and the starts of a fit to where the solver ends, and look around from there.

    Parameters
    ----------
    S : a covariance matrix.
    constraints : what each component may be.
    start : feasible loadings, one column for each component.
    rounds : how often some components are drawn anew.
    sweeps : the most sweeps of each run.
    seed : of what is drawn.
    deadline : when to end with the best found until then, on the monotonic clock.
    """
    problem = Problem(Gram(S), constraints, max_sweeps=sweeps)
    watcher = _UntilDeadline(deadline)
    search = Search(problem, watcher)
    search.try_starts([Start(start)])
    if search.best is None:  # there was no time for a single sweep
        return Improved(start, interrupted=False)
    if not watcher.stopped:
        starts = Starts(problem, np.random.RandomState(seed))
        usual = starts.sequence("pca", starts.usual_count("pca"))
        search.try_starts(usual, automatic=True)
    perturb(search, rounds, np.random.RandomState(seed), n_chains=1)
    return Improved(search.found.V, search.found.status is Status.INTERRUPTED)


class _UntilDeadline:
    """Watches a search, and ends it when its time is up."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self.stopped = time.monotonic() >= deadline

    def begin(self, task: str) -> OnSweep | None:
        return self._on_sweep

    def end(self) -> None:
        self._look_at_clock()

    def _on_sweep(self, number: int, objective: float, V: Array) -> bool:
        return self._look_at_clock()

    def _look_at_clock(self) -> bool:
        self.stopped |= time.monotonic() >= self._deadline
        return self.stopped
