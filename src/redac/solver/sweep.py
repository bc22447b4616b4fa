"""Algorithms 1 and 2 of the paper: the only loop over components."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from redac.solver.iterate import Correlated, Iterate, Scored, Unweighted
from redac.solver.problem import Problem
from redac.sources.base import Array
from redac.threads import one_thread


class Status(Enum):
    """How a run ended."""

    CONVERGED = "converged"
    STOPPED = "stopped"  # the sweeps ran out, or a callback asked to stop
    INTERRUPTED = "interrupted"  # Ctrl-C


@dataclass(frozen=True)
class Solution:
    """Where a run is.

    Attributes
    ----------
    V : the loadings, one column for each component; zero where a component was exhausted.
    history : ‖X − UVᵀ‖² + η‖U‖² after each sweep, as a share of ‖X‖².
    status : how the run ended.
    gain : what the last sweep gained; infinity where that is not known.
    sweeps_before : those that led to where the history begins.
    """

    V: Array
    history: tuple[float, ...] = ()
    status: Status = Status.STOPPED
    gain: float = np.inf
    sweeps_before: int = 0

    @property
    def n_sweeps(self) -> int:
        return len(self.history)

    @property
    def n_sweeps_in_all(self) -> int:
        return self.sweeps_before + self.n_sweeps

    @property
    def exhausted(self) -> tuple[int, ...]:
        """The components that found nothing left to explain."""
        return tuple(int(i) for i in np.flatnonzero(~self.V.any(axis=0)))


# Told of the number of the sweep, the objective and the loadings (to look at, not to keep); True
# says that it is enough.
OnSweep = Callable[[int, float, Array], bool]


def sweeps(
    problem: Problem, solution: Solution, *, ridge: float | None = None, tol: float | None = None
) -> Generator[Solution, None, None]:
    """The solution after each sweep, until one gains no more than ``tol`` or no sweep is left.

    It begins with the best scores that the loadings can have. No update brings components closer
    together than the problem allows, or than can be told apart. ``ridge`` and ``tol`` are those of
    the problem unless they are given.
    """
    with one_thread(2 * solution.V.size):
        iterate = _iterate(problem, solution.V, problem.ridge if ridge is None else ridge)
    yield from sweeps_of(iterate, problem, solution, problem.tol if tol is None else tol)


def sweeps_of(
    iterate: Iterate, problem: Problem, solution: Solution, tol: float
) -> Generator[Solution, None, None]:
    """The same, of a state of the algorithm that has the loadings of the solution."""
    V, history = solution.V, solution.history
    with one_thread(2 * V.size):
        is_feasible = iterate.keep_apart(problem.least_separation, problem.allowed)
        before = iterate.objective() if is_feasible else np.inf
    for _ in range(solution.n_sweeps_in_all, problem.max_sweeps):
        with one_thread(2 * V.size):
            iterate.sweep(problem.allowed)
        now = iterate.objective()
        if now > before:  # only rounding can do that: there is nothing left to gain
            # The loadings of before, but for components that turned out to explain nothing.
            iterate.V[:], now = np.where(iterate.V.any(axis=0), V, 0.0), before
        V, history, gain = iterate.V.copy(), (*history, now), before - now
        status = Status.CONVERGED if gain <= tol else Status.STOPPED
        yield Solution(V, history, status, gain, solution.sweeps_before)
        if status is Status.CONVERGED:
            return
        before = now


def placed(problem: Problem, start: Array) -> Array:
    """The loadings of a start brought into their sets; zero where they would be too close."""
    iterate = _iterate(problem, start, problem.ridge)
    iterate.keep_apart(problem.least_separation, problem.allowed)
    iterate.make_feasible(problem.allowed)
    return iterate.V


def directions(problem: Problem, V: Array) -> Array:
    """The vectors w of all components, with the best scores that loadings V can have.

    They are E_iᵀu_i, and for a component without scores where it would look for some.
    """
    iterate = _iterate(problem, V, problem.ridge)
    others = iterate.P.copy()
    np.fill_diagonal(others, 0.0)
    W: Array = iterate.B - iterate.V @ others
    for i in range(iterate.r):
        if not iterate.has_scores(i):
            W[:, i] = iterate.fresh_direction(i, problem.allowed(i, V))
    return W


def _iterate(problem: Problem, V: Array, ridge: float) -> Unweighted:
    X = problem.source.by_feature
    if X is None:
        return Correlated(problem.source, V, ridge, problem.total)
    return Scored(X, problem.source, V, ridge, problem.total)
