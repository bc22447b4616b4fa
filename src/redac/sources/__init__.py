"""Where S comes from; ``as_data`` is the only place that looks at the type of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from redac.sources.base import Array, Source
from redac.sources.blocks import Blocks
from redac.sources.cluster import DaskParts, is_dask
from redac.sources.columns import Columns
from redac.sources.covariance import checked_covariance
from redac.sources.data import GRAM_ORDER, Data
from redac.sources.dense import DenseData
from redac.sources.factor import Factor
from redac.sources.gram import Gram
from redac.sources.local import LocalParts, is_row_store
from redac.sources.moments import Moments, real_numbers
from redac.sources.sparse import SparseData
from redac.sources.weights import checked_weights

__all__ = [
    "Blocks",
    "Columns",
    "Data",
    "DenseData",
    "Factor",
    "Gram",
    "Moments",
    "Source",
    "SparseData",
    "as_data",
    "as_source",
    "checked_covariance",
    "covariance_source",
    "raw_data",
]

# Up to this many samples a product with all of X costs no more than one with the columns of S that
# a support touches, and up to this size a centred copy of X is worth having.
_FEW_SAMPLES = 128
_SMALL_BYTES = 1 << 25


def as_data(
    X: Any,
    *,
    standardize: bool = False,
    mean: Array | None = None,
    scale: Array | None = None,
    sample_weight: Any = None,
) -> Data:
    """X about its own mean or a given one, scaled by its own deviations, by given ones, or not."""
    data = raw_data(X, mean=mean, scale=scale, sample_weight=sample_weight)
    return data.about_own_mean(standardize=standardize) if mean is None else data.checked()


def raw_data(
    X: Any,
    *,
    mean: Array | None = None,
    scale: Array | None = None,
    sample_weight: Any = None,
) -> Data:
    """X about a given centre, or none, of which nothing has been read yet."""
    if is_dask(X):
        return Blocks.of(DaskParts(X, sample_weight), mean=mean, scale=scale)
    X = real_numbers(X)
    weights = None if sample_weight is None else checked_weights(sample_weight, X.shape[0])
    kind: type[Data] = SparseData if issparse(X) else DenseData
    if not issparse(X) and is_row_store(X):
        return Blocks.of(LocalParts(X, weights), mean=mean, scale=scale)
    return kind.raw(X, mean=mean, scale=scale, weights=weights)


def as_source(data: Data) -> Source:
    """The cheapest way to products with S for these data."""
    n, d = data.shape
    if d <= min(n, GRAM_ORDER):
        return Gram(data.gram(), variance_unit=data.variance_unit)
    if n <= _FEW_SAMPLES and 8 * n * d <= _SMALL_BYTES:
        by_feature = np.ascontiguousarray(data.dense().T)
        return Factor(by_feature, variance_unit=data.variance_unit)
    return Columns(data)


def covariance_source(S: Any) -> Gram:
    """A covariance or correlation matrix as the source, checked for what can be wrong with it."""
    matrix, unit = checked_covariance(S)
    return Gram(matrix, variance_unit=unit)
