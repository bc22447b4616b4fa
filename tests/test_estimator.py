"""``SparsePCA`` as a user meets it."""

import itertools
import os
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers import SAME_OPTIMUM, assert_same_loadings
from redac import SparsePCA, metrics
from redac.datasets import fetch_colon, load_pitprops, make_hastie
from redac.exceptions import ExhaustedWarning, FitInterruptedWarning, SeparationWarning
from redac.show.tables import loadings_table

PITPROPS = load_pitprops()
needs_colon = pytest.mark.skipif(
    not os.environ.get("REDAC_DATA"), reason="REDAC_DATA names no folder with the colon data"
)


def data(n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((4, d)) * (rng.random((4, d)) < 0.5)
    return rng.standard_normal((n, 4)) * [5, 4, 3, 2] @ loadings + 0.3 * rng.standard_normal((n, d))


X = data()


# Figures of the paper


@pytest.mark.parametrize(
    ("cardinality", "paper"),
    [((8, 5, 6, 2, 3, 2), 83.50), ((7, 4, 4, 1, 1, 1), 81.14), ((7, 2, 3, 1, 1, 1), 80.46)],
)
def test_pitprops_is_at_least_as_good_as_printed(cardinality, paper):
    model = SparsePCA(6, cardinality=cardinality).fit_covariance(PITPROPS.correlation)
    assert np.count_nonzero(model.components_, axis=1).tolist() == list(cardinality)
    assert metrics.pev(PITPROPS.correlation, model.components_, covariance=True) >= paper


@needs_colon
def test_colon_is_at_least_as_good_as_printed():
    colon = fetch_colon().data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        from_pca = SparsePCA(20, cardinality=50, n_init=1).fit(colon)
        default = SparsePCA(20, cardinality=50).fit(colon)
    assert metrics.pev(colon, from_pca.components_) >= 77.5
    assert metrics.pev(colon, default.components_) >= 77.56
    assert (np.count_nonzero(default.components_, axis=1) <= 50).all()


def test_hastie_supports_are_found_in_100_of_100_sets():
    truth = {frozenset(range(4, 8)), frozenset(range(4))}
    for seed in range(100):
        model = SparsePCA(2, cardinality=4).fit(make_hastie(random_state=seed).data)
        assert {frozenset(np.flatnonzero(row)) for row in model.components_} == truth


# Attributes


@pytest.mark.parametrize(
    "bounds",
    [
        {},
        {"cardinality": 3},
        {"cardinality": (5, 4, 3)},
        {"cardinality": 0.25},
        {"l1_bound": 1.5},
        {"l1_bound": (1.2, 1.5, 2.0)},
        {"cardinality": 4, "nonnegative": True, "ridge": 0.01},
        {"cardinality": 4, "nonnegative": (True, False, True), "ridge": 0.01},
        {"l1_bound": 1.6, "nonnegative": True, "ridge": 0.02},
        {"l1_bound": 1.6, "standardize": True},
        {"cardinality": 4, "ridge": 0.1},
    ],
    ids=str,
)
def test_fitted_attributes_agree_with_each_other(bounds):
    model = SparsePCA(3, **bounds).fit(X)
    V = model.components_
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1)
    assert (V[np.arange(3), np.abs(V).argmax(axis=1)] > 0).all()
    seen = (X - model.mean_) / model.scale_
    pev = metrics.pev(seen, V)
    assert 100 * model.explained_variance_ratio_.sum() == pytest.approx(pev)
    total = np.var(seen, axis=0, ddof=1).sum()
    np.testing.assert_allclose(model.explained_variance_, model.explained_variance_ratio_ * total)
    assert model.reconstruction_error_ == pytest.approx(metrics.rre(seen, V))
    assert model.separation_ == pytest.approx(metrics.separation(V))
    assert model.score(X) == pytest.approx(pev / 100)
    restored = (model.inverse_transform(model.transform(X)) - model.mean_) / model.scale_
    assert np.linalg.norm(seen - restored) / np.linalg.norm(seen) == pytest.approx(
        model.reconstruction_error_
    )
    assert len(model.objective_history_) == model.n_iter_
    assert (np.diff(model.objective_history_) <= 1e-12).all()
    assert model.converged_


