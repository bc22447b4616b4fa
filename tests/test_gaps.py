"""Missing cells, from the outside: fits, scores, shares and filled tables of data with gaps."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers import assert_same_loadings, factor_data
from redac import SparsePCA
from redac.exceptions import EmptyRowsWarning, NonFiniteError

N, D, R = 60, 12, 3


def planted(seed: int = 0, n: int = N) -> np.ndarray:
    """Three components of four features each, with noise, about a mean that is not zero."""
    rng = np.random.default_rng(seed)
    V = np.kron(np.eye(R), np.array([[0.5, -0.5, 0.5, 0.5]]).T)
    scores = rng.standard_normal((n, R)) * [5.0, 4.0, 3.0]
    return scores @ V.T + 0.5 * rng.standard_normal((n, D)) + np.arange(D)


def gappy(share: float = 0.2, seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    X = planted(seed, n)
    gaps = np.random.default_rng(seed + 1).random(X.shape) < share
    return X, np.where(gaps, np.nan, X)


X, GAPPY = gappy()
GAPS = np.isnan(GAPPY)
MODEL = SparsePCA(R, cardinality=4).fit(GAPPY)


class Store:
    """Rows by slicing, as files of other libraries give them out."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, rows):
        return self._values[rows]


# ------------------------------------------------------------ fits


def test_supports_and_gaps_are_found():
    assert [set(np.flatnonzero(row)) for row in MODEL.components_] == [
        {0, 1, 2, 3},
        {4, 5, 6, 7},
        {8, 9, 10, 11},
    ]
    assert MODEL.n_missing_ == GAPS.sum()
    assert MODEL.converged_
    assert (np.diff(MODEL.objective_history_) <= 0).all()
    assert (MODEL.score_ridge_ > 0).all()


def test_complete_data_have_no_gaps():
    model = SparsePCA(R, cardinality=4).fit(X)
    assert model.n_missing_ == 0
    assert not hasattr(model.fit_covariance(np.cov(X.T)), "n_missing_")


def kinds(tmp_path):
    path = tmp_path / "gappy.npy"
    np.save(path, GAPPY)
    frame = pd.DataFrame(GAPPY, columns=[f"f{j}" for j in range(D)])
    return {
        "by columns": np.asfortranarray(GAPPY),
        "memory-mapped": np.load(path, mmap_mode="r"),
        "frame": frame,
        "nullable": frame.convert_dtypes(),
        "None": frame.astype(object).where(~GAPS, None),
        "NA": pd.DataFrame(np.where(GAPS, pd.NA, GAPPY.astype(object))),
        "list": GAPPY.tolist(),
        "masked": np.ma.MaskedArray(np.where(GAPS, 1e6, GAPPY), mask=GAPS),
        "row store": Store(GAPPY),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "by columns",
        "memory-mapped",
        "frame",
        "nullable",
        "None",
        "NA",
        "list",
        "masked",
        "row store",
    ],
)
def test_gaps_in_all_kinds_of_tables(kind, tmp_path):
    given = kinds(tmp_path)[kind]
    model = SparsePCA(R, cardinality=4).fit(given)
    assert model.n_missing_ == GAPS.sum()
    assert_same_loadings(model.components_, MODEL.components_)
    np.testing.assert_allclose(model.transform(given), MODEL.transform(GAPPY), atol=1e-5)
    assert model.score(given) == pytest.approx(MODEL.score(GAPPY), abs=1e-8)


def test_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({f"f{j}": GAPPY[:, j] for j in range(D)}).fill_nan(None)
    model = SparsePCA(R, cardinality=4).fit(frame)
    assert_same_loadings(model.components_, MODEL.components_)


def test_single_precision():
    model = SparsePCA(R, cardinality=4).fit(GAPPY.astype(np.float32))
    assert model.components_.dtype == np.float32
    assert model.transform(GAPPY.astype(np.float32)).dtype == np.float32
    assert_same_loadings(model.components_, MODEL.components_, atol=1e-4)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_numbers_of_any_size(factor):
    with pytest.warns(UserWarning, match="explained_variance_ is"):
        model = SparsePCA(R, cardinality=4).fit(GAPPY * factor)
    assert_same_loadings(model.components_, MODEL.components_)
    np.testing.assert_allclose(model.explained_variance_ratio_, MODEL.explained_variance_ratio_)
    np.testing.assert_allclose(
        model.impute(GAPPY * factor) / factor, MODEL.impute(GAPPY), rtol=1e-4
    )


