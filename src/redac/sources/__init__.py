"""Where S comes from; ``as_data`` is the only place that looks at the type of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from redac.sources.base import Array, Source
from redac.sources.columns import Columns
from redac.sources.covariance import checked_covariance
from redac.sources.data import Data
from redac.sources.dense import DenseData
from redac.sources.gram import Gram
from redac.sources.moments import Moments, NonFiniteError, real_numbers
from redac.sources.sparse import SparseData

__all__ = [
    "Columns",
    "Data",
    "DenseData",
    "Gram",
    "Moments",
    "NonFiniteError",
    "Source",
    "SparseData",
    "as_data",
    "as_source",
    "checked_covariance",
    "covariance_source",
]

# Up to this many features, and no more than samples, S is formed once and the data are not read
# again.
_GRAM_ORDER = 2000


def as_data(
    X: Any, *, standardize: bool = False, mean: Array | None = None, scale: Array | None = None
) -> Data:
    """X about its own mean or a given one, scaled by its own deviations, by given ones, or not."""
    X = real_numbers(X)
    kind: type[Data] = SparseData if issparse(X) else DenseData
    if kind is SparseData and X.format not in ("csr", "csc"):
        X = X.tocsr()
    if mean is None:
        return kind.standing_alone(X, standardize=standardize)
    return kind.about(X, mean, np.ones_like(mean) if scale is None else scale)


def as_source(data: Data) -> Source:
    """The cheapest way to products with S for these data."""
    n, d = data.shape
    if d <= min(n, _GRAM_ORDER):
        return Gram(data.gram(), variance_unit=data.variance_unit)
    return Columns(data)


def covariance_source(S: Any) -> Gram:
    """A covariance or correlation matrix as the source, checked for what can be wrong with it."""
    matrix, unit = checked_covariance(S)
    return Gram(matrix, variance_unit=unit)
