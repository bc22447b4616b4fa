"""The data of the printed tables, as far as they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.packages.package import Array
from redac.datasets import load_pitprops
from redac.files import read_table

# datasets::mtcars of R, from Motor Trend, 1974.
_MTCARS = Path(__file__).parent / "mtcars.csv"
# Where the matrix that msPCA has differs from that of Jeffers (1967): correlations with diaknot.
OTHER_CELLS = {
    "bowmax": -0.172,
    "bowdist": -0.175,
    "whorls": -0.545,
    "clear": 0.054,
    "knots": 0.220,
}


@dataclass(frozen=True)
class Problem:
    """Standardised data, a number of components, and of features in each."""

    name: str
    X: Array
    r: int
    k: int

    @property
    def S(self) -> Array:
        """The correlation matrix."""
        return np.asarray(self.X.T @ self.X / len(self.X))


def problems(riboflavin: Path | None = None) -> list[Problem]:
    """All that can be made here; riboflavin is a file of 71 rows and 4,088 genes."""
    found = [
        Problem("mtcars", _standardized(pd.read_csv(_MTCARS, index_col=0).to_numpy()), 3, 4),
        Problem("pitprops, their matrix", rows_of(their_pitprops()), 6, 4),
        Problem("pitprops", rows_of(np.asarray(load_pitprops().correlation)), 6, 4),
    ]
    if riboflavin is not None:
        X = np.asarray(read_table(riboflavin).values, dtype=np.float64)
        found.append(Problem("riboflavin", _standardized(X), 2, 20))
    return found


def their_pitprops() -> Array:
    """The correlations of Jeffers with the five cells that msPCA has otherwise."""
    pitprops = load_pitprops()
    S = np.array(pitprops.correlation, dtype=np.float64)
    names = list(pitprops.feature_names)
    for name, value in OTHER_CELLS.items():
        i, j = names.index("diaknot"), names.index(name)
        S[i, j] = S[j, i] = value
    return S


def rows_of(S: Array, n: int = 180) -> Array:
    """Centred rows whose correlations are exactly these, for packages that want data."""
    draws = np.random.default_rng(0).standard_normal((n, len(S)))
    directions = np.linalg.qr(draws - draws.mean(axis=0))[0]
    return np.asarray(np.sqrt(n) * directions @ np.linalg.cholesky(S).T)


def _standardized(X: Array) -> Array:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))
