"""Every container of the same numbers answers alike: no copies, overflow or lost digits."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import redac.sources.dense
import redac.sources.known
from helpers import centred, factor_data, projector, relative_error
from redac.exceptions import NonFiniteError
from redac.sources import (
    Columns,
    Gram,
    as_data,
    as_source,
    checked_covariance,
    covariance_source,
    raw_data,
)
from redac.sources.arithmetic import add_squares, mirror_upper, subtract_outer
from redac.sources.spectrum import block_krylov

# ------------------------------------------------------------ containers × shapes
# All numbers are small integers, so that every container holds the very same matrix.


def counts(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Small counts with many zeros."""
    rng = np.random.default_rng(seed)
    return np.maximum(rng.integers(-3, 7, (n, d)), 0).astype(float)


def with_duplicate_columns(X: np.ndarray) -> np.ndarray:
    return np.hstack([X, X[:, :3], X[:, :1]])


def with_constant_columns(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[:, 1], X[:, 4] = 3.0, 0.0
    return X


SHAPES = {
    "tall": counts(60, 9),
    "wide": counts(9, 40),
    "square": counts(12, 12),
    "rank-deficient": with_duplicate_columns(counts(40, 6)),
    "rank-deficient-wide": with_duplicate_columns(counts(7, 20)),
    "constant-columns": with_constant_columns(counts(40, 8)),
    "constant-columns-wide": with_constant_columns(counts(6, 18)),
    "large-mean": counts(50, 7) + 100.0,
    "zero-or-one": (counts(30, 6) > 2).astype(float),
    "two-rows": counts(2, 5),
    "one-column": counts(20, 1),
}


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def memory_mapped(X: np.ndarray, tmp_path, order: str = "C") -> np.ndarray:
    path = tmp_path / "X.npy"
    np.save(path, np.array(X, order=order))
    return np.load(path, mmap_mode="r")


def slice_of_larger(X: np.ndarray) -> np.ndarray:
    larger = np.full((2 * X.shape[0], 3 * X.shape[1]), 99.0)
    larger[1::2, ::3] = X
    return larger[1::2, ::3]


def with_int64_indices(X: np.ndarray) -> sp.csr_array:
    A = sp.csr_array(X)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def with_duplicate_entries(X: np.ndarray) -> sp.csr_array:
    """Every value stored twice: half of it, and half of it again."""
    A = sp.coo_array(X)
    rows, columns = np.nonzero(X)
    half = A.data / 2
    both = (np.repeat(rows, 2), np.repeat(columns, 2))
    order = np.argsort(both[0], kind="stable")
    pointers = np.searchsorted(both[0][order], np.arange(X.shape[0] + 1))
    return sp.csr_array((np.repeat(half, 2)[order], both[1][order], pointers), shape=X.shape)


def with_explicit_zeros(X: np.ndarray) -> sp.csr_array:
    """Every entry stored, zeros too."""
    n, d = X.shape
    indices, pointers = np.tile(np.arange(d), n), np.arange(n + 1) * d
    return sp.csr_array((X.ravel().copy(), indices, pointers), shape=X.shape)


def with_unsorted_indices(X: np.ndarray) -> sp.csr_array:
    A = with_explicit_zeros(X)
    n, d = X.shape
    A.indices = A.indices.reshape(n, d)[:, ::-1].ravel().copy()
    A.data = A.data.reshape(n, d)[:, ::-1].ravel().copy()
    A.has_sorted_indices = False
    A.has_canonical_format = False
    return A


CONTAINERS = {
    "c-order": lambda X, _: np.ascontiguousarray(X),
    "f-order": lambda X, _: np.asfortranarray(X),
    "float32": lambda X, _: X.astype(np.float32),
    "float32-f-order": lambda X, _: np.asfortranarray(X, dtype=np.float32),
    "int16": lambda X, _: X.astype(np.int16),
    "int64": lambda X, _: X.astype(np.int64),
    "uint8": lambda X, _: X.astype(np.uint8),
    "read-only": lambda X, _: read_only(X),
    "memory-mapped": memory_mapped,
    "memory-mapped-f-order": lambda X, tmp_path: memory_mapped(X, tmp_path, "F"),
    "slice": lambda X, _: slice_of_larger(X),
    "reversed": lambda X, _: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda X, _: X.astype(">f8"),
    "csr-array": lambda X, _: sp.csr_array(X),
    "csc-array": lambda X, _: sp.csc_array(X),
    "csr-matrix": lambda X, _: sp.csr_matrix(X),
    "csc-matrix": lambda X, _: sp.csc_matrix(X),
    "coo-array": lambda X, _: sp.coo_array(X),
    "csr-float32": lambda X, _: sp.csr_array(X.astype(np.float32)),
    "csr-int16": lambda X, _: sp.csr_array(X.astype(np.int16)),
    "csc-uint8": lambda X, _: sp.csc_array(X.astype(np.uint8)),
    "csr-int64-indices": lambda X, _: with_int64_indices(X),
    "csr-duplicate-entries": lambda X, _: with_duplicate_entries(X),
    "csr-explicit-zeros": lambda X, _: with_explicit_zeros(X),
    "csr-unsorted-indices": lambda X, _: with_unsorted_indices(X),
}
SPARSE_CONTAINERS = [name for name in CONTAINERS if name.startswith(("cs", "coo"))]

container = pytest.mark.parametrize("container", CONTAINERS)
shape = pytest.mark.parametrize("shape", SHAPES)
standardize = pytest.mark.parametrize("standardize", [False, True], ids=["centred", "standardized"])


def close(actual: np.ndarray, expected: np.ndarray, scale: float = 1.0) -> None:
    """Equal to 1e-11 of the largest expected entry (or of ``scale`` if that is larger)."""
    expected = np.asarray(expected, dtype=np.float64)
    limit = 1e-11 * max(scale, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=limit)


@container
@shape
@standardize
def test_data_are_applied_as_the_centred_scaled_matrix(container, shape, standardize, tmp_path):
    X = SHAPES[shape]
    data = as_data(CONTAINERS[container](X, tmp_path), standardize=standardize)
    reference = centred(X, standardize=standardize)
    n, d = X.shape
    rng = np.random.default_rng(1)
    V, U, support = rng.standard_normal((d, 3)), rng.standard_normal((n, 3)), np.arange(d)[::2]
    assert data.shape == X.shape
    close(data.left(V), reference @ V)
    close(data.left(V[:, 0]), reference @ V[:, 0])
    close(data.right(U), reference.T @ U)
    close(data.right(U[:, 0]), reference.T @ U[:, 0])
    S = reference.T @ reference
    close(data.gram(), S)
    close(data.product(V), S @ V)
    close(data.product(V[:, 0]), S @ V[:, 0])
    close(data.columns(support), S[:, support])
    close(data.submatrix(support), S[np.ix_(support, support)])
    some = np.arange(support.size)[::-2]
    close(data.submatrix(support, some), S[np.ix_(support[some], support)])
    close(data.quadratic(V), V.T @ S @ V)
    some = np.zeros_like(V)
    some[support] = V[support]
    close(data.quadratic(some), some.T @ S @ some)
    close(data.diagonal, (reference**2).sum(axis=0))
    close(data.dense(), reference)
    close(data.dense_columns(support), reference[:, support])
    close(data.kernel(), reference @ reference.T)


@container
@shape
@standardize
def test_source_gives_products_with_the_scatter_matrix(container, shape, standardize, tmp_path):
    X = SHAPES[shape]
    data = as_data(CONTAINERS[container](X, tmp_path), standardize=standardize)
    reference = centred(X, standardize=standardize)
    S = reference.T @ reference
    d = X.shape[1]
    V = np.random.default_rng(2).standard_normal((d, 3))
    support = np.arange(d)[::2]
    for source in (as_source(data), Columns(data)):
        assert source.n_features == d
        close(source.dot(V), S @ V)
        close(source.combine(support, V[support, 0]), S[:, support] @ V[support, 0])
        close(source.quadratic(V), V.T @ S @ V)
        close(source.diagonal, S.diagonal())
        close(source.factor().T @ source.factor(), S)
        assert source.total == pytest.approx(float(np.trace(S)), rel=1e-11)
        assert source.variance_unit * (len(X) - 1) == pytest.approx(1.0, rel=1e-15)


@container
@shape
@standardize
def test_principal_axes_are_leading_eigenvectors(container, shape, standardize, tmp_path):
    X = SHAPES[shape]
    data = as_data(CONTAINERS[container](X, tmp_path), standardize=standardize)
    reference = centred(X, standardize=standardize).astype(np.float64)
    S = reference.T @ reference
    expected = np.linalg.eigvalsh(S)[::-1]
    r = min(3, X.shape[1])
    for source in (as_source(data), Columns(data)):
        axes, values = source.principal_axes(r)
        assert axes.shape == (X.shape[1], r)
        np.testing.assert_allclose(values, expected[:r], rtol=1e-10, atol=1e-10 * expected[0])
        live = values > 1e-8 * values[0]
        close(axes[:, live].T @ axes[:, live], np.eye(live.sum()))
        np.testing.assert_allclose(S @ axes, axes * values, atol=1e-10 * expected[0])


@pytest.mark.parametrize("container", ["c-order", "csr-array"])
def test_a_boolean_matrix_counts_as_zeros_and_ones(container):
    X = SHAPES["zero-or-one"]
    boolean = CONTAINERS[container](X, None).astype(bool)
    close(as_data(boolean).gram(), as_data(X).gram())


@pytest.mark.parametrize("container", ["c-order", "f-order", "csr-array", "csc-array"])
@pytest.mark.parametrize("shape", ["constant-columns", "constant-columns-wide"])
@standardize
def test_constant_columns_carry_nothing_and_keep_their_scale(container, shape, standardize):
    X = SHAPES[shape]
    data = as_data(CONTAINERS[container](X, None), standardize=standardize)
    assert data.diagonal[1] == data.diagonal[4] == 0.0
    assert data.moments.scale[1] == data.moments.scale[4] == 1.0
    assert data.moments.constant.tolist() == [j in (1, 4) for j in range(X.shape[1])]


@pytest.mark.parametrize("value", [0.1, 1e8 / 3, -1e15])
@pytest.mark.parametrize("container", ["c-order", "f-order", "csr-array", "csc-array"])
@standardize
def test_a_constant_column_of_any_size_has_no_scatter_at_all(container, value, standardize):
    X = factor_data(50, 4, seed=1)
    X[:, 2] = value
    S = as_data(CONTAINERS[container](X, None), standardize=standardize).gram()
    np.testing.assert_array_equal(S[2], np.zeros(4))


@container
def test_given_centre_and_scale_are_used_instead_of_the_own_ones(container, tmp_path):
    X = SHAPES["tall"]
    mean, scale = np.linspace(-1, 1, X.shape[1]), np.linspace(0.5, 3, X.shape[1])
    V = np.random.default_rng(0).standard_normal((X.shape[1], 2))
    converted = CONTAINERS[container](X, tmp_path)
    close(as_data(converted, mean=mean, scale=scale).left(V), (X - mean) / scale @ V)
    close(as_data(converted, mean=mean).left(V), (X - mean) @ V)


@standardize
def test_blocks_of_rows_give_what_one_block_gives(monkeypatch, standardize):
    X = factor_data(101, 8, seed=3)
    U = np.random.default_rng(0).standard_normal((101, 2))
    whole = as_data(X, standardize=standardize)
    monkeypatch.setattr(redac.sources.dense, "_BLOCK_BYTES", 7 * 8 * 8)
    for order in ("C", "F"):
        parts = as_data(np.array(X, order=order), standardize=standardize)
        close(parts.left(np.eye(8)), whole.left(np.eye(8)))
        close(parts.right(U), whole.right(U))
        close(parts.diagonal, whole.diagonal)
        S = np.zeros((8, 8))
        for _, block in parts._blocks(5 * 8 * 8):
            S += block.T @ block
        close(S, whole.gram())


@pytest.mark.parametrize("wide", [300, 600], ids=["d=300", "d=600"])
@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_many_features_at_once_give_what_few_give(make, wide):
    X = factor_data(5, wide, seed=0)
    data, reference = as_data(make(X)), centred(X)
    v = np.random.default_rng(0).standard_normal(wide)
    S = reference.T @ reference
    close(data.quadratic(v[:, None]), [[v @ S @ v]])
    close(data.gram(), S)
    gram, support = Gram(np.asarray(S, dtype=np.float64)), np.array([3, 170, wide - 1])
    close(gram.combine(support, v[support]), S[:, support] @ v[support])


# ------------------------------------------------------------ accuracy and range


@pytest.mark.parametrize("shape", [(500, 6), (8, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize(
    ("make", "mean", "limit"),
    [
        (np.array, 1e6, 1e-12),
        (np.asfortranarray, 1e6, 1e-12),
        (np.array, 1e8, 1e-12),
        (sp.csr_array, 1e6, 1e-9),
        (sp.csc_array, 1e6, 1e-9),
        # A product with raw data of this mean is itself off by 1e8 roundings.
        (sp.csr_array, 1e8, 1e-7),
        (sp.csc_array, 1e8, 1e-7),
    ],
    ids=["c-1e6", "f-1e6", "c-1e8", "csr-1e6", "csc-1e6", "csr-1e8", "csc-1e8"],
)
def test_a_large_mean_costs_no_more_digits_than_stated(make, mean, limit, shape):
    rng = np.random.default_rng(5)
    X = mean * rng.choice([-1.0, 1.0], shape[1]) + rng.standard_normal(shape)
    reference = centred(X)
    v = rng.standard_normal(shape[1])
    expected = reference.T @ (reference @ v)
    data = as_data(make(X))
    assert relative_error(as_source(data).dot(v), expected) < limit
    assert relative_error(Columns(data).dot(v), expected) < limit
    everything = np.arange(shape[1])
    assert relative_error(Columns(data).combine(everything, v), expected) < limit
    assert relative_error(data.product(v), expected) < limit
    assert relative_error(data.columns(everything), reference.T @ reference) < limit


def test_the_mean_of_sparse_float32_data_is_taken_in_float64():
    X = np.random.default_rng(0).uniform(1, 2, (1000, 4)).astype(np.float32)
    expected = X.astype(np.longdouble).mean(axis=0).astype(np.float64)
    np.testing.assert_allclose(as_data(X).moments.mean, expected, rtol=1e-13)
    np.testing.assert_allclose(as_data(sp.csr_array(X)).moments.mean, expected, rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-305, 1e-200, 1e-160, 1e-99, 1e99, 1e150, 1e300, 1e306])
@pytest.mark.parametrize("make", [np.array, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)], ids=["tall", "wide"])
@standardize
def test_the_scale_of_the_data_changes_no_axis(shape, make, scale, standardize):
    X = factor_data(*shape, seed=2)
    X /= np.abs(X).max()
    expected, _ = as_source(as_data(make(X), standardize=standardize)).principal_axes(2)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        data = as_data(make(X * scale), standardize=standardize)
        for source in (as_source(data), Columns(data)):
            axes, values = source.principal_axes(2)
            assert np.isfinite(values).all()
            assert 0 < source.total < np.inf
            assert source.diagonal.min() > 1e-250
            np.testing.assert_allclose(projector(axes), projector(expected), atol=1e-9)


@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
@standardize
def test_a_column_whose_sum_is_too_large_for_a_float_has_its_mean_and_axes(make, standardize):
    X = 5.0 + factor_data(60, 5, seed=2) / 20
    scale = 2.0**1020
    assert X.sum(axis=0).min() > np.finfo(float).max / scale
    expected, _ = as_source(as_data(X, standardize=standardize)).principal_axes(2)
    with np.errstate(over="raise", invalid="raise"):
        data = as_data(make(X * scale), standardize=standardize)
        axes, _ = as_source(data).principal_axes(2)
    np.testing.assert_allclose(data.moments.mean / scale, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(projector(axes), projector(expected), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-313, 1e-320])
@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
@standardize
def test_variation_among_subnormal_numbers_counts_as_none(make, scale, standardize):
    X = np.round(factor_data(30, 5, seed=2) * 100) * scale
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        source = as_source(as_data(make(X), standardize=standardize))
        axes, values = source.principal_axes(2)
    assert np.isfinite(axes).all()
    assert source.total == 0.0
    np.testing.assert_array_equal(values, 0.0)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)], ids=["tall", "wide"])
