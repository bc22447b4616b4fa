"""Sparse data: CSR or CSC, centred and scaled implicitly, never densified as a whole.

Xᵀ(Xv) − nμ(μᵀv) loses all digits when the mean is large against the spread. Here the vector in the
middle is centred first: s = Xv − (μᵀv)·1, then Xᵀs − μ Σs, which keeps them.

Columns of S for single features are a product of two sparse matrices, which costs little, minus
terms of rank one. That subtraction is safe for a column with nμ² ≤ Σ(x − μ)², as it loses a factor
of two at most; every column of which at least half is zero is of this kind. The others are crowded
columns and go the careful way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from redac.sources.arithmetic import add_squares, mirror_upper
from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.entries import Entries
from redac.sources.moments import Moments
from redac.sources.scatter import Extremes, Scatter, within_limits

_BATCH = 64
_BLOCK_BYTES = 1 << 23
# A multiplication in a product of sparse matrices takes as long as so many in a dense one.
_SPARSE_COST = 20.0
# To send a vector through an entry of X and back takes as long as so many entries of columns of S.
_ENTRY_COST = 2.0


class SparseData(Data):
    """A scipy CSR or CSC matrix or array with its columns centred and scaled implicitly."""

    def __init__(self, X: Any, moments: Moments, weights: Array | None = None) -> None:
        super().__init__(X, moments, weights)
        self._stored = Entries(X, weights)
        self._roots = None if weights is None else np.sqrt(weights)
        if moments.constant.any():
            # Implicit centring leaves a constant column its rounding errors; none may stay.
            ones = np.ones_like(moments.mean) if self._factor is None else self._factor
            self._factor = np.where(moments.constant, 0.0, ones)

    @property
    def columns_pay_up_to(self) -> int:
        return int(_ENTRY_COST * self.X.nnz / self.shape[1])

    def left(self, V: Array) -> Array:
        self.n_passes += 1
        W = V if self._factor is None else (V.T * self._factor).T
        return self._weighted(np.asarray(self.X @ W - self.moments.mean @ W))

    def left_columns(self, support: Indices, coefficients: Array) -> Array:
        """X v for a vector v, or X V for a block, given by its non-zero rows."""
        self.n_passes += 1
        W = coefficients
        if self._factor is not None:
            W = (coefficients.T * self._factor[support]).T
        product = self.X[:, support] @ W - self.moments.mean[support] @ W
        return self._weighted(np.asarray(product))

    def quadratic(self, V: Array) -> Array:
        support = np.flatnonzero(V.any(axis=1))
        U = self.left_columns(support, V[support])
        M: Array = U.T @ U
        return M

    def right(self, U: Array) -> Array:
        self.n_passes += 1
        guard = self.moments.guard
        U = self._weighted(U * guard if guard != 1.0 else U)
        product = self.X.T @ U
        product -= np.multiply.outer(self.moments.mean, U.sum(axis=0))
        return self._scaled(np.asarray(product), 1.0 / guard)

    def product(self, V: Array) -> Array:
        if self.X.format != "csr":
            return self.right(self.left(V))
        self.n_passes += 1
        d = self.shape[1]
        W = V if self._factor is None else (V.T * self._factor).T
        shift, guard = self.moments.mean @ W, self.moments.guard
        result, sums = np.zeros(V.shape), np.zeros(V.shape[1:])
        for rows, block in self._row_blocks(8 * max(1, W.size // d), entries=4 * d):
            T = np.asarray(block @ W) - shift
            if self.weights is not None:
                T = (T.T * self.weights[rows]).T
            if guard != 1.0:
                T *= guard
            result += block.T @ T
            sums = sums + T.sum(axis=0)
        result -= np.multiply.outer(self.moments.mean, sums)
        return self._scaled(result, 1.0 / guard)

    def columns(self, support: Indices) -> Array:
        if self._crowded.size > self.shape[1] // 2:
            careful = np.ones(support.size, dtype=bool)
        else:
            careful = np.isin(support, self._crowded)
        if not careful.any():
            return self._sparse_columns(support)
        result = np.empty((self.shape[1], support.size))
        if not careful.all():
            result[:, ~careful] = self._sparse_columns(support[~careful])
        places = np.flatnonzero(careful)
        for start in range(0, places.size, _BATCH):
            batch = places[start : start + _BATCH]
            result[:, batch] = self.right(self.left_columns(support[batch], np.eye(batch.size)))
        return result

    def submatrix(self, support: Indices, rows: Indices | None = None) -> Array:
        self.n_passes += 1
        part = self._part(support)
        return part.gram() if rows is None else part.columns(rows).T

    def dense(self) -> Array:
        self.n_passes += 1
        X = self.X.toarray() - self.moments.mean
        if self._factor is not None:
            X *= self._factor
        return self._weighted(np.asarray(X))

    def dense_columns(self, support: Indices) -> Array:
        self.n_passes += 1
        return self._part(support).dense()

    def scatter(self, *, full: bool) -> Scatter:
        n, d = self.shape
        self.n_passes += 1
        weight = self._total_weight()
        if weight == 0.0:
            return Scatter.of_nothing(n, d, full=full)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self._stored.mean(weight)
            squares = self._stored.sums_of_squares(mean, np.ones(d), weight)
        safe = within_limits(squares) and not self._stored.differ_from(mean, squares == 0.0)
        scatter = Scatter((n,), weight, mean, np.zeros(d), squares, None, is_safe=safe)
        if not (full and safe):
            return scatter
        moments = Moments.of_scatter(scatter, standardize=False)
        matrix = type(self)(self.X, moments, self.weights).gram()
        return replace(scatter, matrix=matrix)

    def extremes(self, total: float) -> Extremes:
        self.n_passes += 1
        return self._stored.extremes(total)

    def sums_of_squares(self) -> Array:
        self.n_passes += 1
        moments = self.moments
        return self._stored.sums_of_squares(moments.mean, moments.peak, self._total_weight())

    def _part(self, features: Indices) -> SparseData:
        """The same data with some features only."""
        return type(self)(self.X[:, features], self.moments.of(features), self.weights)

    @cached_property
    def _is_sparse_enough(self) -> bool:
        """Whether XᵀX is formed sooner by sparse products than from blocks that are written out."""
        n, d = self.shape
        by_rows = self.X.format == "csr"
        lengths = np.diff(self.X.indptr) if by_rows else np.bincount(self.X.indices, minlength=n)
        squares = float(np.square(lengths, dtype=np.float64).sum())
        return _SPARSE_COST * squares < n * float(d) ** 2

    def _gram(self) -> Array:
        d = self.shape[1]
        X = self.X.tocsr()  # the matrix itself where it is CSR
        if self._is_sparse_enough:
            S = self.columns(np.arange(d))
            return (S + S.T) / 2
        self.n_passes += 1
        S = np.zeros((d, d))
        rowwise = type(self)(X, self.moments, self.weights)
        for rows, block in rowwise._row_blocks(8 * d):
            weights = None if self.weights is None else self.weights[rows]
            full = type(self)(block, self.moments, weights).dense()
            add_squares(S, full)
        return mirror_upper(S)

    def _sparse_columns(self, support: Indices) -> Array:
        """Columns of S that are not crowded, by a product of sparse matrices."""
        self.n_passes += 1
        mean, total = self.moments.mean, self._total_weight()
        chosen = self.X[:, support].astype(np.float64)
        weighted = chosen if self.weights is None else diags_array(self.weights) @ chosen
        S = (self.X.T @ weighted).toarray()
        sums = self._sums
        S -= np.multiply.outer(mean, sums[support])
        drift = sums - total * mean  # of some rows only; about their own mean it is rounding
        S -= np.multiply.outer(drift, mean[support])
        if self._crowded.size:
            S[self._crowded] = self._careful_part(self._crowded, chosen, support)
        if self._factor is not None:
            S *= self._factor[support]
        return self._scaled(S, 1.0)

    def _careful_part(self, features: Indices, chosen: Any, support: Indices) -> Array:
        """Σw(x_i − μ_i)(x_j − μ_j) for crowded i and other j; it is enough to centre x_i first."""
        mean = self.moments.mean
        crowded, chosen = self.X[:, features].tocsr(), chosen.tocsr()
        result = np.zeros((features.size, support.size))
        height = max(1, _BLOCK_BYTES // (8 * features.size))
        for start in range(0, self.shape[0], height):
            rows = slice(start, start + height)
            A = crowded[rows].toarray() - mean[features]
            if self.weights is not None:
                A *= self.weights[rows, None]
            result += (chosen[rows].T @ A).T
            result -= np.multiply.outer(A.sum(axis=0), mean[support])
        return result

    @cached_property
    def _crowded(self) -> Indices:
        """The features whose columns lose digits when they are centred after multiplying."""
        m = self.moments
        if m.unit != 1.0 or m.guard != 1.0 or not m.is_scale_safe:
            return np.arange(self.shape[1])
        suspect = m.n_samples * m.mean**2 > m.diagonal * m.scale**2
        return np.flatnonzero(suspect & ~m.constant)

    @cached_property
    def _sums(self) -> Array:
        """Σwx of each column."""
        w = np.ones(self.shape[0]) if self.weights is None else self.weights
        return np.asarray(self.X.T @ w)

    def _row_blocks(self, row_bytes: int, entries: int = 1) -> Iterator[tuple[slice, Any]]:
        """Rows of a CSR matrix, as many as fit a buffer, but no fewer than hold some entries."""
        X, n = self.X, self.shape[0]
        height = max(1, _BLOCK_BYTES // row_bytes, entries * n // max(X.nnz, 1))
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            first, last = X.indptr[rows.start], X.indptr[rows.stop]
            # Made by hand: slicing would copy the indices, and each product convert the values.
            values = X.data[first:last].astype(np.float64, copy=False)
            pointers = X.indptr[rows.start : rows.stop + 1] - first
            shape = (rows.stop - start, X.shape[1])
            yield rows, csr_array((values, X.indices[first:last], pointers), shape=shape)

    def _weighted(self, U: Array) -> Array:
        return U if self._roots is None else np.asarray((U.T * self._roots).T)

    def _scaled(self, product: Array, correction: float) -> Array:
        """Rows of a product in units of their scale, in place."""
        if self._factor is not None:
            product *= (self._factor * correction).reshape(-1, *[1] * (product.ndim - 1))
        elif correction != 1.0:
            product *= correction
        return product

    @classmethod
    def _prepared(cls, X: Any, weights: Array | None) -> tuple[Any, Array | None]:
        """A matrix with one value for each entry, and none in rows of weight zero."""
        if X.format not in ("csr", "csc"):
            X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if weights is not None and not weights.all():
            X = _without_entries(X.tocsr(), weights == 0)
        return X, weights


def _without_entries(X: Any, emptied: NDArray[np.bool_]) -> Any:
    """A CSR matrix with some rows emptied, whatever they hold."""
    lengths = np.diff(X.indptr)
    kept = np.repeat(~emptied, lengths)
    pointers = np.append(0, np.cumsum(np.where(emptied, 0, lengths))).astype(X.indptr.dtype)
    return type(X)((X.data[kept], X.indices[kept], pointers), shape=X.shape)
