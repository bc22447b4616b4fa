"""The third start: sparse vectors in the span of the principal axes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redac import SparsePCA
from redac.constraints import L0
from redac.solver.problem import Problem
from redac.solver.starts import Starts, _concentrated
from redac.sources import as_data, as_source

D, K = 20, 8


def overlapping(seed: int, noise: float = 0.0, shift: int = 4) -> np.ndarray:
    """Three components of eight features, each shifted against the last, as in Camacho et al."""
    rng = np.random.default_rng(seed)
    loadings = np.zeros((D, 3))
    for i in range(3):
        signs = rng.choice([-1.0, 1.0], K)
        loadings[shift * i : shift * i + K, i] = signs * rng.uniform(0.4, 1.0, K)
    loadings /= np.linalg.norm(loadings, axis=0)
    X = rng.standard_normal((100, 3)) @ loadings.T
    return X + noise * rng.standard_normal(X.shape)


def starts_of(X: np.ndarray, k: int = K) -> Starts:
    problem = Problem(as_source(as_data(X)), [L0(k)] * 3)
    return Starts(problem, np.random.RandomState(0))


@pytest.mark.parametrize("shift", [4, 6])
def test_overlapping_components_without_noise_are_found(shift):
    found = [
        SparsePCA(3, cardinality=K)
        .fit(overlapping(seed, shift=shift))
        .explained_variance_ratio_.sum()
        for seed in range(20)
    ]
    assert sum(share > 0.9999 for share in found) >= 18


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, D), r=st.integers(1, 4))
def test_vectors_stay_in_the_span_and_their_shares_never_fall(seed, k, r):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((D, r)))[0]
    begin = rng.standard_normal((6, r))
    begin /= np.linalg.norm(begin, axis=1)[:, None]
    U, shares = _concentrated(Q, k, begin)
    np.testing.assert_allclose(np.linalg.norm(U, axis=1), 1.0, rtol=1e-9)
    before = np.sort((begin @ Q.T) ** 2, axis=1)[:, -k:].sum(axis=1)
    after = np.sort((U @ Q.T) ** 2, axis=1)[:, -k:].sum(axis=1)
    assert (shares >= before - 1e-9).all()
    assert (after >= shares - 1e-9).all()
    assert (shares <= 1.0 + 1e-9).all()


def test_the_start_has_a_column_for_each_component_and_none_twice():
    V = starts_of(overlapping(0)).sparsest()
    assert V.shape == (D, 3)
    np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1.0, rtol=1e-9)
    assert np.linalg.svd(V, compute_uv=False)[-1] > 0.1


def test_permuting_columns_permutes_the_start():
    X, order = overlapping(3), np.random.default_rng(0).permutation(D)
    V, W = starts_of(X).sparsest(), starts_of(X[:, order]).sparsest()
    np.testing.assert_allclose(np.abs(W), np.abs(V[order]), atol=1e-6)


@pytest.mark.parametrize(("noise", "count"), [(0.0, 4), (0.001, 4), (0.5, 3)])
def test_it_is_tried_only_where_next_to_nothing_is_outside_the_span(noise, count):
    assert starts_of(overlapping(0, noise)).usual_count("pca") == count


def test_data_of_less_than_the_dimensions_asked_for_have_zero_columns():
    X = np.outer(np.arange(10.0), np.ones(5))
    V = starts_of(X, k=2).sparsest()
    assert np.isfinite(V).all()
    assert V[:, 0].any()
    assert not V[:, 1:].any()
