"""Dense data: any real dtype and memory order, read-only or memory-mapped, never copied whole.

Rows are read in blocks; a block is centred, scaled and turned into float64 in a buffer that is used
again. The buffer is the only temporary. It makes float32 and integer data as accurate as float64,
and centring before multiplying keeps the digits that products of raw data lose when the mean is
large against the spread. Where it is not, the largest products take rows of float64 as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.sources.arithmetic import add_squares, mirror_upper, subtract_outer, weigh
from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.moments import Moments
from redac.sources.progress import is_mapped, report
from redac.sources.scatter import Extremes, Scatter, within_limits

# A buffer is small enough to stay near the processor, large enough for matrix products to run at
# full speed, and a small part of what it reads.
_BLOCK_BYTES = 1 << 23
_LEAST_BYTES = 1 << 18
# Rows that are used as they are need no buffer.
_VIEW_BYTES = 1 << 28
_BLOCK_SHARE = 0.1
# Rows from which a provisional centre is taken, at most, and at least.
_SAMPLE, _LEAST_SAMPLE = 256, 16
# A sum of squares about a provisional centre may be so many times that about the mean.
_WORST_CENTRE = 100.0


class DenseData(Data):
    """A dense array with its columns centred and scaled on the fly."""

    def left(self, V: Array) -> Array:
        result = np.empty((self.shape[0], *V.shape[1:]))
        for rows, block in self._blocks():
            np.matmul(block, V, out=result[rows])
        return result

    def right(self, U: Array) -> Array:
        result = np.zeros((self.shape[1], *U.shape[1:]))
        for rows, block in self._blocks():
            result += block.T @ U[rows]
        return result

    def product(self, V: Array) -> Array:
        if self._is_nearly_centred:
            return self._product_of_rows_as_they_are(V)
        # Long rows make the faster factors: all is computed transposed.
        result = np.zeros(V.T.shape)
        for _, block in self._blocks():
            result += (V.T @ block.T) @ block
        return result.T

    def columns(self, support: Indices) -> Array:
        result = np.zeros((self.shape[1], support.size))
        for _, block in self._blocks():
            result += block.T @ block[:, support]
        return result

    def quadratic(self, V: Array) -> Array:
        support = np.flatnonzero(V.any(axis=1))
        W, M = V[support], np.zeros((V.shape[1], V.shape[1]))
        for block in self._gathered_blocks(support, self._buffer):
            U = block @ W
            M += U.T @ U
        return M

    def submatrix(self, support: Indices, rows: Indices | None = None) -> Array:
        S = np.zeros((support.size if rows is None else rows.size, support.size))
        # Each block adds to all of S, so that blocks must not be small against it.
        for block in self._gathered_blocks(
            support, max(self._buffer, int(_BLOCK_SHARE * S.nbytes))
        ):
            if rows is None:
                add_squares(S, block)
            else:
                S += block[:, rows].T @ block
        return mirror_upper(S) if rows is None else S

    def kernel(self) -> Array:
        self.n_passes += 1
        n, d = self.shape
        K = np.zeros((n, n))
        width = max(1, self._buffer // (8 * max(n, 1)))
        for start in range(0, d, width):
            add_squares(K, self._gathered(slice(start, start + width)).T)
        return mirror_upper(K)

    def dense(self) -> Array:
        X = np.empty(self.shape)
        for rows, block in self._blocks():
            X[rows] = block
        return X

    def dense_columns(self, support: Indices) -> Array:
        self.n_passes += 1
        return self._gathered(support)

    def scatter(self, *, full: bool) -> Scatter:
        n, d = self.shape
        weight = self._total_weight()
        if weight == 0.0:
            return Scatter.of_nothing(n, d, full=full)
        with np.errstate(over="ignore", invalid="ignore"):
            centre = self._provisional_centre()
            for _ in range(2):
                found = self._sums_about(centre, full)
                if found is None:
                    break
                sums, squares, matrix = found
                step = sums / weight
                excess = step * sums
                if (excess <= _WORST_CENTRE * (squares - excess)).all():
                    squares = squares - excess
                    if matrix is not None:
                        subtract_outer(matrix, step, sums)
                        matrix = mirror_upper(matrix)
                    safe = within_limits(squares)
                    return Scatter((n,), weight, centre, step, squares, matrix, is_safe=safe)
                # A centre far from the mean costs digits; the mean just found is near enough.
                centre = centre + step
        return Scatter.untrusted(n, weight, d)

    def extremes(self, total: float) -> Extremes:
        self.n_passes += 1
        n, d = self.shape
        found = Extremes(np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), 0, None)
        height = max(1, self._buffer // (8 * d))
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            found = found.joined(self._extremes_of(rows, total))
            if found.bad is not None:
                break
        return found

    def sums_of_squares(self) -> Array:
        relative = self._with(self.moments)
        relative._factor = 1.0 / self.moments.peak
        sums = np.zeros(self.shape[1])
        for _, block in relative._blocks():
            sums += np.einsum("ij,ij->j", block, block)
        self.n_passes = relative.n_passes
        return sums

    def _gram(self) -> Array:
        d = self.shape[1]
        S = np.zeros((d, d))
        for _, block in self._blocks():
            add_squares(S, block)
        return mirror_upper(S)

    def _product_of_rows_as_they_are(self, V: Array) -> Array:
        """XᵀX V without a centred copy of a block: what lies between the two factors is centred."""
        W = V if self._factor is None else (V.T * self._factor).T
        shift, d = W.T @ self.moments.mean, self.shape[1]
        result, sums = np.zeros(V.T.shape), np.zeros(V.shape[1:])
        rows_as_they_are = DenseData(self.X, Moments.given(np.zeros(d), np.ones(d)))
        self.n_passes += 1
        for _, block in rows_as_they_are._blocks(_VIEW_BYTES):
            scores = ((W.T @ block.T).T - shift).T
            result += scores @ block
            sums = sums + scores.sum(axis=-1)
        result -= np.multiply.outer(sums, self.moments.mean)
        return (result if self._factor is None else result * self._factor).T

    def _blocks(self, view: int = _BLOCK_BYTES) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows, centred and scaled; of so many bytes where they are used as they are."""
        self.n_passes += 1
        n, d = self.shape
        as_it_is = self._is_as_it_is
        height = max(1, min(n, (view if as_it_is else self._buffer) // (8 * d)))
        memory, mapped = np.empty(0 if as_it_is else height * d), is_mapped(self.X)
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            if as_it_is:
                yield rows, self.X[rows]
            else:
                used = memory[: (rows.stop - start) * d]
                block = used.reshape((-1, d), order="F" if self._by_columns else "C")
                self._fill(block, self.X[rows])
                if self.weights is not None:
                    weigh(block, self.weights[rows])
                yield rows, block
            if mapped:
                report(rows.stop, n)

    def _fill(self, block: Array, values: NDArray[Any]) -> None:
        """Centre and scale values into a block of float64."""
        if values.dtype == np.float64:
            np.subtract(values, self.moments.mean, out=block)
        else:  # to convert first and subtract then is faster than both at once
            block[...] = values
            block -= self.moments.mean
        if self._factor is not None:
            block *= self._factor

    def _gathered(self, chosen: Indices | slice, rows: slice = slice(None)) -> Array:
        """Some columns of X, all rows or some, formed."""
        gathered: Array = self.X[rows][:, chosen]
        if isinstance(chosen, slice) or gathered.dtype != np.float64:
            gathered = gathered.astype(np.float64)  # a copy; an index has made one already
        gathered -= self.moments.mean[chosen]
        if self._factor is not None:
            gathered *= self._factor[chosen]
        if self.weights is not None:
            weigh(gathered, self.weights[rows])
        return gathered

    def _gathered_blocks(self, support: Indices, room: int) -> Iterator[Array]:
        """Some columns of X, formed, in blocks of rows that take no more bytes than the room."""
        self.n_passes += 1
        n = self.shape[0]
        height = max(1, min(n, room // (8 * max(support.size, 1))))
        for start in range(0, n, height):
            yield self._gathered(support, slice(start, min(start + height, n)))

    def _provisional_centre(self) -> Array:
        """The mean of some rows; in columns where these are equal, exactly their value."""
        used: NDArray[Any] = np.arange(self.shape[0])
        if self.weights is not None:
            used = np.flatnonzero(self.weights)
        count = min(max(self._buffer // (8 * self.shape[1]), _LEAST_SAMPLE), _SAMPLE, used.size)
        if self._by_columns:  # rows far apart are expensive to read from such a file
            rows = used[:count]
        else:
            rows = used[np.linspace(0, used.size - 1, count).astype(np.intp)]
        sample = self.X[rows].astype(np.float64, copy=False)
        low, high, mean = sample.min(axis=0), sample.max(axis=0), sample.mean(axis=0)
        if (mean**2 <= sample.var(axis=0)).all():
            return np.zeros(self.shape[1])  # is near enough, and saves a centred copy of the rows
        return np.asarray(np.where(low == high, low, mean))

    def _sums_about(self, centre: Array, full: bool) -> tuple[Array, Array, Array | None] | None:
        """Σw(x − c), Σw(x − c)² and, upper triangle only, Σw(x − c)(x − c)ᵀ.

        None where a number is not finite, or so small that its square vanishes.
        """
        n, d = self.shape
        shifted = DenseData(self.X, Moments.given(centre, np.ones(d)), self.weights)
        roots = np.ones(n) if self.weights is None else np.sqrt(self.weights)
        sums, squares = np.zeros(d), np.zeros(d)
        S: Array | None = None
        self.n_passes += 1
        for rows, block in shifted._blocks():
            sums += roots[rows] @ block
            if not full:
                squares += np.einsum("ij,ij->j", block, block)
            elif S is None:
                S = block.T @ block
            else:
                add_squares(S, block)
            if S is not None:
                squares = S.diagonal().copy()
            silent = np.flatnonzero(squares == 0.0)
            if not np.isfinite(squares).all() or block[:, silent].any():
                return None
        return sums, squares, S

    def _extremes_of(self, rows: slice, total: float) -> Extremes:
        block, d = self.X[rows], self.shape[1]
        n = block.shape[0]
        used, w = np.arange(n), None
        if self.weights is not None:
            w = self.weights[rows]
            used = np.flatnonzero(w)
            block, w = block[used], w[used]
        if used.size == 0:
            return Extremes(np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), n, None)
        low, high = block.min(axis=0), block.max(axis=0)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            bad = ~np.isfinite(block)
            row = int(np.argmax(bad.any(axis=1)))
            column = int(np.argmax(bad[row]))
            place = (int(used[row]), column, float(block[row, column]))
            return Extremes(low, high, np.zeros(d), n, place)
        share = _sum_over(total, block, w, peak=max(-float(low.min()), float(high.max())))
        return Extremes(low.astype(np.float64), high.astype(np.float64), share, n, None)

    @property
    def _is_as_it_is(self) -> bool:
        """Whether nothing has to be done to the rows before they are used."""
        X = self.X
        is_shifted = self._factor is not None or bool(self.moments.mean.any())
        # Of an array that is not contiguous, matrix products would make a copy.
        is_plain = X.dtype == np.float64 and bool(X.flags.forc) and self.weights is None
        return is_plain and not is_shifted

    @cached_property
    def _is_nearly_centred(self) -> bool:
        """Whether products of the rows as they are can be centred without loss of digits."""
        m = self.moments
        if m.n_samples == 0.0 or m.unit != 1.0 or self.weights is not None:
            return False  # in the first case nothing is known of the spread
        return bool((m.n_samples * m.mean**2 <= m.diagonal * m.scale**2).all())

    @property
    def _buffer(self) -> int:
        """Bytes that rows or columns may take, centred."""
        share = int(_BLOCK_SHARE * 8 * self.shape[0] * self.shape[1])
        return min(max(share, _LEAST_BYTES), _BLOCK_BYTES)

    @property
    def _by_columns(self) -> bool:
        return bool(self.X.flags.f_contiguous and not self.X.flags.c_contiguous)


def _sum_over(total: float, block: NDArray[Any], w: Array | None, peak: float) -> Array:
    """Σ w x / total of each column; huge entries are divided first so that the sum stays finite."""
    if w is not None:
        return np.asarray((w / total) @ block.astype(np.float64))
    if peak > 1e290:
        return np.asarray((block / total).sum(axis=0, dtype=np.float64))
    return np.asarray(block.sum(axis=0, dtype=np.float64)) / total
