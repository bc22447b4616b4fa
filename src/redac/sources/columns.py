"""A source that knows the data and those columns of S which the supports have touched so far."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.gram import weighted_sum
from redac.sources.spectrum import EXACT_ORDER, leading_eigenvectors, subspace_iteration

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
        self._known: dict[int, Array] = {}

    @property
    def n_features(self) -> int:
        return self.data.shape[1]

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
        return self.data.right(self.data.left(V))

    def expect(self, support: Indices) -> None:
        # Vectors on most features go through the data; their columns would never be looked at.
        if support.size <= min(self._room, self.n_features // 4):
            self._learn(support)

    def combine(self, support: Indices, coefficients: Array) -> Array:
        if support.size > min(2 * self.data.shape[0], self._room):
            return self.data.right(self.data.left_columns(support, coefficients))
        self._learn(support)
        return weighted_sum([self._known[j] for j in support.tolist()], coefficients)

    def quadratic(self, V: Array) -> Array:
        support = np.flatnonzero(V.any(axis=1))
        U = self.data.left_columns(support, V[support])
        M: Array = U.T @ U
        return M

    def factor(self) -> Array:
        return self.data.dense()

    def principal_axes(self, r: int) -> tuple[Array, Array]:
        n, d = self.data.shape
        if min(n, d) > EXACT_ORDER:
            return subspace_iteration(self.dot, d, r)
        return self._axes_from_rows(r)

    def _axes_from_rows(self, r: int) -> tuple[Array, Array]:
        """Through the n × n matrix XXᵀ, which is the smaller one here:

        XXᵀu = λu gives S(Xᵀu) = λ(Xᵀu).
        """
        n, d = self.data.shape
        found = min(r, n)
        U, values = leading_eigenvectors(self.data.kernel(), found)
        axes = np.zeros((d, r), order="F")
        eigenvalues = np.zeros(r)
        eigenvalues[:found] = values
        live = np.flatnonzero(eigenvalues > n * np.finfo(float).eps * eigenvalues[0])
        raw = self.data.right(U[:, live])
        axes[:, live] = raw / np.linalg.norm(raw, axis=0)
        return axes, eigenvalues

    def _learn(self, support: Indices) -> None:
        """Have the columns of the support at hand; forget those unused for longest."""
        wanted = support.tolist()
        missing = [j for j in wanted if j not in self._known]
        for j in wanted:
            if j in self._known:  # moves to the end, the place of the most recently used
                self._known[j] = self._known.pop(j)
        if not missing:
            return
        size = max(_BATCH_BYTES // (8 * sum(self.data.shape)), 1)
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            columns = self.data.right(self.data.left_columns(np.array(batch), np.eye(len(batch))))
            for position, j in enumerate(batch):
                self._known[j] = np.ascontiguousarray(columns[:, position])
        for j in list(self._known)[: max(len(self._known) - self._room, 0)]:
            del self._known[j]

    @property
    def _room(self) -> int:
        """How many columns may be remembered."""
        return _CACHE_BYTES // (8 * self.n_features)
