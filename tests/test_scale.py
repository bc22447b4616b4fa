"""Data that do not fit into memory give the answer of data that do, in few passes."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.pipeline import make_pipeline

import redac.files.parquet
import redac.files.table
import redac.sources.dense
import redac.sources.local
import redac.sources.sparse
from helpers import SAME_OPTIMUM, assert_same_loadings, centred, factor_data, relative_error
from redac import SparsePCA
from redac.cli import main
from redac.exceptions import BlockError, NonFiniteError
from redac.files import DataFileError, read_table
from redac.sources import as_data
from redac.sources.progress import watching
from redac.sources.scatter import Scatter, joined

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning"),
]
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")
h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")


class RowStore:
    """Rows that something else keeps, as an HDF5 or Zarr array does; counts the rows it gives."""

    def __init__(self, X, chunks=None):
        self._X, self.shape, self.dtype = X, X.shape, X.dtype
        self.chunks = chunks
        self.rows_read = 0

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        block = self._X[rows]
        self.rows_read += block.shape[0]
        return block


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few dozen rows, so that small data come in many."""
    monkeypatch.setattr(redac.sources.local, "_BLOCK_BYTES", 17 * 12 * 8)
    monkeypatch.setattr(redac.sources.dense, "_BLOCK_BYTES", 5 * 12 * 8)


def memory_mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def hdf5_dataset(X, tmp_path, **options):
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", data=X, **options)
    return h5py.File(tmp_path / "X.h5", "r")["X"]


def zarr_array(X, tmp_path, chunks):
    zarr.create_array(tmp_path / "X.zarr", data=X, chunks=chunks, overwrite=True)
    return zarr.open_array(tmp_path / "X.zarr", mode="r")


def frame(X):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


def sparse_store(X):
    return RowStore(sp.csr_matrix(X))


def dask_sparse(X, kind=sp.csr_matrix):
    return da.from_array(X, chunks=(20, 14)).map_blocks(kind)


def dask_unknown_rows(X):
    return dd.from_pandas(frame(X), npartitions=3).to_dask_array()


CONTAINERS = {
    "memory-mapped": memory_mapped,
    "store": lambda X, _: RowStore(X),
    "store-with-chunks": lambda X, _: RowStore(X, chunks=(4, X.shape[1])),
    "store-sparse": lambda X, _: sparse_store(X),
    "store-hdf5": hdf5_dataset,
    "store-hdf5-chunks": lambda X, folder: hdf5_dataset(X, folder, chunks=(4, 5), compression=1),
    "store-zarr": lambda X, folder: zarr_array(X, folder, (4, X.shape[1])),
    "store-zarr-columns": lambda X, folder: zarr_array(X, folder, (len(X), 3)),
    "csr": lambda X, _: sp.csr_array(X),
    "csc": lambda X, _: sp.csc_array(X),
    "dask-rows": lambda X, _: da.from_array(X, chunks=(20, -1)),
    "dask-columns": lambda X, _: da.from_array(X, chunks=(-1, 5)),
    "dask-both": lambda X, _: da.from_array(X, chunks=(21, 11)),
    "dask-one-block": lambda X, _: da.from_array(X, chunks=-1),
    "dask-one-row-blocks": lambda X, _: da.from_array(X[:], chunks=((1,) * 9 + (len(X) - 9,), -1)),
    "dask-csr-matrix": lambda X, _: dask_sparse(X),
    "dask-csr-array": lambda X, _: dask_sparse(X, sp.csr_array),
    "dask-csc-matrix": lambda X, _: dask_sparse(X, sp.csc_matrix),
    "dask-frame": lambda X, _: dd.from_pandas(frame(X), npartitions=4),
    "dask-unknown-rows": lambda X, _: dask_unknown_rows(X),
}
BLOCKED = [name for name in CONTAINERS if name.startswith(("store", "dask"))]
SHAPES = {"tall": (60, 12), "wide": (14, 40), "square": (12, 12)}
container = pytest.mark.parametrize("container", CONTAINERS)
blocked = pytest.mark.parametrize("container", BLOCKED)
shape = pytest.mark.parametrize("shape", SHAPES)
standardize = pytest.mark.parametrize("standardize", [False, True], ids=["centred", "standardized"])