def test_standardised_by_the_cells_that_are_there():
    model = SparsePCA(R, cardinality=4, standardize=True).fit(GAPPY * np.arange(1.0, D + 1.0))
    np.testing.assert_allclose(
        model.scale_, np.nanstd(GAPPY, axis=0, ddof=1) * np.arange(1.0, D + 1.0)
    )
    again = SparsePCA(R, cardinality=4).fit(StandardScaler().fit_transform(GAPPY))
    assert_same_loadings(model.components_, again.components_, atol=1e-3)


def test_sample_weights_count_rows():
    weights = np.where(np.arange(N) < 20, 2, 1)
    twice = np.repeat(GAPPY, weights, axis=0)
    model = SparsePCA(R, cardinality=4, tol=1e-10).fit(GAPPY, sample_weight=weights)
    again = SparsePCA(R, cardinality=4, tol=1e-10).fit(twice)
    assert_same_loadings(model.components_, again.components_, atol=1e-4)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, again.explained_variance_ratio_, rtol=1e-4
    )


def test_rows_without_weight_may_hold_anything():
    spoiled = np.vstack([GAPPY, np.full(D, np.inf), np.full(D, np.nan)])
    weights = np.append(np.ones(N), [0, 0])
    model = SparsePCA(R, cardinality=4).fit(spoiled, sample_weight=weights)
    assert_same_loadings(model.components_, MODEL.components_)
    assert model.n_missing_ == MODEL.n_missing_


@pytest.mark.parametrize(
    "options",
    [
        {"l1_bound": 1.8},
        {"cardinality": 4, "nonnegative": True},
        {"cardinality": [4, 3, 2]},
        {"cardinality": 4, "n_init": 3, "n_perturbations": 2, "random_state": 0},
        {"cardinality": 4, "ridge": 0.0},
        {"cardinality": 4, "min_separation": 0.9},
        {},
    ],
    ids=str,
)
def test_whatever_else_is_asked_for(options):
    model = SparsePCA(R, **options).fit(GAPPY)
    assert (np.diff(model.objective_history_) <= 0).all()
    assert model.score(GAPPY) == pytest.approx(model.explained_variance_ratio_.sum())
    assert model.separation_ >= options.get("min_separation", 0.0) - 1e-9
    assert np.isfinite(model.transform(GAPPY)).all()
    if options.get("nonnegative"):
        assert (model.components_ >= 0).all()


def test_the_ridge_is_the_users_if_he_says_so():
    model = SparsePCA(R, cardinality=4, ridge=0.25).fit(GAPPY)
    np.testing.assert_array_equal(model.score_ridge_, 0.25)


# ------------------------------------------------------------ scores, shares, filled tables


def test_scores_of_rows_with_gaps_are_those_of_ridge_regression():
    V = MODEL.components_.T
    scores = MODEL.transform(GAPPY)
    for row, z in zip(GAPPY, scores, strict=True):
        there = ~np.isnan(row)
        A, b = V[there], (row - MODEL.mean_)[there]
        ridge = np.zeros(R) if there.all() else MODEL.score_ridge_
        np.testing.assert_allclose(z, np.linalg.solve(A.T @ A + np.diag(ridge), A.T @ b), atol=1e-9)


def test_a_row_has_the_same_scores_alone():
    scores = MODEL.transform(GAPPY)
    for t in (0, 17, 41):
        np.testing.assert_allclose(MODEL.transform(GAPPY[[t]])[0], scores[t], atol=1e-12)


