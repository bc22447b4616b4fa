"""Measures of a set of components, whatever method found them.

Data are centred by the functions; with ``covariance=True`` a covariance or correlation matrix takes
their place. The components are rows. They may overlap, be parallel, or be zero: all measures look
at the subspace they span, in the order given.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from redac.solver import variance
from redac.sources.base import Array
from redac.sources.reading import Given, read_covariance

__all__ = [
    "cumulative_pev",
    "explained_variance_ratio",
    "orthogonality_violation",
    "pev",
    "rre",
    "separation",
]

Definition = Literal["projection", "qr", "raw"]


def pev(X: Any, components: Any, *, covariance: bool = False) -> float:
    """Percentage of explained variance: 100 · Tr(S V(VᵀV)⁻¹Vᵀ) / Tr(S).

    Parameters
    ----------
    X : array, frame or sparse matrix of shape (n_samples, n_features), or (n_features, n_features)
        Data, or with ``covariance=True`` a covariance matrix. All that ``SparsePCA.fit`` takes;
        what it reads in blocks is read in blocks here too, once.
    components : array of shape (n_components, n_features)
        Loadings of each component; their lengths do not matter.
    covariance : bool, default=False
        Whether X is a covariance or correlation matrix.

    Returns
    -------
    float
        Between 0 and 100. Always 100 · (1 − RRE²).

    Examples
    --------
    >>> from redac.metrics import pev
    >>> round(pev([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]], covariance=True), 1)
    66.7
    """
    return 100.0 * float(explained_variance_ratio(X, components, covariance=covariance).sum())


def rre(X: Any, components: Any, *, covariance: bool = False) -> float:
    """Relative reconstruction error ‖X − X̂‖/‖X‖, with X̂ the least-squares reconstruction of X.

    Parameters
    ----------
    X, components, covariance
        As in :func:`pev`.

    Returns
    -------
    float
        Between 0 and 1. PEV is 100 · (1 − RRE²).

    Examples
    --------
    >>> from redac.metrics import rre
    >>> round(rre([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]], covariance=True), 3)
    0.577
    """
    return math.sqrt(max(1.0 - pev(X, components, covariance=covariance) / 100.0, 0.0))


def cumulative_pev(X: Any, components: Any, *, covariance: bool = False) -> NDArray[np.float64]:
    """PEV of the first component, the first two, and so on (Shen and Huang 2008).

    Parameters
    ----------
    X, components, covariance
        As in :func:`pev`.

    Returns
    -------
    ndarray of shape (n_components,)
        Percentages that never fall; the last one is the PEV.

    Examples
    --------
    >>> from redac.metrics import cumulative_pev
    >>> cumulative_pev([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]], covariance=True).round(1)
    array([ 66.7, 100. ])
    """
    shares = explained_variance_ratio(X, components, covariance=covariance)
    return 100.0 * np.cumsum(shares)


def explained_variance_ratio(
    X: Any, components: Any, *, covariance: bool = False, definition: Definition = "projection"
) -> NDArray[np.float64]:
    """Share of the total variance for each component, by one of the definitions in use.

    Parameters
    ----------
    X, components, covariance
        As in :func:`pev`.
    definition : {"projection", "qr", "raw"}, default="projection"
        "projection": what a component adds to the variance of the data projected on the span of
        those before it. The sum is PEV / 100, and its running sum is the cumulative measure of Shen
        and Huang (2008). "qr": the variance of each score Xv_i that is uncorrelated with earlier
        scores, R_ii² of XV = QR (Zou, Hastie and Tibshirani 2006). "raw": the variance v_iᵀSv_i of
        each score alone. Correlated components are counted more than once, and the sum may pass 1.

    Returns
    -------
    ndarray of shape (n_components,)
        Shares of the total variance.

    Examples
    --------
    The second component says half of what the first one says, and "raw" counts that twice.

    >>> from redac.metrics import explained_variance_ratio
    >>> S, V = [[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> explained_variance_ratio(S, V, covariance=True, definition="qr").round(3)
    array([0.5  , 0.375])
    >>> explained_variance_ratio(S, V, covariance=True, definition="raw").round(3)
    array([0.5, 0.5])
    """
    if definition not in ("projection", "qr", "raw"):
        raise ValueError(f"definition={definition!r} must be 'projection', 'qr' or 'raw'.")
    V = _loadings(components)
    if definition == "raw":
        total, M = _total_and_products(X, V, covariance)
        values = M.diagonal().copy()
    else:
        basis = variance.Basis.of(V)
        total, M = _total_and_products(X, basis.Q, covariance)
        explained = variance.Explained(basis, M)
        values = explained.increments() if definition == "projection" else explained.adjusted()
    return values / total if total > 0 else np.zeros_like(values)


def separation(components: Any) -> float:
    """How far apart components are: the smallest eigenvalue of their Gram matrix, at length one.

    Parameters
    ----------
    components : array of shape (n_components, n_features)

    Returns
    -------
    float
        1 if they are orthogonal, 0 if one of them is a sum of the others.

    Examples
    --------
    >>> from redac.metrics import separation
    >>> round(separation([[1.0, 0.0], [3.0, 4.0]]), 3)
    0.4
    """
    return variance.separation(_unit_length(_loadings(components)))


def orthogonality_violation(components: Any) -> float:
    """How far unit-length components are from orthogonal: sizes of v_iᵀv_j, summed over all pairs.

    Where it is 0, PEV is the sum of the variances of the single scores, the definition "raw" of
    :func:`explained_variance_ratio`; elsewhere that sum may count variance twice.

    Parameters
    ----------
    components : array of shape (n_components, n_features)

    Returns
    -------
    float
        From 0 to the number of pairs.

    Examples
    --------
    >>> from redac.metrics import orthogonality_violation
    >>> round(orthogonality_violation([[1.0, 0.0], [3.0, 4.0]]), 3)
    0.6
    """
    V = _unit_length(_loadings(components))
    return float(np.abs(np.triu(V.T @ V, k=1)).sum())


def _total_and_products(X: Any, V: Array, covariance: bool) -> tuple[float, Array]:
    """Tr S and VᵀSV, in the same unit; streamed data are read once."""
    if covariance:
        source = read_covariance(X)
        _refuse_other_width(V, source.n_features)
        return source.total, source.quadratic(V)
    given = Given.of(X)
    _refuse_other_width(V, given.n_features)
    return given.products(V)


def _refuse_other_width(V: Array, n_features: int) -> None:
    if V.shape[0] != n_features:
        raise ValueError(
            f"The components have {V.shape[0]} entries, the data {n_features} features; "
            "components are rows."
        )


def _unit_length(V: Array) -> Array:
    """The columns at length one; those that are zero stay so."""
    lengths = np.linalg.norm(V, axis=0)
    return V / np.where(lengths > 0, lengths, 1.0)


def _loadings(components: Any) -> Array:
    V = np.atleast_2d(np.asarray(components, dtype=np.float64)).T
    if not np.isfinite(V).all():
        raise ValueError("The components contain NaN or infinity.")
    return V
