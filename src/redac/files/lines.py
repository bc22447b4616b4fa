"""Lines of a text table, and the cells in them."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator
from typing import IO, cast

from redac.disk import DataFileError
from redac.files.table import counted

BLANK = " "
_BLANK_SEPARATED = re.compile(r'"((?:[^"]|"")*)"(?!\S)|(\S+)')

Record = tuple[int, list[str]]


def open_bytes(path: str) -> IO[bytes]:
    """Open a plain or gzipped file."""
    if path.lower().endswith(".gz"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    return open(path, "rb")


def likely_encoding(path: str) -> str:
    """Return the encoding the byte order mark tells of, or UTF-8."""
    with open_bytes(path) as stream:
        start = stream.read(4096)
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start:
        raise DataFileError(f"{path}: holds binary data, not a text table")
    return "utf-8"


def records(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> Iterator[Record]:
    """Split lines into cells, skipping empty lines.

    Parameters
    ----------
    lines : iterable of str
        The lines of the file, with their ends.
    delimiter : str
        What separates the cells; a blank stands for any run of white space.
    strict : bool
        Whether a quoted cell must end where its quotes do; otherwise `csv.Error` is raised.

    Yields
    ------
    int, list of str
        Number of the line where the record starts, counted from 1, and its cells.
    """
    if delimiter == BLANK:
        for number, line in enumerate(lines, start=1):
            found = list(_BLANK_SEPARATED.finditer(line))
            cells = [
                match[2] if match[1] is None else match[1].replace('""', '"') for match in found
            ]
            if strict and any(match[2] and match[2][0] == '"' for match in found):
                raise csv.Error(f"line {number}: a quoted cell goes on behind its quotes")
            if cells:
                yield number, cells
        return
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)
    end_of_previous = 0
    for cells in reader:
        if cells and (len(cells) > 1 or cells[0].strip()):
            yield end_of_previous + 1, cells
        end_of_previous = reader.line_num


def all_records(path: str, encoding: str, delimiter: str) -> Iterator[Record]:
    """Read the whole file again, record by record, to find the place of an error."""
    with (
        open_bytes(path) as stream,
        io.TextIOWrapper(stream, encoding=encoding, newline="") as lines,
    ):
        yield from records(lines, delimiter)


def refuse_wrong_width(path: str, line: int, found: int, expected: int) -> None:
    """Raise unless a row has as many cells as the others."""
    if found != expected:
        raise DataFileError(
            f"{path}: row {line} has {counted(found, 'cell')} where {expected} are expected"
        )
