"""Right numbers at every scale: columns in different units, and data of any size."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from redac import SparsePCA, metrics
from redac.exceptions import ExhaustedWarning, ScaleWarning, SeparationWarning

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 8)) @ RNG.standard_normal((8, 8))
BOUNDS = {
    "l0": {"cardinality": 3},
    "nonnegative": {"cardinality": 3, "nonnegative": True},
    "l1": {"l1_bound": 1.5},
    "none": {},
}
bounds = pytest.mark.parametrize("bounds", BOUNDS)


def fitted(X, n_components=3, **options) -> SparsePCA:
    """A fit of which nothing is said but what these data must lead to."""
    with warnings.catch_warnings():
        for category in (ExhaustedWarning, SeparationWarning, ScaleWarning):
            warnings.simplefilter("ignore", category)
        return SparsePCA(n_components, **options).fit(X)


def assert_numbers_agree(model: SparsePCA, X: np.ndarray) -> None:
    pev = model.explained_variance_ratio_.sum()
    assert -1e-12 <= pev <= 1 + 1e-12
    assert model.score(X) == pytest.approx(pev, abs=1e-9)
    assert metrics.pev(X, model.components_) == pytest.approx(100 * pev, abs=1e-7)
    assert model.reconstruction_error_**2 == pytest.approx(1 - pev, abs=1e-9)
    assert (np.diff(model.objective_history_) <= 1e-10).all()
    assert model.objective_history_[-1] >= 1 - pev - 1e-9
    unit = np.abs(X - model.mean_).max()
    restored = (model.inverse_transform(model.transform(X)) - model.mean_) / unit
    centred = (X - model.mean_) / unit
    lost = ((centred - restored) ** 2).sum() / (centred**2).sum()
    assert lost == pytest.approx(1 - pev, abs=1e-9)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("decades", [1, 3, 6])
@pytest.mark.parametrize("seed", range(12))
def test_columns_of_different_units_lead_to_numbers_that_agree(seed, decades, nonnegative):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 8)) * 10 ** rng.uniform(-decades, decades, 8)
    model = fitted(X, 6, cardinality=5, nonnegative=nonnegative)
    assert_numbers_agree(model, X)


@bounds
@pytest.mark.parametrize("exponent", [-300, -200, -95, -45, 45, 95, 192, 300])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_size_of_all_data_does_not_matter(kind, exponent, bounds):
    plain = np.where(X > 0.5, X, 0.0)
    expected = fitted(plain, **BOUNDS[bounds])
    model = fitted(kind(plain * 10.0**exponent), **BOUNDS[bounds])
    ratio = expected.explained_variance_ratio_
    np.testing.assert_allclose(model.explained_variance_ratio_, ratio, atol=1e-7)
    assert model.score(kind(plain * 10.0**exponent)) == pytest.approx(ratio.sum(), abs=1e-7)


@bounds
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    "sizes", [(1e98, 1e69, 1e-73, 1e-86), (1e90, 1.0, 1.0, 1e-90), (1e150, 1e-150, 1.0, 1e80)]
)
def test_columns_of_any_size_end_and_agree(sizes, standardize, bounds):
    wild = X * np.repeat(sizes, 2)
    model = fitted(wild, **BOUNDS[bounds], standardize=standardize)
    assert np.isfinite(model.components_).all()
    if not standardize:
        assert_numbers_agree(model, wild)
    assert model.score(wild) == pytest.approx(model.explained_variance_ratio_.sum(), abs=1e-9)


@pytest.mark.parametrize(("size", "what"), [(1e160, "infinite"), (1e-170, "zero")])
def test_variances_that_float64_cannot_hold_are_announced(size, what):
    with pytest.warns(ScaleWarning, match=f"explained_variance_ is {what}.*ratio_ is right"):
        SparsePCA(2, cardinality=3).fit(X * size)


def test_single_precision_is_measured_as_it_is_kept():
    """Components rounded to single precision explain a little less than they did before."""
    narrow = (X * 10.0 ** np.linspace(-3, 3, 8)).astype(np.float32)
    model = fitted(narrow, 4, cardinality=5)
    assert model.components_.dtype == np.float32
    expected = metrics.pev(narrow, model.components_.astype(np.float64)) / 100
    assert model.explained_variance_ratio_.sum() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [1e-220, 1e220])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_constant_column_among_data_of_extreme_size_is_no_trouble(size, standardize):
    varying = X * size
    constant = np.column_stack([varying, np.full(30, varying[0, 0])])
    expected = fitted(varying, 2, cardinality=3, standardize=standardize)
    model = fitted(constant, 2, cardinality=3, standardize=standardize)
    ratio = model.explained_variance_ratio_.sum()
    assert ratio == pytest.approx(expected.explained_variance_ratio_.sum(), abs=1e-9)
    assert model.score(constant) == pytest.approx(ratio, abs=1e-9)
