"""The same numbers in every kind of container that ``fit`` takes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

Matrix = NDArray[Any]


class RowStore:
    """Rows that are given out by slicing, as by a file."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self.shape, self.dtype = X.shape, X.dtype

    def __getitem__(self, rows: slice) -> Matrix:
        return self._X[rows]


class BlockStore(RowStore):
    """Rows that are given out a few at a time, so that small data come in several blocks."""

    def row_blocks(self, height: int) -> Iterator[Matrix]:
        height = min(height, 7)
        for start in range(0, self.shape[0], height):
            yield self._X[start : start + height]


def _read_only(X: Matrix) -> Matrix:
    X = X.copy()
    X.flags.writeable = False
    return X


def _strided(X: Matrix) -> Matrix:
    """A view of every second row and column, the rows backwards."""
    n, d = X.shape
    wide = np.zeros((2 * n, 2 * d), X.dtype)
    view = wide[::-2, ::2]
    view[...] = X
    return view


def _mapped(X: Matrix) -> Matrix:
    # A mapping outlives its file, which has no name and leaves nothing behind.
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[...] = X
    return mapped


def _frame(X: Matrix) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])


def _polars(X: Matrix) -> Any:
    import polars as pl

    return pl.DataFrame({f"feature {j}": column for j, column in enumerate(X.T)})


def _untidy(X: Matrix) -> Any:
    """A csr_array with zeros that are stored, entries in two parts, and columns out of order."""
    rows, columns = (index.ravel()[::-1] for index in np.indices(X.shape))
    values = X.ravel()[::-1]
    if X.dtype.kind != "b":  # the parts of a number, one of them zero, are added up
        rows, columns = np.tile(rows, 2), np.tile(columns, 2)
        values = np.concatenate([values, np.zeros_like(values)])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(X.shape[0] + 1))
    return sp.csr_array((values[order], columns[order], starts), shape=X.shape)


def _big_endian(X: Matrix) -> Matrix:
    return X.astype(X.dtype.newbyteorder(">"))


def _dask(X: Matrix) -> Any:
    import dask.array

    read: Any = dask.array.from_array
    return read(X, chunks=(max(1, X.shape[0] // 3), X.shape[1]))


CONTAINERS: dict[str, Callable[[Matrix], Any]] = {
    "array": np.ascontiguousarray,
    "Fortran array": np.asfortranarray,
    "read-only array": _read_only,
    "strided array": _strided,
    "memmap": _mapped,
    "big-endian array": _big_endian,
    "pandas": _frame,
    "polars": _polars,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    "coo_matrix": sp.coo_matrix,
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "untidy csr_array": _untidy,
    "row store": RowStore,
    "row blocks": BlockStore,
    "dask": _dask,
}
# ``fit_covariance`` takes this one; it is made from the reference.
COVARIANCE = "covariance"


def plain(given: Any) -> Any:
    """What the functions of ``redac.metrics`` take: an array or a sparse matrix."""
    if isinstance(given, RowStore):
        return given[:]
    return given if sp.issparse(given) else np.asarray(given)
