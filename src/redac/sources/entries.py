"""Sums over the stored entries of a sparse matrix, a bounded number of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.sources.base import Array
from redac.sources.scatter import Extremes

_CHUNK = 1 << 20


class Entries:
    """The entries of a CSR or CSC matrix with weights of its rows.

    Rows of weight zero hold no entries.
    """

    def __init__(self, X: Any, weights: Array | None) -> None:
        self.X = X
        self.weights = weights

    def mean(self, total: float) -> Array:
        """Σwx/total of each column; of a constant column exactly its value."""
        d = self.X.shape[1]
        mean, stored = np.zeros(d), np.zeros(d)
        for columns, values, w in self._chunks():
            mean += np.bincount(columns, weights=values * w, minlength=d)
            stored += np.bincount(columns, minlength=d)
        mean /= total
        full = stored == self.n_used
        if full.any():
            # A column without gaps may be constant; its mean is then exactly its value.
            used = 0 if self.weights is None else int(np.argmax(self.weights > 0))
            first = np.asarray(self.X[[used]].toarray(), dtype=np.float64).ravel()
            changes = np.zeros(d)
            for columns, values, _ in self._chunks():
                changes += np.bincount(columns, weights=values != first[columns], minlength=d)
            mean = np.where(full & (changes == 0.0), first, mean)
        return mean

    def sums_of_squares(self, mean: Array, peak: Array, total: float) -> Array:
        """Σw((x − mean)/peak)² of each column."""
        d = mean.size
        sums, stored, weight = np.zeros(d), np.zeros(d), np.zeros(d)
        for columns, values, w in self._chunks():
            deviation = (values - mean[columns]) / peak[columns]
            sums += np.bincount(columns, weights=deviation**2 * w, minlength=d)
            stored += np.bincount(columns, minlength=d)
            if self.weights is not None:
                weight += np.bincount(columns, weights=w, minlength=d)
        if self.weights is None:
            weight = stored
        unstored = np.where(stored == self.n_used, 0.0, np.maximum(total - weight, 0.0))
        zeros = np.where(unstored > 0.0, mean / peak, 0.0)  # in the unit of the peak
        return np.asarray(sums + unstored * zeros**2)

    def differ_from(self, mean: Array, chosen: NDArray[np.bool_]) -> bool:
        """Whether any entry of the chosen columns is not the mean, however near."""
        if not chosen.any():
            return False
        return any(
            bool((chosen[columns] & (values != mean[columns])).any())
            for columns, values, _ in self._chunks()
        )

    def extremes(self, total: float) -> Extremes:
        """Smallest, largest and mean value of each column; zeros that are not stored count."""
        n, d = self.X.shape
        low, high, mean, stored = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), np.zeros(d)
        for columns, values, w in self._chunks():
            if not np.isfinite(values).all():
                return Extremes(low, high, mean, n, _first_not_finite(self.X))
            np.minimum.at(low, columns, values)
            np.maximum.at(high, columns, values)
            mean += np.bincount(columns, weights=values / total * w, minlength=d)
            stored += np.bincount(columns, minlength=d)
        with_zeros = stored < self.n_used
        low[with_zeros] = np.minimum(low[with_zeros], 0.0)
        high[with_zeros] = np.maximum(high[with_zeros], 0.0)
        return Extremes(low, high, mean, n, None)

    @cached_property
    def n_used(self) -> int:
        """Number of rows that count."""
        return int(self.X.shape[0]) if self.weights is None else int(np.count_nonzero(self.weights))

    def _chunks(self) -> Iterator[tuple[NDArray[Any], Array, Any]]:
        """Columns, values and weights of the stored entries, a bounded number at a time."""
        X = self.X
        for start in range(0, X.nnz, _CHUNK):
            part = slice(start, min(start + _CHUNK, X.nnz))
            columns = rows = X.indices[part]
            if X.format == "csc" or self.weights is not None:
                across = np.searchsorted(X.indptr, np.arange(part.start, part.stop), "right") - 1
                columns, rows = (columns, across) if X.format == "csr" else (across, rows)
            w = 1.0 if self.weights is None else self.weights[rows]
            yield columns, X.data[part].astype(np.float64), w


def _first_not_finite(X: Any) -> tuple[int, int, float]:
    rows, columns = X.nonzero()
    values = np.asarray(X[rows, columns]).ravel()
    first = int(np.lexsort((columns, rows, np.isfinite(values)))[0])
    return int(rows[first]), int(columns[first]), float(values[first])
