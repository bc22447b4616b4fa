"""Models in files: a .npz archive of arrays and one JSON text, nothing pickled."""

from __future__ import annotations

import json
import os
import zipfile
from typing import IO, Any, TypeVar

import numpy as np

from redac.files import write_atomically

_FORMAT = "redac-model-1"

Model = TypeVar("Model")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    arrays, numbers = _fitted(model)
    params = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            arrays[f"param_{name}"] = value
        else:
            params[name] = _plain(value)
    kind = type(model).__name__
    header = json.dumps({"format": _FORMAT, "class": kind, "params": params, "fitted": numbers})

    def write(file: IO[bytes]) -> None:
        np.savez_compressed(file, header=np.array(header), **arrays)

    write_atomically(path, write)


def load(cls: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model written by ``save``."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name: archive[name] for name in archive.files if name != "header"}
        if (header["format"], header["class"]) != (_FORMAT, cls.__name__):
            raise ValueError(f"it holds a {header['class']} in format {header['format']!r}")
    except FileNotFoundError:
        raise
    except (
        OSError,
        EOFError,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(f"{os.fspath(path)} is not a model saved by redac ({error}).") from None
    params = header["params"]
    for name in [name for name in arrays if name.startswith("param_")]:
        params[name.removeprefix("param_")] = arrays.pop(name)
    model = cls(**params)
    for name, value in {**header["fitted"], **arrays}.items():
        setattr(model, name, value.astype(object) if name == "feature_names_in_" else value)
    return model


def _fitted(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fitted attributes, which by convention end with an underscore: arrays, and the rest."""
    arrays, numbers = {}, {}
    for name, value in vars(model).items():
        if not name.endswith("_") or name.startswith("_"):
            continue
        if name == "feature_names_in_":
            arrays[name] = np.array([str(feature) for feature in value])
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            numbers[name] = _plain(value)
    return arrays, numbers


def _plain(value: Any) -> Any:
    """A value as JSON can hold it.

    A RandomState has no such form, and a fitted model has no use for it.
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else None
