"""Components that must stay apart: the rule of the solver, and what follows from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import (
    CONSTRAINTS,
    NaiveRedac,
    climbed,
    factor_data,
    random_feasible,
    solve,
    steps_from,
    unit_columns,
)
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.solver.climb import Start
from redac.solver.polish import polish
from redac.solver.problem import Problem
from redac.solver.starts import Starts
from redac.solver.sweep import Status
from redac.solver.variance import Explained, is_separated, separation
from redac.sources.factor import Factor
from redac.sources.gram import Gram

LEASTS = st.sampled_from([0.1, 0.3, 0.8])
RUN_ON = -np.inf


def separated_start(constraints, d: int, least: float, seed: int) -> np.ndarray:
    """Loadings that are in their sets and far enough apart, not found by ``maximize``."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        V = np.column_stack([random_feasible(c, d, rng) for c in constraints])
        if np.linalg.eigvalsh(V.T @ V)[0] >= least:
            return V
    return np.eye(d)[:, rng.permutation(d)[: len(constraints)]]


def problem(seed: int, kind: str, r: int = 3, d: int = 12):
    """A problem on S alone, or on data of few rows: scores are kept in another form."""
    X = factor_data(30, d, seed)
    X -= X.mean(axis=0)
    source = Gram(X.T @ X) if seed % 2 else Factor(np.ascontiguousarray(X.T))
    return source, X, [CONSTRAINTS[kind](d, 0.4)] * r


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(list(CONSTRAINTS)), least=LEASTS)
def test_sweeps_are_those_of_the_paper_but_for_refused_loadings(seed, kind, least):
    S, X, constraints = problem(seed, kind)
    start = separated_start(constraints, X.shape[1], least, seed)
    naive = NaiveRedac(X, start, constraints, least=least)
    for count in range(1, 6):
        naive.sweep()
        solution = solve(
            S, constraints, start, max_sweeps=count, tol=RUN_ON, least_separation=least
        )
        np.testing.assert_allclose(solution.V, naive.V, atol=1e-8)
        assert solution.history[-1] == pytest.approx(naive.objective(), abs=1e-10)


@pytest.mark.parametrize("kind", list(CONSTRAINTS))
def test_loadings_are_refused_in_these_problems(kind):
    """Otherwise the test above would say nothing about the rule."""
    refused = 0
    for seed in range(20):
        _, X, constraints = problem(seed, kind)
        naive = NaiveRedac(X, separated_start(constraints, 12, 0.8, seed), constraints, least=0.8)
        for _ in range(5):
            naive.sweep()
        refused += naive.n_refused
    assert refused > 20


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(list(CONSTRAINTS)),
    least=LEASTS,
    eta=st.sampled_from([0.0, 0.1]),
)
def test_after_every_sweep_components_are_in_their_sets_and_apart(seed, kind, least, eta):
    S, X, constraints = problem(seed, kind, r=4)
    seen = []

    def on_sweep(number, objective, V):
        seen.append(V.copy())
        return False

    start = unit_columns(X.shape[1], 4, seed)
    found = solve(
        S,
        constraints,
        start,
        ridge=eta,
        max_sweeps=15,
        tol=RUN_ON,
        least_separation=least,
        on_sweep=on_sweep,
    )
    assert len(seen) == 15
    for V in seen:
        live = V[:, V.any(axis=0)]
        assert np.linalg.eigvalsh(live.T @ live)[0] >= least - 1e-9
        assert all(c.contains(v) or not v.any() for c, v in zip(constraints, V.T, strict=True))
    assert (np.diff(found.history) <= 1e-12).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(list(CONSTRAINTS)), least=LEASTS)
def test_a_run_ends_with_the_first_sweep_that_gains_little_under_the_rule(seed, kind, least):
    S, X, constraints = problem(seed, kind)
    tol = 1e-5
    start = separated_start(constraints, X.shape[1], least, seed)
    found = solve(S, constraints, start, tol=tol, max_sweeps=3000, least_separation=least)
    assert found.status is Status.CONVERGED
    naive = NaiveRedac(X, start, constraints, least=least)
    heights = [naive.objective()]
    for _ in range(found.n_sweeps):
        naive.sweep()
        heights.append(naive.objective())
    gains = -np.diff(heights)
    assert gains[-1] <= tol + 1e-9
    assert (gains[:-1] > tol - 1e-9).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", list(CONSTRAINTS))
