"""Components drawn where others leave much: one that is drawn anew, or one after the other.

The first is the step that leads from a solution to another one: a component is taken out, and a
sparse vector that explains much of what the others leave comes in. The second is a start.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from redac.constraints import Constraint, oriented
from redac.solver.exchange import Rest, rest_beside
from redac.solver.iterate import NOISE
from redac.solver.problem import EQUAL, Problem
from redac.solver.variance import Basis
from redac.sources.base import Array, Indices

# A component whose part outside the span of others is no longer than this is inside it.
_INSIDE = 1e-6
_ROWS_AT_A_TIME = 128


def redraw(problem: Problem, V: Array, i: int) -> Array:
    """Loadings V with component i drawn anew; zero if the others leave nothing to explain.

    It grows from rows of what they leave, those that promise most, by exchanges of features.
    """
    new = V.copy()
    new[:, i] = 0.0
    basis, constraint = Basis.of(new).Q, problem.allowed(i, new)
    rest = Rest(problem.source, basis, problem.source.dot(basis), problem.strategy.outside)
    height = NOISE * problem.total
    seen: set[bytes] = set()
    for start in _most_promising(problem, rest, constraint, problem.used[i]):
        v = _grown(problem, rest, constraint, start, seen)
        value, outside = rest.quotient(v)
        if value > height * (1.0 + EQUAL) and outside > _INSIDE**2:
            new[:, i], height = v, value
    return new


def _grown(
    problem: Problem, rest: Rest, constraint: Constraint, v: Array, seen: set[bytes]
) -> Array:
    """The best loadings on a support, and exchanges while they lead to supports not seen before."""
    if constraint.free_range is not None and v.any():
        best = rest.leading(np.flatnonzero(v))
        is_better = constraint.contains(best) and rest.quotient(best)[0] > rest.quotient(v)[0]
        v = best if is_better else v
    for _ in range(problem.n_exchanges):
        support = (v != 0.0).tobytes()
        exchanged = None if support in seen else rest.exchanged(v, constraint)
        seen.add(support)
        if exchanged is None:
            break
        v = exchanged
    return v


def in_turn(problem: Problem, directions: Array) -> Array:
    """Components drawn one after the other, each where those before it leave most.

    Directions, the columns of a matrix, are brought into the set of a component. Those that promise
    most are followed by power steps, and the best is taken.
    """
    source, strategy = problem.source, problem.strategy
    V = np.zeros((source.n_features, len(problem.constraints)))
    SV = np.zeros_like(V)
    seeds: dict[int, tuple[Array, Array]] = {}
    for i, (kind, usual) in enumerate(zip(problem.kinds, problem.usual, strict=True)):
        constraint = problem.share(i, V)
        if kind not in seeds:
            W = _brought_into(usual, directions)
            seeds[kind] = W, source.dot(W)
        rest = rest_beside(problem, V, SV, i)
        if rest is None:
            break  # those that are drawn cannot be told apart: sweeps find places for the others
        W, SW = seeds[kind]
        W = W[:, np.argsort(-rest.values(W, SW), kind="stable")[: strategy.tried]]
        for _ in range(strategy.power_steps):
            W = _brought_into(constraint, rest.dot(W))
        SW = source.dot(W)
        values = rest.values(W, SW)
        best = int(np.argmax(values))
        if values[best] > NOISE * problem.total:
            V[:, i], SV[:, i] = W[:, best], SW[:, best]
    return V


def _brought_into(constraint: Constraint, W: Array) -> Array:
    """The vectors of a set that are closest to the columns of W, whichever way these point."""
    W = oriented(W, [constraint] * W.shape[1])
    return np.column_stack([constraint.maximize(np.ascontiguousarray(w)) for w in W.T])


def redraw_at_random(problem: Problem, V: Array, i: int, rng: np.random.RandomState) -> Array:
    """Loadings V with component i drawn anew from a direction at random."""
    new = V.copy()
    new[:, i] = 0.0
    basis, constraint = Basis.of(new).Q, problem.allowed(i, new)
    w = problem.source.dot(rng.standard_normal((len(V), 1)))
    w = oriented(w - basis @ (basis.T @ w), [constraint])
    new[:, i] = constraint.maximize(np.ascontiguousarray(w[:, 0]))
    return new


def strongest(problem: Problem) -> Indices:
    """Features that go with few others, but closely: small groups that principal axes do not show.

    They have a few large entries in their rows of S, and those outweigh many small ones in a sum of
    fourth powers. As many rows are looked at as can be afforded; none if they are too few to
    choose from.
    """
    source, strategy = problem.source, problem.strategy
    count = int(strategy.rows / source.row_cost) if source.row_cost else 0
    if count < strategy.least_features:
        return np.zeros(0, dtype=np.intp)
    looked_at = np.argsort(-source.diagonal, kind="stable")[:count]
    sums = np.empty(looked_at.size)
    for begin in range(0, looked_at.size, _ROWS_AT_A_TIME):
        some = slice(begin, begin + _ROWS_AT_A_TIME)
        rows = source.rows(looked_at[some]) / (problem.total or 1.0)
        rows *= rows
        sums[some] = np.einsum("ij,ij->i", rows, rows)
    return looked_at[np.argsort(-sums, kind="stable")[: strategy.least_features]]


def _most_promising(problem: Problem, rest: Rest, constraint: Constraint, k: int) -> list[Array]:
    """Rows of what is left, as loadings, on whose supports most is explained, all different."""
    left = rest.matrix()
    seeds = np.column_stack([*_seeds(problem, left, constraint, k)] or [np.zeros(len(left))])
    # One power step on each support: loadings of a row say too little about what it can explain.
    product = left @ seeds
    W = np.where(product * seeds > 0.0, product, 0.0)
    W /= np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
    values = (W * (left @ W)).sum(axis=0) / np.maximum(rest.outside(W), _INSIDE)
    found: dict[bytes, Array] = {}
    for j in np.argsort(-values, kind="stable"):
        v = np.ascontiguousarray(seeds[:, j])
        found.setdefault((v != 0.0).tobytes(), v)
        if len(found) == problem.strategy.tried:
            break
    return list(found.values())


def _seeds(problem: Problem, left: Array, constraint: Constraint, k: int) -> Iterator[Array]:
    """The rows whose k largest entries are longest, brought into a set that has room for k
    features; not those of features that the set has no use for."""
    count = problem.n_seeds
    squares = np.square(left / (problem.total or 1.0))
    if k < len(squares):
        squares = np.partition(squares, -k, axis=1)[:, -k:]
    for j in np.argsort(-squares.sum(axis=1), kind="stable"):
        v = constraint.maximize(np.ascontiguousarray(left[j]))
        if v[j] != 0.0:
            yield v
            count -= 1
        if count == 0:
            return
