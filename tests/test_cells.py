"""Cells with weights: the exact updates, the completed data, and the search over both."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import (
    CONSTRAINTS,
    NaiveRedac,
    assert_same_loadings,
    centred,
    factor_data,
    fixed,
    random_feasible,
    unit_columns,
)
from redac.constraints import L0, L1, Nonnegative, maximize_curved
from redac.solver.problem import Problem
from redac.solver.refine import CellSolution, Refinement
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.solver.sweep import Status
from redac.solver.weighted import Weighted
from redac.sources import as_data, as_source
from redac.sources.cells import CellModel, Cells

R = 3
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def cells_of(X: np.ndarray, weights: np.ndarray, roots: np.ndarray | None = None) -> Cells:
    """Cells of data by sample; what has no weight is not known."""
    roots = np.ones(len(X)) if roots is None else roots
    known = np.where(weights > 0, X * roots[:, None], 0.0)
    return Cells(np.array(known.T, order="C"), np.array(weights.T, order="C"), roots)


def some_weights(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> np.ndarray:
    there = rng.random(shape) < rng.uniform(0.3, 1.0)
    return there if kind == "gaps" else there * rng.random(shape)


def iterate_of(cells: Cells, V: np.ndarray, ridge: np.ndarray) -> Weighted:
    return Weighted(cells, CellModel(V, cells.scores(V, cells.means, ridge), cells.means), ridge)


def explicit_objective(cells: Cells, model: CellModel, ridge: np.ndarray) -> float:
    """Σ ω(x − sm − Vu)² + Σ η_i‖u_i‖² as it stands."""
    M = np.outer(model.mean, cells.roots) + model.V @ model.U.T
    loss = (cells.weights * (cells.X - M) ** 2).sum()
    return float(loss + (ridge * (model.U**2).sum(axis=0)).sum())


def filled(cells: Cells, r: int):
    nothing = CellModel(
        np.zeros((cells.n_features, r)), np.zeros((cells.n_samples, r)), cells.means
    )
    return cells.completed(nothing)


def refined(cells: Cells, constraints, ridge: float | None = None, **options) -> CellSolution:
    """What a fit does: a search on the filled data, then on the cells."""
    problem = Problem(filled(cells, len(constraints)), constraints, **options)
    starts = Starts(problem, np.random.RandomState(0))
    search = Search(problem)
    search.try_starts(starts.sequence("pca", starts.usual_count("pca")), automatic=True)
    return Refinement(problem, cells, ridge).run(search.found.V)


# ------------------------------------------------------------ one loading vector


@given(seed=SEEDS, k=st.integers(1, 6), signs=st.booleans())
@settings(max_examples=50, deadline=None)
def test_no_support_is_better_than_the_one_chosen(seed, k, signs):
    rng = np.random.default_rng(seed)
    d = 6
    w, a = rng.standard_normal(d), rng.uniform(0.01, 3.0, d)
    best = 0.0
    for support in combinations(range(d), k):
        at = list(support)
        gains = (np.maximum(w[at], 0.0) if signs else w[at]) ** 2 / a[at]
        best = max(best, gains.sum())
    constraint = Nonnegative(L0(k)) if signs else L0(k)
    v = maximize_curved(constraint, w, a, np.zeros(d))
    assert constraint.contains(v)
    # Along v the minimum of Σ a x² − 2⟨w, x⟩ is −⟨w, v⟩²/Σ a v².
    gain = max(w @ v, 0.0) ** 2 / (a @ v**2)
    assert gain == pytest.approx(best, rel=1e-9, abs=1e-15)


@given(seed=SEEDS)
@settings(max_examples=50, deadline=None)
def test_an_l1_bound_never_loses(seed):
    rng = np.random.default_rng(seed)
    d = 7
    constraint = L1(rng.uniform(1.0, np.sqrt(d)))
    w, a = rng.standard_normal(d), rng.uniform(0.0, 3.0, d)
    before = random_feasible(constraint, d, rng)

    def loss(v, length):
        return length**2 * (a @ v**2) - 2 * length * (w @ v)

    v = maximize_curved(constraint, w, a, before)
    assert constraint.contains(v)
    lengths = np.append(np.linspace(0.0, 10.0, 1001), (w @ v) / (a @ v**2))
    assert min(loss(v, each) for each in lengths) <= loss(before, 1.0) + 1e-9


def test_features_without_curvature_get_nothing():
    v = maximize_curved(L0(2), np.array([0.0, 1.0, 0.5]), np.array([0.0, 1.0, 1.0]), np.zeros(3))
    assert v[0] == 0.0
    assert not maximize_curved(L0(2), np.zeros(3), np.zeros(3), np.zeros(3)).any()


# ------------------------------------------------------------ sweeps


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_with_all_weights_one_the_iterates_are_those_of_the_paper(kind, ridge):
    X = centred(factor_data(40, 12, seed=3)).astype(np.float64)
    V, constraints = unit_columns(12, R, seed=1), [CONSTRAINTS[kind](12, 0.4)] * R
    naive = NaiveRedac(X, V, constraints, ridge)
    for weights in (np.ones(X.shape, dtype=bool), np.ones(X.shape)):
        naive = NaiveRedac(X, V, constraints, ridge)
        iterate = iterate_of(cells_of(X, weights), V, np.full(R, ridge))
        for _ in range(8):
            naive.sweep()
            iterate.sweep(fixed(constraints))
            np.testing.assert_allclose(iterate.V, naive.V, rtol=0, atol=1e-9)
            np.testing.assert_allclose(
                iterate.model.U, naive.U, rtol=0, atol=1e-9 * np.abs(X).max()
            )
            assert iterate.objective() == pytest.approx(naive.objective(), rel=1e-9)


@given(seed=SEEDS, kind=st.sampled_from(sorted(CONSTRAINTS)), weights=st.sampled_from("gr"))
@settings(max_examples=60, deadline=None)
def test_the_objective_never_rises(seed, kind, weights):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 25)), int(rng.integers(R, 15))
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10.0, d) + rng.uniform(-5, 5, d)
    roots = np.sqrt(rng.integers(1, 4, n))
    cells = cells_of(X, some_weights(rng, X.shape, "gaps" if weights == "g" else "any"), roots)
    constraints = [CONSTRAINTS[kind](d, rng.uniform(0.1, 1.0)) for _ in range(R)]
    ridge = rng.uniform(0.0, 0.5, R) * rng.integers(0, 2)
    iterate = iterate_of(cells, unit_columns(d, R, seed), ridge)
    iterate.keep_apart(0.1, fixed(constraints))
    before = np.inf
    for _ in range(8):
        iterate.sweep(fixed(constraints))
        now = iterate.objective()
        assert now <= before * (1 + 1e-9) + 1e-12
        explicit = explicit_objective(cells, iterate.model, ridge)
        assert now * cells.total == pytest.approx(explicit, rel=1e-8, abs=1e-10 * cells.total)
        before = now
        for v, constraint in zip(iterate.V.T, constraints, strict=True):
            assert constraint.contains(v) or not v.any()


def test_each_block_is_at_its_minimum():
    """After many sweeps neither scores nor means can be moved for the better."""
    rng = np.random.default_rng(5)
    cells = cells_of(factor_data(20, 8, seed=5), some_weights(rng, (20, 8), "any"))
    ridge = np.full(R, 0.1)
    iterate = iterate_of(cells, unit_columns(8, R, 2), ridge)
    for _ in range(500):
        iterate.sweep(fixed([L0(4)] * R))
    model = iterate.model
    best = explicit_objective(cells, model, ridge)
    for name in ("U", "mean"):
        for _ in range(30):
            values = getattr(model, name)
            moved = {"V": model.V, "U": model.U, "mean": model.mean}
            moved[name] = values + 1e-3 * rng.standard_normal(values.shape)
            assert explicit_objective(cells, CellModel(**moved), ridge) >= best


def test_components_that_nothing_is_left_for_are_zero():
    X = factor_data(12, 6, seed=0, rank=1)
    cells = cells_of(X, np.random.default_rng(0).random(X.shape) < 0.9)
    iterate = iterate_of(cells, unit_columns(6, R, 0), np.zeros(R))
    for _ in range(60):
        iterate.sweep(fixed([L0(6)] * R))
    assert np.isfinite(iterate.V).all()
    assert iterate.objective() < 1e-6


# ------------------------------------------------------------ scores and completed data


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_scores_are_those_of_least_squares(ridge):
    rng = np.random.default_rng(1)
    X = factor_data(15, 9, seed=1)
    W, V = some_weights(rng, X.shape, "any"), unit_columns(9, R, 4)
    cells, mean = cells_of(X, W), rng.standard_normal(9)
    U = cells.scores(V, mean, np.full(R, ridge))
    for u, x, w in zip(U, X, W, strict=True):
        A = np.vstack([np.sqrt(w)[:, None] * V, np.sqrt(ridge) * np.eye(R)])
        b = np.concatenate([np.sqrt(w) * (x - mean), np.zeros(R)])
        np.testing.assert_allclose(u, np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-9)


def test_scores_that_nothing_determines_are_zero():
    X = factor_data(5, 4, seed=0)
    W = np.ones((5, 4), dtype=bool)
    W[0] = False
    V = np.eye(4)[:, :2]
    W[1, 1] = False
    U = cells_of(X, W).scores(V, np.zeros(4), np.zeros(2))
    assert not U[0].any()
    assert U[1, 1] == 0.0
    assert U[1, 0] == pytest.approx(X[1, 0])


@pytest.mark.parametrize("shape", [(30, 8), (9, 20), (150, 160)])
@pytest.mark.parametrize("kind", ["gaps", "any"])
def test_completed_data_are_those_of_the_definition(shape, kind):
    rng = np.random.default_rng(2)
    X = factor_data(*shape, seed=6)
    W, counts = some_weights(rng, shape, kind), rng.integers(1, 3, shape[0])
    roots = np.sqrt(counts)
    cells = cells_of(X, W, roots)
    model = CellModel(
        unit_columns(shape[1], R, 1), rng.standard_normal((shape[0], R)), rng.random(shape[1])
    )
    M = (model.V @ model.U.T).T / roots[:, None] + model.mean
    completed = np.where(W > 0, W * X + (1.0 - W) * M, M)
    reference = as_source(as_data(completed, sample_weight=counts))
    V = unit_columns(shape[1], 4, 3)
    source = cells.completed(model)
    np.testing.assert_allclose(source.dot(V), reference.dot(V), rtol=1e-8, atol=1e-8)
    assert source.total == pytest.approx(reference.total)


@given(seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_what_is_better_on_the_completed_data_is_better_on_the_cells(seed):
    rng = np.random.default_rng(seed)
    n, d = 12, 6
    cells = cells_of(rng.standard_normal((n, d)), some_weights(rng, (n, d), "any"))

    def any_model():
        return CellModel(
            unit_columns(d, 2, int(rng.integers(99))), rng.standard_normal((n, 2)), rng.random(d)
        )

    old, new = any_model(), any_model()
    X = cells.weights * cells.X + (1 - cells.weights) * (old.V @ old.U.T + old.mean[:, None])

    def on_completed(model):
        return ((X - model.V @ model.U.T - model.mean[:, None]) ** 2).sum()

    def on_cells(model):
        return explicit_objective(cells, model, np.zeros(2))

    step = on_completed(new) - on_completed(old)
    assert on_cells(new) - on_cells(old) <= step + 1e-9


# ------------------------------------------------------------ the whole search


def gappy(seed: int, share: float, n: int = 40, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = factor_data(n, d, seed)
    return X, rng.random(X.shape) >= share


@pytest.mark.parametrize("ridge", [None, 0.0, 0.05])
@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_the_history_of_a_fit_never_rises(kind, ridge):
    X, there = gappy(1, 0.3)
    constraints = [CONSTRAINTS[kind](12, 0.4)] * R
    cells = cells_of(X, there)
    found = refined(cells, constraints, ridge)
    assert found.status is Status.CONVERGED or found.n_sweeps_in_all >= 1000
    assert (np.diff(found.history) <= 0).all()
    eta = found.ridge if ridge is None else np.full(R, ridge)
    explicit = explicit_objective(cells, found.model, eta) / cells.total
    assert found.history[-1] == pytest.approx(explicit, rel=1e-9)
    assert all(c.contains(v) for c, v in zip(constraints, found.V.T, strict=True))


def test_without_gaps_refinement_stays_or_finds_something_better():
    n_stayed = 0
    for seed in range(4):
        X = factor_data(50, 10, seed=seed)
        cells = cells_of(X, np.ones(X.shape, dtype=bool))
        problem = Problem(as_source(as_data(X)), [L0(4)] * R, tol=1e-10)
        search = Search(problem)
        starts = Starts(problem, np.random.RandomState(0))
        search.try_starts(starts.sequence("pca", starts.usual_count("pca")), automatic=True)
        before = search.found
        found = Refinement(problem, cells, 0.0).run(before.V)
        assert found.history[-1] <= before.history[-1] + 1e-8
        if np.array_equal(found.V != 0, before.V != 0):
            n_stayed += 1
            assert_same_loadings(found.V, before.V, atol=1e-4)
            assert found.history[-1] == pytest.approx(before.history[-1], abs=1e-8)
    assert n_stayed > 1


def test_dense_components_are_those_of_repeated_filling():
    """Without bounds and ridge the optimum is that of the EM algorithm: fill, decompose, repeat."""
    X, there = gappy(3, 0.08, n=30, d=7)
    Y = np.where(there, X, X.mean(axis=0))
    for _ in range(2000):
        mean = Y.mean(axis=0)
        left, s, right = np.linalg.svd(Y - mean, full_matrices=False)
        Y = np.where(there, X, (left[:, :2] * s[:2]) @ right[:2] + mean)
    found = refined(cells_of(X, there), [L0(7)] * 2, 0.0, tol=1e-12)
    np.testing.assert_allclose(
        found.U @ found.V.T + found.mean, (left[:, :2] * s[:2]) @ right[:2] + mean, atol=1e-3
    )


def test_rows_and_columns_without_information_change_nothing():
    X, there = gappy(4, 0.3)
    more = np.column_stack([np.vstack([X, np.zeros(12)]), np.full(41, 3.0)])
    seen = np.column_stack([np.vstack([there, np.zeros(12, dtype=bool)]), np.ones(41, dtype=bool)])
    again = refined(cells_of(more, seen), [L0(4)] * R, 0.05)
    found = refined(cells_of(X, there), [L0(4)] * R, 0.05)
    assert_same_loadings(again.V[:-1], found.V, atol=1e-4)
    assert not again.V[-1].any()
    assert not again.U[-1].any()


def test_permutations_of_rows_and_columns():
    X, there = gappy(5, 0.3)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(40), rng.permutation(12)
    found = refined(cells_of(X, there), [L0(4)] * R, tol=1e-10)
    again = refined(cells_of(X[rows][:, columns], there[rows][:, columns]), [L0(4)] * R, tol=1e-10)
    align = np.sign((again.V * found.V[columns]).sum(axis=0))
    assert_same_loadings(again.V * align, found.V[columns], atol=1e-3)


def test_a_sample_that_counts_twice_is_there_twice():
    X, there = gappy(6, 0.2)
    twice = np.arange(40) < 10
    found = refined(cells_of(X, there, np.sqrt(1.0 + twice)), [L0(4)] * R, tol=1e-10)
    both, seen = np.vstack([X, X[twice]]), np.vstack([there, there[twice]])
    again = refined(cells_of(both, seen), [L0(4)] * R, tol=1e-10)
    align = np.sign((again.V * found.V).sum(axis=0))
    assert_same_loadings(again.V * align, found.V, atol=1e-3)
    np.testing.assert_allclose(again.ridge, found.ridge, rtol=1e-2)


def test_the_suggested_ridge_is_noise_by_signal():
    """With many complete rows η is σ²/τ: the variance of the noise by that of the scores."""
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((20, 2)))[0]
    X = (rng.standard_normal((4000, 2)) * [3.0, 2.0]) @ V.T + rng.standard_normal((4000, 20))
    found = refined(cells_of(X, rng.random(X.shape) < 0.9), [L0(20)] * 2)
    np.testing.assert_allclose(np.sort(found.ridge), [1 / 9, 1 / 4], rtol=0.1)


def test_the_ridge_tames_scores_of_rows_with_few_cells():
    X, there = gappy(8, 0.6)
    free = refined(cells_of(X, there), [L0(4)] * R, 0.0)
    tame = refined(cells_of(X, there), [L0(4)] * R)
    gaps = ~there

    def error(found):
        return np.sqrt(((found.U @ found.V.T + found.mean - X)[gaps] ** 2).mean())

    assert error(tame) < error(free)
    assert (tame.ridge > 0).all()
