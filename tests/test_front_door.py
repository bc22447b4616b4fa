"""Measures and methods take what the estimator takes, and hold no more of it in memory."""

import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import redac.files.parquet
import redac.files.table
import redac.sources.dense
import redac.sources.local
from helpers import assert_same_loadings, centred, factor_data
from redac import SparsePCA, metrics
from redac.cli import main
from redac.exceptions import BlockError, NonFiniteError
from redac.files import read_table
from redac.methods import MethodPCA, sparse_pca
from redac.sources import Columns, as_data, raw_data
from redac.sources.progress import watching
from redac.sources.reading import Given, read_source

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning"),
    pytest.mark.filterwarnings("ignore::redac.exceptions.CardinalityWarning"),
]
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")
h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")

ROWS = 10  # of each block
SHAPES = {"tall": (200, 12), "wide": (200, 240), "few rows": (40, 60)}
shape = pytest.mark.parametrize("shape", SHAPES)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small data come in many."""
    monkeypatch.setattr(redac.sources.local, "_BLOCK_BYTES", ROWS * 12 * 8)


class Alive:
    """Counts the rows that were handed out and are still in memory, and remembers the most."""

    def __init__(self):
        self.rows = self.most = self.in_all = 0

    def noted(self, block):
        block = np.array(block)
        self.rows += len(block)
        self.in_all += len(block)
        self.most = max(self.most, self.rows)
        weakref.finalize(block, self._let_go, len(block))
        return block

    def _let_go(self, count):
        self.rows -= count


class RowStore:
    """Rows that something else keeps; it hands out slices of them, and never all as an array."""

    def __init__(self, X, alive=None):
        self._X, self.shape, self.dtype = X, X.shape, X.dtype
        self.alive = Alive() if alive is None else alive

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self.alive.noted(self._X[rows])

    def __array__(self, *_, **__):
        raise AssertionError("all rows were asked for at once")


def recorded_dask(X):
    """A Dask array in blocks of a few rows, and the count of the rows in memory."""
    alive = Alive()
    # Every block is cut out when its task runs, so that no task holds the whole array.
    blocks = [
        da.from_delayed(
            dask.delayed(lambda start: alive.noted(X[start : start + ROWS]), pure=False)(start),
            shape=(min(ROWS, len(X) - start), X.shape[1]),
            dtype=X.dtype,
        )
        for start in range(0, len(X), ROWS)
    ]
    return da.concatenate(blocks), alive


def recorded_store(X):
    store = RowStore(X)
    return store, store.alive


RECORDED = {"dask": recorded_dask, "store": recorded_store}
recorded = pytest.mark.parametrize("kind", RECORDED)


def hdf5_dataset(X, tmp_path):
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(4, 5))
    return h5py.File(tmp_path / "X.h5", "r")["X"]


def zarr_array(X, tmp_path):
    zarr.create_array(tmp_path / "X.zarr", data=X, chunks=(4, X.shape[1]), overwrite=True)
    return zarr.open_array(tmp_path / "X.zarr", mode="r")


def memory_mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def frame(X):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


def parquet_rows(X, tmp_path):
    frame(X).to_parquet(tmp_path / "X.parquet", row_group_size=23)
    return read_table(tmp_path / "X.parquet").values


KINDS = {
    "list": lambda X, _: X.tolist(),
    "frame": lambda X, _: frame(X),
    "polars": lambda X, _: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
    "csr": lambda X, _: sp.csr_array(X),
    "coo": lambda X, _: sp.coo_array(X),
    "memory-mapped": memory_mapped,
    "store": lambda X, _: RowStore(X),
    "hdf5": hdf5_dataset,
    "zarr": zarr_array,
    "parquet": parquet_rows,
    "dask-rows": lambda X, _: da.from_array(X, chunks=(21, -1)),
    "dask-both": lambda X, _: da.from_array(X, chunks=(21, 7)),
    "dask-sparse": lambda X, _: da.from_array(X, chunks=(20, -1)).map_blocks(sp.csr_matrix),
    "dask-frame": lambda X, _: dd.from_pandas(frame(X), npartitions=4),
    "dask-unknown-rows": lambda X, _: dd.from_pandas(frame(X), npartitions=3).to_dask_array(),
}
kind_of_data = pytest.mark.parametrize("kind", KINDS)


def data_and_components(shape, r=3):
    """Data with means of all sizes and a constant column, and components that overlap."""
    n, d = SHAPES[shape]
    X = factor_data(n, d, seed=3) + np.linspace(-50, 50, d)
    X[:, 3] = 0.1
    rng = np.random.default_rng(4)
    return X, rng.standard_normal((r, d)) * (rng.random((r, d)) < 0.5)


def measures(X, V):
    """Every measure of the module."""
    shares = [
        metrics.explained_variance_ratio(X, V, definition=definition)
        for definition in ("projection", "qr", "raw")
    ]
    single = [[metrics.pev(X, V), metrics.rre(X, V)], metrics.cumulative_pev(X, V)]
    return np.concatenate([*shares, *single])


# ------------------------------------------------------------ the same answers


@kind_of_data
@shape
def test_measures_are_those_of_the_array_in_memory(kind, shape, tmp_path, monkeypatch):
    monkeypatch.setattr(redac.files.table, "LARGE", 0)
    X, V = data_and_components(shape)
    given = KINDS[kind](X, tmp_path)
    np.testing.assert_allclose(measures(given, V), measures(X, V), rtol=1e-9, atol=1e-12)


@kind_of_data
@pytest.mark.parametrize("method", ["redac_l0", "thresholding", "rsvd_l0"])
@pytest.mark.parametrize("shape", ["tall", "few rows"])
def test_components_are_those_of_the_array_in_memory(kind, shape, method, tmp_path, monkeypatch):
    monkeypatch.setattr(redac.files.table, "LARGE", 0)
    X, _ = data_and_components(shape)
    options = {"cardinality": 4, "random_state": 0}
    expected = sparse_pca(X, method, 3, **options)
    given = KINDS[kind](X, tmp_path)
    assert_same_loadings(sparse_pca(given, method, 3, **options), expected)
    model = MethodPCA(3, method=method, **options).fit(given)
    assert_same_loadings(model.components_, expected)


def test_measures_are_those_of_the_definition():
    for name in SHAPES:
        X, V = data_and_components(name)
        E = centred(X)
        restored = E @ V.T @ np.linalg.pinv(V.T)
        expected = 100 * np.sum(restored**2) / np.sum(E**2)
        assert metrics.pev(RowStore(X), V) == pytest.approx(expected, rel=1e-10)


@recorded
@pytest.mark.parametrize("scale", [1e-305, 1e-160, 1e160, 1e300])
def test_measures_of_tiny_and_huge_numbers(kind, scale):
    X, V = data_and_components("tall")
    X /= np.abs(X).max()
    given = RECORDED[kind](X * scale)[0]
    np.testing.assert_allclose(measures(given, V), measures(X, V), rtol=1e-9, atol=1e-12)


@recorded
def test_one_pass_loses_no_digits_to_large_means(kind):
    X, V = data_and_components("tall")
    far = np.round(X * 1024) / 1024 + 2.0**36  # every number is kept in full
    expected = measures(np.round(X * 1024) / 1024, V)
    found = measures(RECORDED[kind](far)[0], V)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_mean_that_drifts_from_block_to_block_costs_no_digits():
    X, V = data_and_components("tall")
    X = X + 1e3 * np.arange(len(X))[:, None]
    np.testing.assert_allclose(measures(RowStore(X), V), measures(X, V), rtol=1e-9, atol=1e-12)


def test_an_empty_partition_is_no_problem():
    X, V = data_and_components("tall")
    X[:50, 0] = 1e3
    data = dd.from_pandas(frame(X), npartitions=4)
    some = data[data["f0"] < 1e3]
    assert metrics.pev(some, V) == pytest.approx(metrics.pev(some.compute(), V), rel=1e-10)


def test_covariance_matrices_come_through_the_same_door():
    X, V = data_and_components("tall")
    S = np.cov(X, rowvar=False)
    for given in (S, frame(S), sp.csr_array(S), da.from_array(S, chunks=5)):
        found = metrics.pev(given, V, covariance=True)
        assert found == pytest.approx(metrics.pev(X, V), rel=1e-10)
    np.testing.assert_allclose(read_source(S, covariance=True).matrix(), S)


# ------------------------------------------------------------ memory and passes


@recorded
@shape
def test_measures_never_hold_all_rows(kind, shape):
    X, V = data_and_components(shape)
    data, alive = RECORDED[kind](X)
    with dask.config.set(scheduler="synchronous"):
        measures(data, V)
    assert alive.in_all >= len(X)
    assert alive.most <= 3 * ROWS


@recorded
@pytest.mark.parametrize("method", ["redac_l0", "redac_l1", "rsvd_l0", "gpower_l1", "thresholding"])
def test_methods_never_hold_all_rows(kind, method):
    X, _ = data_and_components("tall")
    data, alive = RECORDED[kind](X)
    with dask.config.set(scheduler="synchronous"):
        sparse_pca(data, method, 2, cardinality=3, random_state=0)
        MethodPCA(2, method=method, cardinality=3, random_state=0).fit(data)
    assert alive.in_all == 2 * len(X)
    assert alive.most <= 3 * ROWS


@recorded
@pytest.mark.parametrize("method", ["redac_l0", "redac_l1", "pca", "thresholding"])
def test_methods_that_ask_for_products_only_never_hold_all_rows_of_wide_data(kind, method):
    X = factor_data(600, 620, seed=3)
    data, alive = RECORDED[kind](X)
    with dask.config.set(scheduler="synchronous"):
        SparsePCA(2, cardinality=5, max_iter=3).fit(data)
        most = alive.most
        sparse_pca(data, method, 2, cardinality=5, random_state=0)
    assert alive.most == most < 100


@recorded
def test_the_factor_of_tall_data_has_no_more_rows_than_there_are_features(kind):
    X, _ = data_and_components("tall")
    data, alive = RECORDED[kind](X)
    with dask.config.set(scheduler="synchronous"):
        A = Columns(as_data(data)).factor()
    assert A.shape == (12, 12)
    np.testing.assert_allclose(A.T @ A, centred(X).T @ centred(X), atol=1e-8)
    assert alive.most <= 3 * ROWS


@recorded
@shape
def test_each_measure_reads_the_rows_once(kind, shape):
    X, V = data_and_components(shape)
    data, alive = RECORDED[kind](X)
    metrics.pev(data, V)
    assert alive.in_all == len(X)
    for definition in ("projection", "qr", "raw"):
        metrics.explained_variance_ratio(data, V, definition=definition)
    assert alive.in_all == 4 * len(X)


@shape
def test_each_measure_reads_a_frame_of_unknown_length_once(shape):
    X, V = data_and_components(shape)
    seen = []

    def noted(part):
        seen.append(len(part))
        return part

    table = dd.from_pandas(frame(X), npartitions=4)
    data = table.map_partitions(noted, meta=table._meta)
    metrics.pev(data, V)
    assert sum(seen) == len(X)


@recorded
def test_the_score_reads_the_rows_once(kind):
    X, _ = data_and_components("tall")
    model = SparsePCA(2, cardinality=4).fit(X)
    data, alive = RECORDED[kind](X)
    assert model.score(data) == pytest.approx(model.score(X), rel=1e-12)
    assert alive.in_all == len(X)


@pytest.mark.parametrize("measure", ["pev", "score"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_memory_mapped_file_is_read_once(measure, order, tmp_path):
    X, _ = data_and_components("tall")
    mapped, seen = memory_mapped(np.array(X, order=order), tmp_path), []
    model = SparsePCA(2, cardinality=4).fit(X)
    with watching(lambda done, total: seen.append((done, total))):
        if measure == "pev":
            found = metrics.pev(mapped, model.components_) / 100
        else:
            found = model.score(mapped)
    assert found == pytest.approx(model.score(X), rel=1e-10)
    assert seen == [(done, len(X)) for done in range(ROWS, len(X) + 1, ROWS)]


def test_passes_for_measures_are_counted():
    X, V = data_and_components("wide")
    for make, passes in ((RowStore, 1), (np.array, 2), (sp.csr_array, 2)):
        data = raw_data(make(X))
        total, M = data.products_about_mean(V.T)
        assert data.n_passes == passes
        assert total == pytest.approx(np.sum(centred(X) ** 2), rel=1e-10)
        E = centred(X) @ V.T
        np.testing.assert_allclose(M, E.T @ E, rtol=1e-9, atol=1e-9 * total)


def test_quadratic_forms_of_long_data_read_rows_in_order(monkeypatch):
    monkeypatch.setattr(redac.sources.dense, "_LEAST_BYTES", 64)
    X, V = data_and_components("tall")
    data = as_data(X)
    heights = []
    gathered = redac.sources.dense.DenseData._gathered

    def noted(self, chosen, rows=slice(None)):
        heights.append(rows.stop - rows.start)
        return gathered(self, chosen, rows)

    monkeypatch.setattr(redac.sources.dense.DenseData, "_gathered", noted)
    E = centred(X) @ V.T
    np.testing.assert_allclose(data.quadratic(V.T), E.T @ E, rtol=1e-9, atol=1e-6)
    assert sum(heights) == len(X)
    assert max(heights) < len(X)


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
@pytest.mark.parametrize("standardize", [False, True])
def test_compare_takes_large_files(suffix, standardize, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(redac.files.table, "LARGE", 0)
    monkeypatch.setattr(redac.files.parquet.ParquetRows, "__array__", RowStore.__array__)
    X, _ = data_and_components("tall")
    path = tmp_path / f"X.{suffix}"
    frame(X).to_parquet(path) if suffix == "parquet" else np.save(path, X)
    asked = ["--components", "2", "--cardinality", "3", "--methods", "redac_l0"]
    asked += ["--standardize"] if standardize else []
    assert main(["compare", str(path), *asked]) == 0
    Z = X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0) if standardize else X
    expected = metrics.pev(Z, sparse_pca(Z, "redac_l0", 2, cardinality=3, random_state=0))
    assert f"{expected:.2f}" in capsys.readouterr().out


# ------------------------------------------------------------ what can be wrong


ASK = {
    "pev": lambda X: metrics.pev(X, np.eye(12)[:2]),
    "sparse_pca": lambda X: sparse_pca(X, "pca", 2, cardinality=3),
    "fit": lambda X: SparsePCA(2, cardinality=3).fit(X),
    "MethodPCA": lambda X: MethodPCA(2, cardinality=3).fit(X),
}
ask = pytest.mark.parametrize("ask", ASK)


@ask
@pytest.mark.parametrize(
    ("kind", "dimensions"),
    [
        *((kind, 1) for kind in ("array", "list", "series", "dask", "hdf5", "store", "sparse")),
        *((kind, 3) for kind in ("array", "list", "dask", "hdf5", "store")),
    ],
)
def test_other_than_two_dimensions_are_refused_unread(ask, kind, dimensions, tmp_path):
    X = np.ones((4,) if dimensions == 1 else (4, 3, 2))
    make = {
        "array": np.array,
        "list": lambda X: X.tolist(),
        "series": pd.Series,
        "dask": da.from_array,
        "store": RowStore,
        "sparse": sp.coo_array,
        "hdf5": lambda X: h5py.File(tmp_path / "X.h5", "w").create_dataset("X", data=X),
    }[kind]
    given = make(X)
    with pytest.raises(ValueError, match=f"X must have two dimensions, not {dimensions}"):
        ASK[ask](given)
    if kind == "store":
        assert given.alive.in_all == 0


@pytest.mark.parametrize(
    ("ask", "kind", "value"),
    [
        (ask, kind, value)
        for ask in ASK
        for kind in ("frame", "polars", "dask-frame", "store", "dask-rows", "csr")
        for value in (np.nan, np.inf)
        # To a fit NaN is a missing cell there.
        if np.isinf(value) or ask != "fit" or kind not in ("frame", "polars", "store")
    ],
)
def test_an_entry_that_is_no_number_is_named(ask, kind, value, tmp_path):
    X, _ = data_and_components("tall")
    X[147, 8] = value
    X[160, 1] = np.nan
    name = r" \('f8'\)" if kind in ("frame", "polars", "dask-frame") else ""
    what = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(NonFiniteError, match=rf"{what}: row 147, column 8{name}, counted from 0"):
        ASK[ask](KINDS[kind](X, tmp_path))


@pytest.mark.parametrize("kind", ["frame", "dask-frame"])
def test_the_score_names_the_column_too(kind, tmp_path):
    X, _ = data_and_components("tall")
    model = SparsePCA(2, cardinality=3).fit(frame(X))
    X[147, 8] = np.inf
    with pytest.raises(NonFiniteError, match=r"row 147, column 8 \('f8'\)"):
        model.score(KINDS[kind](X, tmp_path))


@pytest.mark.parametrize("kind", ["store", "dask-rows", "csr"])
def test_names_given_to_fit_name_the_column_too(kind, tmp_path):
    X, _ = data_and_components("tall")
    names = [f"f{j}" for j in range(12)]
    model = SparsePCA(2, cardinality=3).fit(KINDS[kind](X, tmp_path), feature_names=names)
    X[147, 8] = np.inf
    wrong = KINDS[kind](X, tmp_path)
    for ask in (lambda: model.score(wrong), lambda: model.fit(wrong, feature_names=names)):
        with pytest.raises(NonFiniteError, match=r"row 147, column 8 \('f8'\)"):
            ask()


@recorded
def test_components_of_another_width_are_refused_unread(kind):
    data, alive = RECORDED[kind](data_and_components("tall")[0])
    with pytest.raises(ValueError, match=r"have 5 entries, the data 12 features; .* are rows"):
        metrics.pev(data, np.ones((2, 5)))
    assert alive.in_all == 0


@recorded
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [({"method": "lasso"}, ValueError, "lasso"), ({"rho": 1}, TypeError, "no option 'rho'")],
)
def test_wrong_options_are_refused_unread(kind, options, error, message):
    data, alive = RECORDED[kind](data_and_components("tall")[0])
    with pytest.raises(error, match=message):
        sparse_pca(data, **({"method": "pca", "n_components": 2, "cardinality": 3} | options))
    assert alive.in_all == 0


@ask
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((5, 12), dtype=complex), "[Cc]omplex"),
        (da.ones((5, 12), dtype=complex), "complex"),
        (np.full((5, 12), "a"), "numeric|convert"),
        (np.ones((1, 12)), "1 sample.*minimum of 2"),
        (da.ones((1, 12)), "1 row.*at least 2"),
        (np.ones((5, 0)), "0 feature"),
        (dd.from_pandas(pd.DataFrame({"a": [1.0, 2], "b": ["x", "y"]}), npartitions=1), "'b'"),
    ],
)
def test_data_of_the_wrong_kind_are_refused(ask, X, message):
    with pytest.raises(ValueError, match=message):
        ASK[ask](X)


def test_a_block_that_cannot_be_read_is_named():
    class Broken(RowStore):
        def __getitem__(self, rows):
            if rows.start >= 50:
                raise OSError("disk on fire")
            return super().__getitem__(rows)

    X, V = data_and_components("tall")
    with pytest.raises(BlockError, match=r"Block 5 .* row 50, .*disk on fire"):
        metrics.pev(Broken(X), V)


def test_names_are_found_without_reading():
    X, _ = data_and_components("tall")
    assert Given.of(frame(X)).names.tolist() == [f"f{j}" for j in range(12)]
    assert Given.of(X).names is None
    given = Given.of(RowStore(X))
    assert given.names is None
    assert given.n_features == 12
    assert given.values.alive.in_all == 0


# ------------------------------------------------------------ the count of passes of a model


def test_a_model_of_a_covariance_matrix_has_no_count_of_passes():
    X, _ = data_and_components("tall")
    model = SparsePCA(2, cardinality=3).fit(X)
    assert model.n_passes_ == 1
    model.fit_covariance(np.cov(X, rowvar=False))
    assert not hasattr(model, "n_passes_")
    assert model.fit(X).n_passes_ == 1
