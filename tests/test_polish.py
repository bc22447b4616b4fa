"""Polish: the loadings of fixed supports, improved at once."""

import numpy as np
import pytest

from helpers import CONSTRAINTS, factor_data, random_feasible
from redac.constraints import L0, L1, Nonnegative
from redac.solver import polish as module
from redac.solver.polish import polish
from redac.solver.problem import Problem
from redac.solver.variance import DISTINCT, separation
from redac.sources import Columns, as_data, as_source, covariance_source

D, R = 15, 3
SOURCES = {
    "gram": lambda seed: as_source(as_data(factor_data(60, D, seed))),
    "factor": lambda seed: as_source(as_data(factor_data(10, D, seed))),
    "columns": lambda seed: Columns(as_data(factor_data(60, D, seed))),
    "covariance": lambda seed: covariance_source(np.cov(factor_data(60, D, seed), rowvar=False)),
}
FREE = {
    "l0": [L0(5), L0(4), L0(6)],
    "nonnegative": [Nonnegative(L0(5)), Nonnegative(L0(4)), Nonnegative(L0(6))],
    "some nonnegative": [L0(5), Nonnegative(L0(4)), L0(6)],
    "unconstrained": [L0(D)] * 3,
    "one l1": [L0(5), L1(1.8), Nonnegative(L0(6))],
}
source = pytest.mark.parametrize("source", SOURCES)
constraints = pytest.mark.parametrize("constraints", FREE)
ridges = pytest.mark.parametrize("ridge", [0.0, 0.05, 0.5])


def explained(S: np.ndarray, V: np.ndarray, ridge: float) -> float:
    """Tr(S V(VᵀV + ηI)⁺Vᵀ), from its definition."""
    return float(np.trace(S @ V @ np.linalg.pinv(V.T @ V + ridge * np.eye(V.shape[1])) @ V.T))


def matrix_of(source) -> np.ndarray:
    return source.dot(np.eye(source.n_features))


def loadings(constraints, seed: int) -> np.ndarray:
    """Feasible loadings at random, well apart."""
    rng = np.random.default_rng(seed)
    while True:
        V = np.column_stack([random_feasible(c, D, rng) for c in constraints])
        if np.linalg.cond(V) < 3:
            return V


def polished(source, constraints, V, *, ridge=0.0, tol=1e-9, least=0.0):
    problem = Problem(source, constraints, ridge=ridge, tol=tol, least_separation=least)
    return polish(problem, V)


# ------------------------------------------------------------ what it promises


@source
@constraints
@ridges
@pytest.mark.parametrize("seed", range(3))
def test_polish_explains_more_on_the_same_supports(source, constraints, ridge, seed):
    S, sets = SOURCES[source](seed), FREE[constraints]
    V = loadings(sets, seed)
    before = V.copy()
    better = polished(S, sets, V, ridge=ridge)
    np.testing.assert_array_equal(V, before)
    matrix = matrix_of(S)
    gained = explained(matrix, better, ridge) - explained(matrix, V, ridge)
    assert gained > 1e-4 * S.total  # random loadings are far from the best of their supports
    assert not (better[V == 0] != 0).any()
    assert all(c.contains(v) for c, v in zip(sets, better.T, strict=True))


@source
@ridges
def test_on_one_support_polish_finds_the_eigenvector(source, ridge):
    S = SOURCES[source](4)
    V = loadings([L0(6)], 0)
    better = polished(S, [L0(6)], V, ridge=ridge, tol=1e-13)
    used = np.flatnonzero(V)
    part = matrix_of(S)[np.ix_(used, used)]
    top = np.linalg.eigvalsh(part)[-1]
    assert explained(matrix_of(S), better, 0.0) == pytest.approx(top, rel=1e-8)


@constraints
@ridges
@pytest.mark.parametrize("seed", range(4))
def test_no_step_along_a_support_improves_on_polished_loadings(constraints, ridge, seed):
    S, sets = SOURCES["gram"](seed), FREE[constraints]
    matrix = matrix_of(S)
    better = loadings(sets, seed)
    for _ in range(6):  # each call takes a limited number of steps
        better = polished(S, sets, better, ridge=max(ridge, 0.02), tol=1e-14)
    value = explained(matrix, better, max(ridge, 0.02))
    rng = np.random.default_rng(seed)
    for i, constraint in enumerate(sets):
        if constraint.free_range is None:
            continue
        for _ in range(20):
            moved = better.copy()
            step = 1e-3 * rng.standard_normal(D) * (better[:, i] != 0)
            moved[:, i] += step
            if constraint.free_range[0] == 0.0:
                moved[:, i] = np.maximum(moved[:, i], 0.0)
            moved[:, i] /= np.linalg.norm(moved[:, i])
            assert explained(matrix, moved, max(ridge, 0.02)) <= value + 1e-8 * S.total


