"""What looks like an oversight in a table: it is said, and nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from redac.files.table import Table, quoted

# So many columns are named in a note.
_NAMED = 8
# Fewer rows may count up by chance, or be years.
_FEWEST_ROWS = 5
# With a hundredth of the standard deviation of another a column has a ten-thousandth of its
# variance, and no chance of a loading.
_FAR_APART = 100.0
# A file that is larger is not looked at: a fit would not read it more than once.
_MOST_BYTES = 1 << 28


def suspicions(
    table: Table, what: str, *, covariance: bool = False, standardize: bool = False
) -> tuple[str, ...]:
    """Notes on a table that is to be fitted.

    Parameters
    ----------
    table : Table
    what : str
        What the user calls it.
    covariance, standardize : bool
        How it will be fitted.
    """
    values = table.values
    if not isinstance(values, np.ndarray) or values.nbytes > _MOST_BYTES:
        return ()
    names = table.feature_names or [f"x{j}" for j in range(values.shape[1])]
    found = [] if covariance else [*_counting(values, names), *_symmetric(values, what)]
    if not standardize:
        spreads = np.sqrt(np.abs(values.diagonal())) if covariance else _spreads(values)
        found += _far_apart(spreads, names)
    return tuple(found)


def _counting(values: Any, names: list[str]) -> Iterator[str]:
    """Columns that count the rows, as an id does."""
    if len(values) < _FEWEST_ROWS:
        return
    first = values[0]
    found = [
        quoted(names[j])
        for j in np.flatnonzero((first == 0) | (first == 1)).tolist()
        if np.array_equal(values[:, j], np.arange(len(values)) + first[j])
    ]
    if len(found) == 1:
        yield (
            f"column {found[0]} only counts the rows; leave it out with --drop, or name the rows "
            "by it with --index"
        )
    elif found:
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        yield (
            f"columns {', '.join(found[:_NAMED])}{more} only count the rows; leave them out with "
            "--drop"
        )


def _symmetric(values: Any, what: str) -> Iterator[str]:
    rows, columns = values.shape
    if rows != columns or rows < 2:
        return
    if np.allclose(values, values.T, rtol=1e-10, atol=0.0):
        yield f"{what} is a symmetric matrix; say --covariance if it is one of covariances"


def _spreads(values: Any) -> Any:
    """The standard deviation of each column, of the cells that are there; 0 for none."""
    values = np.asarray(values, dtype=np.float64)
    known = np.isfinite(values)
    counts = np.maximum(known.sum(axis=0), 1)
    with np.errstate(all="ignore"):
        about = values - np.where(known, values, 0.0).sum(axis=0) / counts
        spreads = np.sqrt(np.square(np.where(known, about, 0.0)).sum(axis=0) / counts)
        # What is left of a constant column is rounding.
        size = np.abs(np.where(known, values, 0.0)).max(axis=0)
    return np.where(spreads > 1e-12 * size, spreads, 0.0)


def _far_apart(spreads: Any, names: list[str]) -> Iterator[str]:
    varying = np.flatnonzero((spreads > 0) & np.isfinite(spreads))
    if varying.size < 2:
        return
    large = varying[np.argmax(spreads[varying])]
    small = varying[np.argmin(spreads[varying])]
    ratio = spreads[large] / spreads[small]
    if ratio >= _FAR_APART:
        yield (
            f"the columns have very different scales: {quoted(names[large])} spreads "
            f"{ratio:,.3g} times as much as {quoted(names[small])}; consider --standardize"
        )