def mixed_data(shape, seed=1):
    """Factors plus a constant column, a column that is mostly zero, and means of all sizes."""
    n, d = SHAPES[shape]
    X = factor_data(n, d, seed=seed) + np.linspace(-50, 50, d)
    X[:, 3] = 0.1
    X[n // 4 :, 5] = 0.0
    return X


def close(actual, expected, limit=1e-11):
    expected = np.asarray(expected, dtype=np.float64)
    atol = limit * max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=0, atol=atol)


# ------------------------------------------------------------ the same answer from every container


@container
@shape
@standardize
def test_the_components_are_those_of_the_array_in_memory(container, shape, standardize, tmp_path):
    X = mixed_data(shape)
    make = CONTAINERS[container]
    options = {"n_components": 3, "cardinality": 4, "standardize": standardize, "max_iter": 9}
    expected = SparsePCA(**options).fit(X)
    model = SparsePCA(**options).fit(make(X, tmp_path))
    assert_same_loadings(model.components_, expected.components_)
    close(model.mean_, expected.mean_)
    close(model.scale_, expected.scale_)
    close(model.explained_variance_, expected.explained_variance_, SAME_OPTIMUM)
    close(model.transform(make(X, tmp_path)), expected.transform(X), SAME_OPTIMUM)
    assert model.score(make(X, tmp_path)) == pytest.approx(expected.score(X), rel=1e-10)
    assert (model.n_samples_, model.n_features_in_) == X.shape


@container
@shape
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_question_about_the_scatter_matrix_is_answered(container, shape, weighted, tmp_path):
    X = mixed_data(shape)
    n, d = X.shape
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, n) if weighted else None
    data = as_data(CONTAINERS[container](X, tmp_path), sample_weight=weights)
    counts = np.ones(n) if weights is None else weights
    mean = np.average(X, axis=0, weights=counts)
    mean[3] = 0.1
    A = (X - mean) * np.sqrt(counts)[:, None]
    V, U, support = rng.standard_normal((d, 3)), rng.standard_normal((n, 2)), np.array([1, 3, 5, 7])
    close(data.gram(), A.T @ A)
    close(data.product(V), A.T @ (A @ V))
    close(data.product(V[:, 0]), A.T @ (A @ V[:, 0]))
    close(data.columns(support), A.T @ A[:, support])
    close(data.submatrix(support), A[:, support].T @ A[:, support])
    close(data.quadratic(V), V.T @ A.T @ A @ V)
    close(data.left(V), A @ V)
    close(data.right(U), A.T @ U)
    close(data.dense(), A)
    close(data.dense_columns(support), A[:, support])
    close(data.kernel(), A @ A.T)
    close(data.diagonal, (A**2).sum(axis=0))
    assert data.shape == (n, d)


@pytest.mark.filterwarnings("ignore::redac.exceptions.ScaleWarning")
@pytest.mark.parametrize("container", ["store", "store-sparse", "dask-both", "dask-one-row-blocks"])
@pytest.mark.parametrize("scale", [1e-305, 1e-160, 1e160, 1e305])
@standardize
def test_blocks_of_any_scale_give_the_same_components(container, scale, standardize, tmp_path):
    X = factor_data(60, 12, seed=2)
    X /= np.abs(X).max()
    expected = SparsePCA(2, cardinality=4, standardize=standardize).fit(X).components_
    data = CONTAINERS[container](X * scale, tmp_path)
    model = SparsePCA(2, cardinality=4, standardize=standardize).fit(data)
    assert_same_loadings(model.components_, expected)
    assert np.isfinite(np.asarray(model.transform(data))).all()


@pytest.mark.parametrize(
    "container",
    ["store", "store-hdf5", "store-zarr", "csr", "csc", "dask-rows", "dask-frame", "memory-mapped"],
)
def test_float32_stays_float32(container, tmp_path):
    X = mixed_data("tall").astype(np.float32)
    data = CONTAINERS[container](X, tmp_path)
    model = SparsePCA(2, cardinality=3).fit(data)
    assert model.components_.dtype == model.transform(data).dtype == np.float32
    assert_same_loadings(model.components_, SparsePCA(2, cardinality=3).fit(X).components_)


