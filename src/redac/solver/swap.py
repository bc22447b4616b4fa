"""Two components change a feature at once: what no move of a single component can do.

Where components share out the features among themselves, as (a, b), (c, d), the better shares
(a, c), (b, d) are two steps away, and the first of them explains less. So a component takes a
feature from another, which gets the feature that was left for it, or one that nobody uses.

For orthogonal components what they explain is the sum of vᵀSv. For a feature j of v and a feature l
outside, the most that v without j and the unit vector of l explain together is a root of a
quadratic equation. That is known for all pairs at once, and the sum for two components says which
change promises most; it is made if it really explains more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from redac.constraints import may_enter
from redac.solver.exchange import Rest, changed_while_it_gains
from redac.solver.problem import Problem
from redac.sources.base import Array, Indices

# Loadings whose rest has a smaller squared length than this are those of a single feature.
_SHORT = 1e-9


class _Change(NamedTuple):
    """One feature leaves a component and another one enters."""

    component: int
    leaving: int
    entering: int


def swap(problem: Problem, V: Array) -> Array:
    """Loadings that explain more than V, after changes of two components at once, or V itself.

    Changes that gain no more than ``tol`` are left alone.
    """
    if np.count_nonzero(problem.is_free & V.any(axis=0)) < 2:
        return V
    return changed_while_it_gains(problem, V, _swapped)


def _swapped(problem: Problem, V: Array) -> Iterator[Array]:
    """The loadings after changes that promise a gain and are allowed."""
    for changes in _promising(problem, V):
        if (changed := _changed(problem, V, changes)) is not None:
            yield changed


def _promising(problem: Problem, V: Array) -> Iterator[tuple[_Change, _Change]]:
    """The best changes of each pair of components that promise a gain, the best pair first."""
    features, owners = np.nonzero(V * problem.is_free)
    most, q = _after_a_change(problem, V, features, owners)
    for i in np.unique(owners):
        allowed = may_enter(problem.constraints[i], features[owners == i], len(V))
        if allowed is not None:
            most[owners == i] = np.where(allowed, most[owners == i], -np.inf)
    taken = most[:, features]  # the feature that enters leaves another component
    unused = np.where(V.any(axis=1) | (problem.source.diagonal == 0.0), -np.inf, most)
    spare = unused.argmax(axis=1)
    replaced = np.maximum(taken.T, unused[np.arange(spare.size), spare])
    gain = taken + replaced - q[owners][:, None] - q[owners]
    gain[owners[:, None] == owners] = -np.inf
    for _ in range(V.shape[1]):
        e, f = divmod(int(np.argmax(gain)), owners.size)
        if gain[e, f] == -np.inf:
            return
        given = features[e] if taken[f, e] >= replaced[e, f] else spare[f]
        yield (
            _Change(int(owners[e]), int(features[e]), int(features[f])),
            _Change(int(owners[f]), int(features[f]), int(given)),
        )
        gain[np.ix_(owners == owners[e], owners == owners[f])] = -np.inf


def _after_a_change(
    problem: Problem, V: Array, features: Indices, owners: Indices
) -> tuple[Array, Array]:
    """What a component explains at least if one feature (row) leaves it and another one (column)
    enters, and what each component explains now."""
    rows, SV = problem.source.rows(features), problem.source.dot(V)
    x = V[features, owners]
    q = np.einsum("ij,ij->j", V, SV)
    variances = problem.source.diagonal
    rest = q[owners] - 2.0 * x * SV[features, owners] + x * x * variances[features]
    length = np.where(x * x < 1.0 - _SHORT, 1.0 - x * x, np.inf)
    cross = (SV[:, owners].T - x[:, None] * rows) / np.sqrt(length)[:, None]
    alone = (rest / length)[:, None]
    half = 0.5 * (alone - variances)
    most = 0.5 * (alone + variances) + np.sqrt(half * half + cross * cross)
    most[V[:, owners].T != 0.0] = -np.inf
    return most, q


def _changed(problem: Problem, V: Array, changes: tuple[_Change, _Change]) -> Array | None:
    """The loadings after two changes, the best on the new supports, if they are allowed."""
    new = V.copy()
    nothing = np.zeros((len(V), 0))
    alone = Rest(problem.source, nothing, nothing, outside=1.0)
    for i, leaving, entering in changes:
        support = np.flatnonzero(V[:, i])
        new[:, i] = alone.leading(np.where(support == leaving, entering, support))
        if not problem.constraints[i].contains(new[:, i]):
            return None
    return new if problem.keeps_together(new) else None
