"""Data that are not in memory, as they come from a user: what they are and what can be wrong."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from redac.sources.base import Array
from redac.sources.blocks import as_block
from redac.sources.cluster import is_dask, lazy_rows
from redac.sources.dense import DenseData
from redac.sources.local import is_row_store
from redac.sources.sparse import SparseData


def is_streamed(X: Any) -> bool:
    """Whether X is read in blocks: a Dask collection, or rows that something else keeps."""
    return is_dask(X) or (not issparse(X) and is_row_store(X))


def checked_stream(X: Any, *, least: int) -> Any:
    """X, of two dimensions, if its size and types are right as far as can be told unread."""
    if np.isnan(X.shape[1]):
        raise ValueError(
            "X has an unknown number of columns; X.compute_chunk_sizes() computes X once and finds "
            "it out."
        )
    if int(X.shape[1]) < 1:
        raise ValueError("X has no columns; at least one feature is needed.")
    dtypes = {str(name): kind for name, kind in X.dtypes.items()} if hasattr(X, "dtypes") else {}
    for name, dtype in dtypes.items() or {"": X.dtype}.items():
        if getattr(dtype, "kind", "O") not in "biuf":
            where = f"Column {name!r} of X" if name else "X"
            raise ValueError(f"{where} has the type {dtype}; real numbers are needed.")
    n = X.shape[0]
    if isinstance(n, (int, np.integer)) and n < least:
        raise ValueError(f"X has {n} row(s); at least {least} are needed.")
    return X


def stream_dtype(X: Any) -> np.dtype[Any]:
    """The type that holds every column."""
    if hasattr(X, "dtypes"):
        kinds = {np.dtype(f"{dtype.kind}{dtype.itemsize}") for dtype in X.dtypes}
        return np.dtype(np.result_type(*kinds))
    dtype: np.dtype[Any] = np.dtype(X.dtype)
    return dtype


def lazy_scores(X: Any, mean: Array, scale: Array, W: Array, dtype: np.dtype[Any]) -> Any:
    """(X − mean)/scale · W of a Dask collection as a Dask array that is not computed yet."""
    return lazy_rows(X, partial(_scores, mean, scale, W, dtype), W.shape[1], dtype)


def _scores(mean: Array, scale: Array, W: Array, dtype: np.dtype[Any], values: Any) -> NDArray[Any]:
    """Scores of one block; runs in a worker."""
    block = as_block(values, mean.size)
    kind = SparseData if issparse(block) else DenseData
    return kind.raw(block, mean=mean, scale=scale).scores(W).astype(dtype, copy=False)
