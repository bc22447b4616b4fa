"""Dense data: any real dtype and memory order, read-only or memory-mapped, never copied whole.

Rows are read in blocks; a block is centred, scaled and turned into float64 in a buffer that is used
again. The buffer is the only temporary. It makes float32 and integer data as accurate as float64,
and centring before multiplying keeps the digits that products of raw data lose when the mean is
large against the spread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.moments import NonFiniteError

# Small enough to stay near the processor, large enough for matrix products to run at full speed.
_BLOCK_BYTES = 1 << 23
_GRAM_BLOCK_BYTES = 1 << 24


class DenseData(Data):
    """A dense array with its columns centred and scaled on the fly."""

    def left(self, V: Array) -> Array:
        result = np.empty((self.shape[0], *V.shape[1:]))
        for rows, block in self._blocks():
            np.matmul(block, V, out=result[rows])
        return result

    def left_columns(self, support: Indices, coefficients: Array) -> Array:
        n = self.shape[0]
        result = np.zeros((n, *coefficients.shape[1:]))
        width = max(1, _BLOCK_BYTES // (8 * n))
        for start in range(0, support.size, width):
            chosen = support[start : start + width]
            gathered = self.X[:, chosen] - self.moments.mean[chosen]
            if self._factor is not None:
                gathered *= self._factor[chosen]
            result += gathered @ coefficients[start : start + width]
        return result

    def right(self, U: Array) -> Array:
        result = np.zeros((self.shape[1], *U.shape[1:]))
        for rows, block in self._blocks():
            result += block.T @ U[rows]
        return result

    def gram(self) -> Array:
        d = self.shape[1]
        S = np.zeros((d, d), order="F")
        for _, block in self._blocks(_GRAM_BLOCK_BYTES):
            if block.flags.c_contiguous:
                S = blas.dsyrk(1.0, block.T, beta=1.0, c=S, overwrite_c=True)
            else:
                S = blas.dsyrk(1.0, block, trans=True, beta=1.0, c=S, overwrite_c=True)
        return mirror_upper(S)

    def kernel(self) -> Array:
        n, d = self.shape
        K = np.zeros((n, n), order="F")
        width = max(1, _GRAM_BLOCK_BYTES // (8 * n))
        for start in range(0, d, width):
            columns = slice(start, start + width)
            block = np.subtract(self.X[:, columns], self.moments.mean[columns], order="F")
            if self._factor is not None:
                block *= self._factor[columns]
            K = blas.dsyrk(1.0, block, beta=1.0, c=K, overwrite_c=True)
        return mirror_upper(K)

    def dense(self) -> Array:
        X = np.empty(self.shape)
        for rows, block in self._blocks():
            X[rows] = block
        return X

    def _blocks(self, size: int = _BLOCK_BYTES) -> Iterator[tuple[slice, Array]]:
        n, d = self.shape
        height = min(n, max(1, size // (8 * d)))
        by_columns = self.X.flags.f_contiguous and not self.X.flags.c_contiguous
        memory = np.empty(height * d)
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            used = memory[: (rows.stop - start) * d]
            block = used.reshape((-1, d), order="F" if by_columns else "C")
            np.subtract(self.X[rows], self.moments.mean, out=block)
            if self._factor is not None:
                block *= self._factor
            yield rows, block

    def _sums_of_squares(self) -> Array:
        relative = DenseData(self.X, self.moments)
        relative._factor = 1.0 / self.moments.peak
        sums = np.zeros(self.shape[1])
        for _, block in relative._blocks():
            sums += np.einsum("ij,ij->j", block, block)
        return sums

    @staticmethod
    def _range_and_mean(X: NDArray[Any]) -> tuple[Array, Array, Array]:
        n, d = X.shape
        low, high, mean = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d)
        height = max(1, _BLOCK_BYTES // (8 * d))
        for start in range(0, n, height):
            block = X[start : start + height]
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
            if not (np.isfinite(low).all() and np.isfinite(high).all()):
                raise _first_not_finite(block, start)
            mean += _sum_over_n(block, n, peak=max(-low.min(), high.max()))
        return low, high, mean


def _first_not_finite(block: NDArray[Any], start: int) -> NonFiniteError:
    bad = ~np.isfinite(block)
    row = int(np.argmax(bad.any(axis=1)))
    column = int(np.argmax(bad[row]))
    return NonFiniteError(start + row, column, float(block[row, column]))


def _sum_over_n(block: NDArray[Any], n: int, peak: float) -> Array:
    """Σ x / n of each column; huge entries are divided first so that the sum stays finite."""
    if peak > 1e290:
        return np.asarray((block / n).sum(axis=0, dtype=np.float64))
    return np.asarray(block.sum(axis=0, dtype=np.float64)) / n


def mirror_upper(S: Array) -> Array:
    """Copy the upper triangle of a square matrix onto the lower one, in place, block by block."""
    d, step = S.shape[0], 512
    for start in range(0, d, step):
        stop = min(start + step, d)
        S[start:stop, :start] = S[:start, start:stop].T
        corner = S[start:stop, start:stop]
        S[start:stop, start:stop] = np.triu(corner) + np.triu(corner, 1).T
    return S
