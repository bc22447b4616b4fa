"""Two components change a feature at once: what that gains, and that it keeps to the rules."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from helpers import factor_data
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.solver import variance
from redac.solver.problem import Problem
from redac.solver.strategy import Strategy
from redac.solver.swap import swap
from redac.sources import Gram

SEEDS = st.integers(0, 10_000)
KINDS = {"l0": L0, "nonnegative": lambda k: Nonnegative(L0(k))}


def matrix(seed: int, d: int) -> np.ndarray:
    X = factor_data(40, d, seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X.T @ X / len(X)


def leading(S: np.ndarray, support: tuple[int, ...]) -> np.ndarray:
    v = np.zeros(len(S))
    v[list(support)] = np.linalg.eigh(S[np.ix_(support, support)])[1][:, -1]
    return v


def shared_out(seed: int, d: int, k: int, r: int, kind: str = "l0", **options):
    """A problem, and loadings on supports that share no feature."""
    S = matrix(seed, d)
    if kind == "nonnegative":
        S = np.abs(S) + 0.1 * d * np.eye(d)  # so that leading vectors are nonnegative
    order = np.random.default_rng(seed).permutation(d)[: r * k].reshape(r, k)
    V = np.column_stack([leading(S, tuple(support)) for support in order])
    V = np.abs(V) if kind == "nonnegative" else V
    return Problem(Gram(S), [KINDS[kind](k)] * r, **options), V


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, k=st.integers(1, 4), r=st.integers(2, 4))
def test_it_never_explains_less_and_keeps_to_the_sets(kind, seed, k, r):
    problem, V = shared_out(seed, 18, k, r, kind)
    before = V.copy()
    new = swap(problem, V)
    np.testing.assert_array_equal(V, before)
    assert all(c.contains(v) for c, v in zip(problem.constraints, new.T, strict=True))
    assert variance.separation(new) >= variance.DISTINCT
    if new is V:
        return
    assert problem.value(new) > problem.value(V) + problem.tol * problem.total


def every_pair_exchanged(S: np.ndarray, supports: list[tuple[int, ...]]) -> float:
    """The most that supports explain after one feature of each of two components has changed
    places with one of the other."""
    best = -np.inf
    for a, b in combinations(range(len(supports)), 2):
        for j in supports[a]:
            for m in supports[b]:
                new = list(supports)
                new[a] = tuple(m if x == j else x for x in supports[a])
                new[b] = tuple(j if x == m else x for x in supports[b])
                best = max(best, sum(np.linalg.eigvalsh(S[np.ix_(s, s)])[-1] for s in new))
    return best


def test_it_mostly_leaves_no_gain_to_any_exchange_between_two_components():
    left, gained = 0, 0
    for seed in range(60):
        problem, V = shared_out(seed, 12, 3, 3)
        S, new = problem.source.S, swap(problem, V)
        gained += new is not V
        supports = [tuple(np.flatnonzero(v).tolist()) for v in new.T]
        if len(set().union(*supports)) == 9:  # they share no feature: values are sums
            left += every_pair_exchanged(S, supports) > problem.value(new) * (1 + 1e-6)
    assert gained >= 50
    assert left <= 6


def test_four_features_are_paired_as_well_as_they_can_be():
    """No single exchange leads from one pairing to another: each feature belongs to one pair."""
    for seed in range(30):
        S = matrix(seed, 4)
        values = {
            frozenset([order[:2], order[2:]]): sum(
                np.linalg.eigvalsh(S[np.ix_(pair, pair)])[-1] for pair in (order[:2], order[2:])
            )
            for order in (tuple(p) for p in permutations(range(4)))
            if order[0] < order[1] and order[2] < order[3]
        }
        worst = min(values, key=values.__getitem__)
        V = np.column_stack([leading(S, pair) for pair in worst])
        problem = Problem(Gram(S), [L0(2)] * 2)
        assert problem.value(swap(problem, V)) >= max(values.values()) * (1 - 1e-9)


def test_iris_pairs_are_the_best_ones():
    """From the paper's algorithm alone 80.95 % are explained."""
    model = SparsePCA(2, cardinality=2, standardize=True).fit(load_iris().data)
    assert 100 * model.explained_variance_ratio_.sum() == pytest.approx(81.16, abs=0.01)


def test_sets_whose_entries_are_not_free_are_left_alone():
    S = matrix(0, 10)
    V = np.eye(10)[:, :3]
    assert swap(Problem(Gram(S), [L1(1.5)] * 3), V) is V
    assert swap(Problem(Gram(S), [L1(1.5), L0(1), L1(1.5)]), V) is V


def test_there_is_nothing_to_swap_with_a_single_component_or_without_effort():
    problem, V = shared_out(1, 12, 3, 3)
    assert swap(Problem(problem.source, [L0(3)]), V[:, :1]) is not None
    one = V[:, :1]
    assert swap(Problem(problem.source, [L0(3)]), one) is one
    lazy = Problem(problem.source, problem.constraints, strategy=Strategy(exchanges=0))
    assert swap(lazy, V) is V
    dead = V * [1.0, 0.0, 0.0]
    assert swap(problem, dead) is dead


@pytest.mark.parametrize("seed", range(8))
def test_permuting_features_permutes_the_result(seed):
    problem, V = shared_out(seed, 14, 3, 3)
    order = np.random.default_rng(seed + 1).permutation(14)
    turned = Problem(Gram(problem.source.S[np.ix_(order, order)]), problem.constraints)
    np.testing.assert_allclose(
        np.abs(swap(turned, V[order])), np.abs(swap(problem, V)[order]), atol=1e-9
    )


@pytest.mark.parametrize("seed", range(8))
def test_features_without_variance_are_never_used(seed):
    problem, V = shared_out(seed, 12, 3, 3)
    S, wide = np.zeros((20, 20)), np.zeros((20, 3))
    S[:12, :12], wide[:12] = problem.source.S, V
    new = swap(Problem(Gram(S), problem.constraints), wide)
    np.testing.assert_allclose(np.abs(new[:12]), np.abs(swap(problem, V)), atol=1e-9)
    assert not new[12:].any()
