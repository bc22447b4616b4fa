"""Sources that know a factor of S, and the part of S that belongs to some features."""

import tracemalloc
import weakref

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from helpers import centred, factor_data, relative_error, unit_columns
from redac.sources import (
    Columns,
    Factor,
    Gram,
    as_data,
    as_source,
    covariance_source,
    gram,
    known,
)

N, D = 25, 40


def sparse_numbers() -> np.ndarray:
    X = factor_data(N, D, seed=2)
    return np.where(np.random.default_rng(0).random(X.shape) < 0.6, 0.0, X)


def of_data(X, convert, *, standardize=False, make=Columns):
    """A source of data and the matrix S that it stands for."""
    Z = centred(X, standardize=standardize).astype(np.float64)
    source = make(as_data(convert(X), standardize=standardize))
    return source, Z.T @ Z


def of_factor(*, seed: int = 1):
    A = np.random.default_rng(seed).standard_normal((N, D))
    return Factor(np.ascontiguousarray(A.T), variance_unit=0.25), A.T @ A


def of_gram():
    S = of_factor()[1]
    return Gram(S, variance_unit=0.25), S


def of_covariance():
    S = np.cov(factor_data(60, D, seed=3), rowvar=False)
    return covariance_source(S), S


DENSE = factor_data(N, D, seed=1) + 5.0
SOURCES = {
    "gram": of_gram,
    "covariance": of_covariance,
    "factor": of_factor,
    "few samples": lambda: of_data(DENSE, np.array, make=as_source),
    "few samples, standardized": lambda: of_data(DENSE, np.array, standardize=True, make=as_source),
    "few samples, sparse": lambda: of_data(sparse_numbers(), sp.csr_array, make=as_source),
    "columns": lambda: of_data(DENSE, np.array),
    "columns, near zero": lambda: of_data(DENSE - 5.0, np.array),
    "columns, near zero, standardized": lambda: of_data(
        DENSE - 5.0, np.asfortranarray, standardize=True
    ),
    "columns, by columns": lambda: of_data(DENSE, np.asfortranarray),
    "columns, float32": lambda: of_data(DENSE.astype(np.float32), np.array),
    "columns, standardized": lambda: of_data(DENSE, np.array, standardize=True),
    "columns, csr": lambda: of_data(sparse_numbers(), sp.csr_array),
    "columns, csc": lambda: of_data(sparse_numbers(), sp.csc_array),
    "columns, csr, standardized": lambda: of_data(sparse_numbers(), sp.csr_array, standardize=True),
    "columns, csr, crowded": lambda: of_data(sparse_numbers() + 30.0, sp.csr_array),
    "columns, dask": lambda: of_data(DENSE, lambda X: da.from_array(X, chunks=(10, D))),
    "columns, 8 samples": lambda: of_data(DENSE[:8], np.array, standardize=True),
    "columns, 8 samples, float32": lambda: of_data(DENSE[:8].astype(np.float32), np.asfortranarray),
    "columns, 8 samples, csr": lambda: of_data(sparse_numbers()[:8], sp.csr_array),
    "columns, 8 samples, dask": lambda: of_data(
        DENSE[:8], lambda X: da.from_array(X, chunks=(5, D))
    ),
}
SUPPORTS = {
    "one": np.array([7]),
    "some": np.array([1, 4, 5, 20, 39]),
    "all": np.arange(D),
    "unsorted": np.array([30, 2, 11]),
}
source = pytest.mark.parametrize("source", SOURCES)
through_data = pytest.mark.parametrize("source", [s for s in SOURCES if s.startswith("columns")])
support = pytest.mark.parametrize("support", SUPPORTS)


def assert_stands_for(source, S, unit):
    """Every answer of the source is the one that the matrix S gives."""
    d = len(S)
    r = min(3, d)
    V = unit_columns(d, r, seed=5)
    assert source.n_features == d
    assert source.variance_unit == unit
    assert source.total == pytest.approx(np.trace(S), rel=1e-9)
    np.testing.assert_allclose(source.diagonal, S.diagonal(), rtol=1e-9, atol=1e-9)
    assert relative_error(source.dot(V), S @ V) < 1e-9
    assert relative_error(source.quadratic(V), V.T @ S @ V) < 1e-9
    M = source.quadratic(V)
    np.testing.assert_array_equal(M, M.T)
    some = np.random.default_rng(0).permutation(d)[: max(1, d // 4)]
    coefficients = np.linspace(-1.0, 2.0, some.size)
    assert relative_error(source.combine(some, coefficients), S[:, some] @ coefficients) < 1e-9
    assert relative_error(source.rows(some), S[some]) < 1e-9
    assert relative_error(source.matrix(), S) < 1e-9
    A = source.factor()
    assert relative_error(A.T @ A, S) < 1e-9
    axes, values = source.principal_axes(r)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S)[::-1][:r], rtol=1e-7, atol=1e-9)
    assert relative_error(S @ axes, axes * values) < 1e-6


