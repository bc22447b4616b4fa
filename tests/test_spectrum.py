"""Leading eigenvectors against the full decomposition of numpy."""

import tracemalloc

import numpy as np
import pytest

from helpers import projector
from redac.sources import spectrum
from redac.sources.spectrum import (
    ACCURATE,
    ROUGH,
    axes_through_kernel,
    block_krylov,
    leading_eigenvectors,
)


def with_spectrum(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """A symmetric matrix with these eigenvalues in random directions."""
    d = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
    S = (Q * values) @ Q.T
    return (S + S.T) / 2


D = 150
SPECTRA = {
    "fast decay": 0.5 ** np.arange(D),
    "slow decay": 1.0 / np.arange(1, D + 1),
    "flat with a few above": np.r_[9.0, 7.0, 5.0, 4.0, 3.0, np.ones(D - 5)],
    "rank three": np.r_[5.0, 2.0, 1.0, np.zeros(D - 3)],
    "repeated": np.r_[4.0, 4.0, 4.0, 2.0, 2.0, 0.5 ** np.arange(1, D - 4)],
    "tiny": 1e-200 * 0.7 ** np.arange(D),
    "huge": 1e200 * 0.7 ** np.arange(D),
}
spectrum_of = pytest.mark.parametrize("name", SPECTRA)
counts = pytest.mark.parametrize("r", [1, 3, 5])


def assert_leading(axes, values, S, r, *, rtol=1e-6):
    """Axes are orthonormal, values are the largest ones, and each pair belongs together.

    Directions of equal eigenvalues are arbitrary, so residuals are asked for, not vectors.
    """
    expected = np.linalg.eigvalsh(S)[::-1][:r]
    top = expected[0]
    np.testing.assert_allclose(values, expected, rtol=0, atol=rtol * top)
    np.testing.assert_allclose(axes.T @ axes, np.eye(r), atol=1e-10)
    residual = np.linalg.norm((S @ axes - axes * values) / top, axis=0)
    assert residual.max() <= np.sqrt(rtol)


@spectrum_of
@counts
def test_block_krylov_finds_what_eigh_finds(name, r):
    S = with_spectrum(SPECTRA[name])
    axes, values = block_krylov(lambda V: S @ V, D, r)
    assert axes.shape == (D, r)
    assert (np.diff(values) <= 0).all()
    assert (values >= 0).all()
    assert_leading(axes, values, S, r)


@pytest.mark.parametrize(
    ("name", "r"), [("fast decay", 3), ("rank three", 3), ("repeated", 3), ("repeated", 5)]
)
def test_block_krylov_spans_the_leading_subspace_where_there_is_a_gap(name, r):
    S = with_spectrum(SPECTRA[name])
    axes, _ = block_krylov(lambda V: S @ V, D, r)
    exact = np.linalg.eigh(S)[1][:, ::-1][:, :r]
    np.testing.assert_allclose(projector(axes), exact @ exact.T, atol=1e-6)


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_block_krylov_can_give_all_axes(d):
    S = with_spectrum(np.linspace(1.0, 3.0, d), seed=d)
    axes, values = block_krylov(lambda V: S @ V, d, d)
    assert_leading(axes, values, S, d, rtol=1e-12)


@pytest.mark.parametrize(("d", "r"), [(40, 12), (23, 7), (9, 8)])
def test_block_krylov_ends_where_no_direction_is_left(d, r):
    S = with_spectrum(np.linspace(1.0, 1.1, d), seed=d)  # nothing settles early
    widths = []

    def dot(V):
        widths.append(V.shape[1])
        return S @ V

    axes, values = block_krylov(dot, d, r)
    assert sum(widths) == d
    assert_leading(axes, values, S, r, rtol=1e-12)


def test_block_krylov_of_zero_is_zero_and_finite():
    axes, values = block_krylov(lambda V: np.zeros_like(V), 40, 3)
    assert values.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("r", [1, 4])
def test_block_krylov_asks_for_few_products_and_repeats_itself(r):
    S = with_spectrum(SPECTRA["fast decay"])
    widths = []

    def dot(V):
        widths.append(V.shape[1])
        return S @ V

    first, values = block_krylov(dot, D, r)
    assert sum(widths) < D
    again, values_again = block_krylov(dot, D, r)
    np.testing.assert_allclose(first, again, atol=1e-12)
    np.testing.assert_allclose(values, values_again, rtol=1e-12)


@spectrum_of
@counts
def test_rough_axes_cost_fewer_products_and_capture_nearly_as_much(name, r):
    S = with_spectrum(SPECTRA[name])
    widths = {ROUGH: 0, ACCURATE: 0}
    captured = {}
    for accuracy in widths:

        def dot(V, accuracy=accuracy):
            widths[accuracy] += V.shape[1]
            return S @ V

        axes, values = block_krylov(dot, D, r, accuracy=accuracy)
        np.testing.assert_allclose(axes.T @ axes, np.eye(r), atol=1e-10)
        captured[accuracy] = np.trace(axes.T @ S @ axes)
        assert values.sum() == pytest.approx(captured[accuracy], rel=1e-9)
    assert widths[ROUGH] <= widths[ACCURATE]
    assert captured[ROUGH] >= 0.98 * captured[ACCURATE]
    if name == "slow decay":
        assert widths[ROUGH] < widths[ACCURATE]


def test_block_krylov_keeps_nothing_but_its_basis():
    d, r = 20_000, 5
    scales = 1.0 / np.arange(1, d + 1)
    asked = []

    def dot(V):
        asked.append(V.shape[1])
        return V * scales[:, None]

    tracemalloc.start()
    try:
        block_krylov(dot, d, r, accuracy=1e-8)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Room for all rounds, and at a time four blocks: two to factorise, one product and a result.
    # As many again may be copies that a version of numpy or scipy makes.
    room = 8 * d * asked[0] * spectrum._MAX_ROUNDS
    assert peak < room + 8 * 8 * d * asked[0]


@spectrum_of
@counts
def test_matrices_beyond_the_exact_order_give_the_same_subspace(name, r, monkeypatch):
    S = with_spectrum(SPECTRA[name])
    exact, exact_values = leading_eigenvectors(S, r)
    assert_leading(exact, exact_values, S, r, rtol=1e-12)
    monkeypatch.setattr(spectrum, "EXACT_ORDER", 10)
    axes, values = leading_eigenvectors(S, r)
    assert_leading(axes, values, S, r)


@pytest.mark.parametrize(("n", "d", "r"), [(6, 40, 3), (6, 40, 6), (30, 31, 4), (5, 3, 2)])
def test_axes_come_through_the_kernel_matrix(n, d, r):
    A = np.random.default_rng(n).standard_normal((n, d)) * np.linspace(3.0, 0.5, d)
    axes, values = axes_through_kernel(A @ A.T, lambda U: A.T @ U, d, r)
    assert_leading(axes, values, A.T @ A, r, rtol=1e-12)


@pytest.mark.parametrize(("n", "rank", "r"), [(3, 3, 5), (8, 2, 4), (8, 0, 2)])
def test_axes_beyond_the_rank_are_zero(n, rank, r):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, 20))
    axes, values = axes_through_kernel(A @ A.T, lambda U: A.T @ U, 20, r)
    assert axes.shape == (20, r)
    assert np.isfinite(axes).all()
    assert (axes.any(axis=0) == (np.arange(r) < rank)).all()
    np.testing.assert_allclose(values[rank:], 0.0, atol=1e-12 * max(values[0], 1.0))
    live = axes[:, :rank]
    np.testing.assert_allclose(live.T @ live, np.eye(rank), atol=1e-10)
    np.testing.assert_allclose(A @ live @ live.T, A, atol=1e-10)
