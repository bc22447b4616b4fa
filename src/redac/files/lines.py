"""Lines of a text table, and the cells in them."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, cast

from redac.disk import DataFileError
from redac.files.table import counted

BLANK = " "
_BLANK_SEPARATED = re.compile(r'"((?:[^"]|"")*)"(?!\S)|(\S+)')

# How compressed files begin.
_MARKS = {
    "gz": b"\x1f\x8b\x08",
    "bz2": b"BZh91AY&SY",
    "xz": b"\xfd7zXZ\x00",
    "zip": b"PK\x03\x04",
}
_OPENERS = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open, "zip": zipfile.ZipFile}

# Text is rarely packed to a hundredth of its size. A small file that swells to more would fill the
# memory before anybody notices; up to 512 MB it may.
_SWELLING, _LARGE = 100, 1 << 29
_BUFFER = 1 << 20

Record = tuple[int, list[str]]


def open_bytes(path: str) -> IO[bytes]:
    """Open a plain file, or a compressed one, known by its name or by how it begins."""
    suffix = path.lower().rpartition(".")[2]
    if suffix not in _OPENERS:
        with open(path, "rb") as stream:
            start = stream.read(10)
        suffix = next((kind for kind, mark in _MARKS.items() if start.startswith(mark)), "")
    if suffix not in _OPENERS:
        return open(path, "rb")
    opener: Any = _OPENERS[suffix]
    inner = _only_member(path) if suffix == "zip" else opener(path, "rb")
    return cast(IO[bytes], io.BufferedReader(_Unpacked(inner, path), _BUFFER))


class _Unpacked(io.RawIOBase):
    """What a compressed file holds; one that swells beyond measure is an error."""

    def __init__(self, inner: Any, path: str) -> None:
        self._inner, self._path = inner, path
        self._most = max(_LARGE, _SWELLING * os.path.getsize(path))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._inner.seekable())

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        return int(self._inner.seek(place, whence))

    def tell(self) -> int:
        return int(self._inner.tell())

    def readinto(self, buffer: Any) -> int:
        count = int(self._inner.readinto(buffer))
        if self._inner.tell() > self._most:
            raise DataFileError(
                f"{self._path}: unpacks to more than {_SWELLING} times its size; if it is meant "
                "to, unpack it first"
            )
        return count

    def close(self) -> None:
        self._inner.close()
        super().close()


def _only_member(path: str) -> IO[bytes]:
    with zipfile.ZipFile(path) as archive:  # what is opened in it keeps it open
        names = [name for name in archive.namelist() if not name.endswith("/")]
        # What macOS adds beside each file.
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise DataFileError(f"{path}: holds {counted(len(names), 'file')}, one is expected")
        return archive.open(names[0])


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
