"""The measures: what components explain, in any order, at any scale, however close they are."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from redac.solver.variance import (
    DISTINCT,
    Basis,
    Explained,
    duals,
    is_separated,
    separation,
    together,
)

SEEDS = st.integers(0, 10**6)


def data_and_loadings(seed: int, r: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """X and overlapping sparse loadings V."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 9)) * rng.uniform(0.2, 3, 9)
    V = rng.standard_normal((9, r)) * (rng.random((9, r)) < 0.6)
    V[rng.integers(9), ~V.any(axis=0)] = 1.0
    return X, V


def projector(V: np.ndarray) -> np.ndarray:
    return V @ np.linalg.pinv(V)


def well_separated(V: np.ndarray) -> bool:
    return np.linalg.cond(V / np.linalg.norm(V, axis=0)) < 1e3


def explained(X: np.ndarray, V: np.ndarray) -> Explained:
    return Explained.of(V, lambda Q: Q.T @ X.T @ X @ Q)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_increments_sum_to_the_variance_of_the_projection_in_any_order(seed):
    X, V = data_and_loadings(seed)
    assume(well_separated(V))
    expected = float(((X @ projector(V)) ** 2).sum())
    measured = explained(X, V)
    for order in permutations(range(4)):
        added = explained(X, V[:, order]).increments()
        assert (added >= 0).all()
        assert added.sum() == pytest.approx(expected, rel=1e-9)
        turned = measured.in_order(np.array(order)).increments()
        np.testing.assert_allclose(turned, added, rtol=1e-7, atol=1e-9 * expected)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_each_increment_is_what_the_span_gains(seed):
    X, V = data_and_loadings(seed)
    assume(well_separated(V))
    spans = [((X @ projector(V[:, :j])) ** 2).sum() if j else 0.0 for j in range(5)]
    np.testing.assert_allclose(
        explained(X, V).increments(), np.diff(spans), rtol=1e-7, atol=1e-9 * spans[-1]
    )


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, eta=st.floats(1e-3, 10.0))
def test_explained_with_a_ridge_is_what_the_best_scores_explain(seed, eta):
    X, V = data_and_loadings(seed)
    U = X @ V @ np.linalg.inv(V.T @ V + eta * np.eye(4))
    loss = ((X - U @ V.T) ** 2).sum() + eta * (U**2).sum()
    assert explained(X, V).together(eta) == pytest.approx((X**2).sum() - loss, rel=1e-9)
    np.testing.assert_allclose(X @ Basis.of(V).duals(eta), U, rtol=1e-7, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_all_ways_to_the_measures_lead_to_the_same(seed):
    X, V = data_and_loadings(seed)
    assume(well_separated(V))
    expected = explained(X, V)
    np.testing.assert_allclose(Explained.of_data(V, X).M, expected.M, rtol=1e-7, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, eta=st.sampled_from([0.0, 1e-3, 0.5]), zero=st.booleans())
def test_the_short_ways_of_the_solver_lead_to_the_same(seed, eta, zero):
    X, V = data_and_loadings(seed)
    V = V / np.linalg.norm(V, axis=0)
    assume(well_separated(V))
    if zero:
        V[:, 1] = 0.0
    G, XV = V.T @ V, X @ V
    expected = explained(X, V).together(eta)
    assert together(G, XV.T @ XV, eta) == pytest.approx(expected, rel=1e-9)
    # Whether components are close or far apart decides about the way, never about the scores.
    np.testing.assert_allclose(duals(V, G, eta), Basis.of(V).duals(eta), rtol=1e-7, atol=1e-9)


def test_parallel_components_have_no_short_way():
    V = np.eye(5)[:, [0, 1, 1]]
    assert together(V.T @ V, np.eye(3), 0.0) is None
    np.testing.assert_allclose(duals(V, V.T @ V), Basis.of(V).duals(), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_the_greedy_order_takes_the_largest_gain_at_every_step(seed):
    X, V = data_and_loadings(seed)
    assume(well_separated(V))
    order = explained(X, V).greedy_order().tolist()
    assert sorted(order) == [0, 1, 2, 3]
    for step in range(4):
        gains = {j: explained(X, V[:, [*order[:step], j]]).increments()[-1] for j in order[step:]}
        assert gains[order[step]] >= max(gains.values()) * (1 - 1e-9)


def test_of_components_that_are_equal_but_for_rounding_the_first_goes_first():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = np.diag(1.0 + rng.uniform(-1e-15, 1e-15, 5))
        order = explained(X, np.eye(5)).greedy_order()
        assert order.tolist() == [0, 1, 2, 3, 4]


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_adjusted_variances_are_the_squared_diagonal_of_qr(seed):
    X, V = data_and_loadings(seed)
    assume(np.linalg.cond(X @ V) < 1e3)
    expected = np.linalg.qr(X @ V)[1].diagonal() ** 2
    np.testing.assert_allclose(explained(X, V).adjusted(), expected, rtol=1e-8)


@pytest.mark.parametrize("where", range(1, 4))
@pytest.mark.parametrize("kind", ["parallel", "opposite", "zero", "combination"])
def test_a_component_without_a_direction_of_its_own_adds_nothing(where, kind):
    X, V = data_and_loadings(3)
    V[:, where] = {
        "parallel": 2.0 * V[:, 0],
        "opposite": -V[:, 0],
        "zero": np.zeros(9),
        "combination": V[:, :where].sum(axis=1),
    }[kind]
    measured = explained(X, V)
    added = measured.increments()
    assert added[where] == 0.0
    assert added.sum() == pytest.approx(float(((X @ projector(V)) ** 2).sum()), rel=1e-9)
    order = measured.greedy_order()
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert measured.in_order(order).increments()[-1] == 0.0
    assert np.isfinite(measured.adjusted()).all()
    # The scores of the others reconstruct all that the span holds.
    assert not measured.basis.duals()[:, where].any()
    restored = X @ measured.basis.duals() @ V.T
    np.testing.assert_allclose(restored, X @ projector(V), atol=1e-9)


def test_components_that_are_all_zero_explain_nothing():
    measured = Explained.of(np.zeros((3, 3)), lambda Q: Q.T @ Q)
    assert measured.increments().tolist() == [0.0, 0.0, 0.0]
    assert sorted(measured.greedy_order()) == [0, 1, 2]
    assert measured.together() == measured.together(0.1) == 0.0
    assert measured.adjusted().tolist() == [0.0, 0.0, 0.0]
    assert separation(np.zeros((3, 3))) == 0.0


@pytest.mark.parametrize("length", [1e-300, 1e-160, 1e160, 1e300])
def test_the_length_of_components_does_not_matter(length):
    X, V = data_and_loadings(1)
    lengths = np.array([1.0, length, 1.0, length])
    expected = explained(X, V).increments()
    np.testing.assert_allclose(explained(X, V * lengths).increments(), expected, rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, closeness=st.floats(-9.0, 0.0), decades=st.floats(0.0, 6.0))
def test_no_components_explain_more_than_there_is_however_close_they_are(seed, closeness, decades):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 6)) * 10.0 ** rng.uniform(-decades, decades, 6)
    V = rng.standard_normal((6, 1)) + 10.0**closeness * rng.standard_normal((6, 4))
    V /= np.linalg.norm(V, axis=0)
    measured = explained(X, V)
    total = float((X * X).sum())
    assert 0.0 <= measured.together() <= total * (1 + 1e-13)
    # Scores and components reconstruct what the measure says, but for digits lost to closeness.
    restored = X @ measured.basis.duals() @ V.T
    lost = float(((X - restored) ** 2).sum())
    assert lost == pytest.approx(total - measured.together(), abs=1e-9 * total)


