"""From a path to a table: the suffix of a file says what reads it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from redac.disk import DataFileError
from redac.files import binary, text
from redac.files.table import Table, counted, quoted, refuse_missing

_READERS: dict[str, Callable[..., Table]] = {
    ".csv": text.read_text,
    ".tsv": text.read_text,
    ".txt": text.read_text,
    ".parquet": binary.read_parquet,
    ".npy": binary.read_npy,
    ".npz": binary.read_npz,
    ".mtx": binary.read_mtx,
}
_COMPRESSIBLE = (".csv", ".tsv", ".txt", ".mtx")


def read_table(
    path: str | os.PathLike[str],
    *,
    square: bool = False,
    missing: str = "error",
    na_marks: Sequence[str] = (),
) -> Table:
    """Read a numeric matrix and its names from a file.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.npy``, ``.npz`` or ``.mtx`` file; text
        and Matrix Market files may be gzipped (``.csv.gz``).
    square : bool, default=False
        Whether a covariance or correlation matrix is expected: as many rows as columns, and
        the same names on both where there are names.
    missing : {"error", "keep"}, default="error"
        Whether a missing value is an error or NaN in the table.
    na_marks : sequence of str, default=()
        What stands for a missing value in a text file, beside an empty cell, NA, NaN and the like.

    Returns
    -------
    Table
        The matrix with its names and the columns that were left out.

    Raises
    ------
    DataFileError
        When the file cannot be read or holds something other than finite numbers.
    """
    name = os.fspath(path)
    try:
        reader = _reader_for(name)
        # What libraries have to say beside the data, for instance of classes that they will return
        # in the future, is not about the file.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = reader(name, na_marks) if reader is text.read_text else reader(name)
    except PermissionError as error:
        raise DataFileError(f"{name}: no permission to read it") from error
    except OSError as error:
        raise DataFileError(f"{name}: cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise DataFileError(f"{name}: does not fit into memory") from error
    # A single row with a gap is rather a header without rows.
    if missing == "error" or square or table.values.shape[0] < 2:
        refuse_missing(table)
    return _as_square(table, name) if square else table


def _reader_for(path: str) -> Callable[..., Table]:
    file = Path(path)
    if not file.exists():
        raise DataFileError(f"{path}: no such file")
    if file.is_dir():
        raise DataFileError(f"{path}: is a folder, not a file")
    if not file.is_file():  # to open a pipe would wait for somebody to write into it
        raise DataFileError(
            f"{path}: is a pipe, a device or a socket; write the data to a file first"
        )
    suffix = file.suffix.lower()
    if suffix == ".gz":
        inner = Path(file.stem).suffix.lower()
        suffix = inner if inner in _COMPRESSIBLE else inner + suffix
    if suffix not in _READERS:
        known = ", ".join([*_READERS, *(f"{each}.gz" for each in _COMPRESSIBLE)])
        found = f"unknown extension '{suffix}'" if suffix else "no extension"
        raise DataFileError(f"{path}: {found}; known are {known}")
    if file.stat().st_size == 0:
        raise DataFileError(f"{path}: the file is empty")
    return _READERS[suffix]


def _as_square(table: Table, path: str) -> Table:
    """Check that a table can be a covariance matrix and name its features."""
    rows, columns = table.values.shape
    if rows != columns:
        left_out = counted(len(table.ignored), "non-numeric column") + " left out"
        remark = f" ({left_out})" if table.ignored else ""
        raise DataFileError(
            f"{path}: a covariance matrix is square, this one is {rows} × {columns}{remark}"
        )
    of_rows, of_columns = table.sample_names, table.feature_names
    if of_rows is None or of_columns is None:
        return replace(table, feature_names=of_columns or of_rows)
    for position, (row, column) in enumerate(zip(of_rows, of_columns, strict=True), start=1):
        if row != column:
            order = " (same names, other order)" if sorted(of_rows) == sorted(of_columns) else ""
            raise DataFileError(
                f"{path}: a covariance matrix has the same names on rows and columns, but "
                f"row name {position} is {quoted(row)} and "
                f"column name {position} is {quoted(column)}{order}"
            )
    return table