def test_bounds_of_their_own_keep_their_order_and_are_met():
    cardinality = (2, 6, 3)
    model = SparsePCA(3, cardinality=cardinality).fit(X)
    assert np.count_nonzero(model.components_, axis=1).tolist() == list(cardinality)
    model = SparsePCA(3, l1_bound=(1.1, 2.0, 1.5)).fit(X)
    norms = np.abs(model.components_).sum(axis=1)
    assert (norms <= np.array([1.1, 2.0, 1.5]) + 1e-9).all()


def test_one_bound_for_all_sorts_by_what_components_add():
    model = SparsePCA(4, cardinality=3).fit(X)
    ratio = model.explained_variance_ratio_
    alone = [metrics.pev(X, row) for row in model.components_]
    assert 100 * ratio[0] == pytest.approx(max(alone))
    for later in range(1, 4):
        swapped = model.components_.copy()
        swapped[[0, later]] = swapped[[later, 0]]
        assert metrics.explained_variance_ratio(X, swapped)[0] <= ratio[0] + 1e-12


def test_nonnegative_components_have_no_negative_entry():
    model = SparsePCA(3, cardinality=5, nonnegative=True, ridge=0.01).fit(X)
    assert (model.components_ >= 0).all()
    mixed = SparsePCA(3, cardinality=5, nonnegative=(True, False, False)).fit(X)
    assert (mixed.components_[0] >= 0).all()


def test_without_bounds_the_subspace_is_that_of_pca():
    model = SparsePCA(3).fit(X)
    axes = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    projector = model.components_.T @ np.linalg.pinv(model.components_.T)
    np.testing.assert_allclose(projector, axes.T @ axes, atol=1e-6)


# Containers


