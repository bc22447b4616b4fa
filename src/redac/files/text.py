"""Comma-, tab-, semicolon- or blank-separated text tables."""

from __future__ import annotations

import csv
import lzma
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redac.disk import DataFileError, decoding
from redac.files.column_choice import ColumnChoice
from redac.files.lines import BLANK, all_records, likely_encoding, open_bytes, refuse_wrong_width
from redac.files.sniffing import MISSING, Layout, sniff
from redac.files.table import Origin, Table

if TYPE_CHECKING:
    import pandas as pd

# What damaged compressed data and undecodable characters lead to.
_READING_ERRORS = (
    *(csv.Error, EOFError, OSError, UnicodeError, zlib.error, lzma.LZMAError),
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError),
)
# What text has been written in before UTF-8: by Windows, and what takes any byte for a character.
_OLDER = ("cp1252", "latin-1")
_GUESSED = (
    "the text is not UTF-8 and was read as Western European; if names look wrong, save it as UTF-8"
)


def read_text(path: str, columns: ColumnChoice, na_marks: Sequence[str] = ()) -> Table:
    """Read a text table, with or without header and row names, plain or compressed.

    ``na_marks`` stand for missing values beside the usual ones.
    """
    with decoding(path, "a text table", _READING_ERRORS):
        *trials, last = _encodings(path)
        for encoding in trials:
            with suppress(UnicodeDecodeError):
                return _read_encoded(path, encoding, columns, na_marks)
        return _read_encoded(path, last, columns, na_marks)


def _encodings(path: str) -> list[str]:
    """How the characters may be written: as a byte order mark says, or as UTF-8 or a guess."""
    likely = likely_encoding(path)
    return [likely, *_OLDER] if likely == "utf-8" else [likely]


def _read_encoded(
    path: str, encoding: str, columns: ColumnChoice, na_marks: Sequence[str]
) -> Table:
    from redac.files.frames import table_from_frame

    layout = sniff(path, encoding)
    roles = columns.roles(columns.names_for(layout.names, layout.width), layout.width)
    named = {at for at in (roles.index, roles.label) if at is not None}
    frame = _parse(path, layout, sorted(MISSING.union(na_marks)), named)
    last = frame.iloc[:, -1].isna()
    # pandas fills short rows up with missing values; a column that is empty in all rows does
    # not hint at that.
    if last.any() and not last.all():
        _refuse_ragged(path, layout)

    def line_of(row: int) -> int:
        return _line_of_row(path, layout, row)

    table = table_from_frame(
        frame,
        Origin(path, layout.names, line_of, remark=""),
        columns,
        decimal=layout.decimal,
        index_is_certain=layout.index_is_certain,
    )
    about = (_GUESSED,) if encoding in _OLDER else ()
    return replace(table, notes=(*about, *layout.notes, *table.notes))


def _parse(path: str, layout: Layout, missing: list[str], named: set[int]) -> pd.DataFrame:
    """Let pandas read the file, with columns numbered from 0; some of them are names."""
    import pandas as pd
    from pandas.errors import ParserError, ParserWarning

    columns = range(layout.width)
    options: dict[str, Any] = {"na_values": missing}
    if layout.index_is_certain or layout.starts_with_text:
        named = named | {0}
    if named:
        # Row names stay as written: 007 is not 7, and NA may be the name of a gene.
        options = {
            "na_values": {at: missing for at in columns if at not in named},
            "dtype": dict.fromkeys(sorted(named), str),
        }
    if _needs_exact_floats(pd.__version__):
        options["float_precision"] = "round_trip"
    try:
        # An open stream, not a path: pandas 3.1 cuts large plain files at any line break.
        with open_bytes(path) as stream, warnings.catch_warnings():
            # pandas warns where it would drop cells.
            warnings.simplefilter("error", ParserWarning)
            frame: pd.DataFrame = pd.read_csv(
                stream,
                sep=r"\s+" if layout.delimiter == BLANK else layout.delimiter,
                header=None if layout.names is None else 0,
                names=columns,
                index_col=False,
                decimal=layout.decimal,
                skipinitialspace=True,
                keep_default_na=False,
                low_memory=False,
                encoding=layout.encoding,
                **options,
            )
    except (ParserError, ParserWarning) as error:
        _refuse_ragged(path, layout, unclosed_quote="EOF inside string" in str(error))
        raise DataFileError(f"{path}: cannot be split into columns ({error})") from error
    return frame


def _needs_exact_floats(pandas_version: str) -> bool:
    """Tell whether pandas rounds unless asked not to; from 3.1 on it never does."""
    major, minor = pandas_version.split(".")[:2]
    return (int(major), int(minor)) < (3, 1)


def _refuse_ragged(path: str, layout: Layout, *, unclosed_quote: bool = False) -> None:
    """Read the file again and raise for the first row with too many or too few cells."""
    header_lines = 0 if layout.names is None else 1
    line = 1
    try:
        for position, (line, cells) in enumerate(
            all_records(path, layout.encoding, layout.delimiter)
        ):
            if position >= header_lines and not unclosed_quote:
                refuse_wrong_width(path, line, len(cells), layout.width)
    except csv.Error as error:
        raise DataFileError(f"{path}: cannot split what follows row {line} ({error})") from error
    if unclosed_quote:
        raise DataFileError(f"{path}: row {line}: a quotation mark opens and never closes")


def _line_of_row(path: str, layout: Layout, row: int) -> int:
    """Return the line of the file, counted from 1, where a data row starts."""
    wanted = row if layout.names is None else row + 1
    for position, (line, _) in enumerate(all_records(path, layout.encoding, layout.delimiter)):
        if position == wanted:
            return line
    return wanted + 1
