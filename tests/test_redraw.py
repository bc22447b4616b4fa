"""A component drawn anew: what it does not depend on, and how good it is."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import (
    CONSTRAINTS,
    SAME_OPTIMUM,
    assert_same_loadings,
    factor_data,
    projector,
    random_feasible,
)
from redac.constraints import L0
from redac.solver.problem import Problem
from redac.solver.redraw import redraw, redraw_at_random, strongest
from redac.solver.strategy import Strategy
from redac.sources import Columns, Gram, as_data, as_source

R = 3
SEEDS = st.integers(0, 10_000)
kinds = pytest.mark.parametrize("kind", list(CONSTRAINTS))
components = pytest.mark.parametrize("i", range(R))


def problem(seed: int, kind: str, *, d: int = 12, r: int = R, **options) -> Problem:
    X = factor_data(30, d, seed)
    X -= X.mean(axis=0)
    return Problem(Gram(X.T @ X), [CONSTRAINTS[kind](d, 0.3)] * r, **options)


def loadings(task: Problem, seed: int, *, spare: int = 0) -> np.ndarray:
    """Feasible loadings at random, well apart.

    Any of the components use so many features at least as they are, and ``spare`` more. Without a
    spare one nothing is left of their features, and rounding makes its sign.
    """
    rng = np.random.default_rng(seed)
    d, r = task.source.n_features, len(task.constraints)
    groups = [list(some) for n in range(1, r + 1) for some in combinations(range(r), n)]
    while True:
        V = np.column_stack([random_feasible(c, d, rng) for c in task.constraints])
        more = [np.count_nonzero(V[:, some].any(axis=1)) - len(some) for some in groups]
        if np.linalg.cond(V) < 5 and min(more) >= spare:
            return V


def assert_same_draw(actual: np.ndarray, expected: np.ndarray) -> None:
    """The same component, or one that spans the same together with the others.

    Beside a component on two features each of them is the same: v on one, and v on the other, add
    the same to it, and rounding decides. So it is wherever others have most of the features of v.
    """
    if np.array_equal(actual != 0, expected != 0):
        assert_same_loadings(actual, expected)
    else:
        np.testing.assert_allclose(projector(actual), projector(expected), atol=SAME_OPTIMUM)


@kinds
@components
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_the_others_stay_and_the_new_component_is_in_its_set(kind, i, seed):
    task = problem(seed, kind)
    V = loadings(task, seed)
    before = V.copy()
    new = redraw(task, V, i)
    np.testing.assert_array_equal(V, before)
    np.testing.assert_array_equal(np.delete(new, i, axis=1), np.delete(V, i, axis=1))
    assert task.constraints[i].contains(new[:, i])
    # It adds something to the others.
    others = new.copy()
    others[:, i] = 0.0
    assert task.value(new) > task.value(others) * (1 + 1e-9)


@kinds
@components
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_it_does_not_depend_on_what_the_component_was(kind, i, seed):
    task = problem(seed, kind)
    V = loadings(task, seed)
    other = V.copy()
    other[:, i] = np.eye(12)[:, 3]
    gone = V.copy()
    gone[:, i] = 0.0
    expected = redraw(task, V, i)
    for W in (other, gone, expected):
        assert_same_loadings(redraw(task, W, i), expected)


@kinds
@components
@pytest.mark.parametrize("seed", range(5))
def test_permuting_features_permutes_it(kind, i, seed):
    task = problem(seed, kind)
    V = loadings(task, seed, spare=2)
    order = np.random.default_rng(seed).permutation(12)
    turned = Problem(Gram(task.source.S[np.ix_(order, order)]), task.constraints)
    assert_same_draw(redraw(turned, V[order], i), redraw(task, V, i)[order])


@kinds
@components
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("place", ["behind", "between"])
def test_features_without_variance_change_nothing(kind, i, seed, place):
    task = problem(seed, kind)
    V = loadings(task, seed, spare=2)
    kept = np.arange(12) if place == "behind" else 3 * np.arange(12)
    S, wide = np.zeros((36, 36)), np.zeros((36, R))
    S[np.ix_(kept, kept)], wide[kept] = task.source.S, V
    # Bounds as they are: they do not grow with the features.
    new = redraw(Problem(Gram(S), task.constraints), wide, i)
    assert_same_draw(new[kept], redraw(task, V, i))
    assert not np.delete(new, kept, axis=0).any()


@kinds
@pytest.mark.parametrize("exponent", [-60, 60])
def test_the_scale_of_the_data_changes_nothing(kind, exponent):
    task = problem(1, kind)
    V = loadings(task, 1)
    scaled = Problem(Gram(np.ldexp(task.source.S, exponent)), task.constraints)
    assert_same_loadings(redraw(scaled, V, 1), redraw(task, V, 1))


def best_of_all(S: np.ndarray, k: int) -> float:
    """The largest vᵀSv over unit vectors of k entries, by all supports."""
    supports = combinations(range(len(S)), k)
    return max(np.linalg.eigvalsh(S[np.ix_(some, some)])[-1] for some in supports)


@settings(max_examples=80, deadline=None)
@given(seed=SEEDS, d=st.integers(2, 8), k=st.integers(1, 8))
def test_alone_it_is_close_to_the_best_of_all_supports(seed, d, k):
    k = min(k, d)
    X = factor_data(30, d, seed)
    S = X.T @ X
    task = Problem(Gram(S), [L0(k)])
    v = redraw(task, np.zeros((d, 1)), 0)[:, 0]
    assert L0(k).contains(v)
    best = best_of_all(S, k)
    assert 0.9 * best <= v @ S @ v <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_alone_it_is_closer_than_that_in_nearly_all_data(seed):
    X = factor_data(30, 8, seed)
    for d in range(2, 9):
        S = X[:, :d].T @ X[:, :d]
        for k in range(1, d + 1):
            v = redraw(Problem(Gram(S), [L0(k)]), np.zeros((d, 1)), 0)[:, 0]
            assert v @ S @ v >= 0.95 * best_of_all(S, k)


def test_alone_it_mostly_is_the_best_of_all_supports():
    found = 0
    for seed in range(60):
        X = factor_data(30, 8, seed)
        S, k = X.T @ X, 1 + seed % 6
        v = redraw(Problem(Gram(S), [L0(k)]), np.zeros((8, 1)), 0)[:, 0]
        found += v @ S @ v >= best_of_all(S, k) * (1 - 1e-9)
    assert found >= 54


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_beside_others_it_adds_nearly_as_much_as_any_that_is_not_close_to_them(seed, k):
    """All supports, one by one, whose best vectors are as far outside the others as asked for."""
    task = problem(seed, "l0", d=8)
    task = Problem(task.source, [L0(k)] * R)
    V, S = loadings(task, seed), task.source.S
    b = np.linalg.qr(V[:, :2])[0]
    Q = np.eye(8) - b @ b.T
    best = 0.0
    for some in combinations(range(8), k):
        # Unit vectors x on the support with xᵀQx no less than that have xᵀQSQx ≤ λ xᵀQx.
        lengths, axes = np.linalg.eigh(Q[np.ix_(some, some)])
        if lengths[0] >= task.strategy.outside:
            root = axes / np.sqrt(lengths)
            A = (Q @ S @ Q)[np.ix_(some, some)]
            best = max(best, np.linalg.eigvalsh(root.T @ A @ root)[-1])
    new = redraw(task, V, 2)
    added = task.value(new) - task.value(new[:, :2])
    assert best > 0.0
    assert added >= 0.9 * best


@kinds
def test_where_others_explain_everything_nothing_is_drawn(kind):
    S = np.diag([4.0, 2.0, 0.0, 0.0])
    task = Problem(Gram(S), [CONSTRAINTS[kind](4, 0.5)] * R)
    new = redraw(task, np.eye(4, R), 2)
    assert not new[:, 2].any()
    np.testing.assert_array_equal(new[:, :2], np.eye(4, 2))
    assert not redraw(Problem(Gram(np.zeros((4, 4))), task.constraints), np.eye(4, R), 0)[
        :, 0
    ].any()


@kinds
@pytest.mark.parametrize("seed", range(4))
def test_every_source_draws_the_same(kind, seed):
    X = factor_data(10, 14, seed)
    X -= X.mean(axis=0)
    sets = [CONSTRAINTS[kind](14, 0.3)] * R
    tasks = [Problem(s, sets) for s in (Gram(X.T @ X), as_source(as_data(X)), Columns(as_data(X)))]
    V = loadings(tasks[0], seed)
    for task in tasks[1:]:
        assert_same_draw(redraw(task, V, 1), redraw(tasks[0], V, 1))


@kinds
def test_more_effort_mostly_adds_more(kind):
    """Seeds and exchanges beyond the first ones mostly find something better."""
    gained = 0
    for seed in range(20):
        task = problem(seed, kind, d=25)
        V = loadings(task, seed, spare=2)
        values = []
        for strategy in (
            Strategy(seeds=0, exchanges=0),
            Strategy(seeds=1e9, exchanges=1e9),
        ):
            more = Problem(task.source, task.constraints, strategy=strategy)
            values.append(task.value(redraw(more, V, 0)))
        gained += int(np.sign(round((values[1] - values[0]) / task.total, 4)))
    assert gained > 0


# ------------------------------------------------------------ at random


@kinds
@components
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_drawn_at_random_it_keeps_the_others_and_its_set(kind, i, seed):
    task = problem(seed, kind)
    V = loadings(task, seed)
    before = V.copy()
    new, again = (redraw_at_random(task, V, i, np.random.RandomState(5)) for _ in range(2))
    np.testing.assert_array_equal(V, before)
    np.testing.assert_array_equal(np.delete(new, i, axis=1), np.delete(V, i, axis=1))
    assert task.constraints[i].contains(new[:, i])
    assert_same_loadings(new, again)


@kinds
@components
@pytest.mark.parametrize("seed", range(5))
def test_drawn_at_random_it_is_what_a_step_from_a_direction_leaves_outside_the_others(
    kind, i, seed
):
    task = problem(seed, kind)
    V = loadings(task, seed)
    others = np.delete(V, i, axis=1)
    direction = np.random.RandomState(seed).standard_normal(12)
    w = task.source.S @ direction
    w -= projector(others) @ w
    v = redraw_at_random(task, V, i, np.random.RandomState(seed))[:, i]
    # A direction and its opposite are equally likely.
    nearest = [task.constraints[i].maximize(side) for side in (w, -w)]
    assert min(np.abs(v - each).max() for each in nearest) < SAME_OPTIMUM
    # So that it brings something new.
    assert np.linalg.norm(v - projector(others) @ v) > 1e-3


@kinds
def test_drawn_at_random_it_does_not_use_features_without_variance(kind):
    task = problem(3, kind)
    kept, S = 3 * np.arange(12), np.zeros((36, 36))
    S[np.ix_(kept, kept)] = task.source.S
    wide = np.zeros((36, R))
    wide[kept] = loadings(task, 3)
    for seed in range(10):
        new = redraw_at_random(
            Problem(Gram(S), task.constraints), wide, 0, np.random.RandomState(seed)
        )
        assert new[:, 0].any()
        assert not np.delete(new, kept, axis=0).any()


@kinds
def test_where_others_explain_everything_nothing_is_drawn_at_random(kind):
    S = np.diag([4.0, 2.0, 0.0, 0.0])
    task = Problem(Gram(S), [CONSTRAINTS[kind](4, 0.5)] * R)
    new = redraw_at_random(task, np.eye(4, R), 2, np.random.RandomState(0))
    assert not new[:, 2].any()


def test_seeds_lead_to_different_components():
    task = problem(2, "l0", d=40)
    V = loadings(task, 2)
    drawn = [redraw_at_random(task, V, 0, np.random.RandomState(seed))[:, 0] for seed in range(20)]
    assert len({(v != 0).tobytes() for v in drawn}) > 1


# ------------------------------------------------------------ small groups


def hidden_group(d: int, seed: int = 0) -> np.ndarray:
    """Noise of equal variances with three features that go together."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, d))
    X[:, [5, d // 2, d - 1]] += 2.0 * rng.standard_normal((100, 1))
    return X / X.std(axis=0)


@pytest.mark.parametrize("make", [as_source, Columns], ids=["factor", "columns"])
def test_a_small_group_is_among_the_strongest_features(make):
    d = 1500
    task = Problem(make(as_data(hidden_group(d))), [L0(3)] * 2)
    assert set(strongest(task)[:3]) == {5, d // 2, d - 1}
    assert strongest(task).size == task.strategy.least_features


def test_no_rows_are_looked_at_where_few_can_be_afforded():
    source = as_source(as_data(hidden_group(600)))
    task = Problem(source, [L0(3)], strategy=Strategy(rows=100 * source.row_cost))
    assert strongest(task).size == 0
