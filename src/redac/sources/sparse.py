"""Sparse data: CSR or CSC, centred and scaled implicitly, never densified.

Xᵀ(Xv) − nμ(μᵀv) loses all digits when the mean is large against the spread. Here the vector in the
middle is centred first: s = Xv − (μᵀv)·1, then Xᵀs − μ Σs, which keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.moments import Moments, NonFiniteError

_CHUNK = 1 << 20
_BATCH = 64


class SparseData(Data):
    """A scipy CSR or CSC matrix or array with its columns centred and scaled implicitly."""

    def __init__(self, X: Any, moments: Moments) -> None:
        super().__init__(X, moments)
        if moments.constant.any():
            # Implicit centring leaves a constant column its rounding errors; none may stay.
            ones = np.ones_like(moments.mean) if self._factor is None else self._factor
            self._factor = np.where(moments.constant, 0.0, ones)

    def left(self, V: Array) -> Array:
        W = V if self._factor is None else (V.T * self._factor).T
        return np.asarray(self.X @ W - self.moments.mean @ W)

    def left_columns(self, support: Indices, coefficients: Array) -> Array:
        W = coefficients
        if self._factor is not None:
            W = (coefficients.T * self._factor[support]).T
        return np.asarray(self.X[:, support] @ W - self.moments.mean[support] @ W)

    def right(self, U: Array) -> Array:
        guard = self.moments.guard
        U = U * guard if guard != 1.0 else U
        product = self.X.T @ U
        product -= np.multiply.outer(self.moments.mean, U.sum(axis=0))
        if self._factor is not None:
            product = (product.T * (self._factor / guard)).T
        return np.asarray(product)

    def gram(self) -> Array:
        d = self.shape[1]
        S = np.empty((d, d))
        for start in range(0, d, _BATCH):
            batch = np.arange(start, min(start + _BATCH, d))
            S[batch] = self.right(self.left_columns(batch, np.eye(batch.size))).T
        return (S + S.T) / 2

    def dense(self) -> Array:
        X = self.X.toarray() - self.moments.mean
        return np.asarray(X if self._factor is None else X * self._factor)

    @classmethod
    def _prepared(cls, X: Any) -> Any:
        """X with one stored value for each entry; the caller's matrix is left as it is."""
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    @staticmethod
    def _range_and_mean(X: Any) -> tuple[Array, Array, Array]:
        # The zeros that are not stored count.
        n, d = X.shape
        low, high, mean, stored = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), np.zeros(d)
        for columns, values in _entries(X):
            if not np.isfinite(values).all():
                raise _not_finite(X)
            np.minimum.at(low, columns, values)
            np.maximum.at(high, columns, values)
            mean += np.bincount(columns, weights=values / n, minlength=d)
            stored += np.bincount(columns, minlength=d)
        with_zeros = stored < n
        low[with_zeros] = np.minimum(low[with_zeros], 0.0)
        high[with_zeros] = np.maximum(high[with_zeros], 0.0)
        return low, high, mean

    def _sums_of_squares(self) -> Array:
        moments = self.moments
        n, d = self.shape
        sums, stored = np.zeros(d), np.zeros(d)
        for columns, values in _entries(self.X):
            deviation = (values - moments.mean[columns]) / moments.peak[columns]
            sums += np.bincount(columns, weights=deviation**2, minlength=d)
            stored += np.bincount(columns, minlength=d)
        unstored: Array = (n - stored) * (moments.mean / moments.peak) ** 2
        return sums + unstored


def _entries(X: Any) -> Iterator[tuple[NDArray[Any], Array]]:
    """The columns and values of the stored entries, a bounded number at a time."""
    for start in range(0, X.nnz, _CHUNK):
        stop = min(start + _CHUNK, X.nnz)
        if X.format == "csr":
            columns = X.indices[start:stop]
        else:
            columns = np.searchsorted(X.indptr, np.arange(start, stop), side="right") - 1
        yield columns, X.data[start:stop].astype(np.float64)


def _not_finite(X: Any) -> NonFiniteError:
    rows, columns = X.nonzero()
    values = np.asarray(X[rows, columns]).ravel()
    first = int(np.lexsort((columns, rows, np.isfinite(values)))[0])
    return NonFiniteError(int(rows[first]), int(columns[first]), float(values[first]))
