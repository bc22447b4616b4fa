"""Sparse PCA through regularised rank-one fits (Shen and Huang 2008), with three penalties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.constraints import normalized
from redac.methods import deflation
from redac.methods.method_data import MethodData
from redac.methods.thresholds import Shrinkage, soft, threshold_to
from redac.sources.base import Array
from redac.sources.spectrum import leading_eigenvectors

# A residual this small against the data is what rounding left of nothing.
_EXHAUSTED = 1e-10
# Where SCAD stops shrinking, in thresholds: the value Fan and Li (2001) recommend.
_SCAD_END = 3.7


def rsvd_l0(
    data: MethodData, cardinalities: Sequence[int], *, tol: float = 1e-3, max_iter: int = 1000
) -> Array:
    """Minimise ‖E − uṽᵀ‖² + λ‖ṽ‖₀ over ‖u‖ = 1, E the residual of earlier fits (Shen and Huang
    2008).

    The threshold is reset in every iteration to the one that leaves k_i entries, so that the
    cardinality is met as it is. Choose it as a fast method with one component after the other and
    loadings that are cut, not shrunk.

    Parameters
    ----------
    tol : the fit has settled when u and ṽ/‖ṽ‖ move by less than this.
    max_iter : iterations for one component at most.
    """
    return _fit(data, cardinalities, _hard, tol, max_iter)


def rsvd_l1(
    data: MethodData, cardinalities: Sequence[int], *, tol: float = 1e-3, max_iter: int = 1000
) -> Array:
    """Minimise ‖E − uṽᵀ‖² + 2λ‖ṽ‖₁ over ‖u‖ = 1, E the residual of earlier fits (Shen and Huang
    2008).

    The threshold is reset in every iteration to the one that leaves k_i entries. Choose it when
    small loadings should be shrunk; the shrinkage also leaves variance in the residual, which later
    components find again.

    Parameters
    ----------
    tol : the fit has settled when u and ṽ/‖ṽ‖ move by less than this.
    max_iter : iterations for one component at most.
    """
    return _fit(data, cardinalities, soft, tol, max_iter)


def rsvd_scad(
    data: MethodData, cardinalities: Sequence[int], *, tol: float = 1e-3, max_iter: int = 1000
) -> Array:
    """Minimise ‖E − uṽᵀ‖² + Σ p_λ(|ṽ_j|) over ‖u‖ = 1 with the SCAD penalty of Fan and Li (Shen
    and Huang 2008).

    The threshold is reset in every iteration to the one that leaves k_i entries. Choose it as the
    middle way: small loadings are shrunk as by the l1 penalty, large ones are left alone.

    Parameters
    ----------
    tol : the fit has settled when u and ṽ/‖ṽ‖ move by less than this.
    max_iter : iterations for one component at most.
    """
    return _fit(data, cardinalities, _scad, tol, max_iter)


def _hard(y: Array, t: float) -> Array:
    return y


def _scad(y: Array, t: float) -> Array:
    """As ``soft`` up to 2t, unchanged beyond 3.7t, and linear between."""
    a = _SCAD_END
    magnitudes = np.abs(y)
    between = ((a - 1) * magnitudes - a * t) / (a - 2)
    shrunk = np.where(magnitudes <= 2 * t, np.maximum(magnitudes - t, 0.0), between)
    return np.copysign(np.where(magnitudes <= a * t, shrunk, magnitudes), y)


def _fit(
    data: MethodData, cardinalities: Sequence[int], shrink: Shrinkage, tol: float, max_iter: int
) -> Array:
    """One component after the other, each on what the fits before it left."""
    V = np.zeros((data.n_features, len(cardinalities)))
    peak = float(np.abs(data.A).max(initial=0.0))
    if peak == 0.0:
        return V
    E = data.A / peak
    nothing = _EXHAUSTED * float(np.linalg.norm(E))
    for i, k in enumerate(cardinalities):
        if np.linalg.norm(E) <= nothing:
            break
        u, v = _rank_one_fit(E, k, shrink, tol, max_iter)
        V[:, i] = normalized(v)
        E = deflation.residual(E, u, v)
    return V


def _rank_one_fit(
    E: Array, k: int, shrink: Shrinkage, tol: float, max_iter: int
) -> tuple[Array, Array]:
    """u of length one and sparse v with E ≈ uvᵀ, from the first singular pair on."""
    u = _first_left_singular_vector(E)
    v = E.T @ u
    for _ in range(max_iter):
        u_before, v_before = u, v
        v = threshold_to(E.T @ u, k, shrink)
        u = normalized(E @ v)
        moved = float(np.linalg.norm(normalized(v) - normalized(v_before)))
        if max(moved, float(np.linalg.norm(u - u_before))) < tol:
            break
    return u, v


def _first_left_singular_vector(E: Array) -> Array:
    """Through the smaller of the two matrices of products."""
    if E.shape[0] <= E.shape[1]:
        first: Array = leading_eigenvectors(E @ E.T, 1)[0][:, 0]
        return first
    return normalized(E @ leading_eigenvectors(E.T @ E, 1)[0][:, 0])
