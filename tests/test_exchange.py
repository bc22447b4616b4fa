"""Exchanges of single features: what they add is what they say, and never less than before."""

from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from helpers import factor_data, random_feasible, unit_columns
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.datasets import load_pitprops
from redac.exceptions import ExhaustedWarning
from redac.solver import variance
from redac.solver.exchange import Rest, _larger_root, exchange
from redac.solver.problem import Problem
from redac.solver.run import Run
from redac.solver.starts import Starts
from redac.solver.sweep import solve
from redac.sources import Columns, Factor, Gram, as_data

SEEDS = st.integers(0, 10_000)
KINDS = {"l0": L0(3), "nonnegative": Nonnegative(L0(3)), "l1": L1(1.6)}
kinds = pytest.mark.parametrize("kind", KINDS)
PITPROPS = np.asarray(load_pitprops().correlation)
WINE = np.corrcoef(load_wine().data, rowvar=False)


def matrix(seed: int, d: int = 9) -> np.ndarray:
    X = factor_data(30, d, seed)
    return (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))


def value(S: np.ndarray, V: np.ndarray, ridge: float = 0.0) -> float:
    return variance.Explained.of(V, lambda Q: Q.T @ S @ Q).together(ridge)


def loadings(seed: int, kind: str, r: int = 3, d: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([random_feasible(KINDS[kind], d, rng) for _ in range(r)])


def rest_of(S: np.ndarray, V: np.ndarray) -> Rest:
    b = np.linalg.qr(V)[0]
    return Rest(Gram(S), b, S @ b)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_a_quotient_is_what_a_component_adds_to_others(seed):
    S, V = matrix(seed), unit_columns(9, 3, seed)
    added, outside = rest_of(S, V[:, :2]).quotient(V[:, 2])
    assert added == pytest.approx(value(S, V) - value(S, V[:, :2]), rel=1e-8, abs=1e-8)
    b = np.linalg.qr(V[:, :2])[0]
    assert outside == pytest.approx(1.0 - np.sum((b.T @ V[:, 2]) ** 2), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_the_larger_root_is_the_largest_quotient_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    A, Q = (X @ X.T for X in rng.standard_normal((2, 2, 4)))
    found = _larger_root(*((M[:1, :1], M[:1, 1:], M[1:, 1:]) for M in (A, Q)))[0, 0]
    if np.linalg.det(Q) > 0.1 * Q[0, 0] * Q[1, 1]:
        assert found == pytest.approx(scipy.linalg.eigvalsh(A, Q)[-1], rel=1e-8)
    else:
        assert found == pytest.approx(A[1, 1] / Q[1, 1])


@kinds
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_an_exchange_adds_more_with_one_other_feature_inside_the_set(kind, seed):
    S, V = matrix(seed), loadings(seed, kind)
    rest, before = rest_of(S, V[:, :2]), V[:, 2]
    after = rest.exchanged(before, KINDS[kind])
    if after is None:
        return
    assert KINDS[kind].contains(after)
    assert len(set(np.flatnonzero(after)) - set(np.flatnonzero(before))) == 1
    assert len(set(np.flatnonzero(before)) - set(np.flatnonzero(after))) >= 1
    assert rest.quotient(after)[0] > rest.quotient(before)[0]


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, k=st.integers(1, 4))
def test_no_exchange_is_left_out_that_two_loadings_could_gain_by(seed, k):
    """Alone, from the best loadings of a support: all pairs, one by one, by brute force."""
    S = matrix(seed)
    rest = Rest(Gram(S), np.zeros((9, 0)), np.zeros((9, 0)))
    start = np.zeros(9)
    start[np.random.default_rng(seed).permutation(9)[:k]] = 1.0 / np.sqrt(k)
    v = rest.settled(start, L0(k))
    support = np.flatnonzero(v)
    now = rest.quotient(v)[0]
    assert now == pytest.approx(np.linalg.eigvalsh(S[np.ix_(support, support)])[-1])
    best = 0.0
    for j in support:
        for entering in np.setdiff1d(np.arange(9), support):
            basis = np.zeros((9, 2))
            basis[:, 0], basis[j, 0], basis[entering, 1] = v, 0.0, 1.0
            lengths = np.linalg.norm(basis, axis=0)
            Y = basis[:, lengths > 0] / lengths[lengths > 0]
            best = max(best, np.linalg.eigvalsh(Y.T @ S @ Y)[-1])
    after = rest.exchanged(v, L0(k))
    if best > now * (1 + 1e-8):
        assert after is not None
        assert rest.quotient(after)[0] >= best * (1 - 1e-9)


@kinds
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, least=st.sampled_from([0.0, 0.3]))
def test_exchanges_gain_and_keep_what_is_asked_for(kind, ridge, seed, least):
    S, V = matrix(seed), loadings(seed, kind)
    constraints = [KINDS[kind]] * 3
    gain = 1e-3 * np.trace(S)
    better = exchange(Gram(S), constraints, V, ridge=ridge, least_separation=least, least_gain=gain)
    if better is None:
        return
    assert value(S, better, ridge) > value(S, V, ridge) + gain
    assert all(KINDS[kind].contains(v) for v in better.T)
    if least:
        assert variance.separation(better) >= least - 1e-9