def test_shares_are_those_of_the_cells_that_are_there():
    restored = MODEL.inverse_transform(MODEL.transform(GAPPY))
    left = np.nansum((GAPPY - restored) ** 2) / np.nansum((GAPPY - MODEL.mean_) ** 2)
    assert MODEL.explained_variance_ratio_.sum() == pytest.approx(1 - left)
    assert MODEL.score(GAPPY) == pytest.approx(1 - left)
    assert MODEL.reconstruction_error_ == pytest.approx(np.sqrt(left))
    variance = np.nanvar(GAPPY, axis=0, ddof=1).sum()
    np.testing.assert_allclose(
        MODEL.explained_variance_, MODEL.explained_variance_ratio_ * variance
    )
    assert (MODEL.explained_variance_ratio_ > 0).all()
    assert (np.diff(MODEL.explained_variance_ratio_) < 0).all()


def test_fit_transform_is_fit_and_transform():
    np.testing.assert_allclose(clone(MODEL).fit_transform(GAPPY), MODEL.transform(GAPPY), atol=1e-9)


def test_filled_tables_are_nearer_than_means():
    filled = MODEL.impute(GAPPY)
    np.testing.assert_array_equal(filled[~GAPS], GAPPY[~GAPS])
    by_model = np.sqrt(((filled - X)[GAPS] ** 2).mean())
    by_means = np.sqrt(((np.nanmean(GAPPY, axis=0) - X)[GAPS] ** 2).mean())
    assert by_model < 0.5 * by_means
    np.testing.assert_array_equal(MODEL.impute(X), X)


def test_row_stores_and_memory_mapped_files_are_filled_too(tmp_path):
    given = kinds(tmp_path)
    for kind in ("row store", "memory-mapped"):
        np.testing.assert_allclose(MODEL.impute(given[kind]), MODEL.impute(GAPPY), atol=1e-12)


def test_a_filled_frame_is_a_frame():
    frame = pd.DataFrame(GAPPY, index=[f"r{t}" for t in range(N)])
    filled = SparsePCA(R, cardinality=4).fit(frame).impute(frame)
    assert filled.index.equals(frame.index)
    assert filled.columns.equals(frame.columns)
    assert not filled.isna().any(axis=None)


def test_a_model_of_complete_data_fills_gaps_too():
    model = SparsePCA(R, cardinality=4).fit(X)
    new, holes = gappy(seed=5)
    gaps = np.isnan(holes)
    error = np.sqrt(((model.impute(holes) - new)[gaps] ** 2).mean())
    assert error < 0.5 * np.sqrt(((model.mean_ - new)[gaps] ** 2).mean())
    # η is about the variance of the noise, a quarter, by that of the scores.
    np.testing.assert_allclose(model.score_ridge_, [0.01, 0.0156, 0.028], rtol=0.6)


def test_noiseless_cells_are_found():
    rng = np.random.default_rng(3)
    V = np.kron(np.eye(2), np.ones((6, 1)))
    exact = rng.standard_normal((80, 2)) @ V.T
    holes = np.where(rng.random(exact.shape) < 0.25, np.nan, exact)
    model = SparsePCA(2, cardinality=6, ridge=0.0, tol=1e-15, max_iter=3000).fit(holes)
    known = ~np.isnan(holes).reshape(80, 2, 6).all(axis=2).any(axis=1)
    np.testing.assert_allclose(model.impute(holes)[known], exact[known], atol=1e-6)


# ------------------------------------------------------------ what can go wrong


def test_a_column_without_any_value_is_named():
    empty = GAPPY.copy()
    empty[:, 4] = np.nan
    with pytest.raises(ValueError, match=r"no value at all in column\(s\) 4, counted from 0"):
        SparsePCA().fit(empty)
    frame = pd.DataFrame(empty, columns=[f"gene {j}" for j in range(D)])
    with pytest.raises(ValueError, match=r"4 \('gene 4'\)"):
        SparsePCA().fit(frame)


def places_of(caught: pytest.WarningsRecorder) -> list[str]:
    """Where warnings of empty rows point; what another test has left open may warn meanwhile."""
    return [each.filename for each in caught if each.category is EmptyRowsWarning]