def test_variances_come_back_in_the_unit_of_the_data(shape, make, scale):
    X = factor_data(*shape, seed=2)
    source = as_source(as_data(make(X * scale)))
    variances = source.diagonal * source.variance_unit
    np.testing.assert_allclose(variances, X.var(axis=0, ddof=1) * scale**2, rtol=1e-10)


@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(30, 6), (6, 30)], ids=["tall", "wide"])
def test_standardizing_makes_tiny_and_huge_columns_equal(shape, make):
    X = factor_data(*shape, seed=4)
    scales = 10.0 ** np.linspace(-200, 200, shape[1])
    expected = np.corrcoef(X, rowvar=False) * (shape[0] - 1)
    S = as_data(make(X * scales), standardize=True).gram()
    np.testing.assert_allclose(S, expected, atol=1e-9)


# ------------------------------------------------------------ the input is left alone


@container
@standardize
def test_the_input_is_not_modified(container, standardize, tmp_path):
    X = CONTAINERS[container](SHAPES["tall"], tmp_path)
    parts = [X] if isinstance(X, np.ndarray) else [X.data]
    if container.startswith("cs"):
        parts += [X.indices, X.indptr]
    before = [part.tobytes() for part in parts]
    data = as_data(X, standardize=standardize)
    data.gram()
    data.left(np.ones((9, 2)))
    data.right(np.ones((60, 2)))
    data.quadratic(np.eye(9)[:, :4])
    Columns(data).principal_axes(2)
    assert [part.tobytes() for part in parts] == before


