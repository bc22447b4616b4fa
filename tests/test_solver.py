"""The solver does what Algorithms 1 and 2 say; starting points and explained variance beside it."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from helpers import (
    CONSTRAINTS,
    NaiveRedac,
    assert_same_loadings,
    best_scores,
    centred,
    factor_data,
    projector,
    solve,
    unit_columns,
)
from redac.constraints import L0, L1, Nonnegative, oriented
from redac.solver.orthomax import varimax
from redac.solver.problem import Problem
from redac.solver.starts import Starts
from redac.solver.strategy import Strategy
from redac.solver.sweep import Solution, Status, directions, placed, sweeps
from redac.solver.variance import Explained, separation
from redac.sources import Columns, as_data, as_source, covariance_source

R = 3
RUN_ON = -1.0  # no sweep improves by less than this, so the number of sweeps is max_sweeps
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)

# ------------------------------------------------------------ tables


def some_zeros(X: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(0).random(X.shape) < 0.6, 0.0, X)


def of_data(X: np.ndarray, convert=np.array, *, standardize: bool = False, make=as_source):
    """A source, and the explicit centred matrix that it stands for."""
    reference = centred(X, standardize=standardize).astype(np.float64)
    return make(as_data(convert(X), standardize=standardize)), reference


def of_covariance(X: np.ndarray):
    reference = centred(X).astype(np.float64)
    return covariance_source(np.cov(X, rowvar=False)), reference / math.sqrt(len(X) - 1)


SOURCES = {
    "dense-tall": lambda: of_data(factor_data(50, 12, seed=1)),
    "dense-tall-by-columns": lambda: of_data(factor_data(50, 12, seed=1), make=Columns),
    "dense-wide": lambda: of_data(factor_data(11, 30, seed=2)),
    "float32-f-order": lambda: of_data(
        factor_data(40, 9, seed=3).astype(np.float32), np.asfortranarray
    ),
    "dense-standardized": lambda: of_data(factor_data(50, 12, seed=1), standardize=True),
    "csr-tall": lambda: of_data(some_zeros(factor_data(60, 12, seed=4)), sp.csr_array),
    "csc-wide": lambda: of_data(some_zeros(factor_data(15, 30, seed=5)), sp.csc_array),
    "csr-standardized": lambda: of_data(
        some_zeros(factor_data(60, 12, seed=4)), sp.csr_array, standardize=True
    ),
    "covariance": lambda: of_covariance(factor_data(40, 10, seed=6)),
    "covariance-rank-deficient": lambda: of_covariance(factor_data(8, 12, seed=7)),
}
BOUNDS = {
    **{
        kind: (lambda d, kind=kind: [CONSTRAINTS[kind](d, share) for share in (0.5, 0.3, 0.4)])
        for kind in CONSTRAINTS
    },
    "mixed": lambda d: [L0(4), L1(1.7), Nonnegative(L1(2.1))],
    "unconstrained": lambda d: [L0(d)] * R,
}

source = pytest.mark.parametrize("source", SOURCES)
bounds = pytest.mark.parametrize("bounds", BOUNDS)
ridge = pytest.mark.parametrize("ridge", [0.0, 0.1], ids=["no-ridge", "ridge"])


def problem(source: str, bounds: str):
    """A source, its explicit matrix, constraints and a generic start."""
    S, X = SOURCES[source]()
    d = X.shape[1]
    return S, X, BOUNDS[bounds](d), unit_columns(d, R, seed=11)


def random_problem(seed: int):
    """A random problem of random size, container, constraints and start."""
    rng = np.random.default_rng(seed)
    n, d, r = rng.integers(3, 30), rng.integers(2, 20), rng.integers(1, 5)
    X = rng.standard_normal((n, d)) @ np.diag(rng.uniform(0.1, 3.0, d))
    kinds = rng.choice(list(CONSTRAINTS), r)
    constraints = [CONSTRAINTS[kind](d, rng.random()) for kind in kinds]
    make = [as_source, Columns][rng.integers(2)]
    convert = [np.array, sp.csr_array][rng.integers(2)]
    S, X = of_data(X, convert, make=make)
    return S, X, constraints, rng.standard_normal((d, r))


def feasible(constraint, v: np.ndarray) -> bool:
    return constraint.contains(v) or not v.any()


# ------------------------------------------------------------ Algorithms 1 and 2


@source
@bounds
@ridge
def test_every_sweep_is_a_sweep_of_the_paper(source, bounds, ridge):
    S, X, constraints, start = problem(source, bounds)
    naive = NaiveRedac(X, start, constraints, ridge)
    for count in range(1, 7):
        naive.sweep()
        solution = solve(S, constraints, start, ridge=ridge, max_sweeps=count, tol=RUN_ON)
        assert solution.n_sweeps == count
        np.testing.assert_allclose(solution.V, naive.V, atol=1e-9)


@source
@ridge
def test_directions_are_what_the_paper_aligns_each_component_with(source, ridge):
    S, X, constraints, start = problem(source, "l0")
    naive = NaiveRedac(X, start, constraints, ridge)
    W = np.column_stack([naive.residual_without(i).T @ naive.U[:, i] for i in range(R)])
    found = directions(Problem(S, constraints, ridge), start)
    np.testing.assert_allclose(found, W, atol=1e-9 * np.abs(W).max())


@source
@bounds
@ridge
def test_the_history_is_the_objective_of_the_paper_after_each_sweep(source, bounds, ridge):
    S, X, constraints, start = problem(source, bounds)
    naive = NaiveRedac(X, start, constraints, ridge)
    expected = []
    for _ in range(8):
        naive.sweep()
        expected.append(naive.objective())
    history = solve(S, constraints, start, ridge=ridge, max_sweeps=8, tol=RUN_ON).history
    np.testing.assert_allclose(history, expected, rtol=0, atol=1e-10)


@settings(max_examples=80, deadline=None)
@given(seed=SEEDS, eta=st.sampled_from([0.0, 0.01, 1.0]))
def test_the_objective_never_rises(seed, eta):
    S, _, constraints, start = random_problem(seed)
    history = solve(S, constraints, start, ridge=eta, max_sweeps=40, tol=RUN_ON).history
    # A start of nearly dependent directions has huge scores and can begin above one.
    assert (np.diff(history) <= 1e-12 * max(1.0, history[0])).all()


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, eta=st.sampled_from([0.0, 0.1]))
def test_joint_least_squares_explains_at_least_what_the_sweeps_do(seed, eta):
    S, _, constraints, start = random_problem(seed)
    solution = solve(S, constraints, start, ridge=eta, max_sweeps=15)
    V = solution.V
    share = Explained.of(V, S.quadratic).together(eta) / S.total
    assert solution.history[-1] >= 1.0 - share - 1e-10


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, count=st.integers(1, 10))
def test_every_component_is_in_its_set(seed, count):
    S, _, constraints, start = random_problem(seed)
    V = solve(S, constraints, start, max_sweeps=count).V
    assert all(feasible(c, v) for c, v in zip(constraints, V.T, strict=True))


@pytest.mark.parametrize("source", ["dense-tall", "dense-wide", "csr-standardized", "covariance"])
@bounds
def test_at_convergence_a_further_sweep_gains_less_than_the_tolerance(source, bounds):
    S, X, constraints, start = problem(source, bounds)
    tol = 1e-6
    solution = solve(S, constraints, start, tol=tol, max_sweeps=5000)
    assert solution.status is Status.CONVERGED
    naive = NaiveRedac(X, start, constraints)
    for _ in range(solution.n_sweeps):
        naive.sweep()
    before = naive.objective()
    assert before == pytest.approx(solution.history[-1], abs=1e-9)
    naive.sweep()
    assert 0.0 - 1e-12 <= before - naive.objective() <= tol


@ridge
def test_theorem_1_scores_minimise_the_least_squares_loss(ridge):
    rng = np.random.default_rng(0)
    E, v = rng.standard_normal((9, 5)), unit_columns(5, 1, seed=0)[:, 0]

    def loss(u: np.ndarray) -> float:
        return float(((E - np.outer(u, v)) ** 2).sum() + ridge * (u**2).sum())

    u = best_scores(E, v, ridge)
    for _ in range(50):
        step = rng.standard_normal(9) * 10.0 ** rng.uniform(-4, 0)
        assert loss(u + step) - loss(u) == pytest.approx((1 + ridge) * step @ step, rel=1e-6)


def test_the_start_is_left_as_it_is():
    S, _, constraints, start = problem("dense-tall", "l0")
    before = start.copy()
    solve(S, constraints, start)
    np.testing.assert_array_equal(start, before)


# ------------------------------------------------------------ how a run ends


def test_a_run_that_settles_has_converged_at_the_first_small_gain():
    S, _, constraints, start = problem("dense-tall", "l0")
    solution = solve(S, constraints, start, tol=1e-6)
    assert solution.status is Status.CONVERGED
    gains = -np.diff(solution.history)
    assert gains[-1] <= 1e-6
    assert (gains[:-1] > 1e-6).all()


def test_a_run_out_of_sweeps_is_stopped():
    S, _, constraints, start = problem("dense-tall", "l1")
    solution = solve(S, constraints, start, max_sweeps=2, tol=RUN_ON)
    assert (solution.status, solution.n_sweeps) == (Status.STOPPED, 2)


@pytest.mark.parametrize("wanted", [1, 4])
def test_whoever_looks_at_the_sweeps_may_stop_after_any(wanted):
    S, _, constraints, start = problem("dense-tall", "l1")
    solution = solve(S, constraints, start, tol=RUN_ON, on_sweep=lambda m, *_: m == wanted)
    assert (solution.status, solution.n_sweeps) == (Status.STOPPED, wanted)
    expected = solve(S, constraints, start, max_sweeps=wanted, tol=RUN_ON).V
    assert_same_loadings(solution.V, expected)


@pytest.mark.parametrize(
    "end", [{"max_sweeps": 5, "tol": RUN_ON}, {"tol": 1e-6}], ids=["stopped", "converged"]
)
def test_every_sweep_is_told_of_once_with_its_objective_and_what_it_gained(end):
    S, _, constraints, start = problem("dense-tall", "l1")
    told = list(sweeps(Problem(S, constraints, **end), Solution(start)))
    last = told[-1]
    assert last.status is (Status.CONVERGED if "max_sweeps" not in end else Status.STOPPED)
    assert all(each.status is Status.STOPPED for each in told[:-1])
    for number, each in enumerate(told, start=1):
        assert (each.n_sweeps, each.history) == (number, last.history[:number])
    gains = [each.gain for each in told]
    assert gains[0] == np.inf  # the start was not feasible, so that there is nothing to compare
    np.testing.assert_allclose(gains[1:], -np.diff(last.history), rtol=0, atol=1e-15)


def test_the_loadings_of_a_sweep_are_not_changed_by_the_next():
    S, _, constraints, start = problem("dense-tall", "l1")
    task = Problem(S, constraints, max_sweeps=4, tol=RUN_ON)
    kept = [solution.V for solution in sweeps(task, Solution(start))]
    assert len(kept) == 4
    for count, V in enumerate(kept, start=1):
        expected = solve(S, constraints, start, max_sweeps=count, tol=RUN_ON).V
        assert_same_loadings(V, expected)


@ridge
def test_sweeps_that_go_on_from_a_solution_add_to_its_history_and_count(ridge):
    S, _, constraints, start = problem("dense-tall", "l0")
    task = Problem(S, constraints, ridge, max_sweeps=7, tol=RUN_ON)
    first = Solution(solve(S, constraints, start, ridge=ridge, max_sweeps=3).V, (0.9, 0.8), gain=0)
    going_on = list(sweeps(task, first))
    assert len(going_on) == 7 - 2
    assert all(each.history[:2] == (0.9, 0.8) for each in going_on)
    anew = list(sweeps(task, Solution(first.V)))
    assert going_on[-1].history[2:] == pytest.approx(anew[4].history, rel=1e-9)
    assert_same_loadings(going_on[-1].V, anew[4].V)
    late = list(sweeps(task, Solution(first.V, sweeps_before=5)))
    assert [each.n_sweeps for each in late] == [1, 2]
    assert late[-1].n_sweeps_in_all == 7


def test_sweeps_with_another_ridge_or_tolerance_are_those_of_another_problem():
    S, _, constraints, start = problem("dense-tall", "l0")
    task = Problem(S, constraints, ridge=0.0, tol=1e-9)
    *_, other = sweeps(task, Solution(start), ridge=0.3, tol=1e-3)
    expected = solve(S, constraints, start, ridge=0.3, tol=1e-3)
    assert other.history == pytest.approx(expected.history, rel=1e-9)
    assert_same_loadings(other.V, expected.V)
    assert np.abs(other.V - solve(S, constraints, start).V).max() > 1e-3


@bounds
@pytest.mark.parametrize("least", [0.0, 0.5])
def test_loadings_that_are_placed_are_in_their_sets_and_apart(bounds, least):
    S, _, constraints, start = problem("dense-tall", bounds)
    before = start.copy()
    V = placed(Problem(S, constraints, least_separation=least), start)
    np.testing.assert_array_equal(start, before)
    assert all(feasible(c, v) for c, v in zip(constraints, V.T, strict=True))
    assert separation(V) >= least - 1e-9
    assert V[:, 0].any()
    # Loadings that are in their places stay there.
    np.testing.assert_array_equal(placed(Problem(S, constraints, least_separation=least), V), V)


def test_of_copies_only_one_is_placed():
    S, _, constraints, start = problem("dense-tall", "unconstrained")
    V = placed(Problem(S, constraints, least_separation=0.5), np.repeat(start[:, :1], R, axis=1))
    np.testing.assert_allclose(V[:, 0], start[:, 0], atol=1e-12)
    assert not V[:, 1:].any()


# ------------------------------------------------------------ rank and exhaustion


def starts_of(S, constraints, seed: int = 0, **options) -> Starts:
    return Starts(Problem(S, constraints, **options), np.random.RandomState(seed))


def run_from_pca(S, constraints, **options):
    start = starts_of(S, constraints).pca()
    return solve(S, constraints, start, **options)


def share_explained(S, V: np.ndarray) -> float:
    return Explained.of(V, S.quadratic).together() / S.total


CONTAINERS = {"dense": np.array, "sparse": sp.csr_array}
container = pytest.mark.parametrize("container", CONTAINERS)
shape = pytest.mark.parametrize("shape", [(40, 9), (9, 40)], ids=["tall", "wide"])


@container
@shape
def test_components_beyond_the_rank_are_exactly_zero(container, shape):
    X = factor_data(*shape, seed=1, rank=2)
    S, _ = of_data(X - X.mean(axis=0), CONTAINERS[container])
    solution = run_from_pca(S, [L0(shape[1])] * 4)
    assert solution.exhausted == (2, 3)
    np.testing.assert_array_equal(solution.V[:, 2:], 0.0)
    assert np.isfinite(solution.V).all()
    assert share_explained(S, solution.V) == pytest.approx(1.0, abs=1e-10)
    assert solution.history[-1] <= 1e-10


@container
@shape
def test_a_random_start_beyond_the_rank_still_explains_everything(container, shape):
    S, _ = of_data(factor_data(*shape, seed=1, rank=2), CONTAINERS[container])
    solution = solve(S, [L0(shape[1])] * 4, unit_columns(shape[1], 4, seed=3))
    assert np.isfinite(solution.V).all()
    assert share_explained(S, solution.V) == pytest.approx(1.0, abs=1e-6)


@container
@pytest.mark.parametrize("n", [30, 6], ids=["tall", "wide"])
@pytest.mark.parametrize("nonnegative", [False, True], ids=["any-sign", "nonnegative"])
def test_sparse_components_share_out_one_factor_among_them(container, n, nonnegative):
    u = np.random.default_rng(0).standard_normal(n)
    S, _ = of_data(np.outer(u, np.ones(12)), CONTAINERS[container])
    constraint = Nonnegative(L0(3)) if nonnegative else L0(3)
    start = starts_of(S, [L0(3)] * 4).pca()
    solution = solve(S, [constraint] * 4, oriented(start, [constraint] * 4))
    assert solution.exhausted == ()
    assert (solution.V != 0).sum(axis=1).tolist() == [1] * 12
    # Four blocks of equal scores: the span of V contains the vector of ones.
    assert share_explained(S, solution.V) == pytest.approx(1.0, abs=1e-10)


@bounds
@pytest.mark.parametrize("make", [as_source, Columns])
def test_data_without_variance_exhaust_every_component(bounds, make):
    S, _ = of_data(np.full((8, 5), 3.3), make=make)
    solution = run_from_pca(S, BOUNDS[bounds](5))
    assert solution.exhausted == (0, 1, 2)
    assert not solution.V.any()
    assert set(solution.history) == {0.0}
    assert solution.status is Status.CONVERGED


@bounds
@container
def test_more_components_than_samples_are_possible(bounds, container):
    X = factor_data(3, 20, seed=2)
    S, _ = of_data(X, CONTAINERS[container])
    constraints = BOUNDS[bounds](20) * 2
    solution = run_from_pca(S, constraints)
    assert all(feasible(c, v) for c, v in zip(constraints, solution.V.T, strict=True))
    assert (np.diff(solution.history) <= 1e-12).all()
    if bounds == "unconstrained":
        assert solution.exhausted == (2, 3, 4, 5)
        assert share_explained(S, solution.V) == pytest.approx(1.0, abs=1e-10)


@bounds
@container
@shape
def test_duplicated_and_constant_columns_do_no_harm(bounds, container, shape):
    X = factor_data(*shape, seed=3)
    X[:, 4:7] = X[:, 1:4]
    X[:, 0], X[:, 8] = 2.5, 0.0
    S, _ = of_data(X, CONTAINERS[container])
    constraints = BOUNDS[bounds](shape[1])
    solution = run_from_pca(S, constraints, max_sweeps=200)
    assert all(c.contains(v) for c, v in zip(constraints, solution.V.T, strict=True))
    assert (np.diff(solution.history) <= 1e-12).all()
    np.testing.assert_allclose(solution.V[[0, 8]], 0.0, atol=1e-12)


def test_equal_directions_at_the_start_separate():
    X = factor_data(40, 12, seed=1)
    S, _ = of_data(X)
    v = unit_columns(12, 1, seed=0)
    solution = solve(S, [L0(4)] * 3, np.hstack([v, v, v]))
    assert solution.exhausted == ()
    assert separation(solution.V) > 0.01


# ------------------------------------------------------------ invariances


def solved(X: np.ndarray, constraints, start: np.ndarray, **options) -> np.ndarray:
    S, _ = of_data(X, **options)
    return solve(S, constraints, start, max_sweeps=12, tol=RUN_ON).V


@bounds
@shape
@pytest.mark.parametrize("exponent", [-800, -200, 200, 800])  # squares of the outer: no numbers
def test_a_power_of_two_as_scale_of_the_data_changes_nothing(bounds, shape, exponent):
    X, start = factor_data(*shape, seed=4), unit_columns(shape[1], R, seed=1)
    constraints = BOUNDS[bounds](shape[1])
    scaled = solved(np.ldexp(X, exponent), constraints, start)
    assert_same_loadings(scaled, solved(X, constraints, start), atol=1e-10)


@bounds
@shape
def test_permuting_columns_permutes_loadings(bounds, shape):
    X, start = factor_data(*shape, seed=4), unit_columns(shape[1], R, seed=1)
    constraints = BOUNDS[bounds](shape[1])
    order = np.random.default_rng(0).permutation(shape[1])
    permuted = solved(X[:, order], constraints, start[order])
    np.testing.assert_allclose(permuted, solved(X, constraints, start)[order], atol=1e-9)


@bounds
@shape
def test_rotating_samples_changes_nothing(bounds, shape):
    X, start = factor_data(*shape, seed=4), unit_columns(shape[1], R, seed=1)
    constraints = BOUNDS[bounds](shape[1])
    X = X - X.mean(axis=0)
    # A rotation that keeps the vector of ones, so that the rotated data are centred too.
    n = len(X)
    basis = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((n - 1, n - 1)))[0]
    rotated = basis @ turn @ (basis.T @ X)
    np.testing.assert_allclose(
        solved(rotated, constraints, start), solved(X, constraints, start), atol=1e-9
    )


@pytest.mark.parametrize("bounds", ["l0", "l1", "unconstrained"])
@shape
def test_negating_a_column_negates_its_loadings(bounds, shape):
    X, start = factor_data(*shape, seed=4), unit_columns(shape[1], R, seed=1)
    constraints = BOUNDS[bounds](shape[1])
    signs = np.ones(shape[1])
    signs[[2, 5]] = -1.0
    negated = solved(X * signs, constraints, (start.T * signs).T)
    expected = (solved(X, constraints, start).T * signs).T
    np.testing.assert_allclose(negated, expected, atol=1e-12)


@bounds
@shape
def test_repeating_every_sample_changes_nothing(bounds, shape):
    X, start = factor_data(*shape, seed=4), unit_columns(shape[1], R, seed=1)
    constraints = BOUNDS[bounds](shape[1])
    repeated = solved(np.vstack([X, X]), constraints, start)
    np.testing.assert_allclose(repeated, solved(X, constraints, start), atol=1e-9)


# ------------------------------------------------------------ starting points


def kaiser(L: np.ndarray) -> float:
    """Kaiser's raw varimax criterion: the variances of the squared loadings, summed."""
    return float((L**2).var(axis=0).sum())