def test_a_float32_matrix_of_a_single_cell_file_is_used_as_it_is(tmp_path):
    # The layout of AnnData: a group with the three arrays of a CSR matrix.
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 40), density=0.2, rng=rng, format="csr", dtype=np.float32)
    with h5py.File(tmp_path / "cells.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": X.shape})
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(X, name)
    with h5py.File(tmp_path / "cells.h5ad") as file:
        group = file["X"]
        parts = [group[name][:] for name in ("data", "indices", "indptr")]
        read = sp.csr_matrix(tuple(parts), shape=tuple(group.attrs["shape"]))
    model = SparsePCA(3, cardinality=5).fit(read)
    assert model.components_.dtype == model.transform(read).dtype == np.float32
    assert as_data(read).X is read
    # Sums are taken in double precision: the answer is that of the same numbers as float64.
    exact = SparsePCA(3, cardinality=5).fit(X.toarray().astype(np.float64))
    assert_same_loadings(model.components_, exact.components_)
    close(model.explained_variance_, exact.explained_variance_, SAME_OPTIMUM)


def test_names_of_a_dask_frame_are_kept():
    X = mixed_data("tall")
    model = SparsePCA(2, cardinality=3).fit(dd.from_pandas(frame(X), npartitions=3))
    assert model.feature_names_in_.tolist() == [f"f{j}" for j in range(12)]


# ------------------------------------------------------------ passes and memory


@pytest.mark.parametrize("make", [np.array, RowStore, sparse_store, sp.csr_array])
def test_tall_data_are_read_once(make):
    model = SparsePCA(3, cardinality=4, max_iter=30).fit(make(mixed_data("tall")))
    assert model.n_passes_ == 1


@shape
def test_passes_are_counted_as_they_happen(shape):
    store = RowStore(mixed_data(shape))
    model = SparsePCA(3, cardinality=4, max_iter=30).fit(store)
    assert store.rows_read == model.n_passes_ * store.shape[0]


def test_each_question_costs_one_pass():
    store = RowStore(mixed_data("wide"))
    data = as_data(store)
    assert data.n_passes == 1
    for number, ask in enumerate(
        [
            lambda: data.product(np.ones((40, 2))),
            lambda: data.columns(np.arange(10)),
            lambda: data.submatrix(np.arange(10)),
            lambda: data.quadratic(np.eye(40)[:, :3]),
            lambda: data.right(np.ones((14, 2))),
            data.kernel,
        ],
        start=2,
    ):
        ask()
        assert data.n_passes == number
        assert store.rows_read == 14 * number


def test_scores_of_good_data_take_one_pass():
    X = mixed_data("tall")
    model, store = SparsePCA(2, cardinality=3).fit(X), RowStore(X)
    model.transform(store)
    assert store.rows_read == len(X)