@pytest.fixture(scope="module")
def big_files(tmp_path_factory):
    """60 MB in C and in Fortran order, on disk."""
    folder = tmp_path_factory.mktemp("big")
    paths = {}
    for order in "CF":
        paths[order] = folder / f"{order}.npy"
        X = np.lib.format.open_memmap(
            paths[order], "w+", np.float64, (75_000, 100), fortran_order=order == "F"
        )
        X[:] = np.random.default_rng(0).standard_normal((750, 100)).repeat(100, axis=0)
        del X
    return paths


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mapped", [True, False], ids=["memory-mapped", "in-memory"])
@pytest.mark.parametrize(
    "work",
    [
        lambda data: data.gram(),
        lambda data: data.left(np.ones((100, 2))),
        lambda data: data.right(np.ones((75_000, 2))),
        lambda data: as_data(data.X, standardize=True),
    ],
    ids=["gram", "left", "right", "moments"],
)
def test_dense_data_are_never_copied_as_a_whole(big_files, order, mapped, work):
    X = np.load(big_files[order], mmap_mode="r" if mapped else None)
    data = as_data(X)
    tracemalloc.start()
    try:
        work(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.3 * X.nbytes


# ------------------------------------------------------------ NaN and infinity


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "make",
    [np.array, np.asfortranarray, sp.csr_array, sp.csc_array, sp.coo_array],
    ids=["c-order", "f-order", "csr", "csc", "coo"],
)
def test_the_first_non_finite_entry_is_named(make, dtype, value, word):
    X = counts(40, 6).astype(dtype)
    X[17, 4] = value
    X[17, 5] = X[30, 0] = np.nan
    with pytest.raises(NonFiniteError, match=rf"{word}: row 17, column 4, counted from 0") as error:
        as_data(make(X))
    assert (error.value.row, error.value.column) == (17, 4)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_non_finite_entry_in_a_later_block_is_named(monkeypatch, order):
    monkeypatch.setattr(redac.sources.dense, "_BLOCK_BYTES", 10 * 6 * 8)
    X = np.array(counts(95, 6), order=order)
    X[93, 2] = np.nan
    with pytest.raises(NonFiniteError, match="row 93, column 2"):
        as_data(X)


