"""From a path to a table: the suffix of a file says what reads it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from redac.disk import DataFileError
from redac.files import arrow, binary, hdf5, sheets, text
from redac.files.column_choice import ColumnChoice, square_selection, transposed, without_empty
from redac.files.table import Table, counted, quoted, refuse_missing

_READERS: dict[str, Callable[..., Table]] = {
    ".csv": text.read_text,
    ".tsv": text.read_text,
    ".txt": text.read_text,
    ".xlsx": sheets.read_xlsx,
    ".parquet": arrow.read_parquet,
    ".feather": arrow.read_feather,
    ".json": sheets.read_json,
    ".jsonl": sheets.read_json,
    ".ndjson": sheets.read_json,
    ".npy": binary.read_npy,
    ".npz": binary.read_npz,
    ".mtx": binary.read_mtx,
    ".h5ad": hdf5.read_h5ad,
}
SUFFIXES = tuple(_READERS)
_COMPRESSIBLE = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".mtx")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zip")


def read_table(
    path: str | os.PathLike[str],
    *,
    square: bool = False,
    missing: str = "error",
    na_marks: Sequence[str] = (),
    input_format: str | None = None,
    drop: Sequence[str] | str = (),
    only: Sequence[str] | str | None = None,
    index: str | None = None,
    label: str | None = None,
    names: str | os.PathLike[str] | None = None,
    keep_empty: bool = True,
    transpose: bool = False,
) -> Table:
    """Read a numeric matrix and its names from a file.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.tsv``, ``.txt``, ``.xlsx``, ``.parquet``, ``.feather``, ``.json``,
        ``.jsonl``, ``.ndjson``, ``.npy``, ``.npz``, ``.mtx`` or ``.h5ad`` file. Text, JSON and
        Matrix Market files may be compressed (``.csv.gz``, also ``.bz2``, ``.xz`` and ``.zip``).
    square : bool, default=False
        Whether a covariance or correlation matrix is expected: as many rows as columns, and
        the same names on both where there are names.
    missing : {"error", "keep"}, default="error"
        Whether a missing value is an error or NaN in the table.
    na_marks : sequence of str, default=()
        What stands for a missing value in a text file, beside an empty cell, NA, NaN and the like.
    input_format : str, optional
        What the file is, such as "csv" or "csv.gz", where its name does not say so.
    drop, only : str or sequence of str
        Columns that are left out, or all that are used: names, or several with commas between them;
        numbers from 1 where columns have no names.
    index : str, optional
        The column that names the rows.
    label : str, optional
        A column that says of what kind rows are; in a ``.h5ad`` file, one of obs. It is no feature,
        but ``Table.labels``.
    names : path-like, optional
        A file with names for the columns of a file that has none, one in each line.
    keep_empty : bool, default=True
        Whether columns with a name and no value at all are kept; else they are left out, as text.
    transpose : bool, default=False
        Whether features are the rows of the file. ``drop``, ``only`` and ``index`` are of its
        columns, ``names`` of features.

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
    columns = ColumnChoice.of(name, drop=drop, only=only, index=index, label=label, names=names)
    # Of a covariance matrix rows and columns are chosen together, when all of it has been read.
    wanted = ColumnChoice(name, names=columns.names) if square else columns
    if transpose and not square:  # names are those of features
        wanted = replace(columns, names=None)
    try:
        reader = _reader_for(name, input_format)
        # What libraries have to say beside the data, for instance of classes that they will return
        # in the future, is not about the file.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            marks = (na_marks,) if reader is text.read_text else ()
            table = reader(name, wanted, *marks)
    except PermissionError as error:
        raise DataFileError(f"{name}: no permission to read it") from error
    except OSError as error:
        raise DataFileError(f"{name}: cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise DataFileError(f"{name}: does not fit into memory") from error
    if transpose and not square:
        table = transposed(table, columns)
    if not keep_empty and not square:
        table = without_empty(table)
    # A single row with a gap is rather a header without rows.
    if missing == "error" or square or table.values.shape[0] < 2:
        refuse_missing(table)
    return square_selection(_as_square(table, name), columns, name) if square else table


def _reader_for(path: str, input_format: str | None) -> Callable[..., Table]:
    file = Path(path)
    if not file.exists():
        raise DataFileError(f"{path}: no such file")
    if file.is_dir():
        raise DataFileError(f"{path}: is a folder, not a file")
    if not file.is_file():  # to open a pipe would wait for somebody to write into it
        raise DataFileError(
            f"{path}: is a pipe, a device or a socket; write the data to a file first"
        )
    suffix = _inner_suffix(file.name if input_format is None else f"x.{input_format.lstrip('.')}")
    if suffix not in _READERS:
        known = ", ".join(_READERS)
        packed = f"; {', '.join(_COMPRESSIBLE)} also as {', '.join(_COMPRESSED)}"
        kind = "extension" if input_format is None else "format"
        found = f"unknown {kind} '{suffix}'" if suffix else "no extension"
        hint = "" if input_format else "; say what it is with --input-format csv or the like"
        raise DataFileError(f"{path}: {found}; known are {known}{packed}{hint}")
    if file.stat().st_size == 0:
        raise DataFileError(f"{path}: the file is empty")
    return _READERS[suffix]


def _inner_suffix(name: str) -> str:
    """What a file is by its name: ``.csv`` for ``data.csv.gz`` too, ``.npy.gz`` as a whole."""
    file = Path(name.lower())
    if file.suffix not in _COMPRESSED:
        return file.suffix
    inner = Path(file.stem).suffix
    return inner if inner in _COMPRESSIBLE else inner + file.suffix


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
