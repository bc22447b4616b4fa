"""Which features go with which scores: the arrows of a biplot.

Raw loadings would put every arrow of a sparse fit on an axis. What is drawn instead are structure
coefficients: the slope of each feature regressed on each score, both in units of their standard
deviations, which is their correlation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from redac.show.tables import component_names

Array = NDArray[np.float64]

# Rows of data that are not in memory are read in blocks of about so many cells.
_CELLS_PER_BLOCK = 4_000_000


def structure_coefficients(X: Any, features: Sequence[int], scores: Any) -> Array:
    """Correlations of features, by their positions, with scores: features × components.

    Rows where a feature is missing do not count for it; a feature or score that does not vary has
    the coefficient 0.
    """
    columns = columns_of(X, features)
    Z = np.asarray(scores, dtype=np.float64)
    found = np.zeros((len(features), Z.shape[1]))
    for number, column in enumerate(columns.T):
        there = np.isfinite(column)
        if there.sum() > 1:
            found[number] = _correlations(column[there], Z[there])
    return found


def _correlations(x: Array, Z: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = x / (np.abs(x).max() or 1.0)
        x, Z = x - x.mean(), Z - Z.mean(axis=0)
        sizes = np.linalg.norm(x) * np.linalg.norm(Z, axis=0)
        found = np.clip((x @ Z) / sizes, -1.0, 1.0)
    return np.where(np.isfinite(found), found, 0.0)


def columns_of(X: Any, features: Sequence[int]) -> Array:
    """Some columns of data of any kind that a model takes, as a dense array."""
    positions = [int(j) for j in features]
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if hasattr(X, "compute"):
        return np.asarray(X[:, positions].compute(), dtype=np.float64)
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, positions].to_numpy(dtype=np.float64, na_value=np.nan))
    if hasattr(X, "get_columns"):  # polars
        names = [X.columns[j] for j in positions]
        return np.asarray(X.select(names).to_numpy(), dtype=np.float64).reshape(len(X), -1)
    if issparse(X):
        return np.asarray(X.tocsc()[:, positions].toarray(), dtype=np.float64)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if isinstance(X, np.ndarray):
        return np.asarray(X[:, positions], dtype=np.float64)
    blocks = [np.asarray(block)[:, positions] for block in row_blocks(X)]
    return np.asarray(np.concatenate(blocks), dtype=np.float64)


def row_blocks(X: Any) -> Iterator[Any]:
    """The rows of data that are not in memory, in blocks, from the first to the last."""
    n, d = X.shape
    step = max(1, _CELLS_PER_BLOCK // d)
    if hasattr(X, "row_blocks"):
        yield from X.row_blocks(step)
    else:
        yield from (X[start : start + step] for start in range(0, n, step))


def leading_features(components: Any, pair: Sequence[int], most: int) -> list[int]:
    """The features with the largest loadings, of each of some components in turn."""
    sizes = np.abs(np.asarray(components)[list(pair)])
    places = np.argsort(np.argsort(-sizes, axis=1, kind="stable"), axis=1)
    places = np.where(sizes > 0.0, places, sizes.shape[1]).min(axis=0)
    order = np.lexsort((-sizes.max(axis=0), places))[:most]
    return [int(j) for j in order if sizes[:, j].any()]


def component_number(component: int | str, n_components: int) -> int:
    """The position of a component, which is named (``"PC1"``) or counted from 0."""
    names = component_names(n_components)
    if isinstance(component, str):
        if component in names:
            return names.index(component)
    elif not isinstance(component, bool) and component in range(n_components):
        return int(component)
    raise ValueError(
        f"{component!r} is no component of this model; there are {names[0]} to {names[-1]}, "
        f"or by number 0 to {n_components - 1}."
    )