def test_components_that_may_not_move_stay_to_the_bit():
    S = SOURCES["gram"](0)
    sets = [L0(5), L1(1.8), Nonnegative(L1(1.9)), Nonnegative(L0(4))]
    V = loadings(sets, 2)
    better = polished(S, sets, V)
    np.testing.assert_allclose(better[:, [1, 2]], V[:, [1, 2]], rtol=0, atol=1e-15)
    assert (np.abs(better - V)[:, [0, 3]].max(axis=0) > 1e-3).all()


@pytest.mark.parametrize("kind", ["l1", "nonnegative-l1"])
def test_without_a_component_that_may_move_nothing_happens(kind):
    S = SOURCES["gram"](0)
    sets = [CONSTRAINTS[kind](D, 0.3)] * R
    V = loadings(sets, 0)
    assert polished(S, sets, V) is V


def test_too_many_features_in_use_are_left_to_the_sweeps(monkeypatch):
    S, sets = SOURCES["gram"](0), FREE["l0"]
    V = loadings(sets, 0)
    monkeypatch.setattr(module, "_LARGEST_PART", int(V.any(axis=1).sum()) - 1)
    assert polished(S, sets, V) is V
    monkeypatch.setattr(module, "_LARGEST_PART", int(V.any(axis=1).sum()))
    assert np.abs(polished(S, sets, V) - V).max() > 1e-3


@pytest.mark.parametrize("source", ["gram", "factor"])
def test_more_steps_explain_more(source, monkeypatch):
    S, sets = SOURCES[source](0), FREE["l0"]
    V, values = loadings(sets, 0), []
    for steps in (1, 3, 50):
        monkeypatch.setattr(module, "_MOST_STEPS", steps)
        better = polished(S, sets, V, tol=1e-12)
        values.append(explained(matrix_of(S), better, 0.0))
    assert explained(matrix_of(S), V, 0.0) < values[0] < values[1] < values[2]


def test_on_a_part_of_the_features_the_tolerance_is_a_share_of_all_variance():
    S, sets = SOURCES["gram"](0), FREE["l0"]
    V = loadings(sets, 0)
    values = [explained(matrix_of(S), V, 0.0)]
    for total in (100.0 * S.total, S.total):
        better = polish(Problem(S, sets, tol=1e-4, total_of_all=total), V)
        values.append(explained(matrix_of(S), better, 0.0))
    assert values[0] < values[1] < values[2]


def test_entries_that_a_set_without_signs_does_not_want_become_zero():
    # Two features that oppose each other: on both, the best nonnegative vector has only one.
    S = covariance_source(np.array([[2.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.5]]))
    V = np.array([[0.6], [0.8], [0.0]])
    better = polished(S, [Nonnegative(L0(2))], V)
    np.testing.assert_allclose(better, [[1.0], [0.0], [0.0]], atol=1e-9)


# ------------------------------------------------------------ the function behind it


@constraints
@ridges
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("room", [0.0, 0.1])
def test_the_gradient_is_that_of_finite_differences(constraints, ridge, seed, room):
    S, sets = SOURCES["gram"](seed), FREE[constraints]
    V = loadings(sets, seed)
    used = np.flatnonzero(V.any(axis=1))
    moving = np.array([c.free_range is not None for c in sets])
    tail = module._Tail(Problem(S, sets, ridge), used, V[used], moving)
    # Away from the start the vectors are not of unit length, and the gradient must know.
    x = tail.start * np.random.default_rng(seed).uniform(0.5, 1.5, tail.start.size)
    value, slope = tail.loss(x, room)
    full = np.zeros_like(V)
    full[used] = tail.loadings(x)[0]
    np.testing.assert_allclose(np.linalg.norm(full, axis=0), 1.0)
    apart = full.T @ full - tail.least_apart * np.eye(R)
    left = room * np.linalg.slogdet(apart)[1]
    assert -value - left == pytest.approx(explained(matrix_of(S), full, ridge) / S.total, rel=1e-9)
    step = 1e-6
    numeric = np.empty_like(x)
    for j in range(x.size):
        shift = np.zeros_like(x)
        shift[j] = step
        numeric[j] = (tail.loss(x + shift, room)[0] - tail.loss(x - shift, room)[0]) / (2 * step)
    np.testing.assert_allclose(slope, numeric, atol=1e-7 * max(1.0, np.abs(numeric).max()))


