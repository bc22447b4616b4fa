"""Paths in files: an archive of one table as JSON and of one model file for each place.

Like a model file, it is not trusted: model files are checked as those on disk are, and the table is
held against them.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from redac.disk import write_atomically
from redac.model import persistence
from redac.model.estimator import SparsePCA

if TYPE_CHECKING:
    import pandas as pd

    from redac.choose.path import SparsityPath

_FORMAT = "redac-path-1"
_HEADER = "path.json"
# No table of a path is larger: a hundred thousand places with all their columns.
_LARGEST_HEADER = 1 << 26


def save(path: SparsityPath, file_path: str | os.PathLike[str]) -> None:
    """Write a path; the file appears whole or not at all."""
    places = [(int(r), int(k)) for r, k in path.table[["n_components", "cardinality"]].to_numpy()]
    header = {
        "format": _FORMAT,
        "interrupted": path.interrupted,
        "table": path.table.to_dict(orient="list"),
        "folds": None if path.fold_scores is None else path.fold_scores.to_dict(orient="list"),
    }

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_HEADER, json.dumps(header))
            for place in places:
                content = io.BytesIO()
                persistence.packed(path.model(*place))(content)
                archive.writestr(_member(place), content.getvalue())

    write_atomically(file_path, write)


def load(
    file_path: str | os.PathLike[str],
) -> tuple[dict[tuple[int, int], SparsePCA], pd.DataFrame, pd.DataFrame | None, bool]:
    """Read models, table, scores of folds, and whether the work was interrupted."""
    name = os.fspath(file_path)
    with (
        persistence.one_error(name, "a path saved by redac"),
        persistence.opened(name) as file,
        zipfile.ZipFile(file) as archive,
    ):
        members = {info.filename: info for info in archive.infolist()}
        if _HEADER not in members:
            raise ValueError(f"it has no {_HEADER}")
        # What is stored as it is cannot unpack to more than the file has.
        if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
            raise ValueError("its parts are compressed")
        header = _header(archive, members)
        table, folds = _frame(header.get("table")), None
        if header.get("folds") is not None:
            folds = _frame(header["folds"])
            if len(folds) != len(table):
                raise ValueError("its folds do not go with its table")
        models = {}
        for r, k in table[["n_components", "cardinality"]].to_numpy().astype(int).tolist():
            content = archive.read(members[_member((r, k))])
            model = persistence.unpacked(SparsePCA, io.BytesIO(content), len(content), name)
            if (model.n_components_, model.cardinality) != (r, k):
                raise ValueError(f"its model of {r} components of {k} features is another one")
            models[r, k] = model
    return models, table, folds, bool(header.get("interrupted"))


def _member(place: tuple[int, int]) -> str:
    return f"r{place[0]}-k{place[1]}.npz"


def _header(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> dict[str, Any]:
    if members[_HEADER].file_size > _LARGEST_HEADER:
        raise ValueError("its table is too large for a path")
    header = json.loads(archive.read(members[_HEADER]))
    if not isinstance(header, dict):
        raise ValueError("its header is no table")
    if header.get("format") != _FORMAT:
        kind = header.get("format")
        raise ValueError(f"its format is {kind!r}, not {_FORMAT!r}")
    return header


def _frame(columns: Any) -> pd.DataFrame:
    """A table of finite numbers."""
    import pandas as pd

    if not isinstance(columns, dict):
        raise ValueError("its table is none")
    frame = pd.DataFrame(columns)
    values = frame.to_numpy()
    if values.dtype.kind not in "if" or not np.isfinite(values).all():
        raise ValueError("its table holds something else than finite numbers")
    return frame
