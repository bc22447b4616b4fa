"""A source whose matrix S is known in full:

a covariance matrix, or the Gram matrix of data with few features.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.spectrum import ACCURATE, ROUGH, leading_eigenvectors

# Entries that are gathered at a time: they stay near the processor.
_GATHERED = 1 << 16
# Loadings of so many entries are multiplied by what is not zero in them, if that is less than one
# entry in so many.
_LARGE, _GATHER_COST = 10_000, 16


class Gram:
    """S in memory, symmetric."""

    def __init__(self, S: Array, *, variance_unit: float = 1.0) -> None:
        # Symmetric, so whichever order the rows are contiguous in.
        self.S = np.ascontiguousarray(S.T if S.flags.f_contiguous else S)
        self.variance_unit = variance_unit

    by_feature = None

    @property
    def n_features(self) -> int:
        return int(self.S.shape[0])

    @property
    def row_cost(self) -> float:
        return float(self.n_features)

    @cached_property
    def diagonal(self) -> Array:
        return np.maximum(self.S.diagonal(), 0.0)

    @cached_property
    def total(self) -> float:
        return float(self.diagonal.sum())

    def standardized(self) -> tuple[Gram, Array]:
        """The correlation matrix that belongs to S, and the standard deviations divided out."""
        deviations = np.sqrt(np.where(self.diagonal > 0, self.diagonal, 1.0))
        correlation = self.S / deviations / deviations[:, None]
        return Gram(correlation), deviations * np.sqrt(self.variance_unit)

    def dot(self, V: Array) -> Array:
        if V.size < _LARGE or np.count_nonzero(V) * _GATHER_COST > V.size:
            # Sᵀ = S, and long rows make the faster factors.
            return (V.T @ self.S).T
        product = np.empty_like(V)
        for i, v in enumerate(V.T):
            support = (v != 0.0).nonzero()[0]
            product[:, i] = self.combine(support, v[support])
        return product

    def combine(self, support: Indices, coefficients: Array) -> Array:
        # The rows of a symmetric matrix are its columns, and they are contiguous.
        return weighted_rows(self.S, support, coefficients)

    def rows(self, support: Indices) -> Array:
        return self.S[support]

    def quadratic(self, V: Array) -> Array:
        M = V.T @ self.dot(V)
        return (M + M.T) / 2

    def restricted(self, support: Indices) -> Gram:
        return Gram(self.S[np.ix_(support, support)], variance_unit=self.variance_unit)

    def matrix(self) -> Array:
        return self.S

    def factor(self) -> Array:
        values, vectors = np.linalg.eigh(self.S)
        factor: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return factor

    def principal_axes(self, r: int, *, rough: bool = False) -> tuple[Array, Array]:
        return leading_eigenvectors(self.S, r, accuracy=ROUGH if rough else ACCURATE)


def weighted_rows(rows: Array, chosen: Indices, coefficients: Array) -> Array:
    """Σ c_j x_j over chosen rows x_j, gathered some columns at a time."""
    d = rows.shape[1]
    if chosen.size * d <= _GATHERED:
        short: Array = coefficients @ rows.take(chosen, axis=0)
        return short
    result = np.empty(d)
    width = max(_GATHERED // max(chosen.size, 1), 1)
    for start in range(0, d, width):
        columns = slice(start, start + width)
        np.matmul(coefficients, rows[chosen, columns], out=result[columns])
    return result
