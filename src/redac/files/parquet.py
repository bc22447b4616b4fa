"""Large Parquet files: their numeric columns as rows that are read in batches, never as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.disk import DataFileError, decoding
from redac.files.table import Table, is_large, quoted

_KIND = "a Parquet file"


class ParquetRows:
    """The numeric columns of a Parquet file, in the order of the file.

    It has the shape and type of an array, and ``row_blocks`` reads it from the first row to the
    last. Missing values are read as NaN.
    """

    def __init__(self, path: str, columns: list[str], shape: tuple[int, int], dtype: Any) -> None:
        self._path = path
        self._columns = columns
        self.shape = shape
        self.dtype = np.dtype(dtype)

    def with_columns(self, positions: list[int]) -> ParquetRows:
        """The same rows with these columns only."""
        chosen = [self._columns[at] for at in positions]
        return ParquetRows(self._path, chosen, (self.shape[0], len(chosen)), self.dtype)

    def row_blocks(self, height: int) -> Iterator[NDArray[Any]]:
        """The rows in blocks of at most so many."""
        with decoding(self._path, _KIND), _opened(self._path) as file:
            for batch in file.iter_batches(batch_size=height, columns=self._columns):
                block = np.empty((batch.num_rows, len(self._columns)), dtype=self.dtype)
                for position, name in enumerate(self._columns):
                    block[:, position] = batch.column(name).to_numpy(zero_copy_only=False)
                yield block

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = np.concatenate(list(self.row_blocks(1 << 16)))
        return values if dtype is None else values.astype(dtype)


def streamed_table(path: str) -> Table | None:
    """The table in a large file of plain numbers and text, or None where it should be read whole.

    Columns of text are left out and rows are numbered: names for so many rows would not fit.
    """
    with decoding(path, _KIND), _opened(path) as file:
        groups = range(file.metadata.num_row_groups)
        size = sum(file.metadata.row_group(i).total_byte_size for i in groups)
        if not is_large(size):
            return None
        schema, n = file.schema_arrow, file.metadata.num_rows
        kinds = {field.name: _kind(field.type) for field in schema}
        if None in kinds.values() or len(kinds) < len(schema):
            return None
        numeric = [name for name, kind in kinds.items() if kind is not np.str_]
        text = [name for name, kind in kinds.items() if kind is np.str_]
        first = next(file.iter_batches(batch_size=1, columns=text)) if text else None
    if not numeric:
        raise DataFileError(f"{path}: no numeric column")
    dtype = np.result_type(*[kinds[name] for name in numeric])
    rows = ParquetRows(path, numeric, (n, len(numeric)), dtype if dtype == np.float32 else float)
    ignored = {
        name: f"text, e.g. {quoted(first.column(name)[0])} in row 1"
        for name in text
        if first is not None
    }
    return Table(rows, feature_names=numeric, ignored=ignored)


def _opened(path: str) -> Any:
    return import_module("pyarrow.parquet").ParquetFile(path)


def _kind(arrow_type: Any) -> Any:
    """The NumPy type of a column, the type of strings for text, None for anything else."""
    types = import_module("pyarrow.types")
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return np.str_
    plain = types.is_integer(arrow_type) or types.is_boolean(arrow_type)
    if plain or types.is_floating(arrow_type):
        return arrow_type.to_pandas_dtype()
    return None
