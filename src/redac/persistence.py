"""Models in files: a .npz archive of arrays and one JSON text, nothing pickled."""

from __future__ import annotations

import json
import os
import zipfile
from typing import IO, Any, TypeVar

import numpy as np

from redac.files import write_atomically

_FORMAT = "redac-model-1"
_ARRAYS = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "mean_",
    "objective_history_",
    "scale_",
)
_NUMBERS = (
    "converged_",
    "n_components_",
    "n_features_in_",
    "n_iter_",
    "n_samples_",
    "reconstruction_error_",
    "separation_",
)

Model = TypeVar("Model")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    arrays = {name: getattr(model, name) for name in _ARRAYS}
    if hasattr(model, "feature_names_in_"):
        arrays["feature_names_in_"] = np.array([str(name) for name in model.feature_names_in_])
    params = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            arrays[f"param_{name}"] = value
        else:
            params[name] = _plain(name, value)
    numbers = {name: getattr(model, name) for name in _NUMBERS}
    header = json.dumps({"format": _FORMAT, "params": params, "fitted": numbers})

    def write(file: IO[bytes]) -> None:
        np.savez_compressed(file, header=np.array(header), **arrays)

    write_atomically(path, write)


def load(cls: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model written by ``save``."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name: archive[name] for name in archive.files if name != "header"}
        if header["format"] != _FORMAT:
            raise ValueError(f"{path}: format {header['format']!r}, not {_FORMAT!r}")
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


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON can hold it.

    A RandomState has no such form, and a fitted model has no use for it.
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else None
