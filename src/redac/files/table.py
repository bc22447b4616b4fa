"""What reading a data file yields, and the words for places in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redac.disk import DataFileError

if TYPE_CHECKING:
    from scipy.sparse import sparray

Matrix: TypeAlias = "NDArray[Any] | sparray"

# A file of so many bytes of numbers is not read before it is used: 256 MB.
LARGE = 1 << 28
_LONGEST_QUOTE = 40
_CELLS_PER_BLOCK = 4_000_000


def is_large(n_bytes: int) -> bool:
    """Whether a file with so many bytes of numbers is read in blocks, when it is used."""
    return n_bytes >= LARGE


@dataclass(frozen=True, eq=False)
class Table:
    """A numeric matrix and what its file says about rows and columns.

    Attributes
    ----------
    values : ndarray or sparse array of shape (n_samples, n_features)
        The numbers, NaN where a cell is missing. A ``.npy`` file stays memory-mapped, and a large
        Parquet file is an object that gives out its rows in blocks. None is infinite, but for files
        of 256 MB and more, which are not read before they are used.
    feature_names : list of str or None
        One name per column, or None where the file has none.
    sample_names : list of str or None
        One name per row, or None where the file has none.
    ignored : dict
        Column name to the reason why the column was left out.
    cell : callable or None
        Says where a cell, by its row and column in ``values``, is in the file.
    labels : list of str or None
        Of what kind each row is, from the column ``label_name``.
    notes : tuple of str
        What else a user should know of how the file was read.
    """

    values: Matrix
    feature_names: list[str] | None = None
    sample_names: list[str] | None = None
    ignored: dict[str, str] = field(default_factory=dict)
    cell: Callable[[int, int], str] | None = None
    labels: list[str] | None = None
    label_name: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def has_gaps(self) -> bool:
        """Whether cells are missing; all are looked at, and what is not an array has none."""
        X = self.values
        return isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isnan(X).any())


def _from_one(row: int) -> int:
    return row + 1


@dataclass(frozen=True)
class Origin:
    """Names places in a data file for error messages.

    Attributes
    ----------
    path : str
        The file as the user wrote it.
    names : list of str or None
        Column names, where the file has them.
    row_number : callable
        Turns the position of a data row into the number the user knows it by.
    remark : str
        Says how rows and columns are counted where that is not obvious.
    """

    path: str
    names: list[str] | None = None
    row_number: Callable[[int], int] = _from_one
    remark: str = " (counting from 1)"

    def column(self, position: int) -> str:
        """Return how to call a column: its quoted name, or its number from 1."""
        if self.names is None:
            return f"column {position + 1}"
        return f"column {quoted(self.names[position])}"

    def cell(self, row: int, position: int) -> str:
        """Return the beginning of an error line about one cell."""
        return f"{self.path}: row {self.row_number(row)}, {self.column(position)}{self.remark}"


def quoted(cell: object) -> str:
    """Return a cell as it may appear in a one-line message."""
    text = str(cell)
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return repr(text)


def counted(count: int, noun: str) -> str:
    """Return ``1 row``, ``2 rows``, ..."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def refuse_infinite(table: Table) -> Table:
    """The table, unless a value is infinite; the error names the first such cell."""
    return _refuse(
        table, np.isinf, "infinite value", "replace the infinite values or drop their rows"
    )


def refuse_missing(table: Table) -> Table:
    """The table, unless a value is missing; the error names the first such cell."""
    return _refuse(
        table, np.isnan, "missing value", "fill in the missing values or drop their rows"
    )


def _refuse(table: Table, is_bad: Callable[[Any], Any], what: str, fix: str) -> Table:
    values = table.values
    if table.cell is None or not np.issubdtype(values.dtype, np.floating):
        return table  # no numbers that can be wrong, or a file that is not read here
    count, first = _count_and_first(values, is_bad)
    if first is None:
        return table
    raise DataFileError(f"{table.cell(*first)}: {what} ({count} in all); {fix}")


def _count_and_first(
    values: Matrix, is_bad: Callable[[Any], NDArray[np.bool_]]
) -> tuple[int, tuple[int, int] | None]:
    """Count the bad cells and find the first of them in reading order."""
    if not isinstance(values, np.ndarray):
        bad = is_bad(values.data)
        if not bad.any():
            return 0, None
        entries = values.tocoo()
        chosen = is_bad(entries.data)
        cells = zip(entries.row[chosen].tolist(), entries.col[chosen].tolist(), strict=True)
        return int(chosen.sum()), min(cells)
    count, first = 0, None
    # Blocks keep the mask small beside a memory-mapped file larger than memory.
    step = max(1, _CELLS_PER_BLOCK // values.shape[1])
    for start in range(0, values.shape[0], step):
        mask = is_bad(values[start : start + step])
        found = int(np.count_nonzero(mask))
        if found and first is None:
            row = int(mask.any(axis=1).argmax())
            first = (start + row, int(mask[row].argmax()))
        count += found
    return count, first