CONTAINERS = {
    "fortran": np.asfortranarray,
    "read-only": lambda X: np.lib.stride_tricks.as_strided(X, writeable=False),
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
    "list": lambda X: X.tolist(),
    "csr array": sparse.csr_array,
    "csc array": sparse.csc_array,
    "csr matrix": sparse.csr_matrix,
    "coo matrix": sparse.coo_matrix,
}


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("shape", [(60, 12), (10, 25)], ids=["tall", "wide"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_components_do_not_depend_on_the_container(container, shape, standardize):
    X = data(*shape)
    expected = SparsePCA(3, cardinality=4, standardize=standardize).fit(X)
    model = SparsePCA(3, cardinality=4, standardize=standardize).fit(CONTAINERS[container](X))
    assert_same_loadings(model.components_, expected.components_)
    np.testing.assert_allclose(
        model.explained_variance_, expected.explained_variance_, rtol=SAME_OPTIMUM
    )
    np.testing.assert_allclose(
        model.transform(CONTAINERS[container](X)), expected.transform(X), atol=10 * SAME_OPTIMUM
    )
    assert model.score(CONTAINERS[container](X)) == pytest.approx(expected.score(X))


def test_memory_mapped_data_give_the_same(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = SparsePCA(3, cardinality=4).fit(mapped)
    assert_same_loadings(model.components_, SparsePCA(3, cardinality=4).fit(X).components_)


def test_integers_give_the_same_as_floats():
    counts = np.random.default_rng(1).poisson(3, size=(50, 8))
    from_integers = SparsePCA(2, cardinality=3).fit(counts)
    from_floats = SparsePCA(2, cardinality=3).fit(counts.astype(float))
    assert_same_loadings(from_integers.components_, from_floats.components_)


def test_single_precision_stays_single_and_close():
    single = SparsePCA(3, cardinality=4).fit(X.astype(np.float32))
    assert single.components_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.inverse_transform(single.transform(X.astype(np.float32))).dtype == np.float32
    double = SparsePCA(3, cardinality=4).fit(X)
    np.testing.assert_allclose(single.components_, double.components_, atol=1e-5)


@pytest.mark.parametrize("standardize", [False, True])
def test_data_and_covariance_give_the_same(standardize):
    settings = {"cardinality": 4, "standardize": standardize}
    from_data = SparsePCA(3, **settings).fit(X)
    covariance = np.cov(X, rowvar=False)
    from_covariance = SparsePCA(3, **settings).fit_covariance(covariance, n_samples=60)
    for name in ("components_", "explained_variance_", "scale_", "reconstruction_error_"):
        np.testing.assert_allclose(
            getattr(from_data, name), getattr(from_covariance, name), atol=SAME_OPTIMUM
        )
    assert from_covariance.n_samples_ == 60


@pytest.mark.filterwarnings("ignore::redac.exceptions.ScaleWarning")
@pytest.mark.parametrize("factor", [1e-180, 1e-20, 1e20, 1e140])
def test_scale_of_the_data_does_not_matter(factor):
    model = SparsePCA(3, cardinality=4).fit(X * factor)
    expected = SparsePCA(3, cardinality=4).fit(X)
    assert_same_loadings(model.components_, expected.components_)
    np.testing.assert_allclose(
        model.transform(X * factor) / factor, expected.transform(X), atol=10 * SAME_OPTIMUM
    )
    assert model.score(X * factor) == pytest.approx(expected.score(X))


def test_data_are_not_changed():
    original = X.copy()
    SparsePCA(3, cardinality=4, standardize=True).fit(X).transform(X)
    np.testing.assert_array_equal(X, original)


# Conveniences


def test_feature_names_appear_in_results():
    names = [f"gene {j}" for j in range(12)]
    frame = pd.DataFrame(X, columns=names)
    model = SparsePCA(2, cardinality=3).fit(frame)
    table = model.loadings_table()
    assert list(table.columns) == ["PC1", "PC2"]
    assert set(table.index) <= set(names)
    used = np.flatnonzero(model.components_.any(axis=0))
    assert len(table) == len(used)
    for j in used:
        column = model.components_[:, j]
        np.testing.assert_array_equal(
            table.loc[names[j]].to_numpy(), np.where(column == 0, np.nan, column)
        )


def test_features_of_a_component_stand_together_largest_first():
    table = SparsePCA(3, cardinality=3).fit(X).loadings_table().fillna(0).abs()
    home = table.to_numpy().argmax(axis=1)
    assert (np.diff(home) >= 0).all()
    for component in range(3):
        loadings = table.to_numpy()[home == component, component]
        assert (np.diff(loadings) <= 0).all()


def test_repeated_feature_names_are_kept_apart_by_position():
    components = SparsePCA(2, cardinality=3).fit(X).components_
    table = loadings_table(components, ["same"] * 12)
    assert len(table) == components.any(axis=0).sum()


def test_names_can_be_given_for_data_without_names():
    names = [f"gene {j}" for j in range(12)]
    frame = pd.DataFrame(X, columns=names)
    expected = SparsePCA(2, cardinality=3).fit(frame)
    for given in (X, sparse.csr_array(X)):
        model = SparsePCA(2, cardinality=3).fit(given, feature_names=names)
        assert list(model.feature_names_in_) == names
        assert list(model.loadings_table().index) == list(expected.loadings_table().index)
        model.transform(given)  # no warning: the data of the fit had no names either
        model.transform(frame)
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(frame.rename(columns={names[0]: "other"}))
        assert not hasattr(model.fit(given), "feature_names_in_")
    model = SparsePCA(2, cardinality=3).fit_covariance(np.cov(X.T), feature_names=names)
    assert list(model.feature_names_in_) == names


@pytest.mark.parametrize(
    ("names", "error", "complaint"),
    [
        (["a"], ValueError, "feature_names has 1 names for 12 features"),
        ("abcdefghijkl", TypeError, "must be a sequence of 12 names"),
        (range(12), TypeError, "feature_names holds 0; all names must be strings"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, error, complaint):
    with pytest.raises(error, match=complaint):
        SparsePCA(2).fit(X, feature_names=names)
    with pytest.raises(error, match=complaint):
        SparsePCA(2).fit_covariance(np.cov(X.T), feature_names=names)


def test_names_beside_names_are_refused():
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    with pytest.raises(ValueError, match="names of their own"):
        SparsePCA(2).fit(frame, feature_names=list(frame.columns))


def test_a_complaint_about_an_entry_uses_the_given_names():
    wrong = X.copy()
    wrong[3, 2] = np.inf
    with pytest.raises(ValueError, match="gene 2"):
        SparsePCA(2).fit(wrong, feature_names=[f"gene {j}" for j in range(12)])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(library):
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    scores = SparsePCA(2, cardinality=3).set_output(transform=library).fit_transform(frame)
    assert list(scores.columns) == ["sparsepca0", "sparsepca1"]


def test_grid_search_finds_that_more_loadings_explain_more():
    grid = GridSearchCV(SparsePCA(3), {"cardinality": [1, 3, 12]}, cv=3).fit(X)
    assert grid.best_params_ == {"cardinality": 12}
    scores = grid.cv_results_["mean_test_score"]
    assert scores[0] < scores[1] < scores[2] <= 1


def test_works_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), SparsePCA(2, cardinality=3)).fit(X)
    alone = SparsePCA(2, cardinality=3, standardize=True).fit(X)
    assert_same_loadings(pipeline[-1].components_, alone.components_)


@pytest.mark.parametrize(
    "settings",
    [
        {"cardinality": 3, "random_state": 3, "n_init": 4},
        {"cardinality": (3, 2), "nonnegative": (True, False)},
        {"l1_bound": np.array([1.5, 1.2]), "standardize": True},
        {"init": np.eye(2, 12), "random_state": np.random.RandomState(0)},
    ],
    ids=["numbers", "lists", "arrays", "init"],
)
def test_saved_models_come_back_the_same(settings, tmp_path):
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    model = SparsePCA(2, **settings).fit(frame)
    model.save(tmp_path / "model.npz")
    loaded = SparsePCA.load(tmp_path / "model.npz")
    for restored in (loaded, pickle.loads(pickle.dumps(model))):  # noqa: S301
        np.testing.assert_allclose(restored.transform(frame), model.transform(frame), atol=1e-12)
        assert restored.loadings_table().equals(model.loadings_table())
        assert restored.n_samples_ == 60
    refitted = clone(loaded).fit(frame)
    if "random_state" not in settings:
        assert_same_loadings(refitted.components_, model.components_)


@pytest.mark.parametrize("content", [b"", b"not a zip", None], ids=["empty", "text", "other npz"])
def test_a_file_that_is_no_model_is_named(content, tmp_path):
    path = tmp_path / "model.npz"
    if content is None:
        np.savez(path, a=np.ones(3))
    else:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.npz: damaged, or not a model saved by redac"):
        SparsePCA.load(path)


def test_a_pickle_in_place_of_a_model_is_not_opened(tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, header=np.array([{"format": "redac-model-1"}], dtype=object))
    with pytest.raises(ValueError, match="not a model saved by redac"):
        SparsePCA.load(path)


# Starts and seeds


def test_the_default_does_not_depend_on_chance():
    first, second = (SparsePCA(3, cardinality=4).fit(X) for _ in range(2))
    assert_same_loadings(first.components_, second.components_)


@pytest.mark.parametrize(
    "settings", [{"init": "random"}, {"n_init": 5}, {"n_perturbations": 5}], ids=str
)
def test_same_seed_same_answer(settings):
    first, second = (
        SparsePCA(3, cardinality=4, random_state=7, **settings).fit(X) for _ in range(2)
    )
    assert_same_loadings(first.components_, second.components_)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"n_init": 1}, {"n_init": "auto"}),
        ({"n_init": 2}, {"n_init": 8}),
        ({"init": "varimax"}, {"n_init": "auto"}),
        ({}, {"n_perturbations": 20}),
    ],
    ids=str,
)
def test_more_search_is_never_worse(less, more):
    for cardinality in ((8, 5, 6, 2, 3, 2), (7, 4, 4, 1, 1, 1)):
        few = SparsePCA(6, cardinality=cardinality, random_state=0, **less)
        many = SparsePCA(6, cardinality=cardinality, random_state=0, **more)
        few.fit_covariance(PITPROPS.correlation)
        many.fit_covariance(PITPROPS.correlation)
        # Runs on the same supports end within tol of each other.
        assert many.reconstruction_error_ <= few.reconstruction_error_ + many.tol


