"""Algorithms 1 and 2 of the paper: the only loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from redac.constraints import Constraint
from redac.solver.iterate import Correlated, Iterate, Scored
from redac.sources.base import Array, Source


class Status(Enum):
    """How a run ended."""

    CONVERGED = "converged"
    STOPPED = "stopped"  # the sweeps ran out, or a callback asked to stop
    INTERRUPTED = "interrupted"  # Ctrl-C


@dataclass(frozen=True)
class Solution:
    """Where a run ended.

    Attributes
    ----------
    V : the loadings, one column for each component; zero where a component was exhausted.
    history : ‖X − UVᵀ‖² + η‖U‖² after each sweep, as a share of ‖X‖².
    status : how the run ended.
    gain : what the last sweep gained; infinity where that is not known.
    sweeps_before : those that led to where the history begins.
    """

    V: Array
    history: tuple[float, ...]
    status: Status
    gain: float
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


# Told of the number of the sweep, the objective and the loadings (to look at, not to keep); stops
# the run by returning True.
OnSweep = Callable[[int, float, Array], bool]


def solve(
    source: Source,
    constraints: Sequence[Constraint],
    start: Array,
    *,
    ridge: float = 0.0,
    max_sweeps: int = 1000,
    tol: float = 1e-7,
    total: float | None = None,
    least_separation: float = 0.0,
    on_sweep: OnSweep | None = None,
) -> Solution:
    """Run sweeps from the loadings ``start`` (d × r) until one gains no more than ``tol``.

    ``on_sweep(number, objective, V)`` is called after every sweep and stops the run by returning
    True. Ctrl-C ends it with the loadings reached so far. ``total`` is ‖X‖² where the source knows
    a part of the features only. No update brings components closer together than
    ``least_separation``, or than can be told apart.
    """
    iterate = _iterate(source, start, ridge, source.total if total is None else total)
    is_feasible = iterate.keep_apart(least_separation, constraints)
    history: list[float] = []
    status, gain = Status.STOPPED, np.inf
    before = iterate.objective() if is_feasible else np.inf
    try:
        while len(history) < max_sweeps:
            V = iterate.V.copy()
            iterate.sweep(constraints)
            now = iterate.objective()
            if now > before:  # only rounding can do that: there is nothing left to gain
                # The loadings of before, but for components that turned out to explain nothing.
                iterate.V[:], now = np.where(iterate.V.any(axis=0), V, 0.0), before
            history.append(now)
            stop = on_sweep is not None and on_sweep(len(history), now, iterate.V)
            gain, before = before - now, now
            if gain <= tol:
                status = Status.CONVERGED
                break
            if stop:
                break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        iterate.make_feasible(constraints)
    return Solution(iterate.V, tuple(history), status, gain)


def directions(source: Source, V: Array, ridge: float) -> Array:
    """The vectors w of all components, with the best scores that loadings V can have.

    They are E_iᵀu_i, and for a component without scores where it would look for some.
    """
    iterate = _iterate(source, V, ridge, source.total)
    others = iterate.P.copy()
    np.fill_diagonal(others, 0.0)
    W: Array = iterate.B - iterate.V @ others
    for i in range(iterate.r):
        if not iterate.has_scores(i):
            W[:, i] = iterate.fresh_direction(i)
    return W


def _iterate(source: Source, start: Array, ridge: float, total: float) -> Iterate:
    X = source.by_feature
    if X is None:
        return Correlated(source, start, ridge, total)
    return Scored(X, source, start, ridge, total)
