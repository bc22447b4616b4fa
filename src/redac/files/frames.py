"""From a data frame of mixed columns to a numeric table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redac.disk import DataFileError
from redac.files.sniffing import MISSING, UNNAMED
from redac.files.table import Origin, Table, quoted, refuse_infinite

if TYPE_CHECKING:
    import pandas as pd

# With more text than this a column counts as text, not as numbers with a few slips.
_LARGEST_SHARE_OF_SLIPS = 0.1


def table_from_frame(
    frame: pd.DataFrame,
    origin: Origin,
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
    has_index = sample_names is None and (index_is_certain or _first_is_unnamed(origin))
    if has_index:
        sample_names = _labels(frame)
    numeric, ignored = _sort_out(frame, origin, decimal, first=int(has_index))
    if sample_names is None and 0 in ignored and _is_unique_text(frame.iloc[:, 0]):
        sample_names = _labels(frame)
        del ignored[0]
    return _assembled(numeric, ignored, sample_names, origin)


def _refuse_empty(frame: pd.DataFrame, origin: Origin) -> None:
    if 0 in frame.shape:
        what = "columns" if len(frame) else "rows"
        raise DataFileError(f"{origin.path}: the table has no {what}")


def _assembled(
    numeric: dict[int, NDArray[Any]],
    ignored: dict[int, str],
    sample_names: list[str] | None,
    origin: Origin,
) -> Table:
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
    )
    return refuse_infinite(table)


def _first_is_unnamed(origin: Origin) -> bool:
    return origin.names is not None and origin.names[0] in UNNAMED


def _labels(frame: pd.DataFrame) -> list[str]:
    return [str(label).strip() for label in frame.iloc[:, 0]]


def _is_unique_text(column: pd.Series[Any]) -> bool:
    """Tell whether a column can name the rows."""
    first = column.iloc[0]
    return isinstance(first, str) and not column.isna().any() and bool(column.is_unique)


def _sort_out(
    frame: pd.DataFrame, origin: Origin, decimal: str, first: int
) -> tuple[dict[int, NDArray[Any]], dict[int, str]]:
    """Return the numeric columns, and why the others are not, by position in the file."""
    numeric: dict[int, NDArray[Any]] = {}
    ignored: dict[int, str] = {}
    last = frame.shape[1] - 1
    for position in range(first, last + 1):
        column = frame.iloc[:, position]
        if position == last and _is_stray_delimiter(column, origin, position):
            ignored[position] = "empty, without a name"
            continue
        numbers = _numbers(column, origin, position, decimal)
        if numbers is None:
            ignored[position] = _why_not_numeric(column, origin)
        else:
            numeric[position] = numbers
    return numeric, ignored


def _is_stray_delimiter(column: pd.Series[Any], origin: Origin, position: int) -> bool:
    """Tell whether the last column only exists because every row ends in a delimiter."""
    unnamed = origin.names is None or origin.names[position] == f"column {position + 1}"
    return unnamed and position > 0 and bool(column.isna().all())


def _numbers(
    column: pd.Series[Any], origin: Origin, position: int, decimal: str
) -> NDArray[Any] | None:
    """Return a column as numbers, None if it holds something else; slips raise."""
    import pandas as pd

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy()
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("boolean", "decimal", "empty"):
        return pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=np.float64)
    if kind not in ("string", "categorical", "integer", "mixed-integer", "floating"):
        return None
    return _numbers_in_text(column, origin, position, decimal)


def _numbers_in_text(
    column: pd.Series[Any], origin: Origin, position: int, decimal: str
) -> NDArray[Any] | None:
    import pandas as pd

    cells = column.astype(object).where(column.notna(), "").astype(str).str.strip()
    plain = cells.str.replace(",", ".", regex=False) if decimal == "," else cells
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64)
    present = ~cells.isin(sorted(MISSING)).to_numpy(dtype=bool)
    slips = present & np.isnan(numbers)
    if not slips.any():
        return numbers
    if not _are_slips(cells[slips], int(present.sum())):
        return None
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
