"""From a data frame of mixed columns to a numeric table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redac.disk import DataFileError
from redac.files.column_choice import ColumnChoice
from redac.files.numerals import PERCENT, numbers_in
from redac.files.sniffing import MISSING, UNNAMED
from redac.files.table import Origin, Table, quoted, refuse_infinite

if TYPE_CHECKING:
    import pandas as pd

# With more text than this a column counts as text, not as numbers with a few slips.
_LARGEST_SHARE_OF_SLIPS = 0.1
# So many columns are named in a note.
_NAMED = 8


def table_from_frame(
    frame: pd.DataFrame,
    origin: Origin,
    columns: ColumnChoice,
    *,
    decimal: str = ".",
    index_is_certain: bool = False,
    sample_names: list[str] | None = None,
) -> Table:
    """Keep the numeric columns of a data frame and explain the others.

    Parameters
    ----------
    frame : DataFrame
        The columns, whatever their types.
    origin : Origin
        Where they come from.
    columns : ColumnChoice
        What they are for.
    decimal : str, default="."
        The decimal mark in columns of text.
    index_is_certain : bool, default=False
        Whether the first column holds the sample names.
    sample_names : list of str, optional
        The sample names, if they are already known; then no column is searched for them.

    Returns
    -------
    Table
        Finite numbers, and NaN where one is missing.
    """
    _refuse_empty(frame, origin)
    origin = replace(origin, names=columns.names_for(origin.names, frame.shape[1]))
    roles = columns.roles(origin.names, frame.shape[1])
    positions = roles.features
    if roles.index is not None:
        sample_names = _labels(frame, roles.index)
    elif sample_names is None and (index_is_certain or _first_is_unnamed(origin)):
        sample_names = _labels(frame, 0)
        positions = [at for at in positions if at != 0]
    found = _sort_out(frame, origin, decimal, positions)
    is_free = sample_names is None and roles.label != 0 and 0 not in found.numeric
    if is_free and (columns.only or 0 not in roles.dropped) and _is_unique_text(frame.iloc[:, 0]):
        sample_names = _labels(frame, 0)
        found.ignored.pop(0, None)
    table = _assembled(found, sample_names, origin)
    if roles.label is None:
        return table
    labels = [text if text not in MISSING else "" for text in _labels(frame, roles.label)]
    return replace(table, labels=labels, label_name=columns.label)


def _refuse_empty(frame: pd.DataFrame, origin: Origin) -> None:
    if 0 in frame.shape:
        what = "columns" if len(frame) else "rows"
        raise DataFileError(f"{origin.path}: the table has no {what}")


def _assembled(found: _Sorted, sample_names: list[str] | None, origin: Origin) -> Table:
    numeric, ignored = found.numeric, found.ignored
    if not numeric:
        example = f" ({origin.column(min(ignored))}: {ignored[min(ignored)]})" if ignored else ""
        raise DataFileError(f"{origin.path}: no numeric column{example}")
    values = _stacked(list(numeric.values()))
    names, positions = origin.names, list(numeric)
    table = Table(
        values,
        feature_names=None if names is None else [names[at] for at in numeric],
        sample_names=sample_names,
        ignored={names[at] if names else origin.column(at): ignored[at] for at in ignored},
        cell=lambda row, column: origin.cell(row, positions[column]),
        notes=tuple(_what_was_removed(found.removed, origin)),
    )
    return refuse_infinite(table)


def _what_was_removed(removed: dict[str, list[int]], origin: Origin) -> Iterator[str]:
    """A note for each way of writing numbers that was made plain."""
    for what, places in removed.items():
        shown = ", ".join(origin.column(at).removeprefix("column ") for at in places[:_NAMED])
        more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        plural = "s" if len(places) > 1 else ""
        unit = "; 12 % is read as 12" if what == PERCENT else ""
        yield f"{what} were taken off in column{plural} {shown}{more}{unit}"


def _first_is_unnamed(origin: Origin) -> bool:
    return origin.names is not None and origin.names[0] in UNNAMED


def _labels(frame: pd.DataFrame, position: int) -> list[str]:
    """A column as names; a cell that is missing has an empty one."""
    column = frame.iloc[:, position]
    present = column.notna().tolist()
    return [str(each).strip() if here else "" for each, here in zip(column, present, strict=True)]


def _is_unique_text(column: pd.Series[Any]) -> bool:
    """Tell whether a column can name the rows."""
    first = column.iloc[0]
    return isinstance(first, str) and not column.isna().any() and bool(column.is_unique)


@dataclass(frozen=True)
class _Sorted:
    """The numeric columns, why the others are not, and what was removed to read numbers."""

    numeric: dict[int, NDArray[Any]]
    ignored: dict[int, str]
    removed: dict[str, list[int]]


def _sort_out(frame: pd.DataFrame, origin: Origin, decimal: str, positions: list[int]) -> _Sorted:
    """These columns of a frame, by position in the file."""
    found = _Sorted({}, {}, {})
    for position in positions:
        column = frame.iloc[:, position]
        is_last = position == frame.shape[1] - 1
        if is_last and _is_stray_delimiter(column, origin, position):
            found.ignored[position] = "empty, without a name"
            continue
        numbers, removed = _numbers(column, origin, position, decimal)
        if numbers is None:
            found.ignored[position] = _why_not_numeric(column, origin)
        else:
            found.numeric[position] = numbers
            for what in removed:
                found.removed.setdefault(what, []).append(position)
    return found


def _is_stray_delimiter(column: pd.Series[Any], origin: Origin, position: int) -> bool:
    """Tell whether the last column only exists because every row ends in a delimiter."""
    unnamed = origin.names is None or origin.names[position] == f"column {position + 1}"
    return unnamed and position > 0 and bool(column.isna().all())


def _numbers(
    column: pd.Series[Any], origin: Origin, position: int, decimal: str
) -> tuple[NDArray[Any] | None, list[str]]:
    """A column as numbers, None if it holds something else, and what was removed; slips raise."""
    import pandas as pd

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy(), []
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), []
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("boolean", "decimal", "empty", "mixed-integer-float"):
        numbers = pd.to_numeric(column.astype(object), errors="coerce")
        return numbers.to_numpy(dtype=np.float64), []
    if kind == "mixed" and all(isinstance(cell, str | int | float) for cell in column.dropna()):
        kind = "string"  # as in a sheet with a word among the numbers
    if kind not in ("string", "categorical", "integer", "mixed-integer", "floating"):
        return None, []
    return _numbers_in_text(column, origin, position, decimal)


def _numbers_in_text(
    column: pd.Series[Any], origin: Origin, position: int, decimal: str
) -> tuple[NDArray[Any] | None, list[str]]:
    cells = column.astype(object).where(column.notna(), "").astype(str).str.strip()
    cells = cells.where(~cells.isin(sorted(MISSING)), "")
    present = (cells != "").to_numpy(dtype=bool)
    numbers, removed = numbers_in(cells, decimal)
    slips = present & np.isnan(numbers)
    if not slips.any():
        return numbers, removed
    if not _are_slips(cells[slips], int(present.sum())):
        return None, []
    count, row = int(slips.sum()), int(slips.argmax())
    more = f" ({count} such cells in the column)" if count > 1 else ""
    raise DataFileError(
        f"{origin.cell(row, position)}: {quoted(cells.iloc[row])} is not a number{more}"
    )


def _are_slips(texts: pd.Series[Any], present: int) -> bool:
    """Tell whether the texts are mistakes in a numeric column, not the sign of a text column."""
    count = len(texts)
    # One and the same text among numbers, such as '?', marks missing values.
    is_marker = texts.nunique() == 1
    few = count <= max(1, _LARGEST_SHARE_OF_SLIPS * present)
    return 2 * count < present and (few or is_marker)


def _why_not_numeric(column: pd.Series[Any], origin: Origin) -> str:
    import pandas as pd

    present = column.notna().to_numpy()
    row, example = next(
        (row, cell)
        for row, cell in enumerate(column)
        if present[row] and not (isinstance(cell, str) and cell.strip() in MISSING)
    )
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        kind = "dates"
    else:
        kind = "text" if isinstance(example, str) else "not numbers"
    return f"{kind}, e.g. {quoted(example)} in row {origin.row_number(row)}"


def _stacked(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Join columns into a matrix of the smallest floating type that holds them all."""
    dtype = np.result_type(*{column.dtype for column in columns})
    if dtype not in (np.float32, np.float64):
        dtype = np.dtype(np.float64)
    values = np.empty((len(columns[0]), len(columns)), dtype=dtype)
    for position, column in enumerate(columns):
        values[:, position] = column
    return values
