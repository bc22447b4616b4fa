"""The way from one starting point to a solution: sweeps where they pay, polish where they creep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from redac.constraints import largest
from redac.solver import variance
from redac.solver.exchange import exchange
from redac.solver.polish import polish
from redac.solver.problem import Problem
from redac.solver.starts import FEW_FEATURES, oriented
from redac.solver.sweep import OnSweep, Solution, Status, directions, solve
from redac.sources.base import Array, Indices
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
# Sweeps before the next polish, which costs about as much, unless supports are at rest before.
_SWEEPS_BETWEEN = 8
# The value may be highest where components collapse and nobody can read them. Polish climbs with a
# ridge, which keeps them apart, and with the next one when that gains nothing any more. Of twenty
# such sequences, on 160 small and 32 large problems and pitprops, none was better everywhere; this
# one is within 0.1 points of the best on average, and loses nothing on pitprops.
_POLISHING_RIDGES = (0.1, 0.0001, 0.0)


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
        start = oriented(start, problem.constraints)
        start[problem.source.diagonal == 0.0] = 0.0  # features that do not vary get no loading
        self._came_from = start
        self.solution = Solution(start, (), Status.STOPPED, np.inf)
        scope = _WIDE_SCOPE if problem.least_separation > 0.0 else _SCOPE
        self._look_at(promising(start, problem, scope))

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

    def finish(self) -> None:
        """Sweeps and polish in turn, until a sweep over all features would gain ``tol`` or less.

        A look at all features may read all data. One comes first, the others when there is nothing
        left to gain with the features at hand.
        """
        is_first = True
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

    def appraise(self) -> float:
        """What the loadings explain so far, kept as ``value``."""
        V = self._part.inside(self.solution.V)
        explained = variance.Explained.of(V, self._part.problem.source.quadratic)
        self.value = explained.together(self.problem.ridge)
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

    def _look_at(self, features: Indices) -> None:
        """Turn to some features: to their part of S, where they are not too many."""
        # The part looked at so far is let go before the next one is made.
        self._part = self.problem.whole
        problem = self.problem
        share = _SHARE_OF_S if problem.source.by_feature is None else _SHARE_OF_X
        if 0 < features.size <= share * problem.n_varying:
            self._part = problem.restricted(features)

    def _looked_around(self) -> bool:
        """Turn to other features if a sweep over all would use one that was not looked at."""
        problem, V = self.problem, self.solution.V
        if self._part.features is None:
            return False
        W = directions(problem.source, V, problem.ridge)
        wanted = np.zeros(len(W), dtype=bool)
        for w, constraint in zip(W.T, problem.constraints, strict=True):
            wanted |= constraint.maximize(np.ascontiguousarray(w)) != 0
        wanted[self._part.features] = False
        if not wanted.any():
            return False
        hopeful = promising(W, problem, _NARROW_SCOPE)
        self._look_at(np.union1d(hopeful, np.flatnonzero(V.any(axis=1))))
        return True

    def _sweep(
        self, ridge: float, tol: float, most: int | None = None, *, at_rest: bool = False
    ) -> None:
        """Sweeps until one gains ``tol``; or, if polish can go on, until one keeps all supports."""
        problem, history = self.problem, self.solution.history
        left = problem.max_sweeps - self.solution.n_sweeps_in_all
        V = self._part.inside(self.solution.V)
        with one_thread(2 * V.size):
            found = solve(
                self._part.problem.source,
                self._part.problem.constraints,
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
            self._part.embed(found.V),
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
            self.is_over |= self.on_sweep(number, objective, self._part.embed(V))
        return self.is_over

    def _exchange(self) -> bool:
        """Exchange single features of components; whether that was possible and gained."""
        problem = self.problem
        if problem.source.n_features <= FEW_FEATURES:
            self._look_at(np.arange(problem.source.n_features))
        V = self._part.inside(self.solution.V)
        with one_thread(2 * V.size):
            better = exchange(
                self._part.problem.source,
                self._part.problem.constraints,
                V,
                ridge=problem.ridge,
                least_separation=problem.least_separation,
                least_gain=problem.tol * problem.total,
            )
        if better is None:
            return False
        self.solution = replace(self.solution, V=self._part.embed(better))
        self._polished = 0  # from a new place
        return True

    def _polish(self) -> bool:
        """Improve the loadings on their supports; whether that was possible."""
        problem = self.problem
        height = self.appraise()
        # The optimiser is scipy's, with threads of its own that would get in the way of numpy's.
        for ridge in _POLISHING_RIDGES[self._polished :]:
            with one_thread(0):
                V = polish(
                    self._part.problem.source,
                    self._part.problem.constraints,
                    self._part.inside(self.solution.V),
                    ridge=max(ridge, problem.ridge),
                    tol=problem.tol * problem.total,
                    least_separation=problem.least_separation,
                )
            before, self.solution = self.solution, replace(self.solution, V=self._part.embed(V))
            if self.appraise() > height + problem.tol * problem.total:
                return True
            self.solution, self.value = before, height
            self._polished += ridge > 0.0
        return False


def promising(start: Array, problem: Problem, scope: int) -> Indices:
    """Features that sweeps from this start are likely to use: some times as many as they may."""
    chosen = np.zeros(start.shape[0], dtype=bool)
    for v, constraint in zip(start.T, problem.constraints, strict=True):
        support = np.flatnonzero(constraint.maximize(np.ascontiguousarray(v)))
        if scope * support.size >= problem.n_varying:
            return np.arange(v.size)
        if support.size:
            # The largest magnitudes need not be among those that the constraint can use.
            chosen[support] = True
            chosen[largest(np.abs(v), scope * support.size)] = True
    return np.flatnonzero(chosen)
