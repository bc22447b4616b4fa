"""Files of any kind: they are written whole or not at all, and a damaged one is one clear error.

Models, results and data files all go through these functions. Nothing here knows what is in them.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from redac.show.escaping import printable


class DataFileError(ValueError):
    """A file cannot be used; the message is one line that says what is wrong and where."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.splitlines())))


class WriteError(DataFileError):
    """A file cannot be written; ``reason`` says why, without the name of the file."""

    def __init__(self, path: str | os.PathLike[str], reason: object) -> None:
        super().__init__(f"{os.fspath(path)}: cannot write ({reason})")
        self.reason = reason


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], None]) -> None:
    """Write a file so that it appears complete or stays as it was.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.
    write : callable
        Receives a binary stream and writes the whole content to it.

    Raises
    ------
    WriteError
        When the file cannot be written. Whatever else ``write`` raises passes through.
    """
    # A symbolic link keeps pointing where it did: the file behind it is replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise WriteError(path, "it is a folder")
    # The random name stays short, so that the longest allowed file name still works.
    unfinished = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        _write_and_move(unfinished, target, write)
    except OSError as error:
        raise WriteError(path, error.strerror or error) from error


def _write_and_move(unfinished: Path, target: Path, write: Callable[[IO[bytes]], None]) -> None:
    try:
        with unfinished.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(target)
    # KeyboardInterrupt included: nothing half-written may stay behind.
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_text(file: IO[bytes], text: str) -> None:
    """Write text to a binary stream; what is no text, as in names of files, becomes a mark."""
    file.write(text.encode(errors="replace"))


def output_folder(path: str | os.PathLike[str]) -> Path:
    """Create a folder for results, with its parents, or accept an existing one.

    Parameters
    ----------
    path : path-like
        The folder.

    Returns
    -------
    Path
        The folder, which exists and is writable.

    Raises
    ------
    DataFileError
        When the path, or a parent of it, is a file, or the folder is not writable.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise DataFileError(f"{path}: is, or lies below, a file and cannot be a folder") from error
    except OSError as error:
        raise DataFileError(f"{path}: cannot create the folder ({error.strerror})") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataFileError(f"{path}: the folder is not writable")
    return folder


@contextmanager
def decoding(
    path: str, kind: str, errors: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Turn what a decoder raises on a damaged file into a DataFileError.

    Decoders fed with damaged bytes raise nearly anything, from KeyError to zlib.error; hence
    the wide default, for blocks that call little else.
    """
    try:
        yield
    except (DataFileError, MemoryError, Warning):  # where warnings are errors, they are no damage
        raise
    except errors as error:
        # The operating system explains itself: no permission, no such file, ... What it calls an
        # invalid argument is a place outside the file that damage points to.
        if isinstance(error, OSError) and error.strerror and error.errno != errno.EINVAL:
            raise
        raise DataFileError(_undecodable(path, kind, error)) from error


def _undecodable(path: str, kind: str, error: Exception) -> str:
    detail = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"{path}: damaged, or not {kind} ({detail.rstrip('.')})"


def refuse_no_text(texts: NDArray[Any], what: str) -> None:
    """Raise if an array of strings holds characters that do not exist; NumPy does not look."""
    codes = np.frombuffer(texts.astype(texts.dtype.newbyteorder("=")).tobytes(), dtype=np.uint32)
    if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
        raise ValueError(f"{what} holds characters that do not exist")