def test_a_start_of_ones_own_is_taken():
    model = SparsePCA(3, cardinality=4).fit(X)
    again = SparsePCA(3, cardinality=4, init=model.components_, tol=1e-6).fit(X)
    assert again.n_iter_ <= 4  # it settles, explores and converges with a sweep each
    np.testing.assert_allclose(again.components_, model.components_, atol=0.01)


def test_a_ridge_separates_components():
    settings = {"l1_bound": 1.6, "nonnegative": True, "standardize": True, "n_init": 2, "tol": 1e-5}
    with pytest.warns(SeparationWarning, match="nearly parallel.*ridge"):
        free = SparsePCA(3, min_separation=0, **settings).fit(X)
    kept = SparsePCA(3, ridge=0.05, **settings).fit(X)
    assert free.separation_ < 0.01 < 0.1 < kept.separation_


def wide_factors():
    rng = np.random.default_rng(4)
    scores = rng.standard_normal((30, 6)) * np.linspace(3, 1, 6)
    loadings = rng.standard_normal((6, 200)) * (rng.random((6, 200)) < 0.2)
    return scores @ loadings + rng.standard_normal((30, 200))


def test_l1_bounds_do_not_let_components_collapse():
    Y = wide_factors()
    model = SparsePCA(5, l1_bound=3.0).fit(Y)
    assert model.converged_
    assert 0.5 - 1e-9 <= model.separation_ < 0.55  # so the limit was needed
    assert np.abs(model.components_).sum(axis=1).max() <= 3.0 * (1 + 1e-9)
    assert model.n_iter_ == len(model.objective_history_) < 200
    assert (np.diff(model.objective_history_) <= 1e-12).all()
    assert not np.signbit(model.components_[model.components_ == 0]).any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        free = SparsePCA(5, l1_bound=3.0, min_separation=0, max_iter=200).fit(Y)
    assert free.separation_ < 0.1
    assert free.score(Y) > model.score(Y)
    assert np.count_nonzero(free.components_) > 1.2 * np.count_nonzero(model.components_)


