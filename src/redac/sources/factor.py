"""A source that knows a matrix A of few rows with S = AᵀA: small wide data, centred."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.spectrum import axes_through_kernel

# To gather a row costs about as much as to multiply so many of them.
_GATHER_COST = 4


class Factor:
    """S = AᵀA, with A kept by features: a few contiguous rows make A v, one product S v."""

    def __init__(self, by_feature: Array, *, variance_unit: float = 1.0) -> None:
        self.by_feature = by_feature  # Aᵀ, of d rows
        self.variance_unit = variance_unit

    @property
    def n_features(self) -> int:
        return int(self.by_feature.shape[0])

    @property
    def row_cost(self) -> float:
        return float(self.by_feature.size)

    @cached_property
    def diagonal(self) -> Array:
        squares: Array = np.einsum("ij,ij->i", self.by_feature, self.by_feature)
        return squares

    @cached_property
    def total(self) -> float:
        return float(self.diagonal.sum())

    def dot(self, V: Array) -> Array:
        product: Array = self.by_feature @ (self.by_feature.T @ V)
        return product

    def combine(self, support: Indices, coefficients: Array) -> Array:
        if support.size * _GATHER_COST > self.n_features:
            v = np.zeros(self.n_features)
            v[support] = coefficients
            scores = v @ self.by_feature
        else:
            scores = coefficients @ self.by_feature[support]
        product: Array = self.by_feature @ scores
        return product

    def rows(self, support: Indices) -> Array:
        rows: Array = self.by_feature[support] @ self.by_feature.T
        return rows

    def quadratic(self, V: Array) -> Array:
        U = self.by_feature.T @ V
        M: Array = U.T @ U
        return M

    def restricted(self, support: Indices) -> Factor:
        return Factor(self.by_feature[support], variance_unit=self.variance_unit)

    def matrix(self) -> Array:
        S: Array = self.by_feature @ self.by_feature.T
        return S

    def factor(self) -> Array:
        return np.ascontiguousarray(self.by_feature.T)

    def principal_axes(self, r: int, *, rough: bool = False) -> tuple[Array, Array]:
        kernel = self.by_feature.T @ self.by_feature
        return axes_through_kernel(kernel, lambda U: self.by_feature @ U, self.n_features, r)
