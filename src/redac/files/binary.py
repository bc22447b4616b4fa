"""NumPy and Matrix Market files."""

from __future__ import annotations

import math
import os
import zipfile
from typing import IO, Any, NamedTuple

import numpy as np

from redac.disk import DataFileError, decoding, refuse_no_text
from redac.files.column_choice import ColumnChoice, selected
from redac.files.lines import open_bytes
from redac.files.table import Origin, Table, is_large, refuse_infinite

_PREFERRED_ARRAYS = ("X", "data")


def read_npy(path: str, columns: ColumnChoice) -> Table:
    """Map a two-dimensional numeric array into memory; a large one is not looked at here."""
    with open(path, "rb") as stream, decoding(path, "a NumPy .npy file"):
        header = _array_header(stream)
        _refuse_cut_off(header, os.fstat(stream.fileno()).st_size - stream.tell())
    _require_matrix(header, path)
    with decoding(path, "a NumPy .npy file"):
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    if is_large(values.nbytes):
        # To look for missing values would read all of it; a fit reads it anyway, and looks.
        return selected(Table(values), columns)
    return numeric_table(values, columns)


def read_npz(path: str, columns: ColumnChoice) -> Table:
    """Read a sparse matrix saved by scipy, or the matrix in an archive of NumPy arrays."""
    with decoding(path, "a NumPy .npz archive"):
        headers = _archive_headers(path)
    if {"format", "shape"} <= headers.keys():
        return _read_sparse(path, columns)
    chosen = _matrix_in_archive(headers, path)
    _require_matrix(headers[chosen], path)
    with decoding(path, "a NumPy .npz archive"), np.load(path, allow_pickle=False) as archive:
        values = archive[chosen]
        names = [
            _names_from_archive(archive, key, length, path)
            for key, length in zip(("sample_names", "feature_names"), values.shape, strict=True)
        ]
    return numeric_table(values, columns, sample_names=names[0], feature_names=names[1])


def read_mtx(path: str, columns: ColumnChoice) -> Table:
    """Read a Matrix Market file, sparse or dense."""
    from scipy.io import mminfo, mmread

    with decoding(path, "a Matrix Market file"):
        with open_bytes(path) as stream:
            n, d, *_, symmetry = mminfo(_WholeLines(stream))
        # scipy would write outside of a matrix without entries, and the other half of a symmetric
        # one outside of a matrix that is not square.
        if min(n, d) < 1:
            raise ValueError(f"no values, its shape is {n} × {d}")
        if symmetry != "general" and n != d:
            raise ValueError(f"{symmetry}, but {n} × {d}")
        with open_bytes(path) as stream:
            values = mmread(_WholeLines(stream))
    return numeric_table(values, columns)


class _WholeLines:
    """A stream of text that is safe to hand to scipy.

    The compiled reader of scipy looks for line ends without minding where its buffer ends: a
    zero byte, or a stray character behind the last number of a file that lacks the final line
    end, crashes the process.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._last_byte = b"\n"

    def read(self, size: int = -1) -> bytes:
        """Read on, adding the final line end if it is absent."""
        block = self._stream.read(size)
        if b"\0" in block:
            raise ValueError("a zero byte among the numbers")
        if not block and self._last_byte != b"\n":
            block = b"\n"
        self._last_byte = block[-1:] or self._last_byte
        return block


class _Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def is_matrix(self) -> bool:
        return len(self.shape) == 2 and self.dtype.kind in "biuf"

    def __str__(self) -> str:
        dimensions = " × ".join(map(str, self.shape)) or "scalar"
        return f"{dimensions} {'object' if self.dtype.hasobject else self.dtype.name}"


def _array_header(stream: Any) -> _Header:
    """Read shape and type of a stored array, not its content."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        # Later versions only serve records whose field names are not ASCII.
        return _Header((), np.dtype(np.void))
    return _Header(shape, dtype)


def _refuse_cut_off(header: _Header, n_bytes: int) -> None:
    """Raise if there are fewer bytes than the header promises, before memory is taken for them."""
    if not header.dtype.hasobject and math.prod(header.shape) * header.dtype.itemsize > n_bytes:
        raise ValueError(f"{header} do not fit into the {n_bytes} bytes that are there")


def _archive_headers(path: str) -> dict[str, _Header]:
    headers = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.endswith(".npy"):
                with archive.open(member) as stream:
                    header = _array_header(stream)
                    _refuse_cut_off(header, member.file_size - stream.tell())
                headers[member.filename.removesuffix(".npy")] = header
    return headers


def _require_matrix(header: _Header, path: str) -> None:
    if not header.is_matrix:
        raise DataFileError(
            f"{path}: a two-dimensional array of real numbers is needed, not {header}"
        )
    if 0 in header.shape:
        raise DataFileError(f"{path}: the array has no values, its shape is {header.shape}")


def _matrix_in_archive(headers: dict[str, _Header], path: str) -> str:
    matrices = [name for name, header in headers.items() if header.is_matrix]
    for name in _PREFERRED_ARRAYS:
        if name in matrices:
            return name
    if len(matrices) == 1:
        return matrices[0]
    found = ", ".join(f"{name} ({header})" for name, header in headers.items()) or "no arrays"
    raise DataFileError(
        f"{path}: cannot tell which array is the data; name a two-dimensional one X; found {found}"
    )


def _names_from_archive(archive: Any, key: str, length: int, path: str) -> list[str] | None:
    if key not in archive.files:
        return None
    try:
        names = archive[key]
    except ValueError as error:
        raise DataFileError(
            f"{path}: {key} holds Python objects; save it as an array of strings"
        ) from error
    if names.shape != (length,):
        raise DataFileError(f"{path}: {key} has shape {names.shape}, {length} names are needed")
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8")
    if names.dtype.kind == "U":
        refuse_no_text(names, key)
    return [str(name) for name in names]


def _read_sparse(path: str, columns: ColumnChoice) -> Table:
    from scipy.sparse import load_npz

    with decoding(path, "a sparse matrix saved by scipy"):
        values = load_npz(path)
        # The stored index arrays reach compiled code unchecked; damaged ones would crash it.
        if values.format in ("csr", "csc", "bsr"):
            if (values.indptr[1:] < values.indptr[:-1]).any():
                raise ValueError("index pointers that go back")
            values.check_format(full_check=True)
    return numeric_table(values, columns)


def numeric_table(
    values: Any,
    columns: ColumnChoice,
    sample_names: list[str] | None = None,
    feature_names: list[str] | None = None,
) -> Table:
    """Build a table from a decoded matrix after checking shape, type and values."""
    path = columns.path
    _require_matrix(_Header(values.shape, values.dtype), path)
    with decoding(path, "a matrix that fits into memory"):  # sparse files can declare any shape
        matrix = _plain(values)
    cell = Origin(path, feature_names).cell
    table = selected(Table(matrix, feature_names, sample_names, cell=cell), columns)
    return refuse_infinite(table)


def _plain(values: Any) -> Any:
    """Return an array or CSR/CSC array of a type that numerical libraries accept."""
    from scipy.sparse import csc_array, csr_array, issparse

    if issparse(values):
        values = csc_array(values) if values.format == "csc" else csr_array(values)
    wanted = _plain_dtype(values.dtype)
    if wanted == values.dtype and values.dtype.isnative:
        return values
    return values.astype(wanted)


def _plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return np.dtype(np.float32 if dtype.itemsize == 2 else np.float64)
    return dtype.newbyteorder("=")