def test_rows_without_any_value_are_at_the_mean():
    empty = np.vstack([GAPPY, np.full((2, D), np.nan)])
    with pytest.warns(EmptyRowsWarning, match=r"2 row\(s\).*60, 61") as caught:
        model = SparsePCA(R, cardinality=4).fit(empty)
    assert places_of(caught) == [__file__]
    assert_same_loadings(model.components_, MODEL.components_, atol=1e-3)
    with pytest.warns(EmptyRowsWarning) as caught:
        assert not model.transform(empty)[-2:].any()
    assert places_of(caught) == [__file__]
    with pytest.warns(EmptyRowsWarning):
        np.testing.assert_allclose(model.impute(empty)[-1], model.mean_)


def test_masked_whole_numbers_are_missing():
    whole = np.round(X).astype(np.int64)
    model = SparsePCA(R, cardinality=4).fit(np.ma.MaskedArray(whole, mask=GAPS))
    again = SparsePCA(R, cardinality=4).fit(np.where(GAPS, np.nan, whole))
    assert model.n_missing_ == GAPS.sum()
    assert_same_loadings(model.components_, again.components_)


@pytest.mark.parametrize("where", ["before", "behind"])
def test_infinity_is_an_error_wherever_the_gaps_are(where):
    wrong = X.copy()
    wrong[30, 3] = -np.inf
    wrong[1 if where == "behind" else 50, 2] = np.nan
    for ask in (SparsePCA().fit, MODEL.transform, MODEL.score, MODEL.impute):
        with pytest.raises(NonFiniteError, match=r"infinity: row 30, column 3.*NaN stands for"):
            ask(wrong)


def test_gaps_in_sparse_matrices_are_errors():
    with pytest.raises(NonFiniteError, match=r"NaN: row.* dense arrays and frames"):
        SparsePCA().fit(sparse.csr_array(GAPPY))
    with pytest.raises(TypeError, match="impute takes an array"):
        MODEL.impute(sparse.csr_array(X))


def test_certificates_cover_complete_data_only():
    with pytest.raises(ValueError, match="cells of the data of this model are missing"):
        MODEL.certificate()


def test_saved_models_know_of_the_gaps(tmp_path):
    MODEL.save(tmp_path / "model.npz")
    model = SparsePCA.load(tmp_path / "model.npz")
    assert model.n_missing_ == MODEL.n_missing_
    np.testing.assert_allclose(model.transform(GAPPY), MODEL.transform(GAPPY), atol=1e-12)
    again = pickle.loads(pickle.dumps(MODEL))  # noqa: S301
    np.testing.assert_allclose(again.impute(GAPPY), MODEL.impute(GAPPY), atol=1e-12)


def test_a_pipeline_takes_gaps():
    pipeline = make_pipeline(StandardScaler(), SparsePCA(R, cardinality=4))
    assert np.isfinite(pipeline.fit_transform(GAPPY)).all()


def test_useless_columns_change_nothing():
    wider = np.column_stack([GAPPY, np.where(np.arange(N) % 3, 7.0, np.nan)])
    model = SparsePCA(R, cardinality=4, ridge=0.01).fit(wider)
    plain = SparsePCA(R, cardinality=4, ridge=0.01).fit(GAPPY)
    assert not model.components_[:, -1].any()
    assert_same_loadings(model.components_[:, :-1], plain.components_, atol=1e-4)


def test_more_features_than_samples():
    data = factor_data(30, 50, seed=1)
    holes = np.where(np.random.default_rng(0).random(data.shape) < 0.1, np.nan, data)
    model = SparsePCA(4, cardinality=8).fit(holes)
    assert (np.diff(model.objective_history_) <= 0).all()
    assert model.score(holes) == pytest.approx(model.explained_variance_ratio_.sum())


def test_an_interrupted_fit_keeps_what_it_has(monkeypatch):
    from redac.exceptions import FitInterruptedWarning
    from redac.solver.weighted import Weighted

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Weighted, "_prepare_sweep", interrupted)
    with pytest.warns(FitInterruptedWarning):
        model = SparsePCA(R, cardinality=4).fit(GAPPY)
    assert model.interrupted_
    assert model.components_.any(axis=1).all()
    assert np.isfinite(model.transform(GAPPY)).all()