@source
def test_a_source_answers_as_its_matrix(source):
    answering, S = SOURCES[source]()
    assert_stands_for(answering, S, answering.variance_unit)


@source
@support
def test_a_restricted_source_answers_as_the_part_of_the_matrix(source, support):
    answering, S = SOURCES[source]()
    chosen = SUPPORTS[support]
    part = answering.restricted(chosen)
    assert_stands_for(part, S[np.ix_(chosen, chosen)], answering.variance_unit)


@source
def test_restrictions_follow_each_other(source):
    answering, S = SOURCES[source]()
    first, second = np.array([3, 8, 9, 21, 33]), np.array([0, 2, 4])
    part = answering.restricted(first).restricted(second)
    chosen = first[second]
    assert_stands_for(part, S[np.ix_(chosen, chosen)], answering.variance_unit)


@source
def test_a_restricted_source_leaves_its_origin_alone(source):
    answering, S = SOURCES[source]()
    answering.restricted(np.array([0, 1])).dot(np.ones((2, 1)))
    assert_stands_for(answering, S, answering.variance_unit)


def test_few_samples_are_kept_as_a_factor_and_many_features_by_columns():
    assert isinstance(as_source(as_data(DENSE)), Factor)
    assert isinstance(as_source(as_data(factor_data(130, 140, seed=0))), Columns)
    assert isinstance(as_source(as_data(factor_data(140, 20, seed=0))), Gram)


@pytest.mark.parametrize(("n", "d"), [(10, 30), (30, 10)])
def test_a_factor_is_the_gram_matrix_of_its_rows(n, d):
    A = np.random.default_rng(d).standard_normal((n, d))
    factor, whole = Factor(np.ascontiguousarray(A.T)), Gram(A.T @ A)
    assert_stands_for(factor, whole.S, 1.0)
    assert factor.total == pytest.approx(whole.total, rel=1e-12)
    np.testing.assert_allclose(factor.diagonal, whole.diagonal, rtol=1e-12)