def test_l1_bounds_are_left_alone():
    V = loadings(3, "l1")
    assert exchange(Gram(matrix(3)), [L1(1.6)] * 3, V) is None


@pytest.mark.parametrize("kind", ["l0", "nonnegative"])
def test_every_source_exchanges_the_same(kind):
    X = factor_data(30, 9, 5)
    X -= X.mean(axis=0)
    V = loadings(6, kind)
    S = X.T @ X
    sources = [Gram(S), Factor(np.ascontiguousarray(X.T)), Columns(as_data(X))]
    found = [exchange(source, [KINDS[kind]] * 3, V) for source in sources]
    assert found[0] is not None
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-8)


def test_degenerate_components_are_left_alone():
    S = matrix(1)
    copies = np.zeros((9, 3))
    copies[:2] = 1.0 / np.sqrt(2.0)
    better = exchange(Gram(S), [L0(2)] * 3, copies)
    assert better is None or np.isfinite(better).all()
    assert exchange(Gram(np.zeros((4, 4))), [L0(2)], np.eye(4)[:, :1]) is None
    assert exchange(Gram(S), [L0(2)], np.zeros((9, 1))) is None
    everything = np.full((9, 1), 1.0 / 3.0)
    assert exchange(Gram(S), [L0(9)], everything) is None
    many = np.full((30, 1), 0.0)
    many[:21] = 1.0 / np.sqrt(21.0)
    assert exchange(Gram(matrix(1, 30)), [L0(21)], many) is None


@pytest.mark.parametrize("S", [PITPROPS, WINE], ids=["pitprops", "wine"])
@pytest.mark.parametrize("k", range(1, 13))
def test_one_component_is_the_best_of_all(S, k):
    best = max(np.linalg.eigvalsh(S[np.ix_(T, T)])[-1] for T in combinations(range(13), k))
    model = SparsePCA(1, cardinality=k).fit_covariance(S)
    assert model.explained_variance_ratio_.sum() == pytest.approx(best / 13, rel=1e-6)


@pytest.mark.parametrize("kind", ["l0", "nonnegative"])
def test_a_finished_run_has_no_exchange_left(kind):
    """Sweeps alone would stop before."""
    gained = 0
    for seed in range(8):
        source = Gram(np.corrcoef(np.random.default_rng(seed).standard_normal((40, 20)).T))
        task = Problem(source, [KINDS[kind]] * 3)
        start = Starts(source, task.constraints, np.random.RandomState(0)).pca()
        run = Run(task, start, 0.1)
        run.scout()
        run.settle()
        run.finish()
        gain = task.tol * task.total
        assert exchange(source, task.constraints, run.solution.V, least_gain=gain) is None
        assert (np.diff(run.solution.history) <= 1e-12).all()
        plain = solve(source, task.constraints, start).V
        gained += run.appraise() > value(source.S, plain) * (1 + 1e-3)
    assert gained >= 4


def test_a_small_group_among_many_features_is_found():
    """Principal axes of so many features do not show it; sparse components one by one do."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 1500))
    groups = np.array([[3, 700, 1200], [40, 41, 1499]])
    for features in groups:
        X[:, features] += 2.0 * rng.standard_normal((100, 1))
    X /= X.std(axis=0)
    model = SparsePCA(2, cardinality=3).fit(X)
    found = {tuple(np.flatnonzero(v)) for v in model.components_}
    assert found == {tuple(features) for features in groups}


@pytest.mark.parametrize("n", [10, 200, 700], ids=["factor", "columns", "gram"])
def test_nothing_to_explain_among_many_features_is_said(n):
    with pytest.warns(ExhaustedWarning):
        model = SparsePCA(2, cardinality=5).fit(np.full((n, 600), 3.0))
    assert not model.components_.any()
