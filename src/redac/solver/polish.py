"""The slow tail of the sweeps, shortened: all loadings on their present supports, improved at once.

Once the supports have settled, the sweeps still creep wherever components are nearly parallel,
because each moves one component and holds the others. On fixed supports the value

    F(V) = Tr(S V(VᵀV + ηI)⁻¹Vᵀ)

is a smooth function of the non-zero entries, with half its gradient B − VP (B = XᵀU and P = UᵀU of
the best scores, as in the solver), and a quasi-Newton method climbs it in few, cheap steps. The
sweeps go on from there; they alone decide about supports and about convergence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, OptimizeResult, minimize

from redac.solver import variance
from redac.solver.problem import Problem
from redac.sources.base import Array, Indices
from redac.threads import one_thread

# The most steps of the optimiser: a guard. 20 and 1,000 came to the same on problems to tune on.
_MOST_STEPS = 50
# Where steps were refused, the logarithm of the room that is left counts, too, by one of these
# weights after the other. With only the last, or every other one, rounding decides more often where
# a run ends; smaller ones are below what a run gains at least.
_WEIGHTS_OF_ROOM = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
# So many steps in a row must gain little. One is too few: fits with a ridge gained 30 times ``tol``
# when they were continued.
_CALM_STEPS = 3
# No part of S with more features than this is formed here: 128 megabytes.
_LARGEST_PART = 4000


def polish(problem: Problem, V: Array) -> Array:
    """Loadings with the same supports, or smaller ones, that explain at least as much.

    Components whose constraint does not let the entries of a support move freely stay as they are.
    Steps to a separation below that of the problem, or too small to tell components apart, are
    refused. Where that happened, the best loadings mostly lie at that edge, which steps can only
    follow at a distance: so the distance shrinks in turns.
    """
    ranges = [constraint.free_range for constraint in problem.constraints]
    alive = V.any(axis=0)
    moving = np.array([span is not None for span in ranges]) & alive
    used = np.flatnonzero(V.any(axis=1))
    if not moving.any() or used.size > _LARGEST_PART:
        return V
    # The optimiser is scipy's, with threads of its own that would get in the way of numpy's.
    with one_thread(0):
        tail = _Tail(problem, used, V[np.ix_(used, alive)], moving[alive])
        lower, upper = np.array([ranges[i] for i in np.flatnonzero(alive)[tail.columns]]).T
        bounds = Bounds(lower, upper) if np.isfinite(lower).any() else None
        little = 0.1 * problem.tol * problem.total / problem.source.total
        x = _improved(tail, tail.start, bounds, little)
        if tail.was_refused:
            along = x
            for room in _WEIGHTS_OF_ROOM:
                along = _improved(tail, along, bounds, little, room)
            x = min(x, along, key=lambda x: tail.loss(x)[0])
    better = np.zeros_like(V)
    better[np.ix_(used, alive)] = tail.loadings(x)[0]
    return better


def _improved(
    tail: _Tail, x: Array, bounds: Bounds | None, little: float, room: float = 0.0
) -> Array:
    """Entries that explain more, by steps until they gain little."""
    found = minimize(
        tail.loss,
        x,
        args=(room,),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=_UntilCalm(little),
        options={"maxiter": _MOST_STEPS, "ftol": 0.0, "gtol": 1e-9},
    )
    return np.asarray(found.x)


class _UntilCalm:
    """Ends an optimiser when its last steps together have gained little.

    One short step must not end what the next ones would gain: near a saddle several of them do.
    """

    def __init__(self, little: float) -> None:
        self._little = little
        self._values: list[float] = []

    def __call__(self, intermediate_result: OptimizeResult) -> None:
        self._values.append(float(intermediate_result.fun))
        some = self._values[-1 - _CALM_STEPS :]
        if len(some) > _CALM_STEPS and some[0] - some[-1] <= self._little:
            raise StopIteration


class _Tail:
    """−F/Tr S as a function of the packed non-zero entries of the components that may move."""

    def __init__(
        self, problem: Problem, used: Indices, Y: Array, moving: NDArray[np.bool_]
    ) -> None:
        self.source = problem.source.restricted(used)
        self.total = problem.source.total
        self.least_apart = problem.least_apart
        self.was_refused = False
        self.ridge = problem.ridge * np.eye(Y.shape[1])
        # Only entries that are not zero now will ever change, so all trials share one array.
        self._Y = np.ascontiguousarray(Y)
        self._places = np.flatnonzero((self._Y != 0) & moving)
        self.columns = self._places % Y.shape[1]
        # Measured in their scores' length the entries of all components curve alike.
        weights = np.linalg.pinv(Y.T @ Y + self.ridge, hermitian=True)
        lengths = np.einsum("ij,jk,ki->i", weights, self.source.quadratic(Y), weights)
        unit = np.sqrt(self.total / np.maximum(lengths, 1e-6 * self.total))
        self.unit = unit[self.columns]
        self.start = self._Y.reshape(-1)[self._places] / self.unit

    def loadings(self, x: Array) -> tuple[Array, Array]:
        """The loadings that x stands for, as unit vectors, and the lengths they had.

        The array is the same one at every call, with new numbers in it.
        """
        entries = x * self.unit
        r = self._Y.shape[1]
        lengths = np.sqrt(np.bincount(self.columns, entries * entries, minlength=r))
        lengths[lengths == 0.0] = 1.0
        self._Y.reshape(-1)[self._places] = entries / lengths[self.columns]
        return self._Y, lengths

    def loss(self, x: Array, room: float = 0.0) -> tuple[float, Array]:
        """−F/Tr S − ``room`` · log det(VᵀV − sI), with s the least separation, and its slope.

        The second term keeps steps away from where they would be refused.
        """
        Y, lengths = self.loadings(x)
        gram = Y.T @ Y
        if not (gram.diagonal().all() and variance.is_separated(gram, self.least_apart)):
            self.was_refused = True
            return 0.0, np.zeros_like(x)
        weights = np.linalg.inv(gram + self.ridge)
        SY = self.source.dot(Y)
        M = Y.T @ SY
        P = weights @ M @ weights
        # The slope is SYW − YP without its part along each component, which only changes lengths.
        along = (M * weights).sum(axis=0) - (gram * P).sum(axis=0)
        unit = 2.0 / (lengths * self.total)
        slope = SY @ (weights * unit) - Y @ ((P + np.diag(along)) * unit)
        value = float(np.vdot(weights, M)) / self.total
        if room > 0.0:
            left = gram - self.least_apart * np.eye(len(gram))
            sign, logarithm = np.linalg.slogdet(left)
            if sign <= 0.0:  # at the very edge
                return 0.0, np.zeros_like(x)
            inverse = np.linalg.inv(left)
            value += room * float(logarithm)
            slope += (Y @ inverse - Y * (gram * inverse).sum(axis=0)) * (2.0 * room / lengths)
        return -value, -slope.reshape(-1)[self._places] * self.unit
