"""Models that a fit has written."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from redac.disk import DataFileError

if TYPE_CHECKING:
    from redac import SparsePCA

_MODEL = "model.npz"


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model, before anything else."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help=f"a model that redac fit or SparsePCA.save has written, or a folder with {_MODEL}",
    )


def load_model(place: str) -> SparsePCA:
    """The model in a file, or in the folder of a result."""
    from redac import SparsePCA

    if not place:
        raise DataFileError("the model has no name (''); give a file or a folder")
    path = Path(place)
    if not path.is_dir():
        return SparsePCA.load(place)
    if not (path / _MODEL).is_file():
        raise DataFileError(f"{place}: has no {_MODEL}; redac fit and choose write one")
    return SparsePCA.load(path / _MODEL)