@settings(max_examples=40, deadline=None)
@given(V=arrays(np.float64, (6, 3), elements=st.floats(-1.0, 1.0, allow_subnormal=False)))
def test_separation_is_the_smallest_eigenvalue_of_the_gram_matrix(V):
    lengths = np.linalg.norm(V, axis=0)
    assume((lengths > 1e-3).all())
    V = V / lengths
    expected = np.linalg.eigvalsh(V.T @ V)[0]
    assert separation(V) == pytest.approx(expected, abs=1e-12)


def test_separation_is_one_for_orthonormal_and_zero_for_duplicated_components():
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 3)))[0]
    assert separation(basis) == pytest.approx(1.0, abs=1e-12)
    doubled = basis[:, [0, 1, 0]]
    assert separation(doubled) == pytest.approx(0.0, abs=1e-12)
    with_zero = np.column_stack([basis, np.zeros(8)])
    assert separation(with_zero) == pytest.approx(1.0, abs=1e-12)
    assert separation(np.eye(4)[:, [0, 1, 0, 0, 1]]) == 0.0


def test_what_is_distinct_is_independent():
    """Components as close as a run may bring them count, in any order."""
    angle = np.sqrt(DISTINCT)  # of two unit vectors with the smallest eigenvalue 1 − cos
    V = np.array([[np.cos(angle), np.cos(angle)], [np.sin(angle), -np.sin(angle)]])
    assert separation(V) > DISTINCT
    assert Basis.of(V).independent.all()
    assert is_separated(V.T @ V, DISTINCT)
