"""Blocks of rows that are read one after the other on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from redac.exceptions import BlockError
from redac.sources.base import Array
from redac.sources.blocks import Rows, as_block
from redac.sources.progress import is_mapped, report

T = TypeVar("T")

# What a block may take in memory; larger ones are not faster.
_BLOCK_BYTES = 1 << 26


def is_row_store(X: Any) -> bool:
    """Whether X keeps its numbers elsewhere and gives out rows, as HDF5 and Zarr arrays do."""
    if isinstance(X, np.ndarray) or not isinstance(getattr(X, "dtype", None), np.dtype):
        return False
    gives_rows = hasattr(X, "row_blocks") or hasattr(X, "__getitem__")
    return len(getattr(X, "shape", ())) == 2 and gives_rows


class LocalParts:
    """Rows read in blocks of bounded size, again for every pass.

    Parameters
    ----------
    X : anything with ``shape`` and ``dtype`` whose rows can be sliced, or that has a method
        ``row_blocks(height)`` which yields its rows in blocks of about so many.
    weights : one number for each row, or None.
    """

    def __init__(self, X: Any, weights: Array | None = None) -> None:
        self._X = X
        self._weights = weights
        n, d = X.shape
        self._n_rows = int(n)
        self.n_features = int(d)
        self.is_weighted = weights is not None
        self.lengths: tuple[int, ...] | None = (int(n),)

    def fold(self, work: Callable[[Rows], T], join: Callable[[T, T], T]) -> T:
        return reduce(join, map(work, self.rows()))

    def each(self, work: Callable[[Rows], T]) -> list[T]:
        return list(map(work, self.rows()))

    def rows(self) -> Iterator[Rows]:
        """One block after the other."""
        start = number = 0
        blocks = iter(self._blocks())
        while True:
            try:
                values = next(blocks, None)
                if values is None:
                    break
                block = as_block(values, self.n_features)
                self._refuse_too_long(start + block.shape[0])
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise BlockError(number, start, f"cannot be read. {why}") from error
            stop = start + block.shape[0]
            weights = None if self._weights is None else self._weights[start:stop]
            yield Rows(block, weights, number, start)
            start, number = stop, number + 1
            report(start, self._n_rows)
        if start != self._n_rows:
            raise BlockError(number, start, f"is absent: X says it has {self._n_rows} rows.")

    def _refuse_too_long(self, stop: int) -> None:
        if stop > self._n_rows:
            raise ValueError(f"it ends with row {stop}, but X says it has {self._n_rows} rows.")

    def _blocks(self) -> Iterator[Any]:
        height = max(1, _BLOCK_BYTES // (self.n_features * max(8, self._X.dtype.itemsize)))
        if hasattr(self._X, "row_blocks"):
            yield from self._X.row_blocks(height)
            return
        stored = (getattr(self._X, "chunks", None) or (1,))[0]
        if isinstance(stored, int) and 1 < stored < height:
            height -= height % stored  # chunks of a file are read whole
        n = self._X.shape[0]
        for start in range(0, n, height):
            stop = min(start + height, n)
            rows = self._X[start:stop]
            if len(getattr(rows, "shape", ())) == 2 and rows.shape[0] != stop - start:
                raise ValueError(f"it has {rows.shape[0]} rows; {stop - start} were asked for.")
            # A view of a file would be read once more for each question.
            yield np.array(rows) if is_mapped(rows) else rows
