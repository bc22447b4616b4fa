"""Models in files: a .npz archive of arrays and one JSON text, nothing pickled.

A file is not trusted: names come from the list in ``redac.model.fitted`` and from the
parameters of the class, sizes are checked before anything is unpacked, and values before a model
sees them.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from redac._version import __version__
from redac.disk import DataFileError, decoding, refuse_no_text, write_atomically
from redac.model import fitted
from redac.model.rules import text_of_groups
from redac.user_line import warn_user

# To be raised when files of this version could be misread by the one before.
_FORMAT = 2
# A few bytes can unpack to a thousand times as many. Arrays that are larger than this are stored as
# they are, so that no file unpacks to more than this or its own size.
_MOST_UNPACKED = 1 << 29

# Parameters that may be tables.
_TABLES = ("options", "groups", "max_per_group")
_PARTS_OF_SPARSE = ("data", "indices", "indptr")

Model = TypeVar("Model")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    write_atomically(path, packed(model))


def packed(model: Any) -> Callable[[IO[bytes]], None]:
    """What writes a fitted model to a file; the model is checked before that."""
    values: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in _fitted_attributes(model).items():
        if name == "feature_names_in_":  # as text: an array would make all as long as the longest
            values[name] = list(value)
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        elif isinstance(value, dict):
            arrays |= {f"{name}.{key}": each for key, each in value.items()}
        elif issparse(value):
            arrays |= {f"{name}.{key}": getattr(value, key) for key in _PARTS_OF_SPARSE}
        else:
            values[name] = value
    params: dict[str, Any] = {}
    for name, value in model.get_params(deep=False).items():
        if name == "constraint" and value is not None:
            warn_user(
                f"constraint={value!r} is an object and is not written. The loaded model has all "
                "that it has found; to fit it again, set its constraint first.",
                UserWarning,
            )
            params[name] = None
            continue
        if name == "groups" and value is not None:
            params[name] = text_of_groups(model)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            arrays[f"param_{name}"] = value
        else:
            params[name] = _plain(value)
    header = {
        "format": f"redac-model-{_FORMAT}",
        "redac": __version__,
        "class": type(model).__name__,
        "params": params,
        "fitted": values,
    }
    arrays["header"] = np.array(json.dumps(header))
    small = sum(array.nbytes for array in arrays.values()) <= _MOST_UNPACKED // 2

    pack: Any = np.savez_compressed if small else np.savez
    return lambda file: pack(file, **arrays)


def load(cls: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model written by ``save``."""
    name = os.fspath(path)
    with one_error(name), opened(name) as file:
        return unpacked(cls, file, os.fstat(file.fileno()).st_size, name)


def unpacked(cls: type[Model], file: IO[bytes], size: int, name: str) -> Model:
    """Read a model from an open file of so many bytes, which is called that in errors."""
    with zipfile.ZipFile(file) as archive:
        members = _members(archive, size)
        header = _header(archive, members, name)
        _refuse_other_kinds(header, cls, name)
        arrays = {each: _array(archive, info) for each, info in members.items()}
        params = _params(cls, header, arrays)
        attributes = fitted.check(_gathered(header, arrays), fitted.rules_for(cls))
        model = cls(**params)
    for each, value in attributes.items():
        setattr(model, each, value)
    return model


def _fitted_attributes(model: Any) -> dict[str, Any]:
    """The fitted attributes, which by convention end with an underscore, checked."""
    found = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name not in fitted.NOT_KEPT
    }
    try:
        return fitted.check(found, fitted.rules_for(type(model)))
    except ValueError as error:
        raise ValueError(f"The model cannot be saved: {error}.") from None


def _plain(value: Any) -> Any:
    """A value as JSON can hold it.

    A RandomState has no such form, and a fitted model has no use for it.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else None


@contextmanager
def one_error(path: str, expected: str = "a model saved by redac") -> Iterator[None]:
    """Whatever damage leads to, as one line that names the file and what it should be."""
    try:
        with decoding(path, expected), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except MemoryError:
        raise DataFileError(f"{path}: does not fit into memory") from None


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    # To open a pipe would wait for somebody to write into it.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise DataFileError(f"{path}: is not a file that can hold a model")
    with open(path, "rb") as file:
        yield file


def _members(archive: zipfile.ZipFile, file_size: int) -> dict[str, zipfile.ZipInfo]:
    """The arrays by name, after a look at what they will take."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        # The other ways to compress can unpack any number of bytes at once.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{name} is compressed in an unknown way")
        if name in members or name == info.filename:
            raise ValueError(f"{name} does not belong there")
        members[name] = info
    if sum(info.file_size for info in members.values()) > max(_MOST_UNPACKED, file_size):
        raise ValueError("it would unpack to far more than a model is")
    return members


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """One array; its bytes are there before memory is taken for its shape."""
    content = archive.read(info)
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"{info.filename} has the unknown version {version}")
    if dtype.kind not in "biufU":
        raise ValueError(f"{info.filename} holds neither numbers nor text")
    values: NDArray[Any] = np.frombuffer(content[stream.tell() :], dtype)
    if dtype.kind == "U":
        refuse_no_text(values, info.filename)
    return values.reshape(shape, order="F" if by_column else "C").copy()


def _header(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], path: str
) -> dict[str, Any]:
    if "header" not in members:
        raise ValueError("it has no header")
    header = json.loads(str(_array(archive, members.pop("header"))))
    if not isinstance(header, dict):
        raise ValueError("its header is no table")
    found = re.fullmatch(r"redac-model-([1-9][0-9]{0,8})", str(header.get("format")))
    if not found:
        raise ValueError("its header names no format")
    if int(found[1]) > _FORMAT:
        raise DataFileError(
            f"{path}: was written by redac {header.get('redac')} in model format {found[1]}; this "
            f"redac, {__version__}, reads formats up to {_FORMAT}: upgrade redac"
        )
    for name in ("params", "fitted"):
        if not isinstance(header.get(name), dict):
            raise ValueError(f"its header has no {name}")
    return header


def _refuse_other_kinds(header: dict[str, Any], cls: type, path: str) -> None:
    kind = header.get("class")
    if kind != cls.__name__:
        raise DataFileError(f"{path}: holds a model of the class {kind}, not {cls.__name__}")


def _params(cls: Any, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The parameters, checked by name and kind; their arrays are taken out of the others."""
    params: dict[str, Any] = dict(header["params"])
    for member in [name for name in arrays if name.startswith("param_")]:
        value = arrays.pop(member)
        if value.dtype.kind == "U" or value.ndim > 2 or not np.isfinite(value).all():
            raise ValueError(f"{member} is no array of finite numbers")
        params[member.removeprefix("param_")] = value
    for name, value in params.items():
        if name not in cls._get_param_names():
            raise ValueError(f"{name!r} is no parameter of {cls.__name__}")
        if isinstance(value, dict) and name not in _TABLES:
            raise ValueError(f"the parameter {name} is a table")
    return params


def _gathered(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The fitted attributes from where a file keeps them."""
    found: dict[str, Any] = dict(header["fitted"])
    for name, value in arrays.items():
        attribute, dot, key = name.partition(".")
        if attribute in found and not dot:
            raise ValueError(f"{attribute} is there twice")
        if dot:
            table = found.setdefault(attribute, {})
            if not isinstance(table, dict):
                raise ValueError(f"{attribute} is there twice")
            table[key] = value
        else:
            found[attribute] = value
    return found
