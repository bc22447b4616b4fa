"""What a problem says of itself and of loadings, and the parts of it that leave features out."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import CONSTRAINTS, factor_data, unit_columns
from redac.constraints import L0, L1, Nonnegative
from redac.solver.problem import Problem
from redac.solver.strategy import Strategy, current, using
from redac.sources import Columns, Gram, as_data, as_source

SEEDS = st.integers(0, 10_000)


def matrix(seed: int, d: int = 10) -> np.ndarray:
    X = factor_data(30, d, seed)
    X -= X.mean(axis=0)
    return X.T @ X


def explained(S: np.ndarray, V: np.ndarray, ridge: float = 0.0) -> float:
    """Tr(S V(VᵀV + ηI)⁺Vᵀ), from its definition."""
    return float(np.trace(S @ V @ np.linalg.pinv(V.T @ V + ridge * np.eye(V.shape[1])) @ V.T))


# ------------------------------------------------------------ values


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, ridge=st.sampled_from([0.0, 0.1]), dead=st.booleans())
def test_a_value_is_what_loadings_explain_with_the_best_scores(seed, ridge, dead):
    S, V = matrix(seed), unit_columns(10, 3, seed)
    V[:, 1] *= not dead
    value = Problem(Gram(S), [L0(10)] * 3, ridge=ridge).value(V)
    assert value == pytest.approx(explained(S, V, ridge), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, r=st.integers(1, 4), dead=st.booleans())
def test_a_contribution_is_what_is_lost_without_the_component(seed, r, dead):
    S, V = matrix(seed), unit_columns(10, r, seed)
    V[:, 0] *= not dead
    expected = [explained(S, V) - explained(S, np.delete(V, i, axis=1)) for i in range(r)]
    contributions = Problem(Gram(S), [L0(10)] * r).contributions(V)
    np.testing.assert_allclose(contributions, expected, rtol=1e-7, atol=1e-9 * np.trace(S))


def test_values_that_differ_by_rounding_are_equal():
    task = Problem(Gram(matrix(0)), [L0(3)])
    assert not task.is_better(1.0, 1.0)
    assert not task.is_better(1.0 + 1e-11 * task.total, 1.0)
    assert task.is_better(1.0 + 1e-9 * task.total, 1.0)
    assert not task.is_better(1.0, 1.0 + 1e-9 * task.total)


# ------------------------------------------------------------ sizes


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (L0(3), 3),
        (L0(7), 6),
        (L0(100), 6),
        (Nonnegative(L0(3)), 3),
        (L1(10.0), 6),
        (Nonnegative(L1(10.0)), 6),
    ],
    ids=str,
)
def test_a_component_uses_as_many_features_as_it_may_of_those_that_vary(constraint, expected):
    S = np.diag([2.0, 0.0, 1.0, 3.0, 0.0, 1.0, 0.0, 1.0, 0.0, 5.0])
    task = Problem(Gram(S), [constraint, L0(1)])
    assert task.n_varying == 6
    assert task.used == (expected, 1)


@pytest.mark.parametrize("bound", [1.0, 1.5, 2.0, 2.9])
def test_an_l1_bound_lets_a_component_use_no_fewer_features_than_its_square(bound):
    (used,) = Problem(Gram(np.eye(20)), [L1(bound)]).used
    assert bound**2 - 1e-9 <= used <= 20


@pytest.mark.parametrize("kind", list(CONSTRAINTS))
def test_features_that_do_not_vary_decide_nothing(kind):
    sets = [CONSTRAINTS[kind](10, 0.4)] * 2
    wide = np.zeros((25, 25))
    wide[5:15, 5:15] = matrix(1)
    narrow, padded = Problem(Gram(matrix(1)), sets), Problem(Gram(wide), sets)
    assert padded.used == narrow.used
    assert padded.work == narrow.work
    assert padded.n_exchanges == narrow.n_exchanges
    assert padded.n_redraws == narrow.n_redraws
    assert padded.n_seeds == narrow.n_seeds


def test_effort_falls_where_work_rises_with_the_size():
    # With these numbers none of the problems is so small that all is done that can be.
    strategy = Strategy(redraws=5e3, seeds=1e3)
    tasks = [
        Problem(Gram(np.eye(d)), [L0(k)] * 6, strategy=strategy)
        for d, k in ((20, 2), (40, 2), (40, 8))
    ]
    assert tasks[0].work < tasks[1].work < tasks[2].work
    assert tasks[0].n_exchanges > tasks[1].n_exchanges > tasks[2].n_exchanges > 0
    assert tasks[0].n_redraws > tasks[1].n_redraws > tasks[2].n_redraws > 0
    # A row costs the same whatever a component may use.
    assert tasks[0].n_seeds > tasks[1].n_seeds == tasks[2].n_seeds > 1
    fewer = Problem(Gram(np.eye(40)), [L0(2)] * 3, strategy=strategy)
    assert fewer.n_seeds > tasks[1].n_seeds


@pytest.mark.parametrize("d", [1, 20, 3000])
@pytest.mark.parametrize("r", [1, 5])
def test_components_are_drawn_anew_once_more_than_there_are_and_one_row_is_looked_at_at_least(d, r):
    source = Gram(np.eye(d))
    least, most = (
        Problem(source, [L0(1)] * r, strategy=Strategy(redraws=effort, seeds=effort))
        for effort in (0.0, 1e12)
    )
    assert least.n_redraws == 0
    assert most.n_redraws == r + 1
    assert least.n_seeds == 1
    assert most.n_seeds > d  # all of them


# ------------------------------------------------------------ parts

SOURCES = {
    "gram": lambda X: Gram(X.T @ X),
    "factor": lambda X: as_source(as_data(X[:8])),
    "columns": lambda X: Columns(as_data(X)),
}


@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_loadings_on_the_features_of_a_part_are_the_same_inside_and_outside(source, seed):
    rng = np.random.default_rng(seed)
    X = factor_data(30, 20, seed)
    task = Problem(SOURCES[source](X - X.mean(axis=0)), [L0(4), L1(1.5)], ridge=0.05)
    features = np.sort(rng.permutation(20)[: rng.integers(2, 20)])
    part = task.restricted(features)
    V = np.zeros((20, 2))
    V[features] = rng.standard_normal((features.size, 2))
    assert part.inside(V).shape == (features.size, 2)
    np.testing.assert_array_equal(part.embed(part.inside(V)), V)
    assert part.problem.source.n_features == features.size
    assert part.problem.total == task.total  # a share is one of all variance
    assert part.problem.value(part.inside(V)) == pytest.approx(task.value(V), rel=1e-8)
    np.testing.assert_allclose(
        part.problem.contributions(part.inside(V)), task.contributions(V), rtol=1e-7
    )


def test_a_part_of_a_part_knows_all_variance_too():
    task = Problem(Gram(matrix(0)), [L0(2)])
    part = task.restricted(np.array([1, 3, 5, 8])).problem.restricted(np.array([0, 2]))
    assert part.problem.total == task.total
    np.testing.assert_array_equal(part.problem.source.S, task.source.S[np.ix_([1, 5], [1, 5])])


def test_the_whole_leaves_nothing_out():
    task = Problem(Gram(matrix(0)), [L0(2)])
    V = unit_columns(10, 1, seed=0)
    assert task.whole.problem is task
    assert task.whole.features is None
    assert task.whole.inside(V) is V
    assert task.whole.embed(V) is V


def test_few_features_are_looked_at_alone_and_many_with_all_others():
    S = np.diag([1.0] * 20 + [0.0] * 20)
    task = Problem(Gram(S), [L0(2)])
    few, many = np.arange(10), np.arange(18)  # a share of those that vary
    np.testing.assert_array_equal(task.look_at(few).features, few)
    assert task.look_at(few).n_features == 40
    assert task.look_at(many).features is None
    assert task.look_at(np.arange(0)).features is None  # nothing is promising: look at everything


def test_a_part_does_not_carry_the_data_to_other_processes():
    X = factor_data(2000, 60, 0)
    task = Problem(Columns(as_data(X)), [L0(2)])
    part = task.restricted(np.arange(4))
    assert len(pickle.dumps(part)) < 0.05 * X.nbytes


# ------------------------------------------------------------ strategy


def test_problems_have_the_strategy_of_their_context():
    usual = current()
    source, sets = Gram(matrix(0)), [L0(2)]
    before = Problem(source, sets)
    mine, inner = Strategy(scope=7), Strategy(scope=8)
    with using(mine):
        assert current() is mine
        inside = Problem(source, sets)
        with using(inner):
            assert Problem(source, sets).strategy is inner
        assert Problem(source, sets, strategy=inner).strategy is inner
        assert Problem(source, sets).strategy is mine
    assert current() is usual
    assert before.strategy is usual
    # A problem keeps its strategy, and so do its parts.
    assert inside.restricted(np.arange(3)).problem.strategy is mine


def test_a_strategy_ends_with_its_context_also_after_an_error():
    usual = current()
    with pytest.raises(ZeroDivisionError), using(Strategy(scope=7)):
        _ = 1 / 0
    assert current() is usual
