"""The way from one starting point to a solution: sweeps where they pay, polish where they creep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from redac import variance
from redac.constraints import Constraint, largest
from redac.exchange import exchange
from redac.iterate import NOISE
from redac.polish import polish
from redac.solver import OnSweep, Solution, Status, directions, solve
from redac.sources.base import Array, Indices, Source
from redac.starts import FEW_FEATURES, oriented
from redac.threads import one_thread

# A first look ends when a sweep gains no more than this share of the variance, a second one when it
# gains no more than that.
_ROUGHEST = 1e-3
_ROUGH = 3e-4
# Sweeps look at this many times as many features as a component uses at first; at more where
# components may approach each other until they must stay apart, because they use more on the way;
# and at fewer once they are near their places.
_SCOPE, _WIDE_SCOPE, _NARROW_SCOPE = 3, 6, 2
# Up to this share of the features a part of S is worth its making; a part of X is but some rows.
_SHARE_OF_S, _SHARE_OF_X = 0.5, 0.9
# A sweep gains about as much as the one before it, or little more: a run ends when one has gained
# this share of what the next one may.
_CALM = 0.8
# What a run will still gain, at most, in terms of what it has gained since the last polish; and of
# what its last sweep gained, where features are many and runs long.
_HOPE, _SWEEPS_OF_HOPE = 3.0, 30.0
# Sweeps before the next polish, which costs about as much, unless supports are at rest before.
_SWEEPS_BETWEEN = 8
# The value may be highest where components collapse and nobody can read them. At first polish
# keeps them this far apart; a run that still creeps then may go where it wants to go.
_APART, _PATIENT = 0.3, 6
_COLLAPSED = 1e-4


@dataclass(frozen=True)
class Problem:
    """What is to be solved, and how exactly: everything but the starting point."""

    source: Source
    constraints: Sequence[Constraint]
    ridge: float = 0.0
    max_sweeps: int = 1000
    tol: float = 1e-7
    least_separation: float = 0.0
    total: float = -1.0  # ‖X‖², where the source knows a part of the features only

    def __post_init__(self) -> None:
        if self.total < 0.0:
            object.__setattr__(self, "total", self.source.total)


class Run:
    """The way from one starting point, as one history of sweeps.

    The sweeps look at promising features only, on their small part of S. When they have ended, one
    look at all features says whether another feature would enter; if so, it is let in and the
    sweeps go on, if not, a sweep over all features would do what the last one did. The objective
    never rises: a smaller ridge, better scores and polished loadings all lower it.
    """

    def __init__(self, problem: Problem, start: Array, first_ridge: float, number: int = 0) -> None:
        self.problem = problem
        self.number = number
        self.on_sweep: OnSweep | None = None
        self.is_over = False
        self._polished = 0
        self.first_ridge = first_ridge
        self._was_quiet = False  # the last sweep began with the best scores and gained nothing
        self.value = -np.inf
        self._came_from = start = oriented(start, problem.constraints)
        self.solution = Solution(start, (), Status.STOPPED, np.inf)
        scope = _WIDE_SCOPE if problem.least_separation > 0.0 else _SCOPE
        self._look_at(promising(start, problem.constraints, scope))

    def scout(self) -> None:
        """Sweeps until they gain little.

        A ridge keeps components apart while they look for their places. Where they must stay apart
        anyway, it comes later: components that have been as close as they may and move apart again
        come further than those that never met.
        """
        if self._bounces:
            self._sweep(self.problem.ridge, _ROUGHEST)
        else:
            self._sweep_with_ridge()

    def settle(self) -> None:
        """Sweeps with the ridge of the problem until they gain little."""
        if self.is_over:
            return
        if self._bounces:
            self._bounce()
        else:
            self._sweep(self.problem.ridge, _ROUGH)

    def _bounce(self) -> None:
        """Move components apart and let them approach again, unless they come less far."""
        before, height = self.solution, self.appraise()
        self._begin_here()
        self._sweep_with_ridge()
        if not self.is_over:
            self._sweep(self.problem.ridge, _ROUGH)
        if self.appraise() < height:
            self._was_quiet = False
            spent = self.solution.n_sweeps_in_all - before.n_sweeps
            self.solution = replace(
                before, status=self.solution.status, sweeps_before=before.sweeps_before + spent
            )

    @property
    def _bounces(self) -> bool:
        """Whether components approach each other as far as they may, and move apart again."""
        return self.problem.least_separation > 0.0 and self.first_ridge > self.problem.ridge

    def _sweep_with_ridge(self) -> None:
        self._sweep(max(self.first_ridge, self.problem.ridge), _ROUGHEST)
        if not self.is_over:  # otherwise no sweep would follow in which they find another place
            self._drop_idle()

    def finish(self, to_beat: float = -np.inf) -> None:
        """Sweeps and polish in turn, until a sweep over all features would gain ``tol`` or less.

        A look at all features may read all data. One comes first, the others when there is nothing
        left to gain with the features at hand. A run that is not likely to explain as much as
        ``to_beat`` is given up.
        """
        if self._is_beaten(to_beat) and not self._exchange():
            return
        is_first = True
        before = min(self.solution.history, default=np.inf)
        while not self.is_over:
            is_settled = self._was_quiet
            if is_settled and self.problem.least_separation > 0.0:
                # The sweep may have made room for an update that it had refused, and the next one
                # may gain more; from where it began, a sweep is known to gain little.
                self.solution = replace(self.solution, V=self._came_from)
            found_others = (is_settled or is_first) and self._looked_around()
            is_first = False
            if is_settled and not found_others and not self._exchange():
                self.solution = replace(self.solution, status=Status.CONVERGED)
                break
            polished = not found_others and self._polish()
            self._sweep(self.problem.ridge, 0.0, _SWEEPS_BETWEEN, at_rest=polished)
            now = self.solution.history[-1]
            hoped_for = self.problem.total * (1.0 - now + _HOPE * (before - now))
            if hoped_for < to_beat and not self._exchange():
                break
            before = now

    def _is_beaten(self, to_beat: float) -> bool:
        """Whether sweeps of a long run have come to rest below what others explain."""
        hoped_for = self.value + _SWEEPS_OF_HOPE * self.solution.gain * self.problem.total
        return self.problem.source.n_features > FEW_FEATURES and hoped_for < to_beat

    def appraise(self) -> float:
        """What the loadings explain so far, kept as ``value``."""
        explained = variance.explained(*self._products(), self.problem.ridge)
        self.value = min(explained, self.problem.total)  # rounding may add to parallel components
        return self.value

    @property
    def supports(self) -> bytes:
        """The supports of the components, whatever their order."""
        marks = np.packbits(self.solution.V != 0, axis=0)
        return b"".join(sorted(column.tobytes() for column in marks.T))

    def _begin_here(self) -> None:
        """Take the loadings for the start; with a larger ridge the history would have to rise."""
        V, before = self.solution.V, self.solution.n_sweeps
        self.solution = Solution(V, (), Status.STOPPED, np.inf, before)

    def _products(self) -> tuple[Array, Array]:
        V = self.solution.V[self._features]
        return self._source.quadratic(V), V.T @ V

    def _drop_idle(self) -> None:
        """Free components that are copies of others, as a ridge makes them, to look elsewhere."""
        added = variance.increments(*self._products())
        idle = added <= NOISE * self.problem.total
        if idle.any():
            self.solution = replace(self.solution, V=np.where(idle, 0.0, self.solution.V))

    def _look_at(self, features: Indices) -> None:
        """Turn to some features: to their part of S, where they are not too many."""
        source = self.problem.source
        # The part looked at so far is let go before the next one is made.
        self._features, self._source = np.arange(source.n_features), source
        share = _SHARE_OF_S if source.by_feature is None else _SHARE_OF_X
        if 0 < features.size <= share * source.n_features:
            self._features, self._source = features, source.restricted(features)

    def _looked_around(self) -> bool:
        """Turn to other features if a sweep over all would use one that was not looked at."""
        problem, V = self.problem, self.solution.V
        if self._features.size == problem.source.n_features:
            return False
        W = directions(problem.source, V, problem.ridge)
        wanted = np.zeros(len(W), dtype=bool)
        for w, constraint in zip(W.T, problem.constraints, strict=True):
            wanted |= constraint.maximize(np.ascontiguousarray(w)) != 0
        wanted[self._features] = False
        if not wanted.any():
            return False
        hopeful = promising(W, problem.constraints, _NARROW_SCOPE)
        self._look_at(np.union1d(hopeful, np.flatnonzero(V.any(axis=1))))
        return True

    def _sweep(
        self, ridge: float, tol: float, most: int | None = None, *, at_rest: bool = False
    ) -> None:
        """Sweeps until one gains ``tol``; or, if polish can go on, until one keeps all supports."""
        problem, history = self.problem, self.solution.history
        left = problem.max_sweeps - self.solution.n_sweeps_in_all
        V = self.solution.V[self._features]
        with one_thread(2 * V.size):
            found = solve(
                self._source,
                problem.constraints,
                V,
                ridge=ridge,
                max_sweeps=left if most is None else min(most, left),
                tol=max(tol, _CALM * problem.tol),
                total=problem.total,
                least_separation=problem.least_separation,
                on_sweep=self._resting(V) if at_rest else self._told,
            )
        # Each call begins with the best scores; later sweeps with those that they have left behind.
        self._was_quiet = found.n_sweeps == 1 and found.gain <= _CALM * problem.tol
        self._came_from = self.solution.V
        interrupted = found.status is Status.INTERRUPTED
        self.is_over |= interrupted or found.n_sweeps == left
        self.solution = Solution(
            self._expanded(found.V),
            history + found.history,
            Status.INTERRUPTED if interrupted else Status.STOPPED,
            found.gain,
            self.solution.sweeps_before,
        )

    def _resting(self, V: Array) -> OnSweep:
        """Tells of sweeps, and ends them when one has kept all supports."""
        supports = V != 0

        def told(number: int, objective: float, V: Array) -> bool:
            nonlocal supports
            before, supports = supports, V != 0
            return self._told(number, objective, V) or np.array_equal(before, supports)

        return told

    def _told(self, number: int, objective: float, V: Array) -> bool:
        number += self.solution.n_sweeps_in_all
        if self.on_sweep is not None:
            self.is_over |= self.on_sweep(number, objective, self._expanded(V))
        return self.is_over

    def _expanded(self, V: Array) -> Array:
        full = np.zeros((self.problem.source.n_features, V.shape[1]))
        full[self._features] = V
        return full

    def _exchange(self) -> bool:
        """Exchange single features of components; whether that was possible and gained."""
        problem = self.problem
        if problem.source.n_features <= FEW_FEATURES:
            self._look_at(np.arange(problem.source.n_features))
        V = self.solution.V[self._features]
        with one_thread(2 * V.size):
            better = exchange(
                self._source,
                problem.constraints,
                V,
                ridge=problem.ridge,
                least_separation=problem.least_separation,
                least_gain=problem.tol * problem.total,
            )
        if better is None:
            return False
        self.solution = replace(self.solution, V=self._expanded(better))
        self._polished = 0  # from a new place
        return True

    def _polish(self) -> bool:
        """Improve the loadings on their supports; whether that was possible."""
        problem = self.problem
        before = V = self.solution.V[self._features]
        # The optimiser is scipy's, with threads of its own that would get in the way of numpy's.
        with one_thread(0):
            V = polish(
                self._source,
                problem.constraints,
                V,
                ridge=problem.ridge,
                tol=problem.tol * problem.total,
                least_angle=_APART if self._polished < _PATIENT else _COLLAPSED,
                least_separation=problem.least_separation,
            )
        self._polished += 1
        self.solution = replace(self.solution, V=self._expanded(V))
        return not np.array_equal(before, V)


def promising(start: Array, constraints: Sequence[Constraint], scope: int) -> Indices:
    """Features that sweeps from this start are likely to use: some times as many as they may."""
    chosen = np.zeros(start.shape[0], dtype=bool)
    for v, constraint in zip(start.T, constraints, strict=True):
        support = np.flatnonzero(constraint.maximize(np.ascontiguousarray(v)))
        if scope * support.size >= v.size:
            return np.arange(v.size)
        if support.size:
            # The largest magnitudes need not be among those that the constraint can use.
            chosen[support] = True
            chosen[largest(np.abs(v), scope * support.size)] = True
    return np.flatnonzero(chosen)
