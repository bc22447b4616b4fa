"""A source whose matrix S is known in full:

a covariance matrix, or the Gram matrix of data with few features.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.spectrum import leading_eigenvectors

# Below this length gathering rows and one matrix product beats one call for each row.
_SHORT_ROW = 512
# Up to this length a copy of some dozen vectors stays near the processor.
_SHORT_VECTOR = 4096


class Gram:
    """S in memory, symmetric."""

    def __init__(self, S: Array, *, variance_unit: float = 1.0) -> None:
        self.S = S
        self.variance_unit = variance_unit

    @property
    def n_features(self) -> int:
        return int(self.S.shape[0])

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
        return self.S @ V

    def expect(self, support: Indices) -> None:
        """Nothing to do: all of S is at hand."""

    def combine(self, support: Indices, coefficients: Array) -> Array:
        # The rows of a symmetric matrix are its columns, and they are contiguous.
        if self.n_features < _SHORT_ROW or support.size * 4 > self.n_features:
            product: Array = coefficients @ self.S[support]
            return product
        return weighted_sum([self.S[j] for j in support], coefficients)

    def quadratic(self, V: Array) -> Array:
        M = V.T @ self.dot(V)
        return (M + M.T) / 2

    def factor(self) -> Array:
        values, vectors = np.linalg.eigh(self.S)
        factor: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return factor

    def principal_axes(self, r: int) -> tuple[Array, Array]:
        return leading_eigenvectors(self.S, r)


def weighted_sum(vectors: list[Array], coefficients: Array) -> Array:
    """Σ c_j x_j: of short vectors as a matrix product, of long ones without gathering them."""
    d = vectors[0].size
    if d <= _SHORT_VECTOR:
        product: Array = coefficients @ np.concatenate(vectors).reshape(-1, d)
        return product
    result: Array = coefficients[0] * vectors[0]
    term = np.empty_like(result)
    for x, c in zip(vectors[1:], coefficients[1:], strict=True):
        np.multiply(x, c, out=term)
        result += term
    return result
