"""Results reach the disk whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO

from redac.files.table import DataFileError


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
    DataFileError
        When the file cannot be written. Whatever else ``write`` raises passes through.
    """
    # A symbolic link keeps pointing where it did: the file behind it is replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataFileError(f"{path}: is a folder, cannot write a file there")
    # The random name stays short, so that the longest allowed file name still works.
    unfinished = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        _write_and_move(unfinished, target, write)
    except OSError as error:
        raise DataFileError(f"{path}: cannot write ({error.strerror or error})") from error


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


def refuse_unusable_folder(path: str | os.PathLike[str]) -> None:
    """Raise if ``output_folder`` is bound to fail, without creating anything."""
    folder = Path(path).absolute()
    nearest = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise DataFileError(f"{path}: is, or lies below, a file and cannot be a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataFileError(f"{path}: the folder is not writable")


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
