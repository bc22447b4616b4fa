"""A source that knows the data and those columns of S which the supports have touched so far."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.gram import Gram, weighted_rows
from redac.sources.known import KnownScatter, Part
from redac.sources.spectrum import (
    ACCURATE,
    EXACT_ORDER,
    ROUGH,
    axes_through_kernel,
    block_krylov,
)


class Columns:
    """S = XᵀX through products with X; columns of S are computed when first needed and remembered.

    A sparse loading vector v touches few columns of S, the supports settle after some sweeps, and
    from then on S v costs nothing that grows with the number of samples. Dense vectors go through
    the data instead.
    """

    def __init__(self, data: Data) -> None:
        self.data = data
        self.known = KnownScatter(data)

    by_feature = None

    @property
    def n_features(self) -> int:
        return self.data.shape[1]

    @property
    def row_cost(self) -> float:
        n, d = self.data.shape
        return float(n) * d

    @property
    def diagonal(self) -> Array:
        return self.data.diagonal

    @cached_property
    def total(self) -> float:
        return float(self.diagonal.sum())

    @property
    def variance_unit(self) -> float:
        return self.data.variance_unit

    def dot(self, V: Array) -> Array:
        return self.data.product(V)

    def combine(self, support: Indices, coefficients: Array) -> Array:
        if support.size > min(self.data.columns_pay_up_to, self.known.room):
            v = np.zeros((self.n_features, 1))
            v[support, 0] = coefficients
            return self.data.product(v)[:, 0]
        return weighted_rows(*self.known.columns(support), coefficients)

    def rows(self, support: Indices) -> Array:
        if support.size > self.known.room:
            return self.data.columns(support).T
        rows, places = self.known.columns(support)
        return rows[places]

    def quadratic(self, V: Array) -> Array:
        known = self.known.quadratic(V)
        return self.data.quadratic(V) if known is None else known

    def restricted(self, support: Indices) -> Part:
        return self.known.part(support)

    def matrix(self) -> Array:
        return self.data.gram()

    def factor(self) -> Array:
        n, d = self.data.shape
        return self.data.dense() if n <= d else Gram(self.data.gram()).factor()

    def principal_axes(self, r: int, *, rough: bool = False) -> tuple[Array, Array]:
        n, d = self.data.shape
        if min(n, d) > EXACT_ORDER:
            return block_krylov(self.dot, d, r, accuracy=ROUGH if rough else ACCURATE)
        return axes_through_kernel(self.data.kernel(), self.data.right, d, r)
