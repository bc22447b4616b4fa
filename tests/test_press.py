"""Cross-validation of cells: the closed form against deleting each cell, from rows and from S."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from redac.choose.press import press, press_of_rows
from redac.sources import Factor, Gram
from redac.sources.folds import read_folds


def loadings(rng, d, r, k):
    """Overlapping sparse unit vectors, as columns."""
    V = np.zeros((d, r))
    for i in range(r):
        V[rng.choice(d, k, replace=False), i] = rng.standard_normal(k)
    return V / np.linalg.norm(V, axis=0)


def deleted(Z, V, ridge):
    """The squared errors when every cell is deleted and its row's scores are fitted without it."""
    errors = np.empty_like(Z)
    r = V.shape[1]
    for j in range(len(V)):
        rest = np.delete(V, j, axis=0)
        scores = np.linalg.solve(rest.T @ rest + ridge * np.eye(r), rest.T @ np.delete(Z, j, 1).T)
        errors[:, j] = Z[:, j] - V[j] @ scores
    return errors**2


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize(("d", "r", "k"), [(9, 1, 4), (12, 3, 5), (20, 4, 20)])
def test_the_closed_form_equals_deletion_of_each_cell(d, r, k, ridge):
    rng = np.random.default_rng(d)
    Z, V = rng.standard_normal((15, d)), loadings(rng, d, r, k)
    expected = deleted(Z, V, ridge)
    # Errors that happen to be near zero are differences of cells, known to rounding of those.
    np.testing.assert_allclose(press_of_rows(Z, V, ridge), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize(("d", "r", "k"), [(9, 1, 4), (12, 3, 5), (20, 4, 20), (30, 2, 3)])
def test_the_scatter_of_rows_says_the_same_as_the_rows(d, r, k, ridge):
    rng = np.random.default_rng(d)
    Z, V = rng.standard_normal((15, d)), loadings(rng, d, r, k)
    expected = press_of_rows(Z, V, ridge).sum()
    assert press(Gram(Z.T @ Z), V, ridge) == pytest.approx(expected, rel=1e-9)
    assert press(Factor(np.ascontiguousarray(Z.T)), V, ridge) == pytest.approx(expected, rel=1e-9)


def test_a_cell_that_no_other_speaks_of_is_predicted_by_the_mean():
    Z = np.random.default_rng(0).standard_normal((6, 4))
    V = np.eye(4)[:, :2]
    np.testing.assert_allclose(press_of_rows(Z, V), Z**2)
    assert press(Gram(Z.T @ Z), V) == pytest.approx((Z**2).sum())
    assert press(Gram(Z.T @ Z), np.zeros((4, 1))) == pytest.approx((Z**2).sum())


def as_rows(X, kind):
    return {"dense": X, "sparse": csr_array(X), "fortran": np.asfortranarray(X)}[kind]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse", "fortran"])
@pytest.mark.parametrize("n", [40, 9])
def test_folds_are_the_scatter_of_their_rows_about_the_others_mean(n, kind, standardize):
    """With n ≥ d through fold Gram matrices, with fewer rows through weights of zero."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 12)) * np.linspace(1, 3, 12) + 5
    fold_of = rng.permutation(n) % 3
    data, folds = read_folds(as_rows(X, kind), fold_of, standardize=standardize)
    np.testing.assert_allclose(data.moments.mean, X.mean(axis=0))
    V = loadings(rng, 12, 2, 4)
    for f, fold in enumerate(folds):
        others = X[fold_of != f]
        scale = others.std(axis=0, ddof=1) if standardize else np.ones(12)
        train = (others - others.mean(axis=0)) / scale
        test = (X[fold_of == f] - others.mean(axis=0)) / scale
        np.testing.assert_allclose(fold.train.matrix(), train.T @ train, atol=1e-9)
        np.testing.assert_allclose(fold.test.matrix(), test.T @ test, atol=1e-9)
        expected = press_of_rows(test, V).sum()
        assert press(fold.test, V) == pytest.approx(expected, rel=1e-9)
    if n >= 12:
        assert data.n_passes == 1


def test_folds_of_numbers_far_from_one_are_those_of_the_same_data():
    """Extreme numbers leave the way through one pass, and come to the same shares."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 6))
    fold_of = np.arange(30) % 3
    V = loadings(rng, 6, 2, 3)
    plain = [press(fold.test, V) / fold.test.total for fold in read_folds(X, fold_of)[1]]
    large = [press(fold.test, V) / fold.test.total for fold in read_folds(1e200 * X, fold_of)[1]]
    np.testing.assert_allclose(large, plain, rtol=1e-9)
