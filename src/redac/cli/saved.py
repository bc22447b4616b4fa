"""Models that a fit has written."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

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

    path = Path(place)
    return SparsePCA.load(path / _MODEL if path.is_dir() else place)