def test_memory_is_bounded_by_the_block(monkeypatch):
    monkeypatch.setattr(redac.sources.local, "_BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(redac.sources.dense, "_BLOCK_BYTES", 1 << 20)

    class Zeros(RowStore):
        def __init__(self):
            self.shape, self.dtype, self.chunks = (200_000, 50), np.dtype(float), None

        def __getitem__(self, rows):
            rng = np.random.default_rng(rows.start)
            return rng.standard_normal((rows.stop - rows.start, 50))

    tracemalloc.start()
    try:
        as_data(Zeros()).product(np.ones((50, 3)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20  # of 80 MB


def test_dask_scores_are_lazy():
    X = mixed_data("tall")
    model = SparsePCA(2, cardinality=3).fit(X)
    touched = []

    def noted(block):
        touched.append(len(block))
        return block

    source = da.from_array(X, chunks=(20, -1)).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    scores = model.transform(source)
    assert isinstance(scores, da.Array)
    assert scores.shape == (60, 2)
    assert not touched
    close(scores.compute(scheduler="synchronous"), model.transform(X))
    assert touched


def test_no_task_of_a_dask_fit_returns_rows():
    from dask.callbacks import Callback

    n, d = 4000, 6
    X = da.from_array(factor_data(n, d, seed=0), chunks=(250, -1))
    names = []

    def after(key, value, *_):
        if isinstance(value, Scatter):
            names.append(key)
            assert value.matrix.shape == (d, d)
        elif isinstance(value, np.ndarray):
            assert value.shape[0] <= 250 or value.shape == (n, d)  # a chunk, or the array itself

    with Callback(posttask=after), dask.config.set(scheduler="synchronous"):
        SparsePCA(2, cardinality=3).fit(X)
    assert len(names) >= n // 250


def test_progress_of_a_file_is_reported(tmp_path):
    X = mixed_data("tall")
    for data in (RowStore(X), memory_mapped(X, tmp_path)):
        seen = []
        with watching(lambda done, total, seen=seen: seen.append((done, total))):
            SparsePCA(2, cardinality=3).fit(data)
        assert seen[-1] == (60, 60)
        assert len(seen) > 2
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)


# ------------------------------------------------------------ one pass loses no digits


def test_scatter_of_parts_is_the_scatter_of_the_whole():
    rng = np.random.default_rng(0)
    X = 1e6 * rng.standard_normal(7) + rng.standard_normal((90, 7))
    X[:, 2] = 0.3
    parts = [as_data(part) for part in np.split(X, [10, 11, 50])]
    whole = joined([type(part).raw(part.X).scatter(full=True) for part in parts])
    reference = centred(X)
    assert relative_error(whole.matrix, reference.T @ reference) < 1e-12
    assert relative_error(whole.squares, (reference**2).sum(axis=0)) < 1e-12
    assert whole.squares[2] == 0.0
    assert whole.mean[2] == 0.3
    assert whole.lengths == (10, 1, 39, 40)


@pytest.mark.parametrize(("step", "safe"), [(1.0, True), (1e-170, False), (1e170, False)])
def test_rows_that_differ_too_little_or_too_much_to_be_squared_are_not_trusted(step, safe):
    rows = [as_data(np.full((1, 2), value), mean=np.zeros(2)) for value in (0.0, step)]
    both = joined([type(row).raw(row.X).scatter(full=True) for row in rows])
    assert both.is_safe == safe


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("jump", [1e3, 1e8])
def test_rows_far_from_those_first_looked_at_cost_a_pass_but_no_digits(order, jump):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5000, 5))
    X[:300] -= jump  # the beginning, and with it a provisional centre, is far from the rest
    X = np.array(X, order=order)
    data = as_data(X)
    reference = centred(X)
    S = reference.T @ reference
    scale = np.sqrt(np.outer(S.diagonal(), S.diagonal()))
    assert np.abs((data.gram() - S) / scale).max() < 1e-12


def test_a_centre_far_from_the_mean_is_taken_again(monkeypatch):
    X = np.random.default_rng(0).standard_normal((500, 4)) + 1e5
    far = np.zeros(4)
    monkeypatch.setattr(redac.sources.dense.DenseData, "_provisional_centre", lambda _: far)
    data = as_data(X)
    reference = centred(X)
    assert data.n_passes == 2
    assert relative_error(data.gram(), reference.T @ reference) < 1e-12


def test_columns_that_are_constant_in_each_block_only_do_vary():
    X = factor_data(40, 12, seed=0)
    X[:, 2] = np.repeat([1.0, 2.0], 20)
    for data in (da.from_array(X, chunks=(20, -1)), da.from_array(X, chunks=(20, 3))):
        moments = as_data(data).moments
        assert not moments.constant.any()
        assert moments.diagonal[2] == pytest.approx(10.0)


@pytest.mark.parametrize("container", ["memory", "csr", "store", "dask-one-row-blocks"])
def test_tiny_columns_count_as_much_as_others_when_standardized(container, tmp_path):
    X = factor_data(60, 12, seed=4)
    expected = np.corrcoef(X, rowvar=False) * 59
    X[:, ::3] *= 1e-170
    data = X if container == "memory" else CONTAINERS[container](X, tmp_path)
    np.testing.assert_allclose(as_data(data, standardize=True).gram(), expected, atol=1e-9)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sparse_store, dask_sparse])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_columns_whose_mean_drifts_from_block_to_block(make, weighted):
    rng = np.random.default_rng(5)
    X = sp.random_array((300, 12), density=0.1, rng=rng, format="csr").toarray()
    X *= np.linspace(1, 9, 300)[:, None]
    weights = np.arange(300) % 4 if weighted else np.ones(300)
    data = as_data(make(X), sample_weight=weights if weighted else None)
    A = (X - np.average(X, axis=0, weights=weights)) * np.sqrt(weights)[:, None]
    some = np.array([0, 4, 5, 11])
    close(data.columns(some), A.T @ A[:, some], 1e-12)
    close(data.submatrix(some), A[:, some].T @ A[:, some], 1e-12)


