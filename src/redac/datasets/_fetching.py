"""Finding, checking and downloading the data files that are too large or too unfree to ship."""

import hashlib
import io
import os
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Folder: TypeAlias = str | os.PathLike[str]

DATA_VARIABLE = "REDAC_DATA"
MIRROR_VARIABLE = "REDAC_MIRROR"

_TIMEOUT_SECONDS = 30
# Several times the largest file: a server must not be able to fill the memory.
_MAX_DOWNLOAD_BYTES = 64 * 2**20


class DataFileNotFoundError(FileNotFoundError):
    """A data file is neither on this machine nor to be had from a configured mirror."""


class ChecksumError(ValueError):
    """A data file does not have the content that this package was tested with."""


@dataclass(frozen=True)
class DataFile:
    """A file known by its content.

    Attributes
    ----------
    folder, name : str
        Sub-folder that holds the file in a full data folder, and its own name.
    sha256 : str
        SHA-256 sum of the content, in hexadecimal digits.
    recipe : str
        How a person makes the file from its public source.
    """

    folder: str
    name: str
    sha256: str
    recipe: str


def read_data_file(
    file: DataFile, data_home: Folder | None = None, base_url: str | None = None
) -> bytes:
    """Return the verified content of ``file``.

    The places are ``data_home``, the folder named by ``REDAC_DATA``, the user's cache, and
    last the mirror given by ``base_url`` or ``REDAC_MIRROR``. A download is kept in
    ``data_home`` or else in the cache.

    Raises
    ------
    DataFileNotFoundError
        If no place has the file.
    ChecksumError
        If the first place that has a file of this name has another content.
    """
    candidates = [
        path
        for folder in _search_folders(data_home)
        for path in (folder / file.name, folder / file.folder / file.name)
    ]
    for path in candidates:
        if path.is_file():
            content = path.read_bytes()
            _verify(content, file, str(path))
            return content

    keep_in = (Path(data_home).expanduser() if data_home else _cache_folder()) / file.folder
    mirror = base_url or os.environ.get(MIRROR_VARIABLE)
    if not mirror:
        raise DataFileNotFoundError(_missing_file_message(file, candidates, keep_in))
    content = _download(file, mirror)
    _write_atomically(content, keep_in / file.name)
    return content


def load_arrays(content: bytes) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz archive held in memory, never unpickling anything."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _search_folders(data_home: Folder | None) -> list[Path]:
    configured = [folder for folder in (data_home, os.environ.get(DATA_VARIABLE)) if folder]
    return [*(Path(folder).expanduser() for folder in configured), _cache_folder()]


def _cache_folder() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "redac"


def _verify(content: bytes, file: DataFile, origin: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise ChecksumError(
            f"{file.name} from {origin} has another content than expected: "
            f"SHA-256 expected {file.sha256}, found {found}. "
            "Remove or replace that file and try again."
        )


def _download(file: DataFile, mirror: str) -> bytes:
    url = f"{mirror.rstrip('/')}/{file.folder}/{file.name}"
    if urllib.parse.urlsplit(url).scheme not in {"http", "https"}:
        raise ValueError(
            f"The mirror must be an http or https address, got {mirror!r}. "
            f"For a folder use data_home or {DATA_VARIABLE}."
        )
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310
            content: bytes = response.read(_MAX_DOWNLOAD_BYTES)
    except (OSError, HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the open connection
        raise DataFileNotFoundError(
            f"{file.name} is not on this machine and could not be downloaded from {url}: {error}"
        ) from error
    _verify(content, file, url)
    return content


def _write_atomically(content: bytes, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own, so that two processes fetching the same file cannot mix their bytes.
    partial = destination.with_name(f".{destination.name}.{uuid.uuid4().hex}.part")
    try:
        partial.write_bytes(content)
        partial.replace(destination)
    finally:
        partial.unlink(missing_ok=True)


def _missing_file_message(file: DataFile, looked_at: Sequence[Path], put_in: Path) -> str:
    places = "\n".join(f"  {path}" for path in looked_at)
    return (
        f"{file.name} was not found; put it in {put_in}, or name its folder with data_home "
        f"or the environment variable {DATA_VARIABLE}.\n"
        f"Looked for:\n{places}\n"
        f"SHA-256 of the file: {file.sha256}\n"
        f"No public server offers it in this form. {file.recipe}\n"
        f"If you have a server with the file as {file.folder}/{file.name}, give its address as "
        f"base_url or in the environment variable {MIRROR_VARIABLE}."
    )
