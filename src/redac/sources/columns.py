"""A source that knows the data and those columns of S which the supports have touched so far."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.gram import Gram, weighted_rows
from redac.sources.parts import KnownParts, Part
from redac.sources.spectrum import (
    ACCURATE,
    EXACT_ORDER,
    ROUGH,
    axes_through_kernel,
    block_krylov,
)

# What the remembered columns may take, and those that are computed in one pass over the data.
_CACHE_BYTES = 1 << 30
_BATCH_BYTES = 1 << 25


class Columns:
    """S = XᵀX through products with X; columns of S are computed when first needed and remembered.

    A sparse loading vector v touches few columns of S, the supports settle after some sweeps, and
    from then on S v costs nothing that grows with the number of samples. Dense vectors go through
    the data instead.
    """

    def __init__(self, data: Data) -> None:
        self.data = data
        self._place = np.full(self.n_features, -1, dtype=np.intp)
        self.n_known = 0
        self._parts = KnownParts(data)

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
        if support.size > min(self.data.columns_pay_up_to, self._room):
            v = np.zeros((self.n_features, 1))
            v[support, 0] = coefficients
            return self.data.product(v)[:, 0]
        self._learn(support)
        return weighted_rows(self._rows, self._place[support], coefficients)

    def rows(self, support: Indices) -> Array:
        if support.size > self._room:
            return self.data.columns(support).T
        self._learn(support)
        return self._rows[self._place[support]]

    def quadratic(self, V: Array) -> Array:
        known = self._parts.quadratic(V)
        return self.data.quadratic(V) if known is None else known

    def restricted(self, support: Indices) -> Part:
        return self._parts.of(support)

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

    @cached_property
    def _rows(self) -> Array:
        """Room for columns of S; the memory is only taken when a row is written."""
        return np.empty((self._room, self.n_features))

    @property
    def _room(self) -> int:
        """How many columns may be remembered."""
        return min(_CACHE_BYTES // (8 * self.n_features), self.n_features)

    def _learn(self, support: Indices) -> None:
        """Have the columns of the support at hand; where there is no room, forget all others."""
        missing = support[self._place[support] < 0]
        if missing.size == 0:
            return
        if self.n_known + missing.size > self._room:
            self._place[:] = -1
            self.n_known = 0
            missing = support
        size = max(_BATCH_BYTES // (8 * self.n_features), 1)
        for start in range(0, missing.size, size):
            batch = missing[start : start + size]
            columns = self.data.columns(batch)
            rows = np.arange(self.n_known, self.n_known + batch.size)
            self._rows[rows] = columns.T
            self._place[batch] = rows
            self.n_known += batch.size