@pytest.mark.parametrize("bound", [{"l1_bound": 3.0}, {"cardinality": 6, "nonnegative": True}])
def test_a_wanted_separation_holds(bound):
    Y, scores = wide_factors(), []
    for least in (0.02, 0.3, 0.9):
        model = SparsePCA(5, min_separation=least, **bound).fit(Y)
        assert model.converged_
        assert model.separation_ >= least - 1e-9
        assert model.components_.any(axis=1).all()
        scores.append(model.score(Y))
    assert scores[0] > scores[2]


def test_components_of_ones_own_that_are_too_close_come_apart():
    Y = wide_factors()
    v = np.zeros(200)
    v[:4] = 0.5
    start = np.array([v, v + 1e-3 * np.eye(200)[5]])
    model = SparsePCA(2, l1_bound=2.0, init=start, min_separation=0.9).fit(Y)
    assert model.separation_ >= 0.9 - 1e-9
    assert model.components_.any(axis=1).all()


def test_a_component_without_a_place_far_enough_away_is_zero_and_said_to_be():
    S = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
    model = SparsePCA(3, nonnegative=True, init=np.ones((3, 3)), min_separation=0.5)
    with pytest.warns(ExhaustedWarning, match=r"min_separation=0\.5 allows.*n_components=1"):
        model.fit_covariance(S)
    assert model.components_.any(axis=1).tolist() == [True, False, False]


@pytest.mark.parametrize("wrong", ["none", None, -0.1, 1.5, np.nan])
def test_min_separation_is_a_share_or_auto(wrong):
    with pytest.raises((ValueError, TypeError), match="min_separation="):
        SparsePCA(2, min_separation=wrong).fit(X)


# Honest failure


def rank_two(n=20, d=6):
    rng = np.random.default_rng(2)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, d))


def test_more_components_than_rank_are_zero_and_said_so():
    with pytest.warns(ExhaustedWarning, match=r"component\(s\) \[2, 3\].*n_components=2"):
        model = SparsePCA(4).fit(rank_two())
    assert model.components_[:2].any(axis=1).all()
    np.testing.assert_array_equal(model.components_[2:], 0)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)
    assert np.isfinite(model.transform(rank_two())).all()


def test_all_zero_data_have_no_components():
    with pytest.warns(ExhaustedWarning):
        model = SparsePCA(2, cardinality=2).fit(np.zeros((5, 4)))
    np.testing.assert_array_equal(model.components_, 0)
    np.testing.assert_array_equal(model.explained_variance_ratio_, 0)
    assert model.reconstruction_error_ == 0
    assert model.score(np.zeros((5, 4))) == 0
    assert np.isfinite(model.transform(np.zeros((3, 4)))).all()


@pytest.mark.parametrize("standardize", [False, True])
def test_constant_columns_get_no_loading(standardize):
    with_constants = np.column_stack([X, np.full(60, 1e9 / 3), np.zeros(60)])
    model = SparsePCA(3, cardinality=4, standardize=standardize).fit(with_constants)
    np.testing.assert_array_equal(model.components_[:, 12:], 0)
    expected = SparsePCA(3, cardinality=4, standardize=standardize).fit(X)
    assert_same_loadings(model.components_[:, :12], expected.components_)


