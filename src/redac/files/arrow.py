"""Parquet and Feather files."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from redac.disk import DataFileError, decoding
from redac.files.column_choice import ColumnChoice, distinct, taken
from redac.files.table import Origin, Table

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(path: str, columns: ColumnChoice) -> Table:
    """Read a Parquet file; a pandas index other than 0, 1, 2, ... gives the sample names.

    A large file is not read here: its table holds rows that are read in blocks when needed.
    """
    from redac.files.parquet import streamed_table

    parquet = _library("parquet", "Parquet", path)
    large = streamed_table(path)
    if large is not None:
        return _selected_rows(large, columns)
    with open(path, "rb") as stream, decoding(path, "a Parquet file"):
        frame = _frame(parquet.read_table(stream))
    return _table(frame, columns)


def read_feather(path: str, columns: ColumnChoice) -> Table:
    """Read a Feather file, of version 2 (Arrow) or 1."""
    feather = _library("feather", "Feather", path)
    with open(path, "rb") as stream, decoding(path, "a Feather file"):
        frame = _frame(feather.read_table(stream, memory_map=False))
    return _table(frame, columns)


def _library(name: str, kind: str, path: str) -> Any:
    try:
        import_module("pyarrow")
        return import_module(f"pyarrow.{name}")
    except ImportError as error:
        raise DataFileError(
            f"{path}: reading {kind} needs pyarrow; install it with: pip install 'redac[parquet]'"
        ) from error


def _frame(content: Any) -> pd.DataFrame:
    # Damaged text would otherwise only fail when a cell is looked at.
    content.validate(full=True)
    frame: pd.DataFrame = content.to_pandas()
    return frame


def _table(frame: pd.DataFrame, columns: ColumnChoice) -> Table:
    from redac.files.frames import table_from_frame

    names, notes = distinct([str(name) for name in frame.columns])
    origin = Origin(columns.path, names)
    table = table_from_frame(frame, origin, columns, sample_names=_row_labels(frame))
    return replace(table, notes=notes + table.notes)


def _selected_rows(table: Table, columns: ColumnChoice) -> Table:
    """Columns of a large file; those of text are known by name, but not read."""
    if columns.index is not None or columns.label is not None:
        raise DataFileError(
            f"{columns.path}: is read in blocks, which keep no names or labels of rows"
        )
    numeric = list(table.feature_names or [])
    every = [*numeric, *table.ignored]
    roles = columns.roles(columns.names_for(every, len(every)), len(every))
    kept = [at for at in roles.features if at < len(numeric)]
    if not kept:
        raise DataFileError(f"{columns.path}: no numeric column is left")
    return replace(
        table,
        values=taken(table.values, kept),
        feature_names=[numeric[at] for at in kept],
        ignored={
            name: why
            for at, (name, why) in enumerate(table.ignored.items(), start=len(numeric))
            if at in roles.features
        },
    )


def _row_labels(frame: pd.DataFrame) -> list[str] | None:
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        return None
    if isinstance(frame.index, pd.MultiIndex):
        return [" ".join(map(str, labels)) for labels in frame.index]
    return [str(label) for label in frame.index]
