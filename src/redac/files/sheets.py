"""Excel sheets, and JSON with one object for each row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redac.disk import DataFileError, decoding
from redac.files.column_choice import ColumnChoice, distinct
from redac.files.frames import table_from_frame
from redac.files.lines import open_bytes
from redac.files.numerals import is_number
from redac.files.sniffing import MISSING, UNNAMED, numbers_name_columns
from redac.files.table import Origin, Table

if TYPE_CHECKING:
    import pandas as pd

# So many rows tell whether the first one is a header.
_HEAD_ROWS = 100
_EXCEL, _JSON = "an Excel .xlsx file", "JSON with one object for each row"


def read_xlsx(path: str, columns: ColumnChoice) -> Table:
    """Read the first sheet of an Excel file, with or without a header."""
    import pandas as pd

    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise DataFileError(
            f"{path}: reading Excel files needs openpyxl; install it with: "
            "pip install 'redac[excel]'"
        ) from error
    with decoding(path, _EXCEL), pd.ExcelFile(path, engine="openpyxl") as book:
        sheets = [str(name) for name in book.sheet_names]
        cells = book.parse(0, header=None, dtype=object, na_values=[], keep_default_na=False)
    if cells.empty:
        raise DataFileError(f"{path}: the sheet {sheets[0]!r} is empty")
    header = [_text(cell) for cell in cells.iloc[0]]
    names, first = None, 1
    notes: tuple[str, ...] = ()
    head = [[_text(cell) for cell in row] for row in cells.head(_HEAD_ROWS).to_numpy()]
    is_named = any(name not in MISSING and not is_number(name) for name in header)
    if is_named or numbers_name_columns(head):
        names, notes = distinct(header)
        cells, first = cells.iloc[1:], 2
    origin = Origin(path, names, lambda row: row + first, remark="")
    has_index = names is not None and header[0] in UNNAMED
    table = table_from_frame(_typed(cells), origin, columns, index_is_certain=has_index)
    if len(sheets) > 1:
        notes += (f"the sheet {sheets[0]!r} was read; there are {len(sheets)} sheets",)
    return replace(table, notes=notes + table.notes)


def read_json(path: str, columns: ColumnChoice) -> Table:
    """Read objects, one in each line or all in one array, as rows."""
    import pandas as pd

    with decoding(path, _JSON), open_bytes(path) as stream:
        content = stream.read()
        lines = not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        objects = _objects(content.decode("utf-8-sig"), lines=lines)
        names = list(dict.fromkeys(name for each in objects for name in each))
        frame = pd.DataFrame(
            {at: [each.get(name) for each in objects] for at, name in enumerate(names)},
            dtype=object,
        )
    if frame.empty:
        raise DataFileError(f"{path}: has no rows")
    return table_from_frame(_typed(frame), Origin(path, [str(name) for name in names]), columns)


def _objects(text: str, *, lines: bool) -> list[dict[str, Any]]:
    import json

    found = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else None
    objects: list[dict[str, Any]] = json.loads(text) if found is None else found
    for number, each in enumerate(objects, start=1):
        if not isinstance(each, dict):
            raise ValueError(f"row {number} is no object")
    return objects


def _typed(cells: pd.DataFrame) -> pd.DataFrame:
    """Columns of the types that their cells have; empty text is a missing cell."""
    bare = cells.map(lambda cell: None if isinstance(cell, str) and not cell.strip() else cell)
    frame: pd.DataFrame = bare.reset_index(drop=True).infer_objects()
    return frame


def _text(cell: object) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()
