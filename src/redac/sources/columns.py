"""A source that knows the data and those columns of S which the supports have touched so far."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.gram import weighted_sum
from redac.sources.spectrum import EXACT_ORDER, subspace_iteration

# What the remembered columns may take, and how many are computed in one pass over the data.
_CACHE_BYTES = 1 << 30
_BATCH = 64


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

    def combine(self, support: Indices, coefficients: Array) -> Array:
        n, d = self.data.shape
        if support.size > min(2 * n, _CACHE_BYTES // (8 * d)):
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
        kernel = np.empty((n, n))
        for start in range(0, n, _BATCH):
            rows = np.zeros((n, min(_BATCH, n - start)))
            np.fill_diagonal(rows[start:], 1.0)
            kernel[:, start : start + _BATCH] = self.data.left(self.data.right(rows))
        values, U = np.linalg.eigh((kernel + kernel.T) / 2)
        found = min(r, n)
        axes = np.zeros((d, r), order="F")
        eigenvalues = np.zeros(r)
        eigenvalues[:found] = np.maximum(values[::-1][:found], 0.0)
        live = np.flatnonzero(eigenvalues > n * np.finfo(float).eps * eigenvalues[0])
        raw = self.data.right(U[:, ::-1][:, live])
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
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            columns = self.data.right(self.data.left_columns(np.array(batch), np.eye(len(batch))))
            for position, j in enumerate(batch):
                self._known[j] = np.ascontiguousarray(columns[:, position])
        room = _CACHE_BYTES // (8 * self.n_features)
        for j in list(self._known)[: max(len(self._known) - room, 0)]:
            del self._known[j]