def test_duplicated_columns_share_a_component():
    twice = np.column_stack([X[:, :3], X[:, :3]])
    model = SparsePCA(2, cardinality=2).fit(twice)
    assert np.isfinite(model.components_).all()
    assert (np.count_nonzero(model.components_, axis=1) <= 2).all()


def test_fewer_samples_than_features():
    wide = data(n=8, d=40)
    model = SparsePCA(3, cardinality=5).fit(wide)
    assert np.count_nonzero(model.components_, axis=1).tolist() == [5, 5, 5]
    assert model.score(wide) > 0.5


@pytest.mark.parametrize("n", [3, 300], ids=["factor", "gram"])
def test_a_component_that_finds_nothing_looks_at_all_features(n):
    """All variance of the promising features is explained by fewer components than there are."""
    rng = np.random.default_rng(3)
    copies = np.outer(rng.standard_normal(n), np.ones(100))
    model = SparsePCA(8, cardinality=2, n_init=1).fit(copies)
    assert model.components_.any(axis=1).all()
    assert model.explained_variance_ratio_.sum() == pytest.approx(0.16)


def test_more_sparse_components_than_samples_may_all_be_needed():
    rng = np.random.default_rng(3)
    rank_one = np.outer(rng.standard_normal(3), np.ones(12))
    model = SparsePCA(4, cardinality=3).fit(rank_one)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)
    assert model.components_.any(axis=1).all()


def test_negative_only_data_with_nonnegative_loadings():
    negative = -np.abs(data())
    model = SparsePCA(2, cardinality=4, nonnegative=True).fit(negative)
    assert (model.components_ >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)


def test_features_that_only_oppose_each_other_explain_no_more_than_alone():
    S = np.eye(4) - 0.3 * (1 - np.eye(4))
    model = SparsePCA(2, cardinality=3, nonnegative=True).fit_covariance(S)
    assert (model.components_ >= 0).all()
    assert model.explained_variance_ratio_.sum() == pytest.approx(0.5)


def test_one_sample_is_not_enough():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        SparsePCA().fit(X[:1])


@pytest.mark.parametrize(
    ("container", "value"),
    [
        *itertools.product(["array", "frame", "sparse"], [np.inf, -np.inf]),
        ("sparse", np.nan),  # elsewhere NaN is a missing cell
    ],
)
def test_bad_values_are_named(container, value):
    bad = X.copy()
    bad[17, 4] = value
    names = [f"gene {j}" for j in range(12)]
    given = {
        "array": lambda: bad,
        "frame": lambda: pd.DataFrame(bad, columns=names),
        "sparse": lambda: sparse.csr_array(bad),
    }[container]()
    what = "NaN" if np.isnan(value) else "infinity"
    label = r" \('gene 4'\)" if container == "frame" else ""
    with pytest.raises(ValueError, match=f"{what}: row 17, column 4{label}"):
        SparsePCA().fit(given)
    model = SparsePCA().fit(pd.DataFrame(X, columns=names) if container == "frame" else X)
    with pytest.raises(ValueError, match=f"{what}: row 17, column 4{label}"):
        model.transform(given)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components=0"),
        ({"n_components": 13}, ValueError, "n_components=13.*12 features"),
        ({"n_components": 1.5}, TypeError, "n_components=1.5"),
        ({"cardinality": 0}, ValueError, "cardinality=0"),
        ({"cardinality": -1}, ValueError, "cardinality=-1"),
        ({"cardinality": 1.5}, ValueError, "cardinality=1.5"),
        ({"cardinality": "few"}, TypeError, "cardinality='few'"),
        ({"cardinality": True}, TypeError, "cardinality=True"),
        ({"cardinality": (3, 2, 1)}, ValueError, "3 values for n_components=2"),
        ({"l1_bound": 0.9}, ValueError, "l1_bound=0.9"),
        ({"l1_bound": np.nan}, ValueError, "l1_bound=nan"),
        ({"l1_bound": "tight"}, TypeError, "l1_bound='tight'"),
        ({"l1_bound": 1.5, "cardinality": 3}, ValueError, "choose one"),
        ({"nonnegative": 1}, TypeError, "nonnegative=1"),
        ({"init": "svd"}, ValueError, "init='svd'"),
        ({"init": np.eye(3)}, ValueError, r"init has shape \(3, 3\)"),
        ({"init": np.full((2, 12), np.nan)}, ValueError, "init contains NaN"),
        ({"n_init": 0}, ValueError, "n_init=0"),
        ({"n_init": "all"}, ValueError, "n_init='all'"),
        ({"n_perturbations": -1}, ValueError, "n_perturbations=-1"),
        ({"ridge": -1}, ValueError, "ridge=-1"),
        ({"ridge": "0.1"}, TypeError, "ridge='0.1'"),
        ({"max_iter": 0}, ValueError, "max_iter=0"),
        ({"tol": -1e-3}, ValueError, "tol=-0.001"),
        ({"standardize": "yes"}, TypeError, "standardize='yes'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_named_with_their_value(settings, error, message):
    with pytest.raises(error, match=message):
        SparsePCA(**settings).fit(X)


def test_too_few_sweeps_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = SparsePCA(3, cardinality=4, max_iter=2, tol=0).fit(X)
    assert not model.converged_
    assert np.count_nonzero(model.components_, axis=1).tolist() == [4, 4, 4]


def test_an_unfitted_model_says_so(tmp_path):
    for call in (
        lambda: SparsePCA().transform(X),
        lambda: SparsePCA().loadings_table(),
        lambda: SparsePCA().save(tmp_path / "model.npz"),
    ):
        with pytest.raises(NotFittedError):
            call()
    assert not list(tmp_path.iterdir())


def test_scores_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="2 columns are expected"):
        SparsePCA().fit(X).inverse_transform(np.ones((3, 5)))