@settings(max_examples=60, deadline=None)
@given(d=st.integers(3, 30), r=st.integers(1, 5), seed=SEEDS)
@example(d=3, r=3, seed=1114111)  # the rounds alone would lower it
def test_varimax_is_a_rotation_that_does_not_lower_its_criterion(d, r, seed):
    assume(r <= d)
    L = np.random.default_rng(seed).standard_normal((d, r))
    rotated = varimax(L)
    rotation = np.linalg.pinv(L) @ rotated
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(r), atol=1e-9)
    np.testing.assert_allclose(projector(rotated), projector(L), atol=1e-9)
    assert kaiser(rotated) >= kaiser(L) * (1 - 1e-9)


def test_varimax_recovers_a_simple_structure():
    simple = np.kron(np.eye(3), np.array([[1.0], [0.8], [0.9], [0.7]]))
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    recovered = varimax(simple @ turn)
    np.testing.assert_allclose(np.sort(np.abs(recovered)), np.sort(np.abs(simple)), atol=1e-2)


@shape
def test_rotated_starts_span_the_principal_subspace_by_unit_vectors(shape):
    S, _ = of_data(factor_data(*shape, seed=5))
    starts = starts_of(S, [L0(3)] * 3)
    for start in (starts.varimax(), starts.rotation()):
        np.testing.assert_allclose(projector(start), projector(starts.pca()), atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(start, axis=0), 1.0, rtol=1e-12)