@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_a_non_finite_entry_is_an_error_also_about_a_given_centre(make):
    X = counts(10, 3)
    X[4, 1] = np.inf
    with pytest.raises(NonFiniteError, match="row 4, column 1"):
        as_data(make(X), mean=np.zeros(3))


def test_a_non_finite_entry_can_be_given_the_name_of_its_column():
    error = NonFiniteError(3, 1, np.nan).named(["height", "weight"])
    assert "row 3, column 1 ('weight')" in str(error)


# ------------------------------------------------------------ covariance matrices


def covariance(d: int = 6, n: int = 40) -> np.ndarray:
    return np.cov(factor_data(n, d, seed=9), rowvar=False)


def changed(row: int, column: int, value: float) -> np.ndarray:
    S = covariance()
    S[row, column] = value
    return S


ACCEPTED = {
    "plain": covariance(),
    "correlation": np.corrcoef(factor_data(40, 6, seed=9), rowvar=False),
    "rank-deficient": covariance(n=4),
    "slightly-negative": covariance(n=4) - 1e-9 * np.eye(6),
    "rounded-to-three-decimals": np.round(np.corrcoef(factor_data(4, 6, seed=9), rowvar=False), 3),
    "rounding-asymmetry": covariance() * (1 + 1e-9 * np.triu(np.ones((6, 6)))),
    "times-1e-200": covariance() * 1e-200,
    "times-1e-300": covariance() * 1e-300,
    "times-1e200": covariance() * 1e200,
    "integers": np.array([[2, 1], [1, 2]]),
    "list": [[2.0, 1.0], [1.0, 2.0]],
    "one-feature": np.array([[3.0]]),
    "all-zero": np.zeros((3, 3)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_covariance_matrix_comes_back_symmetric_in_its_unit(name):
    S = np.asarray(ACCEPTED[name], dtype=np.float64)
    before = S.copy()
    source = covariance_source(ACCEPTED[name])
    np.testing.assert_array_equal(source.S, source.S.T)
    np.testing.assert_allclose(
        source.S * source.variance_unit, S, rtol=1e-8, atol=1e-12 * np.abs(S).max()
    )
    assert source.variance_unit == checked_covariance(S)[1]
    np.testing.assert_array_equal(ACCEPTED[name], before)


@pytest.mark.parametrize("name", [name for name in ACCEPTED if name != "all-zero"])
def test_the_scale_of_a_covariance_matrix_changes_no_axis(name):
    S = np.asarray(ACCEPTED[name], dtype=np.float64)
    axes, values = covariance_source(S).principal_axes(1)
    scaled = S / np.abs(S).max()
    expected = np.linalg.eigh((scaled + scaled.T) / 2)[1][:, -1:]
    assert np.isfinite(values).all()
    np.testing.assert_allclose(projector(axes), projector(expected), atol=1e-9)


REFUSED = {
    "not-square": (np.ones((3, 4)), r"square; this one has shape \(3, 4\)"),
    "vector": (np.ones(3), r"square; this one has shape \(3,\)"),
    "empty": (np.ones((0, 0)), r"square; this one has shape \(0, 0\)"),
    "text": (np.array([["a", "b"], ["c", "d"]]), r"not numeric"),
    "asymmetric": (changed(1, 4, 77.0), r"symmetric; here entry \(1, 4\) is 77\b.* \(4, 1\)"),
    "asymmetric-tiny": (changed(1, 4, 77.0) * 1e-250, r"symmetric; here entry \(1, 4\)"),
    "nan": (changed(2, 3, np.nan), r"contains NaN: row 2, column 3"),
    "infinity": (changed(2, 3, np.inf), r"contains infinity: row 2, column 3"),
    "indefinite": (np.array([[1.0, 2.0], [2.0, 1.0]]), r"no negative eigenvalue.* -1\b"),
    "negative": (-covariance(), r"no negative eigenvalue"),
    "indefinite-huge": (np.array([[1.0, 2.0], [2.0, 1.0]]) * 1e250, r"no negative eigenvalue"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_covariance_matrix_is_refused_with_the_reason(name):
    S, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        covariance_source(S)


@pytest.mark.parametrize("name", ["asymmetric-tiny", "indefinite-huge"])
def test_a_refusal_names_numbers_in_the_unit_of_the_user(name):
    S, _ = REFUSED[name]
    exponent = {"asymmetric-tiny": "e-249", "indefinite-huge": r"e\+250"}[name]
    with pytest.raises(ValueError, match=exponent):
        covariance_source(S)


@pytest.mark.parametrize("shape", ["tall", "rank-deficient", "constant-columns"])
def test_the_covariance_matrix_of_data_is_the_source_of_the_data(shape):
    X = SHAPES[shape]
    from_data = as_source(as_data(X))
    from_covariance = covariance_source(np.cov(X, rowvar=False))
    V = np.random.default_rng(0).standard_normal((X.shape[1], 2))
    close(
        from_covariance.dot(V) * from_covariance.variance_unit,
        from_data.dot(V) * from_data.variance_unit,
    )


def test_the_standardized_covariance_matrix_is_the_correlation_matrix():
    correlation, deviations = covariance_source(covariance() * 1e-200).standardized()
    d = np.sqrt(covariance().diagonal())
    np.testing.assert_allclose(correlation.S, covariance() / np.outer(d, d), atol=1e-12)
    np.testing.assert_allclose(deviations, d * 1e-100, rtol=1e-10)


# ------------------------------------------------------------ columns of S on demand


def known_columns(source: Columns) -> list[int]:
    return np.flatnonzero(source.known._place >= 0).tolist()


@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("room", [0, 1, 3, 7, 1000])
def test_a_small_cache_of_columns_gives_the_same_answers(monkeypatch, make, room):
    X = factor_data(15, 25, seed=6)
    monkeypatch.setattr(redac.sources.known, "_CACHE_BYTES", room * 8 * 25)
    source = Columns(as_data(make(X)))
    reference = centred(X)
    rng = np.random.default_rng(0)
    for _ in range(40):
        support = np.sort(rng.choice(25, rng.integers(1, 9), replace=False))
        x = rng.standard_normal(support.size)
        close(source.combine(support, x), reference.T @ (reference[:, support] @ x))
        assert len(known_columns(source)) <= room


def test_more_columns_than_one_batch_are_learned(monkeypatch):
    monkeypatch.setattr(redac.sources.known, "_BATCH_BYTES", 4 * 8 * (15 + 25))
    X = factor_data(15, 25, seed=6)
    source, reference = Columns(as_data(X)), centred(X)
    support, x = np.arange(3, 22), np.linspace(-1, 1, 19)
    close(source.combine(support, x), reference.T @ (reference[:, support] @ x))
    axes, _ = source.principal_axes(2)
    expected = np.linalg.svd(reference.astype(np.float64))[2][:2].T
    close(projector(axes), projector(expected))


def test_known_columns_are_not_computed_again(monkeypatch):
    source = Columns(as_data(factor_data(15, 25, seed=6)))
    support = np.array([2, 5, 11])
    first = source.combine(support, np.ones(3))
    monkeypatch.setattr(source, "data", None)
    with pytest.raises(AttributeError):
        source.combine(np.array([3]), np.ones(1))
    monkeypatch.undo()
    reads = []
    monkeypatch.setattr(type(source.data), "columns", lambda *_: reads.append(1))
    close(source.combine(support, np.ones(3)), first)
    assert not reads


def test_where_there_is_no_room_other_columns_are_forgotten(monkeypatch):
    monkeypatch.setattr(redac.sources.known, "_CACHE_BYTES", 2 * 8 * 25)
    source = Columns(as_data(factor_data(15, 25, seed=6)))
    for j in (0, 1, 2):
        source.combine(np.array([j]), np.ones(1))
    assert known_columns(source) == [2]


# ------------------------------------------------------------ leading eigenvectors


@pytest.mark.parametrize("d", [5, 60, 200])
@pytest.mark.parametrize("r", [1, 4])
def test_block_iteration_finds_the_leading_eigenspace_of_a_decaying_spectrum(d, r):
    basis = np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))[0]
    S = basis * 2.0 ** -np.arange(d) @ basis.T
    axes, values = block_krylov(lambda V: S @ V, d, r)
    np.testing.assert_allclose(values, 2.0 ** -np.arange(r), rtol=1e-3)
    np.testing.assert_allclose(projector(axes), projector(basis[:, :r]), atol=1e-3)
    np.testing.assert_allclose(axes.T @ axes, np.eye(r), atol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_block_iteration_survives_a_rank_below_the_number_of_axes(rank):
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 30)))[0][:, :rank]
    axes, values = block_krylov(lambda V: basis @ (basis.T @ V), 30, 5)
    np.testing.assert_allclose(values, [1.0] * rank + [0.0] * (5 - rank), atol=1e-12)
    np.testing.assert_allclose(projector(axes[:, :rank]), basis @ basis.T, atol=1e-9)


