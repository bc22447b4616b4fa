"""One component gives up a feature and another one takes one: what rules for all together need.

Where components share a number of loadings, or no two may use a feature, no component can take what
another one has. So one of them loses the feature that it needs least, and another one gains the one
that brings it most, or the very feature that was given up.

With Q the projector on what is orthogonal to all other components, loadings v add vᵀQSQv / vᵀQv to
what these explain. How much that falls when a feature leaves, and rises when one enters, is known
for all features at once, as a bound; the change is made if all together really explain more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from redac.constraints import Constraint, may_join, normalized, required
from redac.solver.exchange import Rest, changed_while_it_gains, rest_beside
from redac.solver.problem import Problem
from redac.sources.base import Array, Indices

# Loadings without a feature that hold a smaller square than this are nothing.
_NOTHING = 1e-9
_POWER_STEPS = 3


class _Gift(NamedTuple):
    """A feature leaves one component, and one enters another; what that promises to gain."""

    promise: float
    giver: int
    leaving: int
    taker: int
    entering: int


class _Worth(NamedTuple):
    """What the features of all components are worth; −infinity where that cannot be told.

    loss : what a component explains less without a feature of its own; infinity for others.
    gain : what it explains more with another feature.
    """

    loss: Array
    gain: Array


def transfer(problem: Problem, V: Array) -> Array:
    """Loadings that explain more than V, after features have gone from component to component.

    V itself where components have no rules in common. Gains of no more than ``tol`` are left alone.
    """
    if not problem.couplings or np.count_nonzero(problem.is_free) < 2:
        return V
    anew = _dealt_anew(problem, V)
    best = anew if problem.is_gain(problem.value(anew), problem.value(V)) else V
    return changed_while_it_gains(problem, best, _transferred)


def _transferred(problem: Problem, V: Array) -> Iterator[Array]:
    """The loadings after gifts that are allowed, the most promising first."""
    for gift in sorted(_gifts(problem, V), reverse=True):
        if (given := _given(problem, V, gift)) is not None:
            yield given


def _dealt_anew(problem: Problem, V: Array) -> Array:
    """The loadings after all features were dealt out by what the scores of now say of them."""
    W = problem.source.dot(V)
    explained = (V * W).sum(axis=0)
    W /= np.sqrt(np.where(explained > 0.0, explained, np.inf))
    sets = problem.dealt(W, np.ones(W.shape[1])).constraints
    columns = [c.maximize(np.ascontiguousarray(w)) for c, w in zip(sets, W.T, strict=True)]
    new = np.column_stack(columns)
    return new if problem.keeps_together(new) else V


def _gifts(problem: Problem, V: Array) -> Iterator[_Gift]:
    """For each two components what one of them needs least, and what the other wants most of it."""
    worth = _worths(problem, V)
    for giver in range(V.shape[1]):
        loss = worth.loss[:, giver]
        if not np.isfinite(loss).any():
            continue  # with its last feature a component would be gone
        for taker in range(V.shape[1]):
            if taker == giver or not np.isfinite(worth.gain[:, taker]).any():
                continue
            for leaving in {int(np.argmin(loss)), int(np.argmax(worth.gain[:, taker] - loss))}:
                without = V.copy()
                without[leaving, giver] = 0.0
                constraint = problem.allowed(taker, without)
                may = may_join(constraint, np.flatnonzero(V[:, taker]), len(V))
                may &= V[:, taker] == 0.0
                gain = np.where(may, worth.gain[:, taker], -np.inf)
                entering = int(np.argmax(gain))
                if np.isfinite(gain[entering]):
                    promise = float(gain[entering] - loss[leaving])
                    yield _Gift(promise, giver, leaving, taker, entering)


def _worths(problem: Problem, V: Array) -> _Worth:
    loss, gain = np.full(V.shape, np.inf), np.full(V.shape, -np.inf)
    SV = problem.source.dot(V)
    for i in np.flatnonzero(problem.is_free).tolist():
        rest = rest_beside(problem, V, SV, i)
        if rest is None:
            continue
        v = np.ascontiguousarray(V[:, i])
        support = np.flatnonzero(v)
        now = rest.quotient(v)[0]
        for j in support if support.size > 1 else ():
            loss[j, i] = now - rest.quotient(_without(v, int(j)))[0]
        loss[required(problem.constraints[i]), i] = np.inf
        gain[:, i] = rest.joined(v) - now
    gain[problem.source.diagonal == 0.0] = -np.inf
    return _Worth(loss, gain)


def _without(v: Array, j: int) -> Array:
    """Loadings without one feature, as a unit vector; a lone one where next to nothing is left."""
    w = v.copy()
    w[j] = 0.0
    if w @ w < _NOTHING:
        w = np.where(w != 0.0, 1.0, 0.0)
    return normalized(w)


def _given(problem: Problem, V: Array, gift: _Gift) -> Array | None:
    """The loadings after a gift, the best on the new supports, if they are allowed."""
    new = V.copy()
    new[:, gift.giver] = _without(V[:, gift.giver], gift.leaving)
    # A component that had nothing is the feature alone.
    new[gift.entering, gift.taker] = _NOTHING if V[:, gift.taker].any() else 1.0
    for i in (gift.giver, gift.taker):
        support = np.flatnonzero(new[:, i])
        rest = rest_beside(problem, new, problem.source.dot(new), i)
        constraint = problem.allowed(i, new)
        v = None if rest is None else _best_on(rest, constraint, support, new[:, i])
        if v is None:
            return None
        new[:, i] = v
    return new if problem.keeps_together(new) else None


def _best_on(rest: Rest, constraint: Constraint, support: Indices, v: Array) -> Array | None:
    """Loadings on a support that add most; after some power steps where signs are not free."""
    leading = rest.leading(support)
    if constraint.contains(leading):
        return leading
    for _ in range(_POWER_STEPS):
        w = np.zeros(v.size)
        w[support] = rest.dot(v[:, None])[support, 0]
        v = constraint.maximize(w)
    return v if v.any() and constraint.contains(v) else None
