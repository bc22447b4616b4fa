"""Work out from the first lines how a text table is laid out."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from redac.disk import DataFileError
from redac.files.column_choice import distinct
from redac.files.lines import BLANK, Record, open_bytes, records, refuse_wrong_width
from redac.files.numerals import is_number, uses_decimal_comma
from redac.files.table import quoted

# The more a character means as a delimiter when it appears equally often in every line, the
# earlier it comes: commas also serve as decimal marks, and blanks separate words.
_DELIMITERS = ("\t", ";", ",", "|", BLANK)

MISSING = frozenset(
    [
        "",
        "NA",
        "N/A",
        "n/a",
        "NaN",
        "nan",
        "-NaN",
        "-nan",
        "null",
        "NULL",
        "None",
        "<NA>",
        "#N/A",
        "#NA",
        "#N/A N/A",
        "1.#QNAN",
        "1.#IND",
        "-1.#IND",
        "-1.#QNAN",
    ]
)

# Headers of the first column where pandas or R wrote the row names.
UNNAMED = ("", "Unnamed: 0")

# Numbers of a row of data may go up or down by chance if they are fewer: in even steps, as
# wavelengths and years do; and in any steps, behind a cell that is no number.
_FEWEST_EVEN, _FEWEST_RISING = 5, 8
_UNEVEN = 1.1

_HEAD_LINES = 100
_HEAD_CHARACTERS = 200_000
_FEWEST_HEAD_LINES = 5


@dataclass(frozen=True)
class Layout:
    """How a text table is laid out.

    Attributes
    ----------
    encoding, delimiter, decimal : str
        How characters, cells and numbers are written.
    width : int
        Cells per row.
    names : list of str or None
        One distinct name per column, from the header if there is one.
    index_is_certain : bool
        Whether the first column can only be row names, as its header cell is empty or absent.
    starts_with_text : bool
        Whether the first column holds text in the first rows.
    notes : tuple of str
        What was done to the names.
    """

    encoding: str
    delimiter: str
    decimal: str
    width: int
    names: list[str] | None
    index_is_certain: bool
    starts_with_text: bool
    notes: tuple[str, ...] = ()


def sniff(path: str, encoding: str) -> Layout:
    """Read the first lines of a file and work out its layout.

    Parameters
    ----------
    path : str
        A plain or gzipped text file.
    encoding : str
        How its characters are written.

    Returns
    -------
    Layout
        The layout of the whole file, if it goes on as it begins.
    """
    lines, is_whole = _first_lines(path, encoding)
    delimiter, head = _split(lines, is_whole)
    if not head:
        raise DataFileError(f"{path}: the file is empty")
    lacks_a_name = _is_header_without_index(head)
    width = len(head[0][1]) + 1 if lacks_a_name else _usual_width(head)
    for line, cells in head[lacks_a_name:]:
        refuse_wrong_width(path, line, len(cells), width)
    rows = [[cell.strip() for cell in cells] for _, cells in head]
    decimal = "," if delimiter != "," and uses_decimal_comma(rows) else "."
    header, rows, remarks = _header_and_rows(rows, decimal, lacks_a_name)
    if not rows:
        raise DataFileError(f"{path}: a header, but no rows below it")
    names, notes = (None, ()) if header is None else distinct(header)
    return Layout(
        encoding,
        delimiter,
        decimal,
        width,
        names=names,
        index_is_certain=header is not None and header[0] in UNNAMED,
        starts_with_text=_is_text([row[0] for row in rows], decimal),
        notes=(*remarks, *notes),
    )


def _header_and_rows(
    rows: list[list[str]], decimal: str, lacks_a_name: bool
) -> tuple[list[str] | None, list[list[str]], tuple[str, ...]]:
    """Take the header off, if there is one, with as many names as there are columns.

    Also gives what a user should know of it.
    """
    if lacks_a_name:
        return _completed(rows[0], rows[1:]), rows[1:], ()
    if _has_header(rows, decimal):
        return rows[0], rows[1:], ()
    if numbers_name_columns(rows, decimal):
        shown = ", ".join(map(quoted, rows[0][:3]))
        return rows[0], rows[1:], (f"the first row was read as names of columns: {shown}, …",)
    return None, rows, ()


def numbers_name_columns(rows: list[list[str]], decimal: str = ".") -> bool:
    """Tell whether the first row has numbers for names, as tables of spectra or of years have.

    Such numbers go up or down from the first to the last, as those of no other row do.
    """
    first, *others = rows
    begin = next((at for at, cell in enumerate(first) if is_number(cell, decimal)), len(first))
    steps = _steps(first[begin:], decimal)
    if len(steps) + 1 < _FEWEST_EVEN or not others:
        return False
    is_even = max(steps) <= _UNEVEN * min(steps)
    if not is_even and (begin == 0 or len(steps) + 1 < _FEWEST_RISING):
        return False
    # The first row of a symmetric matrix is its first column, too, and may decay.
    column = [row[begin] for row in rows]
    is_symmetric = all(a == b for a, b in zip(first[begin:], column, strict=False))
    return not is_symmetric and not any(_steps(row[begin:], decimal) for row in others)


def _steps(cells: list[str], decimal: str) -> list[float]:
    """How far numbers are apart if all go up, or all go down; otherwise nothing."""
    try:
        values = [float(cell.replace(decimal, ".")) for cell in cells]
    except ValueError:
        return []
    steps = [after - before for before, after in pairwise(values)]
    one_way = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    return [abs(step) for step in steps] if one_way else []


def _first_lines(path: str, encoding: str) -> tuple[list[str], bool]:
    lines: list[str] = []
    characters = 0
    with (
        open_bytes(path) as stream,
        io.TextIOWrapper(stream, encoding=encoding, newline="") as text,
    ):
        for line in text:
            enough = characters > _HEAD_CHARACTERS and len(lines) >= _FEWEST_HEAD_LINES
            if enough or len(lines) == _HEAD_LINES:
                return lines, False
            lines.append(line)
            characters += len(line)
    return lines, True


def _split(lines: list[str], is_whole: bool) -> tuple[str, list[Record]]:
    """Return the delimiter under which the lines look most like a table, and their cells."""
    best: list[Record] = []
    best_score, best_delimiter = (False, 0.0, 0.0), ","
    for delimiter in _DELIMITERS:
        try:
            head = list(records(lines, delimiter))
        # A wrong delimiter can leave a cell beyond the limit of the csv module.
        except csv.Error:
            continue
        whole = lines
        # The last record may be cut off in the middle of a quoted cell.
        if not is_whole and len(head) > 2:
            begins, _ = head.pop()
            whole = lines[: begins - 1]
        regularity = _regularity(head)
        # Where names hold the delimiter of another table, quotes tell which of the two it is.
        score = (any(regularity) and _is_well_quoted(whole, delimiter), *regularity)
        if score > best_score:
            best_score, best_delimiter, best = score, delimiter, head
        if score == (True, 1.0, 1.0):
            break
    # Where no delimiter occurs there is a single column, which any delimiter reads alike.
    return (best_delimiter, best) if best else (",", list(records(lines, ",")))


def _is_well_quoted(lines: list[str], delimiter: str) -> bool:
    """Tell whether every quoted cell ends where its quotes do."""
    try:
        for _ in records(lines, delimiter, strict=True):
            pass
    except csv.Error:
        return False
    return True


def _regularity(head: list[Record]) -> tuple[float, float]:
    """Return which part of the rows agrees on a width, with and without a shorter header."""
    if not head:
        return 0.0, 0.0
    widths = [len(cells) for _, cells in head]
    usual = Counter(widths[1:] or widths).most_common(1)[0][0]
    if usual == 1:
        return 0.0, 0.0
    agreeing = widths.count(usual)
    shorter_header = widths[0] == usual - 1
    return (agreeing + shorter_header) / len(widths), agreeing / len(widths)


def _usual_width(head: list[Record]) -> int:
    # On a tie the row that comes first decides, as Counter keeps the order of arrival.
    return Counter(len(cells) for _, cells in head).most_common(1)[0][0]


def _is_header_without_index(head: list[Record]) -> bool:
    """Tell whether the first row lacks one cell because it names no column of row names."""
    (_, first), *others = head
    # A single cell in the first row is rather a title.
    if not others or len(first) == 1 or _usual_width(others) != len(first) + 1:
        return False
    names_columns = not all(is_number(cell.strip()) for cell in first)
    return names_columns or not any(is_number(cells[0].strip()) for _, cells in others)


def _completed(header: list[str], rows: list[list[str]]) -> list[str]:
    """Add the absent name: in front, or behind where all rows end in a stray delimiter."""
    if all(row[-1] == "" for row in rows):
        return [*header, ""]
    return ["", *header]


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Tell whether the first row names the columns instead of holding values."""
    first, *others = rows
    if not others:
        return not any(is_number(cell, decimal) or cell in MISSING for cell in first)
    for position, name in enumerate(first):
        if name in MISSING or is_number(name, decimal):
            continue
        below = [row[position] for row in others if row[position] not in MISSING]
        if 2 * sum(is_number(cell, decimal) for cell in below) > len(below):
            return True
    # A data frame whose columns have numbers for names, written with its index: ",0,1,2" above
    # "0,1.5,2.5,3.5", or ",2019,2020" above "Oslo,1.5,2.5".
    positions = [str(position) for position in range(len(first) - 1)]
    below = [row[0] for row in others]
    has_index = below == [str(row) for row in range(len(below))] or not any(
        cell in MISSING or is_number(cell, decimal) for cell in below
    )
    return first[0] == "" and len(first) > 1 and (has_index or first[1:] == positions)


def _is_text(cells: list[str], decimal: str) -> bool:
    present = [cell for cell in cells if cell not in MISSING]
    return bool(present) and not any(is_number(cell, decimal) for cell in present)
