"""A component drawn anew: a sparse vector that explains much of what the others leave.

It is the step from which starts are built, one component after the other, and the step that leads
from a solution to another one: a component is taken out, and a new one is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from redac.constraints import Constraint
from redac.solver.exchange import Rest
from redac.solver.iterate import NOISE
from redac.solver.problem import Problem
from redac.solver.variance import Basis
from redac.sources.base import Array, Indices

# Power steps until supports rest: a guard against cycles; hardly any needs half as many.
_MOST_STEPS = 20
# Steps that tell good seeds from poor ones; more change the order of few.
_RIPENING_STEPS = 3
_ROWS_AT_A_TIME = 128
# A component whose part outside the span of others is no longer than this is inside it.
_INSIDE = 1e-6


def redraw(problem: Problem, V: Array, i: int) -> Array:
    """Loadings V with component i drawn anew; zero if the others leave nothing to explain."""
    new = V.copy()
    new[:, i] = 0.0
    b = Basis.of(new).Q
    Sb = problem.source.dot(b)
    C = Sb - 0.5 * b @ (b.T @ Sb)
    left = b @ C.T
    left += left.T
    np.subtract(problem.source.matrix(), left, out=left)
    rest = Rest(problem.source, b, Sb, problem.strategy.outside)
    new[:, i] = _best_on(problem, left, rest, problem.constraints[i])
    return new


def redraw_at_random(problem: Problem, V: Array, i: int, rng: np.random.RandomState) -> Array:
    """Loadings V with component i drawn anew from a direction at random."""
    new = V.copy()
    new[:, i] = 0.0
    basis = Basis.of(new).Q
    constraint = problem.constraints[i]

    def outside(w: Array) -> Array:
        return np.asarray(w - basis @ (basis.T @ w))

    def step(v: Array) -> Array:
        return constraint.maximize(outside(problem.source.dot(outside(v)[:, None])[:, 0]))

    v = step(rng.standard_normal(len(V)))
    for _ in range(_MOST_STEPS):
        before, v = v, step(v)
        if np.array_equal(before != 0, v != 0):
            break
    new[:, i] = v
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


def _best_on(problem: Problem, left: Array, rest: Rest, constraint: Constraint) -> Array:
    """A component that explains much of what others leave, which is given in two forms.

    Power steps, each brought into the set of the constraint, from the row that promises most, and
    exchanges of single features from where they end.
    """
    seed = _most_promising(problem, left, rest, constraint)
    best, height = np.zeros(len(left)), NOISE * problem.total
    seen: set[bytes] = set()
    for start in (seed, _climbed(left, constraint, seed)):
        v: Array | None = rest.settled(start, constraint)
        for _ in range(problem.n_exchanges + 1):
            if v is None or (support := (v != 0.0).tobytes()) in seen:
                break
            if constraint.free_range is not None:  # else a support does not say what is best on it
                seen.add(support)
            value, outside = rest.quotient(v)
            if value > height and outside > _INSIDE**2:
                best, height = v, value
            v = rest.exchanged(v, constraint)
    return best


def _most_promising(problem: Problem, left: Array, rest: Rest, constraint: Constraint) -> Array:
    """The row, as loadings, on whose support most is explained after some power steps there."""
    seeds = np.column_stack([*_seeds(problem, left, constraint)] or [np.zeros(len(left))])
    W, product = seeds, left @ seeds
    for _ in range(_RIPENING_STEPS):
        W = np.where(product * W > 0.0, product, 0.0)
        W /= np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
        product = left @ W
    values = (W * product).sum(axis=0) / np.maximum(rest.outside(W), _INSIDE)
    return np.ascontiguousarray(seeds[:, np.argmax(values)])


def _seeds(problem: Problem, left: Array, constraint: Constraint) -> Iterator[Array]:
    """Rows with the largest sums of fourth powers, where few large entries outweigh many, brought
    into a set; not those of features that the set has no use for."""
    count = 1 + int(problem.strategy.seeds / (problem.n_varying * len(problem.constraints) or 1))
    squares = np.square(left / (problem.total or 1.0))
    strengths = np.einsum("ij,ij->i", squares, squares)
    for j in np.argsort(-strengths, kind="stable"):
        v = constraint.maximize(np.ascontiguousarray(left[j]))
        if v[j] != 0.0:
            yield v
            count -= 1
        if count == 0:
            return


def _climbed(S: Array, constraint: Constraint, v: Array) -> Array:
    for _ in range(_MOST_STEPS):
        before, v = v, constraint.maximize(S @ v)
        if np.array_equal(before != 0, v != 0):
            break  # the sweeps will find the loadings of a support
    return v
