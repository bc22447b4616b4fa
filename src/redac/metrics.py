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

from redac import variance
from redac.sources import Source, as_data, as_source, covariance_source
from redac.sources.base import Array

__all__ = ["cumulative_pev", "explained_variance_ratio", "pev", "rre", "separation"]

Definition = Literal["projection", "qr", "raw"]


def pev(X: Any, components: Any, *, covariance: bool = False) -> float:
    """Percentage of explained variance: 100 · Tr(S V(VᵀV)⁻¹Vᵀ) / Tr(S).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or (n_features, n_features)
        Data, or with ``covariance=True`` a covariance matrix.
    components : array of shape (n_components, n_features)
    covariance : bool, default=False

    Returns
    -------
    float
        Between 0 and 100. Always 100 · (1 − RRE²).
    """
    return 100.0 * float(explained_variance_ratio(X, components, covariance=covariance).sum())


def rre(X: Any, components: Any, *, covariance: bool = False) -> float:
    """Relative reconstruction error ‖X − X̂‖/‖X‖, with X̂ the least-squares reconstruction of X.

    Parameters and conventions as in :func:`pev`; a plain ratio between 0 and 1.
    """
    return math.sqrt(max(1.0 - pev(X, components, covariance=covariance) / 100.0, 0.0))


def cumulative_pev(X: Any, components: Any, *, covariance: bool = False) -> NDArray[np.float64]:
    """PEV of the first component, the first two, and so on (Shen and Huang 2008)."""
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
    """
    source, V = _source_and_loadings(X, components, covariance)
    M = source.quadratic(V)
    if definition == "projection":
        values = variance.increments(M, V.T @ V)
    elif definition == "qr":
        values = variance.qr_adjusted(M)
    elif definition == "raw":
        values = M.diagonal().copy()
    else:
        raise ValueError(f"definition={definition!r} must be 'projection', 'qr' or 'raw'.")
    return values / source.total if source.total > 0 else np.zeros_like(values)


def separation(components: Any) -> float:
    """Smallest eigenvalue of the Gram matrix of the unit-length components:

    1 orthogonal, 0 collapsed.
    """
    V = _loadings(components)
    lengths = np.linalg.norm(V, axis=0)
    V = V / np.where(lengths > 0, lengths, 1.0)
    return variance.separation(V.T @ V)


def _source_and_loadings(X: Any, components: Any, covariance: bool) -> tuple[Source, Array]:
    V = _loadings(components)
    source = covariance_source(X) if covariance else _data_source(X)
    if V.shape[0] != source.n_features:
        raise ValueError(
            f"The components have {V.shape[0]} entries, the data {source.n_features} features; "
            "components are rows."
        )
    return source, V


def _data_source(X: Any) -> Source:
    X = X if hasattr(X, "format") else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, not {X.ndim}.")
    return as_source(as_data(X))


def _loadings(components: Any) -> Array:
    V = np.atleast_2d(np.asarray(components, dtype=np.float64)).T
    if not np.isfinite(V).all():
        raise ValueError("The components contain NaN or infinity.")
    return V