@shape
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["varimax", "rotation"])
def test_rotated_starts_are_sorted_by_the_variance_they_carry(shape, seed, kind):
    S, _ = of_data(factor_data(*shape, seed=seed))
    axes, values = S.principal_axes(3)
    start = getattr(starts_of(S, [L0(3)] * 3, seed), kind)()
    # Before it was scaled to length one, a column was the axes times √λ times a unit vector.
    lengths = 1 / np.linalg.norm((axes.T @ start).T / np.sqrt(values), axis=1)
    assert (np.diff(lengths) <= 1e-9 * lengths[0]).all()


@pytest.mark.parametrize("init", ["pca", "varimax", "random", "array"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_seed_repeats_a_sequence_of_distinct_starts(init, count):
    S, _ = of_data(factor_data(30, 8, seed=5))
    given_start = unit_columns(8, 3, seed=0)

    def sequence(seed: int) -> list[np.ndarray]:
        starts = starts_of(S, [L0(3)] * 3, seed)
        named = starts.sequence(given_start if init == "array" else init, count)
        return [start.V for start in named]

    first, again, other = sequence(7), sequence(7), sequence(8)
    assert len(first) == count
    assert all(V.shape == (8, 3) for V in first)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    for i in range(count):
        assert all(np.abs(first[i] - first[j]).max() > 1e-6 for j in range(i))
    fixed = {"pca": 3, "varimax": 3, "random": 0, "array": 1}[init]
    for number in range(count):
        assert np.allclose(first[number], other[number], atol=1e-9) == (number < fixed)


def test_the_first_start_is_the_one_asked_for_and_the_others_follow():
    S, _ = of_data(factor_data(30, 8, seed=5))
    starts = starts_of(S, [L0(3)] * 3)
    pca, rotated, mine = starts.pca(), starts.varimax(), unit_columns(8, 3, seed=0)

    def loadings(init, count: int) -> list[np.ndarray]:
        return [start.V for start in starts.sequence(init, count)]

    np.testing.assert_allclose(loadings("pca", 2), [pca, rotated], atol=1e-12)
    np.testing.assert_allclose(loadings("varimax", 2), [rotated, pca], atol=1e-12)
    np.testing.assert_array_equal(loadings(mine, 1), [mine])


@pytest.mark.parametrize("init", ["pca", "varimax", "random", "array"])
def test_sweeps_begin_with_a_ridge_but_for_the_first_start_where_they_are_much_work(init):
    S, _ = of_data(factor_data(12, 30, seed=5))
    named = unit_columns(30, 2, seed=0) if init == "array" else init
    work = Problem(S, [L0(3)] * 2).work

    def ridges(redraws: float, **options) -> list[float]:
        strategy = Strategy(first_ridge=0.08, redraws=redraws)
        starts = starts_of(S, [L0(3)] * 2, strategy=strategy, **options)
        return [each.first_ridge for each in starts.sequence(named, 3)]

    for redraws, expected in ((2 * work, 0.08), (work / 4, 0.02), (0.0, 0.0)):
        first = 0.0 if init == "array" else expected
        assert ridges(redraws) == pytest.approx([first, 0.08, 0.08])
    assert ridges(work, least_separation=0.1) == [0.0, 0.08, 0.08]


@pytest.mark.parametrize(("init", "count"), [("pca", 3), ("varimax", 1), ("random", 1)])
def test_the_usual_number_of_starts_does_not_depend_on_the_size(init, count):
    for d in (8, 600):
        S, _ = of_data(factor_data(12, d, seed=5))
        assert starts_of(S, [L0(3)] * 2).usual_count(init) == count
        assert starts_of(S, [L0(3)] * 2).usual_count(unit_columns(d, 2, seed=0)) == 1


@pytest.mark.parametrize("rank", [0, 1, 2])
@shape
def test_starts_beyond_the_rank_are_finite(rank, shape):
    S, _ = of_data(factor_data(*shape, seed=5, rank=rank))
    starts = starts_of(S, [L0(3)] * 4)
    for start in starts.sequence("varimax", 4):
        assert start.V.shape == (shape[1], 4)
        assert np.isfinite(start.V).all()


def test_orientation_picks_the_side_with_the_better_feasible_vector():
    start = np.array([[3.0, -3.0, 3.0], [1.0, 2.0, -4.0], [-2.0, -1.0, -1.0]])
    before = start.copy()
    turned = oriented(start, [Nonnegative(L0(1)), Nonnegative(L0(1)), Nonnegative(L0(2))])
    np.testing.assert_array_equal(turned, start * [1.0, -1.0, -1.0])
    np.testing.assert_array_equal(start, before)


@pytest.mark.parametrize("bounds", ["l0", "l1", "unconstrained"])
def test_orientation_leaves_sets_without_a_sign_alone(bounds):
    start = unit_columns(12, R, seed=2)
    np.testing.assert_array_equal(oriented(start, BOUNDS[bounds](12)), start)


@pytest.mark.parametrize("bounds", ["nonnegative-l0", "nonnegative-l1"])
def test_an_oriented_start_does_not_depend_on_signs(bounds):
    start, constraints = unit_columns(12, R, seed=2), BOUNDS[bounds](12)
    np.testing.assert_array_equal(oriented(-start, constraints), oriented(start, constraints))
