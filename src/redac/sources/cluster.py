"""Dask arrays and frames: blocks are asked where they are, and only sums travel.

Nothing is computed before a question is asked. The answers of neighbouring blocks are joined in a
tree, so no process ever holds more than a few of them, and none holds rows of another block.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np

from redac.exceptions import BlockError
from redac.sources.base import Array
from redac.sources.blocks import Rows, as_block
from redac.sources.weights import WeightSummary

T = TypeVar("T")

_FAN_IN = 8
# Blocks that become larger than this when their columns are put together are cut into lower ones.
_TALLEST_BLOCK = 1 << 28
_GONE = (
    "The Dask cluster that kept it is closed: start a cluster and persist the data there again, or "
    "pass data that are not persisted."
)


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or frame; asks nothing of an installation without Dask."""
    array, frame = sys.modules.get("dask.array"), sys.modules.get("dask.dataframe")
    return (array is not None and isinstance(X, array.Array)) or (
        frame is not None and isinstance(X, (frame.DataFrame, frame.Series))
    )


class Declared(NamedTuple):
    """What a Dask collection says of a block before the block is there.

    Attributes
    ----------
    widths : the number of columns of each piece of the block.
    columns : their names, of a frame.
    n_rows : the number of rows, if it is known.
    """

    widths: tuple[int, ...]
    columns: tuple[Any, ...] | None = None
    n_rows: int | None = None

    def refuse_other(self, pieces: list[Any]) -> None:
        """Raise if the pieces of a block are not what was declared."""
        for piece, width in zip(pieces, self.widths, strict=True):
            if len(piece.shape) != 2 or piece.shape[1] != width:
                raise ValueError(f"it has shape {piece.shape}; {width} columns were declared.")
            if self.n_rows is not None and piece.shape[0] != self.n_rows:
                raise ValueError(f"it has {piece.shape[0]} rows; {self.n_rows} were declared.")
            if self.columns is not None:
                self._refuse_other_columns(tuple(getattr(piece, "columns", ())))

    def _refuse_other_columns(self, found: tuple[Any, ...]) -> None:
        for position, (name, declared) in enumerate(zip(found, self.columns or (), strict=False)):
            if name != declared:
                raise ValueError(
                    f"its column {position} is {name!r}, where {declared!r} was declared."
                )


class DaskParts:
    """The blocks of rows of a Dask array or the partitions of a Dask frame."""

    def __init__(self, X: Any, sample_weight: Any = None) -> None:
        self._X = X
        self.n_features = int(X.shape[1])
        self.is_weighted = sample_weight is not None
        self.lengths: tuple[int, ...] | None = None
        if hasattr(X, "chunks"):
            X = _cut(X)
            if not np.isnan(X.chunks[0]).any():
                self.lengths = tuple(int(length) for length in X.chunks[0])
            self._blocks = [list(row) for row in X.to_delayed()]
            self._declared = Declared(X.chunks[1])
        else:
            self._blocks = [[partition] for partition in X.to_delayed()]
            self._declared = Declared((self.n_features,), tuple(X.columns))
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
        lengths: Sequence[int | None] = self.lengths or [None] * len(self._blocks)
        starts = np.cumsum([0, *(length or 0 for length in lengths)]).tolist()
        declared = [self._declared._replace(n_rows=length) for length in lengths]
        return [
            delayed(_on_block)(
                shared, pieces, self._weights[i], self._factor, (i, starts[i]), declared[i]
            )
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
                reason = _GONE if is_gone(self._X) else f"{type(found).__name__}: {found}"
                return BlockError(number, start, f"cannot be computed. {reason}")
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
    if is_gone(X):
        raise RuntimeError(_GONE)
    declared = Declared((X.shape[1],))
    if not hasattr(X, "chunks"):
        named = declared._replace(columns=tuple(X.columns))
        X = X.map_partitions(_as_declared, named, meta=X._meta).to_dask_array()
    X = _cut(X).rechunk({1: -1})
    chunks = (X.chunks[0], (n_columns,))
    return X.map_blocks(
        partial(_lazy_work, work, declared, X.chunks[0]),
        dtype=dtype,
        chunks=chunks,
        meta=np.empty((0, 0), dtype),
    )


def is_gone(X: Any) -> bool:
    """Whether parts of a Dask collection were kept in a cluster that is closed."""
    nodes = dict(X.__dask_graph__()).values()
    return any(getattr(node, "status", None) in ("cancelled", "lost") for node in nodes)


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
    # As with the work: one node of the graph holds what the joining needs.
    shared = _dask().delayed(join, traverse=False, pure=False)
    while len(nodes) > 1:
        groups = [nodes[i : i + _FAN_IN] for i in range(0, len(nodes), _FAN_IN)]
        nodes = [_dask().delayed(_joined)(shared, group) for group in groups]
    return nodes[0]


# These functions run in the workers.


def _on_block(
    work: Callable[[Rows], Any],
    pieces: list[Any],
    weights: Any,
    factor: float,
    place: tuple[int, int],
    declared: Declared,
) -> Any:
    """Put the pieces of a block together and do the work on it."""
    try:
        declared.refuse_other(pieces)
        X = as_block(_side_by_side(pieces), sum(declared.widths))
        w = None if weights is None else np.asarray(weights, dtype=np.float64).ravel() * factor
        if w is not None and w.size != X.shape[0]:
            raise ValueError(f"it has {X.shape[0]} rows and {w.size} weights.")
    except Exception as error:
        raise BlockError(place[0], None, f"cannot be used: {error}") from error
    return work(Rows(X, w, *place))


def _as_declared(
    block: Any, declared: Declared, partition_info: dict[str, Any] | None = None
) -> Any:
    """A partition of a frame, if it is what the frame says."""
    try:
        declared.refuse_other([block])
    except ValueError as error:
        number = -1 if partition_info is None else int(partition_info["number"])
        raise BlockError(number, None, f"cannot be used: {error}") from None
    return block


def _lazy_work(
    work: Callable[..., Array],
    declared: Declared,
    heights: tuple[float, ...],
    values: Any,
    block_id: tuple[int, ...] = (0,),
) -> Array:
    """Do the work on one block of a Dask array, whose number is part of every complaint."""
    height = heights[block_id[0]]
    try:
        known = None if np.isnan(height) else int(height)
        declared._replace(n_rows=known).refuse_other([values])
        return work(values)
    except ValueError as error:
        raise BlockError(block_id[0], None, f"cannot be used: {error}") from None


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
