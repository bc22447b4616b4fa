"""Numbers as people write them: with decimal commas, thousands separators, and the signs of
percent and of currencies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

_PLAIN = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)|true|false", re.IGNORECASE)
_WITH_MARK = {
    mark: re.compile(rf"[+-]?\d*{re.escape(mark)}\d+(e[+-]?\d+)?", re.IGNORECASE) for mark in ",."
}
# Blanks of several widths and apostrophes group digits beside either decimal mark. A group that
# begins with a zero is none: 0.125 and 0,125 are small numbers.
_ALWAYS = " '’\u00a0\u2009\u202f"
_GROUPED = {
    ".": re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:([,{_ALWAYS}])\d{{3}})(?:\1\d{{3}})*(?:\.\d*)?"),
    ",": re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:([.{_ALWAYS}])\d{{3}})(?:\1\d{{3}})*(?:,\d*)?"),
}
_MINUS = "\u2212"  # of typeset text
_CURRENCIES = "$€£¥"
_SIGN = re.compile(rf"\s*[%{_CURRENCIES}]$|^([+-]?)[{_CURRENCIES}]\s*")
PERCENT, CURRENCY, THOUSANDS = "percent signs", "currency signs", "thousands separators"


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number in any of these ways."""
    cell = _bare(cell)
    if _GROUPED[decimal].fullmatch(cell):
        return True
    if decimal == ",":
        cell = cell.replace(",", ".")
    return _PLAIN.fullmatch(cell) is not None


def _bare(cell: str) -> str:
    """A cell without the sign of percent or of a currency."""
    return _SIGN.sub(r"\1", cell.replace(_MINUS, "-"), count=1)


def uses_decimal_comma(rows: list[list[str]]) -> bool:
    """Whether the cells of a table have decimal commas.

    Points are in the way, unless all of them group digits and some comma cannot.
    """
    cells = [_bare(cell) for row in rows for cell in row]
    commas = [cell for cell in cells if _has_mark(cell, ",")]
    points = [cell for cell in cells if _has_mark(cell, ".")]
    if not points:
        return bool(commas)
    grouping = all(_GROUPED[","].fullmatch(cell) for cell in points)
    return grouping and any(not _GROUPED["."].fullmatch(cell) for cell in commas)


def _has_mark(cell: str, mark: str) -> bool:
    """Whether a cell is a number in which this can be the decimal mark."""
    grouped = mark in cell and _GROUPED[mark].fullmatch(cell) is not None
    return grouped or _WITH_MARK[mark].fullmatch(cell) is not None


def numbers_in(cells: pd.Series[str], decimal: str) -> tuple[NDArray[Any], list[str]]:
    """The cells as numbers, NaN where one is none; and what was taken off to read them.

    A sign counts where all cells that hold anything have the same one: 12 % is 12.
    """
    import pandas as pd

    cells = cells.str.replace(_MINUS, "-", regex=False)
    plain, removed = cells, []
    there = cells[cells != ""]
    sign = (
        next((each for each in f"%{_CURRENCIES}" if each in str(there.iat[0])), "")
        if there.size
        else ""
    )
    if sign and there.str.count(re.escape(sign)).eq(1).all():
        plain = cells.str.replace(_SIGN, r"\1", n=1, regex=True)
        removed = [PERCENT if sign == "%" else CURRENCY]
    grouped = plain.str.fullmatch(_GROUPED[decimal])
    if grouped.any():
        removed.append(THOUSANDS)
        bare = plain.str.replace(rf"[{'.' if decimal == ',' else ','}{_ALWAYS}]", "", regex=True)
        plain = plain.where(~grouped, bare)
    if decimal == ",":
        plain = plain.str.replace(",", ".", regex=False)
    return pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64), removed