@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_large_data_find_their_axes_by_iteration(monkeypatch, make):
    X = factor_data(60, 80, seed=8)
    exact, values = as_source(as_data(make(X))).principal_axes(3)
    monkeypatch.setattr(redac.sources.columns, "EXACT_ORDER", 10)
    axes, iterated = as_source(as_data(make(X))).principal_axes(3)
    np.testing.assert_allclose(iterated, values, rtol=1e-3)
    np.testing.assert_allclose(projector(axes), projector(exact), atol=1e-2)


def test_more_axes_than_rows_come_back_as_zeros():
    axes, values = Columns(as_data(factor_data(4, 20, seed=0))).principal_axes(7)
    assert axes.shape == (20, 7)
    assert np.isfinite(axes).all()
    np.testing.assert_array_equal(axes[:, 3:], np.zeros((20, 4)))
    np.testing.assert_allclose(values[3:], 0.0, atol=1e-12 * values[0])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_plain_products_are_those_of_the_definition_and_take_two_passes(container):
    rng = np.random.default_rng(7)
    X, V = rng.standard_normal((30, 5)), rng.standard_normal((5, 2))
    mean, scale = rng.standard_normal(5), rng.uniform(0.5, 2.0, 5)
    data = raw_data(container(X), mean=mean, scale=scale)
    total, M = data.plain_products(V)
    Z = (X - mean) / scale
    assert total == pytest.approx((Z**2).sum(), rel=1e-12)
    np.testing.assert_allclose(M, V.T @ Z.T @ Z @ V, rtol=1e-10)
    assert data.n_passes == 2
    for spoiled in (np.nan, 1e200):
        Y = X.copy()
        Y[3, 2] = spoiled
        assert raw_data(container(Y), mean=mean, scale=scale).plain_products(V) is None