# Callbacks and interrupts


class Watcher:
    """A callback that records, and stops or interrupts after some sweeps."""

    def __init__(self, stop_after=None, interrupt_after=None):
        self.sweeps = []
        self.scores = []
        self.stop_after = stop_after
        self.interrupt_after = interrupt_after

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, metadata, fitted_estimator):
        if context.task_name != "sweep":
            return False
        self.sweeps.append(metadata["objective"])
        self.scores.append(fitted_estimator.score(X))
        if len(self.sweeps) == self.interrupt_after:
            raise KeyboardInterrupt
        return len(self.sweeps) == self.stop_after


def test_callbacks_see_every_sweep_and_a_fitted_estimator():
    pytest.importorskip("sklearn.callback")
    watcher = Watcher()
    model = SparsePCA(3, cardinality=4, n_init=1).set_callbacks(watcher).fit(X)
    np.testing.assert_allclose(watcher.sweeps, model.objective_history_)
    assert (np.diff(watcher.scores) >= -1e-9).all()
    assert watcher.scores[-1] == pytest.approx(model.score(X), abs=1e-9)


def test_a_callback_can_stop_the_fit():
    pytest.importorskip("sklearn.callback")
    watcher = Watcher(stop_after=2)
    model = SparsePCA(3, cardinality=4).set_callbacks(watcher).fit(X)
    assert len(watcher.sweeps) == 2
    assert model.n_iter_ == 2
    assert not model.converged_


@pytest.mark.parametrize("interrupt_after", [1, 3])
def test_an_interrupt_keeps_the_best_so_far(interrupt_after):
    pytest.importorskip("sklearn.callback")
    watcher = Watcher(interrupt_after=interrupt_after)
    with pytest.warns(FitInterruptedWarning):
        model = SparsePCA(3, cardinality=4).set_callbacks(watcher).fit(X)
    assert np.count_nonzero(model.components_, axis=1).tolist() == [4, 4, 4]
    assert not model.converged_
    assert model.score(X) > 0


def test_scikit_learns_progress_bar_shows_the_sweeps(capfd):
    callback = pytest.importorskip("sklearn.callback")
    SparsePCA(3, cardinality=4).set_callbacks(callback.ProgressBar()).fit(X)
    assert "start" in capfd.readouterr().out


@pytest.mark.parametrize("most", [1, 8, 30])
def test_all_sweeps_count_where_components_must_stay_apart(most):
    pytest.importorskip("sklearn.callback")
    watcher = Watcher()
    options = {"l1_bound": 3.0, "min_separation": 0.1, "n_init": 1, "max_iter": most, "tol": 0.0}
    model = SparsePCA(5, **options).set_callbacks(watcher)
    with pytest.warns(ConvergenceWarning):
        model.fit(wide_factors())
    assert len(watcher.sweeps) == most
    assert model.n_iter_ == most
    assert model.separation_ >= 0.1 - 1e-9
