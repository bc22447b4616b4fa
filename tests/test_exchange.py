"""Exchanges of single features: what they add is what they say, and never less than before."""

from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from helpers import climbed, factor_data, random_feasible, solve, unit_columns
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.datasets import load_pitprops
from redac.exceptions import ExhaustedWarning
from redac.solver import variance
from redac.solver.climb import Start
from redac.solver.exchange import Rest, _larger_root, exchange
from redac.solver.problem import Problem
from redac.solver.starts import Starts
from redac.solver.strategy import Strategy
from redac.solver.sweep import Status
from redac.sources import Columns, Factor, Gram, as_data

SEEDS = st.integers(0, 10_000)
OUTSIDE = 0.5
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
    return Rest(Gram(S), b, S @ b, OUTSIDE)


def task(S: np.ndarray, constraints, **options) -> Problem:
    return Problem(Gram(S), constraints, **options)


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
    rest = Rest(Gram(S), np.zeros((9, 0)), np.zeros((9, 0)), OUTSIDE)
    start = np.zeros(9)
    start[np.random.default_rng(seed).permutation(9)[:k]] = 1.0 / np.sqrt(k)
    v = rest.leading(np.flatnonzero(start))
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
    problem = task(S, constraints, ridge=ridge, least_separation=least, tol=1e-3)
    before = V.copy()
    better = exchange(problem, V)
    np.testing.assert_array_equal(V, before)
    if better is V:
        return
    assert value(S, better, ridge) > value(S, V, ridge) + gain
    assert all(KINDS[kind].contains(v) for v in better.T)
    if least:
        assert variance.separation(better) >= least - 1e-9


def test_l1_bounds_are_left_alone():
    V = loadings(3, "l1")
    assert exchange(task(matrix(3), [L1(1.6)] * 3), V) is V


@pytest.mark.parametrize("kind", ["l0", "nonnegative"])
def test_every_source_exchanges_the_same(kind):
    X = factor_data(30, 9, 5)
    X -= X.mean(axis=0)
    V = loadings(6, kind)
    S = X.T @ X
    sources = [Gram(S), Factor(np.ascontiguousarray(X.T)), Columns(as_data(X))]
    found = [exchange(Problem(source, [KINDS[kind]] * 3), V) for source in sources]
    assert found[0] is not V
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-8)


def test_degenerate_components_are_left_alone():
    S = matrix(1)
    copies = np.zeros((9, 3))
    copies[:2] = 1.0 / np.sqrt(2.0)
    assert np.isfinite(exchange(task(S, [L0(2)] * 3), copies)).all()
    nothing = np.zeros((9, 1))
    everything = np.full((9, 1), 1.0 / 3.0)
    for problem, V in (
        (task(np.zeros((4, 4)), [L0(2)]), np.eye(4)[:, :1]),
        (task(S, [L0(2)]), nothing),
        (task(S, [L0(9)]), everything),
    ):
        assert exchange(problem, V) is V


@pytest.mark.parametrize("k", [3, 21, 40])
def test_components_of_any_size_exchange_a_feature(k):
    """The first k features are noise, and one behind them is stronger than all of them."""
    S = np.eye(60)
    S[50, 50] = 10.0
    V = np.zeros((60, 1))
    V[:k] = 1.0 / np.sqrt(k)
    better = exchange(task(S, [L0(k)]), V)
    assert np.flatnonzero(better)[-1] == 50
    assert np.count_nonzero(better) <= k
    assert value(S, better) == pytest.approx(10.0, rel=1e-9)


def beside_another(outside: float) -> tuple[Problem, np.ndarray]:
    """Feature 2 adds most to the first component, but lies nearly in its span; feature 3 not."""
    V = np.zeros((5, 2))
    V[[2, 1, 4], 0] = np.sqrt([0.8, 0.1, 0.1])
    V[0, 1] = 1.0
    S = np.diag([1.0, 1.0, 9.0, 2.0, 1.0])
    # The first component is not one that exchanges.
    return task(S, [L1(1.6), L0(1)], strategy=Strategy(outside=outside)), V


@pytest.mark.parametrize(("outside", "entering"), [(0.5, 3), (0.1, 2)])
def test_components_do_not_move_closer_to_others_than_the_strategy_lets_them(outside, entering):
    problem, V = beside_another(outside)
    better = exchange(problem, V)
    np.testing.assert_array_equal(better[:, 0], V[:, 0])
    assert np.flatnonzero(better[:, 1]).tolist() == [entering]


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
        S = np.corrcoef(np.random.default_rng(seed).standard_normal((40, 20)).T)
        problem = task(S, [KINDS[kind]] * 3, strategy=Strategy(exchanges=1e9))
        start = Starts(problem, np.random.RandomState(0)).pca()
        step = climbed(problem, Start(start, 0.1))
        found = step.whole
        assert found.status is Status.CONVERGED
        assert exchange(problem, found.V) is found.V
        assert (np.diff(found.history) <= 1e-12).all()
        plain = solve(problem.source, problem.constraints, start).V
        gained += step.value > value(S, plain) * (1 + 1e-3)
    assert gained >= 4


@pytest.mark.parametrize("kind", ["l0", "nonnegative"])
def test_exchanges_cost_no_more_than_the_strategy_allows(kind):
    """None where they are too expensive: then a run ends where a sweep gains nothing."""
    S = np.corrcoef(np.random.default_rng(0).standard_normal((40, 20)).T)
    k, d = 3, 20
    one = k * d + k**3
    values = []
    for allowed in (0, 1, 10):
        strategy = Strategy(exchanges=(allowed + 0.5) * one)
        problem = task(S, [KINDS[kind]] * 3, strategy=strategy)
        assert problem.n_exchanges == allowed
        start = Starts(problem, np.random.RandomState(0)).pca()
        step = climbed(problem, Start(start, 0.1))
        assert step.solution.status is Status.CONVERGED
        values.append(step.value)
        if allowed == 0:
            assert exchange(problem, step.whole.V) is not step.whole.V  # there was one to make
    assert values[0] < values[1] <= values[2]


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


def test_a_small_group_is_found_among_features_that_vary_more():
    """By chance some of many features vary more than those of the group."""
    ahead = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 1500))
        group = rng.choice(1500, 3, replace=False)
        X[:, group] = rng.standard_normal((100, 1)) + 0.3 * rng.standard_normal((100, 3))
        planted = np.zeros((1, 1500))
        planted[0, group] = 1.0
        fits = [SparsePCA(1, cardinality=3, init=init).fit(X) for init in ("pca", planted)]
        found, known = (float(fit.explained_variance_ratio_[0]) for fit in fits)
        ahead.append(found >= known - 1e-9)
    assert sum(ahead) >= 5


@pytest.mark.parametrize("n", [10, 200, 700], ids=["factor", "columns", "gram"])
def test_nothing_to_explain_among_many_features_is_said(n):
    with pytest.warns(ExhaustedWarning):
        model = SparsePCA(2, cardinality=5).fit(np.full((n, 600), 3.0))
    assert not model.components_.any()
