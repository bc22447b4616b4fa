"""AnnData files (.h5ad), by their layout in HDF5: anndata itself is not needed.

The layout is that of https://anndata.readthedocs.io/en/latest/fileformat-prose.html: X is an array,
or a group of the three arrays of a CSR or CSC matrix; obs and var are groups of columns, one of
which is the index.
"""

from __future__ import annotations

import math
import os
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from redac.disk import DataFileError, decoding
from redac.files.binary import numeric_table
from redac.files.column_choice import ColumnChoice, selected
from redac.files.table import LARGE, Table, is_large, quoted

_KIND = "an AnnData file (.h5ad)"


def read_h5ad(path: str, columns: ColumnChoice) -> Table:
    """Read X, the names of its rows and columns, and a label from obs if one is wanted."""
    try:
        import h5py
    except ImportError as error:
        raise DataFileError(
            f"{path}: reading .h5ad needs h5py; install it with: pip install 'redac[h5ad]'"
        ) from error
    label, index = columns.label, columns.index
    with decoding(path, _KIND), ExitStack() as opened:
        file = opened.enter_context(h5py.File(path, "r"))
        X = _matrix(file, path)
        n, d = X.shape
        is_stored = isinstance(X, h5py.Dataset)
        in_blocks = is_stored and is_large(X.nbytes)
        values = X[()] if is_stored and not in_blocks else X
        feature_names = _names(file, "var", d)
        sample_names = _names(file, "obs", n)
        if index is not None:
            sample_names = _column(file, index, n, path)
        labels = None if label is None else _column(file, label, n, path)
        if in_blocks:
            opened.pop_all()  # it stays open: its rows are read when they are needed
    inner = replace(columns, index=None, label=None)
    if in_blocks:
        table = selected(Table(values, feature_names, sample_names), inner)
    else:
        table = numeric_table(values, inner, sample_names, feature_names)
    return replace(table, labels=labels, label_name=label)


def _matrix(file: Any, path: str) -> Any:
    import h5py
    from scipy.sparse import csc_array, csr_array

    if "X" not in file:
        raise DataFileError(f"{path}: has no X; it is {_KIND}")
    X = file["X"]
    if isinstance(X, h5py.Dataset):
        _refuse_too_large(X)
        return X
    kind = _as_text(X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", "")))
    shape = tuple(int(size) for size in X.attrs.get("shape", X.attrs.get("h5sparse_shape")))
    makers = {"csr_matrix": csr_array, "csr": csr_array, "csc_matrix": csc_array, "csc": csc_array}
    if kind not in makers:
        raise ValueError(f"X is {kind or 'of no known kind'}")
    parts = []
    for name in ("data", "indices", "indptr"):
        _refuse_too_large(X[name])
        parts.append(X[name][()])
    matrix = makers[kind](tuple(parts), shape=shape)
    # The arrays reach compiled code unchecked; damaged ones would crash it.
    if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
        raise ValueError("index pointers that go back")
    matrix.check_format(full_check=True)
    return matrix


def _refuse_too_large(dataset: Any) -> None:
    """Raise if there are fewer bytes in the file than the array claims; compressed ones apart."""
    claimed = math.prod(dataset.shape) * dataset.dtype.itemsize
    stored = dataset.id.get_storage_size()
    # No filter packs more than a thousand numbers into the room of one.
    if claimed > max(LARGE, 1000 * stored):
        raise ValueError(f"{dataset.name} claims {claimed} bytes, but {stored} are there")


def _names(file: Any, group: str, length: int) -> list[str] | None:
    """The names of rows or columns, from the index of their table."""
    if group not in file:
        return None
    table = file[group]
    if hasattr(table, "dtype"):  # before version 0.7: one array of records
        fields = table.dtype.names or ()
        return _texts(table[fields[0]], length) if fields else None
    name = _as_text(table.attrs.get("_index", "_index"))
    return _texts(_plain_column(table, name), length) if name in table else None


def _column(file: Any, name: str, length: int, path: str) -> list[str]:
    """A column of obs, as text."""
    table = file.get("obs", {})
    known = table.dtype.names if hasattr(table, "dtype") else list(table)
    if name not in known:
        listed = ", ".join(quoted(each) for each in known if not each.startswith("_"))
        raise DataFileError(f"{path}: obs has no column {quoted(name)}; there are {listed}")
    return _texts(_plain_column(table, name), length)


def _plain_column(table: Any, name: str) -> Any:
    """The values of a column; categories take the place of their codes."""
    column = table[name]
    if hasattr(column, "keys"):
        codes, categories = column["codes"][()], _read(column["categories"])
    elif hasattr(table, "keys") and "__categories" in table and name in table["__categories"]:
        codes, categories = column[()], _read(table["__categories"][name])
    else:
        return _read(column) if hasattr(column, "shape") and column.shape != () else column
    found = np.full(len(codes), "", dtype=object)
    present = codes >= 0
    found[present] = categories[codes[present]]
    return found


def _read(dataset: Any) -> Any:
    """All of a dataset. The library makes room for as many bytes as a text claims to have."""
    start = dataset.id.get_offset()
    if dataset.dtype.kind == "O" and start is not None and dataset.size:
        # Each text is the number of its bytes, of four bytes, and where they are.
        width = dataset.id.get_storage_size() // dataset.size
        path = os.fsdecode(dataset.file.filename)
        claims = np.memmap(path, np.uint8, "r", start, (dataset.size, width))[:, :4]
        longest = int(np.ascontiguousarray(claims).view("<u4").max())
        if longest > os.path.getsize(path):
            raise ValueError(f"{dataset.name}: a text claims {longest} bytes")
    return dataset[()]


def _texts(values: Any, length: int) -> list[str]:
    texts = [_as_text(value) for value in np.asarray(values).ravel().tolist()]
    if len(texts) != length:
        raise ValueError(f"{len(texts)} names or labels for {length} rows or columns")
    return texts


def _as_text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