# ------------------------------------------------------------ degenerate loadings


@constraints
@ridges
@pytest.mark.parametrize("dead", [(0,), (2,), (0, 2)])
def test_zero_components_stay_zero_and_do_no_harm(constraints, ridge, dead):
    S, sets = SOURCES["gram"](1), FREE[constraints]
    V = loadings(sets, 1)
    V[:, dead] = 0.0
    better = polished(S, sets, V, ridge=ridge)
    live = [i for i in range(R) if i not in dead]
    assert not better[:, dead].any()
    alone = polished(S, [sets[i] for i in live], V[:, live], ridge=ridge)
    np.testing.assert_allclose(better[:, live], alone, atol=1e-6)


def test_only_zero_components_are_left_alone():
    V = np.zeros((D, R))
    np.testing.assert_array_equal(polished(SOURCES["gram"](1), FREE["l0"], V), V)


@ridges
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-5, 1e-2])
def test_parallel_components_do_no_harm(ridge, angle):
    S = SOURCES["gram"](2)
    sets = [L0(5)] * R
    V = loadings(sets, 3)
    turned = V[:, 0] + angle * np.roll(np.sort(V[:, 0]), 1) * (V[:, 0] != 0)
    V[:, 1] = turned / np.linalg.norm(turned)
    better = polished(S, sets, V, ridge=ridge)
    assert np.isfinite(better).all()
    assert all(c.contains(v) for c, v in zip(sets, better.T, strict=True))
    assert not (better[V == 0] != 0).any()
    matrix = matrix_of(S)
    # The definition itself is known to rounding only where components coincide.
    assert explained(matrix, better, ridge) >= explained(matrix, V, ridge) - 1e-6 * S.total


def collapsing():
    """S = wwᵀ + ½e₀e₀ᵀ of docs/algorithm.md: explained best by two vectors that become one."""
    w = np.array([0.0, 1, 1, 1, -1, -1, -1]) / np.sqrt(6)
    S = np.outer(w, w)
    S[0, 0] += 0.5
    V = np.zeros((7, 2))
    V[0] = 0.6
    V[1:4, 0] = V[4:, 1] = 0.8 / np.sqrt(3)
    return covariance_source(S), [L0(4), L0(4)], V


@pytest.mark.parametrize("least", [0.2, 0.1, 0.01])
def test_components_are_kept_apart_as_far_as_asked(least):
    S, sets, V = collapsing()
    matrix = matrix_of(S)
    better = polished(S, sets, V, least=least)
    assert separation(better) >= least - 1e-9
    assert explained(matrix, better, 0.0) > explained(matrix, V, 0.0)
    closer = polished(S, sets, V)
    assert separation(closer) < 0.5 * least  # without the limit it would have gone there
    assert explained(matrix, closer, 0.0) > explained(matrix, better, 0.0)


def test_components_are_never_brought_closer_than_can_be_told_apart():
    S, sets, V = collapsing()
    for _ in range(20):
        V = polished(S, sets, V, tol=0.0)
        assert separation(V) >= DISTINCT * (1 - 1e-6)


def test_loadings_that_are_closer_than_allowed_are_not_moved():
    S, sets, V = collapsing()
    np.testing.assert_allclose(polished(S, sets, V, least=0.99), V, atol=1e-15)


@pytest.mark.parametrize("least", [0.9, 0.3, 0.01])
def test_loadings_at_the_edge_are_the_best_there_are(least):
    """v₁ = c e₀ + s p, v₂ = c e₀ + s q with p, q orthogonal: their separation is s² below ½."""
    S, sets, V = collapsing()
    better = polished(S, sets, V, least=least)
    p, q = np.zeros((2, 7))
    p[1:4] = 1 / np.sqrt(3)
    q[4:] = -1 / np.sqrt(3)
    best = max(
        explained(
            matrix_of(S), np.column_stack([c * np.eye(7)[0] + s * p, c * np.eye(7)[0] + s * q]), 0.0
        )
        for s in np.sqrt(np.linspace(least, 1.0, 2001))
        for c in [np.sqrt(1 - s * s)]
    )
    assert explained(matrix_of(S), better, 0.0) >= best - 1e-5


def test_a_ridge_pulls_the_best_loadings_apart():
    S, sets, V = collapsing()
    angles = []
    for ridge in (1e-3, 1e-1):
        better = polished(S, sets, V, ridge=ridge)
        angles.append(np.linalg.eigvalsh(better.T @ better)[0])
    assert angles[1] > 2 * angles[0]
