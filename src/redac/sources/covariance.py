"""A covariance or correlation matrix given by the user: what is accepted, and what is an error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from redac.sources.base import Array
from redac.sources.moments import power_of_two, real_numbers

# How far from symmetric, and how far below zero (against the largest eigenvalue), rounding may have
# left a matrix. Published correlation tables with three decimals stay within the second.
_ASYMMETRY = 1e-6
INDEFINITENESS = 1e-3


def checked_covariance(S: Any, *, eigenvalues: bool = True) -> tuple[Array, float]:
    """S as a symmetric float64 array in a safe range, and the unit that was divided out.

    Everything is checked, the signs of the eigenvalues only if asked for: they take long.
    """
    matrix = np.asarray(S.toarray() if issparse(S) else S)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(
            f"A covariance matrix is square; this one has shape {matrix.shape}. "
            "Pass data to fit() and a covariance matrix to fit_covariance()."
        )
    try:
        matrix = real_numbers(matrix).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The covariance matrix is not numeric: {error}.") from None
    _require_finite(matrix)
    _require_symmetric(matrix)
    unit = power_of_two(float(np.abs(matrix).max()))
    matrix = matrix / unit
    matrix = (matrix + matrix.T) / 2
    if eigenvalues:
        require_semidefinite(np.linalg.eigvalsh(matrix), unit)
    return matrix, unit


def _require_finite(matrix: NDArray[np.float64]) -> None:
    if np.isfinite(matrix).all():
        return
    row, column = (int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
    what = "NaN" if np.isnan(matrix[row, column]) else "infinity"
    raise ValueError(
        f"The covariance matrix contains {what}: row {row}, column {column}, counted from 0."
    )


def _require_symmetric(matrix: Array) -> None:
    difference = np.abs(matrix - matrix.T)
    if difference.max() <= _ASYMMETRY * np.abs(matrix).max():
        return
    row, column = (int(i) for i in np.unravel_index(np.argmax(difference), matrix.shape))
    raise ValueError(
        f"A covariance matrix is symmetric; here entry ({row}, {column}) is "
        f"{matrix[row, column]:.6g} and entry ({column}, {row}) is {matrix[column, row]:.6g}."
    )


def require_semidefinite(eigenvalues: Array, unit: float) -> None:
    """Eigenvalues, ascending, slightly below zero come from rounding; far below is an error."""
    smallest = float(eigenvalues[0])
    if smallest < -INDEFINITENESS * max(float(eigenvalues[-1]), 0.0):
        raise ValueError(
            f"A covariance matrix has no negative eigenvalue; here is one: {smallest * unit:.4g}. "
            "If it was estimated from data with gaps, clip its eigenvalues at zero first."
        )
