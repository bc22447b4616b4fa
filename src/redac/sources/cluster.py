"""Dask arrays and frames: blocks are asked where they are, and only sums travel.

Nothing is computed before a question is asked. The answers of neighbouring blocks are joined in a
tree, so no process ever holds more than a few of them, and none holds rows of another block.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from redac.sources.base import Array
from redac.sources.blocks import BlockError, Rows, as_block
from redac.sources.weights import WeightSummary

T = TypeVar("T")

_FAN_IN = 8
# Blocks that become larger than this when their columns are put together are cut into lower ones.
_TALLEST_BLOCK = 1 << 28


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or frame; asks nothing of an installation without Dask."""
    array, frame = sys.modules.get("dask.array"), sys.modules.get("dask.dataframe")
    return (array is not None and isinstance(X, array.Array)) or (
        frame is not None and isinstance(X, (frame.DataFrame, frame.Series))
    )


class DaskParts:
    """The blocks of rows of a Dask array or the partitions of a Dask frame."""

    def __init__(self, X: Any, sample_weight: Any = None) -> None:
        self.n_features = int(X.shape[1])
        self.is_weighted = sample_weight is not None
        self.lengths: tuple[int, ...] | None = None
        if hasattr(X, "chunks"):
            X = _cut(X)
            if not np.isnan(X.chunks[0]).any():
                self.lengths = tuple(int(length) for length in X.chunks[0])
            self._blocks = [list(row) for row in X.to_delayed()]
        else:
            self._blocks = [[partition] for partition in X.to_delayed()]
        self._weights: list[Any] = [None] * len(self._blocks)
        self._factor = 1.0
        if sample_weight is not None:
            self._set_weights(sample_weight)

    def fold(self, work: Callable[[Rows], T], join: Callable[[T, T], T]) -> T:
        found: T = self._computed([_tree(join, self._tasks(work))])[0]
        return found

    def each(self, work: Callable[[Rows], T]) -> list[T]:
        return self._computed(self._tasks(work))

    def _tasks(self, work: Callable[[Rows], Any]) -> list[Any]:
        delayed = _dask().delayed
        # One node of the graph holds the work with its arguments, and all tasks refer to it.
        shared = delayed(work, traverse=False, pure=False)
        lengths = self.lengths or [0] * len(self._blocks)
        starts = np.cumsum([0, *lengths]).tolist()
        return [
            delayed(_on_block)(shared, pieces, self._weights[i], self._factor, (i, starts[i]))
            for i, pieces in enumerate(self._blocks)
        ]

    def _computed(self, nodes: list[Any]) -> list[Any]:
        try:
            return _compute(nodes)
        except BlockError:
            raise
        except Exception as error:
            raise self._located(error) from error

    def _located(self, error: Exception) -> BlockError | Exception:
        """The error with the block that fails; blocks are computed one by one to find it."""
        why = f"{type(error).__name__}: {error}"
        for number, task in enumerate(self._tasks(_look)):
            try:
                _compute([task])
            except BlockError as found:
                return found
            except Exception as found:
                start = sum(self.lengths[:number]) if self.lengths else None
                return BlockError(
                    number, start, f"cannot be computed. {type(found).__name__}: {found}"
                )
        return RuntimeError(
            f"The blocks of the data can be computed one by one, but not together. {why}"
        )

    def _set_weights(self, sample_weight: Any) -> None:
        """One piece of the weights for each block, checked before any data are read."""
        if np.ndim(sample_weight) != 1:
            raise ValueError(
                f"sample_weight must be 1D, one number for each row, not {np.ndim(sample_weight)}D."
            )
        if is_dask(sample_weight):
            self._weights = self._aligned(sample_weight)
            summaries = [_dask().delayed(WeightSummary.of)(piece) for piece in self._weights]
            summary = _compute([_tree(WeightSummary.joined, summaries)])[0]
        else:
            if self.lengths is None:
                self.lengths = tuple(self.each(_look))
            w = np.asarray(sample_weight, dtype=np.float64)
            summary = WeightSummary.of(w)
            self._weights = np.split(w, np.cumsum(self.lengths)[:-1])
        self._factor = summary.factor(None if self.lengths is None else sum(self.lengths))

    def _aligned(self, sample_weight: Any) -> list[Any]:
        """Dask weights in the blocks of X."""
        has_chunks = hasattr(sample_weight, "chunks")
        if has_chunks and self.lengths and sample_weight.shape[0] == sum(self.lengths):
            sample_weight = sample_weight.rechunk((self.lengths,))
        pieces = list(np.ravel(sample_weight.to_delayed()))
        if len(pieces) != len(self._blocks):
            raise ValueError(
                f"sample_weight comes in {len(pieces)} pieces, X in {len(self._blocks)} blocks of "
                "rows; give both the same partitions."
            )
        return pieces


def lazy_rows(X: Any, work: Callable[..., Array], n_columns: int, dtype: np.dtype[Any]) -> Any:
    """A Dask array, not computed yet, of what ``work`` makes of each block of rows."""
    if not hasattr(X, "chunks"):
        X = X.to_dask_array()
    X = _cut(X).rechunk({1: -1})
    chunks = (X.chunks[0], (n_columns,))
    return X.map_blocks(work, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype))


def _cut(X: Any) -> Any:
    """X with lower blocks where a row of blocks, put together, would be too large for a task."""
    heights, d = X.chunks[0], X.shape[1]
    row_bytes = max(1, d * X.dtype.itemsize)
    if X.numblocks[1] == 1 or np.isnan(heights).any() or max(heights) * row_bytes <= _TALLEST_BLOCK:
        return X
    return X.rechunk({0: max(1, _TALLEST_BLOCK // row_bytes)})


def _dask() -> Any:
    return import_module("dask")


def _compute(nodes: list[Any]) -> list[Any]:
    with warnings.catch_warnings():
        # Loadings of many features make the graph large; they are needed in every block.
        warnings.filterwarnings("ignore", message="Sending large graph")
        return list(_dask().compute(*nodes))


def _tree(join: Callable[[T, T], T], nodes: list[Any]) -> Any:
    """One node that joins the results of all, neighbours first."""
    while len(nodes) > 1:
        groups = [nodes[i : i + _FAN_IN] for i in range(0, len(nodes), _FAN_IN)]
        nodes = [_dask().delayed(_joined)(join, group) for group in groups]
    return nodes[0]


# These functions run in the workers.


def _on_block(
    work: Callable[[Rows], Any],
    pieces: list[Any],
    weights: Any,
    factor: float,
    place: tuple[int, int],
) -> Any:
    """Put the pieces of a block together and do the work on it."""
    try:
        X = as_block(_side_by_side(pieces), sum(piece.shape[1] for piece in pieces))
        w = None if weights is None else np.asarray(weights, dtype=np.float64).ravel() * factor
        if w is not None and w.size != X.shape[0]:
            raise ValueError(f"it has {X.shape[0]} rows and {w.size} weights.")
    except Exception as error:
        raise BlockError(place[0], None, f"cannot be used: {error}") from error
    return work(Rows(X, w, *place))


def _side_by_side(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    from scipy.sparse import hstack, issparse

    if any(issparse(piece) for piece in pieces):
        return hstack(pieces, format="csr")
    return np.hstack([np.asarray(piece) for piece in pieces])


def _joined(join: Callable[[T, T], T], results: list[T]) -> T:
    total = results[0]
    for result in results[1:]:
        total = join(total, result)
    return total


def _look(rows: Rows) -> int:
    return int(rows.X.shape[0])