@pytest.mark.parametrize("container", [np.array, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("standardize", [False, True])
@support
def test_a_submatrix_is_made_of_the_columns_of_s(container, standardize, support):
    data = as_data(container(sparse_numbers()), standardize=standardize)
    chosen = SUPPORTS[support]
    part = data.submatrix(chosen)
    np.testing.assert_array_equal(part, part.T)
    assert relative_error(part, data.columns(chosen)[chosen]) < 1e-12


@through_data
@pytest.mark.parametrize("seed", range(5))
def test_parts_made_of_earlier_parts_are_parts_of_s(source, seed):
    answering, S = SOURCES[source]()
    rng = np.random.default_rng(seed)
    features, kept = rng.permutation(D)[:20], []
    for _ in range(12):
        # Some features leave, some come, and their order changes.
        others = np.setdiff1d(np.arange(D), features)
        leaving, coming = rng.integers(0, min(8, features.size)), rng.integers(0, 8)
        features = rng.permutation(np.append(features[leaving:], rng.permutation(others)[:coming]))
        part = answering.restricted(features)
        matrix = part.matrix()
        np.testing.assert_array_equal(matrix, matrix.T)
        assert relative_error(matrix, S[np.ix_(features, features)]) < 1e-9
        assert isinstance(part, Factor) == (2 * answering.data.shape[0] <= features.size)
        if rng.random() < 0.5:
            kept.append(part)


@through_data
@pytest.mark.parametrize("size", [6, 20])
def test_what_is_known_of_a_part_costs_no_pass(source, size):
    answering, S = SOURCES[source]()
    features = np.arange(size)[::-1]
    part = answering.restricted(features)
    before = answering.data.n_passes
    assert answering.restricted(features) is part
    answering.restricted(features[[4, 0]])
    answering.restricted(features[1:])
    V = np.zeros((D, 2))
    V[[2, 4], 0], V[[1, 2], 1] = 0.5, -2.0
    assert relative_error(answering.quadratic(V), V.T @ S @ V) < 1e-9
    assert answering.data.n_passes == before
    answering.restricted(np.append(features, 30))
    assert answering.data.n_passes == before + 1
    answering.restricted(np.arange(31, 37))  # nothing of it is known
    assert answering.data.n_passes == before + 2


@through_data
def test_a_part_of_columns_that_are_known_costs_no_pass(source):
    answering, S = SOURCES[source]()
    features = np.array([7, 2, 30, 11])
    answering.rows(np.sort(features))
    before = answering.data.n_passes
    part = answering.restricted(features)
    assert relative_error(part.matrix(), S[np.ix_(features, features)]) < 1e-9
    assert answering.data.n_passes == before


def test_parts_are_forgotten_when_nobody_uses_them_and_another_was_made():
    answering, _ = SOURCES["columns"]()
    last = weakref.ref(answering.restricted(np.arange(10)))
    assert last() is not None
    answering.restricted(np.arange(20, 30))
    assert last() is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mean", [0.0, 0.5, 20.0, 1e6])
@pytest.mark.parametrize("standardize", [False, True])
def test_products_lose_no_digits_wherever_the_data_lie(mean, order, standardize):
    """Rows near zero are used as they are and centred between two products, others before."""
    X = np.asarray(factor_data(60, 90, seed=4) * np.geomspace(0.1, 10, 90), order=order)
    X = X - X.mean(axis=0)
    data = as_data(X + mean * X.std(axis=0), standardize=standardize)
    assert data._is_nearly_centred == (mean < 1.0)
    A = centred(X, standardize=standardize)
    V = unit_columns(90, 3, seed=0)
    limit = 1e-12 * max(mean, 1.0)
    assert relative_error(data.product(V), A.T @ (A @ V)) < limit
    assert relative_error(data.product(V[:, 0]), A.T @ (A @ V[:, 0])) < limit
    assert relative_error(data.gram(), A.T @ A) < limit


@pytest.mark.parametrize(
    "gaps", [(slice(None), slice(None)), (slice(None, None, 2), slice(None, None, 2))]
)
def test_products_with_rows_as_they_are_copy_no_data(gaps):
    X = np.random.default_rng(0).standard_normal((1600, 3000))[gaps]
    data = as_data(X)
    assert data._is_nearly_centred
    V = unit_columns(X.shape[1], 3, seed=0)
    tracemalloc.start()
    data.product(V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * X.nbytes


def test_columns_give_the_same_answers_when_they_must_forget(monkeypatch):
    whole, S = SOURCES["columns"]()
    rng = np.random.default_rng(0)
    monkeypatch.setattr(known, "_CACHE_BYTES", 8 * D * 6)
    monkeypatch.setattr(known, "_BATCH_BYTES", 8 * (N + D) * 2)
    forgetful = Columns(whole.data)
    for _ in range(30):
        some = rng.permutation(D)[: rng.integers(1, 9)]  # more than fit, at times
        x = rng.standard_normal(some.size)
        assert relative_error(forgetful.combine(some, x), S[:, some] @ x) < 1e-9


def test_columns_are_read_once():
    source, _ = SOURCES["columns"]()
    some = np.array([3, 1, 17])
    source.combine(some, np.ones(3))
    passes = source.data.n_passes
    source.combine(some[:2], np.ones(2))
    source.combine(some, -np.ones(3))
    assert source.data.n_passes == passes


@pytest.mark.parametrize("size", [1, 5, 40])
def test_rows_gathered_in_parts_add_up_to_the_same(size, monkeypatch):
    _, S = of_gram()
    chosen = np.random.default_rng(1).permutation(D)[:size]
    x = np.linspace(1.0, 2.0, size)
    monkeypatch.setattr(gram, "_GATHERED", 50)
    np.testing.assert_allclose(Gram(S).combine(chosen, x), S[:, chosen] @ x, rtol=1e-12)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("share", [0.01, 0.04, 0.3])
def test_s_times_sparse_loadings_is_s_times_loadings(share, layout):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((20, 700))
    source = Gram(A.T @ A)
    V = rng.standard_normal((700, 30)) * (rng.random((700, 30)) < share)
    V[:, 4] = 0.0
    np.testing.assert_allclose(source.dot(np.asarray(V, order=layout)), source.S @ V, atol=1e-9)