@pytest.mark.parametrize("first_ridge", [0.0, 0.1])
def test_all_the_way_components_are_in_their_sets_and_apart_and_lose_nothing(
    seed, kind, first_ridge
):
    S, _, constraints = problem(seed, kind, r=4)
    task = Problem(S, constraints, least_separation=0.5)
    start = Starts(task, np.random.RandomState(0)).varimax()
    history: tuple[float, ...] = ()
    numbers = []
    for step in steps_from(task, Start(start, first_ridge)):
        found = step.whole
        assert separation(found.V) >= 0.5 - 1e-9
        assert all(
            c.contains(v) or not v.any() for c, v in zip(constraints, found.V.T, strict=True)
        )
        assert found.history[: len(history)] == history
        history = found.history
        # The scores of the sweeps are no better than the best ones; the last sweep, which gained
        # no more than tol, is taken back, because it may have made room for others.
        taken_back = task.tol if found.status is Status.CONVERGED else 0.0
        assert 1.0 - history[-1] <= step.value / S.total + taken_back + 1e-12
        numbers += [found.n_sweeps_in_all] * (found.n_sweeps_in_all not in numbers)
    assert numbers == list(range(1, len(history) + 1))
    assert (np.diff(history) <= 1e-12).all()
    assert found.status is Status.CONVERGED


def test_a_finished_run_is_where_a_sweep_gains_little():
    """Also where the last sweep makes room for an update that it has refused."""
    with_room = 0
    for seed in range(16):
        X = factor_data(40, 60, seed)
        source = Factor(np.ascontiguousarray(X.T))
        task = Problem(source, [L1(2.6)] * 10, least_separation=0.2)
        start = Starts(task, np.random.RandomState(0)).pca()
        found = climbed(task, Start(start, 0.1)).whole
        if found.status is not Status.CONVERGED:  # the sweeps ran out, as in few of these data
            assert found.n_sweeps_in_all == task.max_sweeps
            continue

        def swept(V, task=task):
            return solve(
                task.source, task.constraints, V, max_sweeps=1, tol=RUN_ON, least_separation=0.2
            )

        once = swept(found.V)
        assert once.gain <= task.tol * (1 + 1e-6)
        with_room += swept(once.V).gain > task.tol
    assert with_room > 0


def test_without_a_least_separation_nothing_is_refused():
    S, X, constraints = problem(3, "l1")
    start = unit_columns(12, 3, seed=3)
    naive = NaiveRedac(X, start, constraints)
    for _ in range(5):
        naive.sweep()
    found = solve(S, constraints, start, max_sweeps=5, tol=RUN_ON, least_separation=0.0)
    np.testing.assert_allclose(found.V, naive.V, atol=1e-8)


@pytest.mark.parametrize("constraint", [L0(3), L1(1.5), Nonnegative(L0(3))])
def test_copies_at_the_start_find_places_of_their_own(constraint):
    S, _, _ = problem(5, "l0")
    start = np.repeat(unit_columns(12, 1, seed=1), 3, axis=1)
    found = solve(S, [constraint] * 3, start, least_separation=0.5)
    assert found.V.any(axis=0).all()
    assert separation(found.V) >= 0.5 - 1e-9


def test_a_component_without_a_place_stays_away_rather_than_too_close():
    """Two features with one factor leave no room for three components."""
    S = Gram(np.array([[1.0, 0.9], [0.9, 1.0]]))
    found = solve(S, [L0(2)] * 3, unit_columns(2, 3, seed=0), least_separation=0.5)
    live = found.V[:, found.V.any(axis=0)]
    assert live.shape[1] <= 2
    assert separation(found.V) >= 0.5 - 1e-9


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), least=LEASTS)
def test_polish_keeps_the_separation(seed, least):
    S, X, constraints = problem(seed, "l0")
    V = separated_start(constraints, X.shape[1], least, seed)
    better = polish(Problem(S, constraints, tol=1e-9, least_separation=least), V)
    assert separation(better) >= least - 1e-9
    after, before = (Explained.of(W, S.quadratic).together() for W in (better, V))
    assert after >= before * (1 - 1e-12)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6), r=st.integers(1, 6), least=st.floats(0.0, 1.0), dead=st.booleans()
)
def test_the_quick_answer_about_separation_is_the_slow_one(seed, r, least, dead):
    V = unit_columns(7, r, seed)
    V[:, 0] *= not dead or r == 1
    G = V.T @ V
    exact = separation(V)
    if abs(exact - least) > 1e-9:
        assert is_separated(G, least) == (exact > least)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("least", [0.01, 0.3])
def test_rounding_does_not_decide_where_components_meet_the_edge(nonnegative, least):
    apart = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 15)) @ rng.standard_normal((15, 15))
        model = SparsePCA(4, cardinality=5, nonnegative=nonnegative, min_separation=least)
        value = model.fit(X).explained_variance_ratio_.sum()
        again = model.fit(X * (1.0 + 1e-15 * rng.standard_normal(X.shape)))
        apart.append(abs(again.explained_variance_ratio_.sum() - value))
    assert np.sort(apart)[-2] < 1e-6  # one of them may come to another place