@pytest.mark.parametrize("more", [0, 1], ids=["columns of S", "X"])
def test_large_supports_of_sparse_data_go_through_the_data(more):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 2500), density=0.02, format="csr", rng=rng)
    data = as_data(X)
    limit = data.columns_pay_up_to
    assert 1 < limit < 100
    source, E = Columns(data), centred(X.toarray()).astype(float)
    support = np.sort(rng.permutation(2500)[: limit + more])
    x = rng.standard_normal(support.size)
    expected = E.T @ (E[:, support] @ x)
    np.testing.assert_allclose(source.combine(support, x), expected, atol=1e-10)
    assert source.known.n_columns == (0 if more else limit)


@pytest.mark.parametrize("d", [1, 127, 128, 129, 300])
@pytest.mark.parametrize("order", ["C", "F"])
def test_squares_are_added_to_the_upper_triangle(d, order):
    rng = np.random.default_rng(d)
    block = np.asarray(rng.standard_normal((40, d)), order=order)
    a, b = rng.standard_normal((2, d))
    S = np.triu(rng.standard_normal((d, d)))
    expected = S + np.triu(block.T @ block) - np.triu(np.outer(a, b))
    add_squares(S, block)
    subtract_outer(S, a, b)
    np.testing.assert_allclose(np.triu(S), expected, atol=1e-12)
    np.testing.assert_allclose(mirror_upper(S), expected + np.triu(expected, 1).T, atol=1e-12)