@pytest.mark.parametrize("mean", [1.0, 1e6])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sparse_store, dask_sparse])
def test_a_crowded_column_among_sparse_ones_keeps_its_digits(make, mean):
    rng = np.random.default_rng(5)
    X = sp.random_array((400, 12), density=0.05, rng=rng, format="csr").toarray()
    X[:, 4] = mean + rng.standard_normal(400)
    data, reference = as_data(make(X)), centred(X)
    S = reference.T @ reference
    scale = np.sqrt(np.outer(S.diagonal(), S.diagonal()))
    limit = 1e-12 if mean == 1.0 else 1e-9
    assert np.abs((data.columns(np.arange(12)) - S) / scale).max() < limit
    assert np.abs((data.gram() - S) / scale).max() < limit


@pytest.mark.parametrize("cost", [0.0, 1e9], ids=["sparse product", "dense blocks"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_to_the_gram_matrix_of_sparse_data_agree(monkeypatch, make, cost, weighted):
    monkeypatch.setattr(redac.sources.sparse, "_SPARSE_COST", cost)
    monkeypatch.setattr(redac.sources.sparse, "_BLOCK_BYTES", 7 * 12 * 8)
    X = np.maximum(factor_data(60, 12, seed=1), 0.0)
    weights = np.arange(60) % 3 if weighted else None
    expected = as_data(X, sample_weight=weights)
    data = as_data(make(X.astype(np.float32)).astype(np.float64), sample_weight=weights)
    close(data._gram(), expected.gram(), 1e-6)
    exact = as_data(make(X), sample_weight=weights)
    close(exact._gram(), expected.gram())


@pytest.mark.parametrize("live", [[], [7], [39, 2], list(range(40))])
@pytest.mark.parametrize("weighted", [False, True])
@standardize
def test_products_with_few_features_leave_out_the_others(live, weighted, standardize, monkeypatch):
    monkeypatch.setattr(redac.sources.sparse, "_BLOCK_BYTES", 7 * 8)
    X = mixed_data("wide")
    weights = np.arange(14) % 3 if weighted else None
    expected = as_data(X, sample_weight=weights, standardize=standardize)
    data = as_data(sp.csr_array(X), sample_weight=weights, standardize=standardize)
    V = np.zeros((40, 3))
    V[live] = np.random.default_rng(0).standard_normal((len(live), 3))
    close(data.product(V), expected.product(V))
    close(data.product(V[:, 0]), expected.product(V[:, 0]))


@pytest.mark.parametrize("cost", [0.0, 1e9], ids=["sparse product", "dense blocks"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_of_the_scatter_matrix_of_sparse_data(make, cost, weighted, monkeypatch):
    monkeypatch.setattr(redac.sources.sparse, "_SPARSE_COST", cost)
    X = mixed_data("wide")
    weights = np.arange(14) % 3 if weighted else np.ones(14)
    data = as_data(make(X), sample_weight=weights if weighted else None)
    A = (X - np.average(X, axis=0, weights=weights)) * np.sqrt(weights)[:, None]
    A[:, 3] = 0.0
    for support in ([5, 9], [9, 3, 5, 20], [2, 3, 5], [30, 31, 39], [0, 5, 9], [20], range(12)):
        chosen = np.array(support)
        expected = A[:, chosen].T @ A[:, chosen]
        close(data.submatrix(chosen), expected)
        rows = np.arange(len(chosen))[::2]
        close(data.submatrix(chosen, rows), expected[rows])


# ------------------------------------------------------------ weights


WEIGHTED = ["csr", "csc", "store", "store-sparse", "dask-both", "dask-frame", "memory-mapped"]


@pytest.mark.parametrize("container", ["memory", *WEIGHTED])
@pytest.mark.parametrize("shape", ["tall", "wide"])
@standardize
def test_weights_are_repetitions(container, shape, standardize, tmp_path):
    X = mixed_data(shape)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    data = X if container == "memory" else CONTAINERS[container](X, tmp_path)
    options = {"n_components": 2, "cardinality": 4, "standardize": standardize}
    model = SparsePCA(**options).fit(data, sample_weight=weights)
    repeated = SparsePCA(**options).fit(np.repeat(X, weights, axis=0))
    assert_same_loadings(model.components_, repeated.components_)
    close(model.mean_, repeated.mean_)
    close(model.scale_, repeated.scale_)
    close(model.explained_variance_, repeated.explained_variance_, SAME_OPTIMUM)


@pytest.mark.parametrize("factor", [1e-250, 0.01, 3.7, 1e250])
def test_a_common_factor_of_weights_that_are_no_counts_changes_nothing(factor):
    X = mixed_data("tall")
    weights = np.random.default_rng(0).uniform(0.1, 2.0, 60)
    expected = SparsePCA(2, cardinality=3, standardize=True).fit(X, sample_weight=weights)
    model = SparsePCA(2, cardinality=3, standardize=True).fit(X, sample_weight=weights * factor)
    assert_same_loadings(model.components_, expected.components_)
    close(model.explained_variance_, expected.explained_variance_, SAME_OPTIMUM)
    close(model.scale_, expected.scale_, 1e-10)


@pytest.mark.parametrize("container", ["memory", *WEIGHTED])
def test_what_a_row_of_weight_zero_holds_is_no_matter(container, tmp_path):
    X = mixed_data("tall")
    weights = np.ones(60)
    weights[[0, 7, 59]] = 0
    expected = SparsePCA(2, cardinality=3).fit(X[weights > 0]).components_
    X[[0, 7, 59]] = np.nan
    data = X if container == "memory" else CONTAINERS[container](X, tmp_path)
    assert_same_loadings(
        SparsePCA(2, cardinality=3).fit(data, sample_weight=weights).components_, expected
    )


@pytest.mark.parametrize("container", ["memory", "csr", "store", "dask-both", "dask-frame"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({17: -1.0}, r"sample_weight\[17\] is -1"),
        ({17: np.nan, 30: -2.0}, r"sample_weight\[17\] is nan"),
        ({3: np.inf}, r"sample_weight\[3\] is inf"),
        (dict.fromkeys(range(60), 0.0), "sample_weight is zero for every row"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_unusable_weights_are_refused(container, change, message, lazy, tmp_path):
    weights = np.ones(60)
    for row, value in change.items():
        weights[row] = value
    X = mixed_data("tall")
    data = X if container == "memory" else CONTAINERS[container](X, tmp_path)
    if lazy and container == "dask-both":
        weights = da.from_array(weights, chunks=7)
    elif lazy and container == "dask-frame":
        weights = dd.from_pandas(pd.Series(weights), npartitions=4)
    with pytest.raises(ValueError, match=message):
        SparsePCA(2).fit(data, sample_weight=weights)


@pytest.mark.parametrize("container", ["memory", "csr", "store", "dask-both"])
@pytest.mark.parametrize("wrong", [np.ones(59), np.ones((60, 2))], ids=["short", "matrix"])
def test_weights_of_the_wrong_shape_are_refused(container, wrong, tmp_path):
    X = mixed_data("tall")
    data = X if container == "memory" else CONTAINERS[container](X, tmp_path)
    with pytest.raises(ValueError, match="sample_weight"):
        SparsePCA(2).fit(data, sample_weight=wrong)


@pytest.mark.parametrize("kind", ["array", "series"])
@pytest.mark.parametrize("factor", [1, 0.3], ids=["counts", "relative"])
def test_weights_may_be_dask_collections(kind, factor):
    X = mixed_data("tall")
    weights = np.arange(60) % 4 * factor
    expected = SparsePCA(2, cardinality=3).fit(X, sample_weight=weights)
    if kind == "array":
        data, w = da.from_array(X, chunks=(13, 5)), da.from_array(weights, chunks=7)
    else:
        data = dd.from_pandas(frame(X), npartitions=3)
        w = dd.from_pandas(pd.Series(weights), npartitions=3)
    model = SparsePCA(2, cardinality=3).fit(data, sample_weight=w)
    assert_same_loadings(model.components_, expected.components_)
    close(model.explained_variance_, expected.explained_variance_, SAME_OPTIMUM)


def test_weights_in_other_partitions_are_refused():
    data = dd.from_pandas(frame(mixed_data("tall")), npartitions=3)
    weights = dd.from_pandas(pd.Series(np.ones(60)), npartitions=2)
    with pytest.raises(ValueError, match="2 pieces, X in 3 blocks"):
        SparsePCA(2).fit(data, sample_weight=weights)


def test_weights_are_routed_through_a_pipeline():
    X = mixed_data("tall")
    weights = np.arange(60) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        model = SparsePCA(2, cardinality=3).set_fit_request(sample_weight=True)
        make_pipeline(model).fit(X, sample_weight=weights)
    expected = SparsePCA(2, cardinality=3).fit(X, sample_weight=weights)
    assert_same_loadings(model.components_, expected.components_)
    assert np.abs(model.components_ - SparsePCA(2, cardinality=3).fit(X).components_).max() > 1e-6


# ------------------------------------------------------------ what can go wrong


@pytest.mark.parametrize(
    ("container", "value"),
    [
        (container, value)
        for container in CONTAINERS
        for value in (np.nan, np.inf)
        # In these NaN is a missing cell.
        if np.isinf(value) or not container.startswith(("memory", "store"))
    ],
)
def test_the_first_entry_that_is_no_number_is_named(container, value, tmp_path):
    X = mixed_data("tall")
    X[47, 8] = value
    X[50, 1] = np.nan
    data = CONTAINERS[container](X, tmp_path)
    name = r" \('f8'\)" if container == "dask-frame" else ""
    with pytest.raises(NonFiniteError, match=rf"row 47, column 8{name}, counted from 0"):
        SparsePCA(2).fit(data)


@blocked
def test_scores_of_dask_collections_with_a_gap_are_refused(container, tmp_path):
    X = mixed_data("tall")
    make = CONTAINERS[container]
    model = SparsePCA(2, cardinality=3).fit(make(X, tmp_path))
    X[47, 8] = np.nan
    if "dask" not in container:
        expected = model.transform(X)
        np.testing.assert_allclose(model.transform(make(X, tmp_path)), expected, atol=1e-9)
        return
    with pytest.raises((NonFiniteError, BlockError), match="NaN"):
        np.asarray(model.transform(make(X, tmp_path)))


class Broken(RowStore):
    def __getitem__(self, rows):
        if rows.start >= 34:
            raise OSError("disk on fire")
        return super().__getitem__(rows)


def test_a_block_that_cannot_be_read_is_named():
    with pytest.raises(BlockError, match=r"Block 2 .* row 34, .*disk on fire"):
        SparsePCA(2).fit(Broken(mixed_data("tall")))


def test_a_store_that_ends_early_is_an_error():
    store = RowStore(mixed_data("tall"))
    store.shape = (70, 12)
    with pytest.raises(BlockError, match=r"row 51, .* 9 rows; 17 were asked for"):
        SparsePCA(2).fit(store)


def failing(block, block_id=None):
    if block_id[0] == 7:
        raise ValueError("cosmic ray")
    return block


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_a_dask_block_that_raises_is_named(scheduler):
    X = da.from_array(mixed_data("tall"), chunks=(6, -1))
    X = X.map_blocks(failing, dtype=float, meta=np.empty((0, 0)))
    with (
        dask.config.set(scheduler=scheduler),
        pytest.raises(BlockError, match=r"Block 7 .* row 42, .*ValueError: cosmic ray") as error,
    ):
        SparsePCA(2).fit(X)
    assert error.value.number == 7


def test_an_error_of_a_block_survives_the_way_between_processes():
    import pickle

    for error in (BlockError(7, 42, "is gone"), NonFiniteError(3, 1, np.nan, "height")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (da.zeros((5, 3), dtype=complex), "complex"),
        (da.zeros((1, 3)), "1 row"),
        (da.zeros((5, 3, 2)), "two dimensions"),
        (da.zeros((5, 0)), "no columns"),
        (dd.from_pandas(pd.DataFrame({"a": [1.0, 2], "b": ["x", "y"]}), npartitions=1), "'b'"),
    ],
)
def test_dask_data_of_the_wrong_kind_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        SparsePCA(1).fit(data)


def test_other_columns_than_those_of_the_fit_are_refused():
    model = SparsePCA(2).fit(mixed_data("tall"))
    with pytest.raises(ValueError, match="features"):
        model.transform(da.zeros((5, 3)))


def test_an_empty_partition_is_no_problem():
    X = mixed_data("tall")
    data = dd.from_pandas(frame(X), npartitions=4)
    some = data[data["f0"] > X[:20, 0].max()]
    expected = SparsePCA(2, cardinality=3).fit(some.compute().to_numpy())
    assert_same_loadings(SparsePCA(2, cardinality=3).fit(some).components_, expected.components_)


# ------------------------------------------------------------ files


@pytest.fixture
def streamed(monkeypatch):
    """Every file counts as large."""
    monkeypatch.setattr(redac.files.table, "LARGE", 0)


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_large_parquet_file_is_streamed(tmp_path, dtype):
    X = mixed_data("tall").astype(dtype)
    table = frame(X)
    table.insert(4, "name", [f"row {i}" for i in range(60)])
    table.to_parquet(tmp_path / "X.parquet", row_group_size=23)
    read = read_table(tmp_path / "X.parquet")
    assert not isinstance(read.values, np.ndarray)
    assert read.values.dtype == dtype
    assert read.feature_names == list(frame(X).columns)
    assert list(read.ignored) == ["name"]
    np.testing.assert_array_equal(np.asarray(read.values), X)
    model, expected = (SparsePCA(2, cardinality=3).fit(each) for each in (read.values, X))
    assert model.n_passes_ == 1
    assert_same_loadings(model.components_, expected.components_)


@pytest.mark.usefixtures("streamed")
def test_infinity_in_a_large_file_is_named(tmp_path):
    table = frame(mixed_data("tall"))
    table.loc[41, "f7"] = np.inf
    table.to_parquet(tmp_path / "X.parquet")
    np.save(tmp_path / "X.npy", table.to_numpy())
    for name in ("X.parquet", "X.npy"):
        with pytest.raises(NonFiniteError, match="row 41, column 7"):
            SparsePCA(2).fit(read_table(tmp_path / name).values)


@pytest.mark.usefixtures("streamed")
def test_a_large_parquet_file_without_numbers_is_refused(tmp_path):
    pd.DataFrame({"a": ["x", "y"]}).to_parquet(tmp_path / "X.parquet")
    with pytest.raises(DataFileError, match="no numeric column"):
        read_table(tmp_path / "X.parquet")


@pytest.mark.usefixtures("streamed")
def test_columns_that_need_a_closer_look_are_read_whole(tmp_path):
    table = frame(mixed_data("tall")).assign(day=pd.Timestamp("2020-01-01"))
    table.to_parquet(tmp_path / "X.parquet")
    read = read_table(tmp_path / "X.parquet")
    assert isinstance(read.values, np.ndarray)
    assert list(read.ignored) == ["day"]


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_the_command_line_streams_large_files(tmp_path, capsys, suffix):
    X = mixed_data("tall")
    path, out = tmp_path / f"X.{suffix}", tmp_path / "out"
    frame(X).to_parquet(path) if suffix == "parquet" else np.save(path, X)
    options = ["--components", "2", "--cardinality", "3", "--output", str(out)]
    assert main(["fit", str(path), *options]) == 0
    model = SparsePCA.load(out / "model.npz")
    assert_same_loadings(model.components_, SparsePCA(2, cardinality=3).fit(X).components_)
    scores = pd.read_csv(out / "scores.csv", index_col=0)
    close(scores.to_numpy(), model.transform(frame(X) if suffix == "parquet" else X), 1e-9)
    capsys.readouterr()


# ------------------------------------------------------------ a cluster


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_processes_gives_the_same_answer(cluster):
    assert cluster.ncores()
    for shape in ("tall", "wide"):
        X = mixed_data(shape)
        expected = SparsePCA(3, cardinality=4, max_iter=3).fit(X)
        lazy = da.from_array(X, chunks=(20, 20))
        weights = da.ones(len(X), chunks=15)
        model = SparsePCA(3, cardinality=4, max_iter=3).fit(lazy, sample_weight=weights)
        assert_same_loadings(model.components_, expected.components_)
        close(model.transform(lazy).compute(), expected.transform(X), SAME_OPTIMUM)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_names_the_block_that_fails(cluster):
    X = da.from_array(mixed_data("tall"), chunks=(6, -1))
    X = X.map_blocks(failing, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(BlockError, match=r"Block 7 .*cosmic ray"):
        SparsePCA(2).fit(X)
    gap = mixed_data("tall")
    gap[47, 8] = np.nan
    with pytest.raises(NonFiniteError, match="row 47, column 8"):
        SparsePCA(2).fit(da.from_array(gap, chunks=(6, -1)))
    assert cluster.ncores()
