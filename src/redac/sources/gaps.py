"""Data with gaps: read into memory as cells, and answers about rows that have gaps.

The cells of a fit are kept in memory, by feature, whatever the data come from: every sweep needs
them all. What is asked about rows alone, scores and sums of squares, is answered block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from redac.exceptions import NonFiniteError
from redac.sources.base import Array
from redac.sources.blocks import Rows
from redac.sources.cells import Cells
from redac.sources.cluster import is_dask
from redac.sources.local import LocalParts
from redac.sources.moments import power_of_two
from redac.sources.weights import checked_weights

# How many columns or rows an error or a warning names.
_NAMED = 5


@dataclass(frozen=True)
class CellTable:
    """The cells of a table, centred and scaled.

    Attributes
    ----------
    cells : (x − mean)/(scale · unit), for the samples that count.
    mean, scale : of each column over the cells that are there; the scale is one, or the deviation.
    unit : a power of two that keeps numbers in a safe range.
    n_samples : number of rows, those without weight included.
    n_missing : number of gaps in the rows that count.
    empty_rows : the rows that count and have no cell at all.
    rows : the rows that count.
    """

    cells: Cells
    mean: Array
    scale: Array
    unit: float
    n_samples: int
    n_missing: int
    empty_rows: NDArray[np.intp]
    rows: NDArray[np.intp]

    @property
    def total_variance(self) -> float:
        """The sum of the variances of all columns, each over its own cells, in squared units."""
        degrees = np.maximum(self.cells.counts - 1.0, 1.0)
        return float((self.cells.diagonal / degrees).sum())


def may_have_gaps(X: Any) -> bool:
    """Whether NaN in such data is a missing cell: in all that is dense and on this machine.

    In a sparse matrix a cell that is not stored is zero, and a Dask collection need not fit into
    memory, as cells must.
    """
    return not (issparse(X) or is_dask(X))


def read_cells(
    X: Any, *, standardize: bool, sample_weight: Any, names: NDArray[Any] | None
) -> CellTable:
    """Read an array, or an object that hands out rows, into cells.

    Raises ``NonFiniteError`` for infinity and ``ValueError`` for columns without any cell.
    """
    n, d = X.shape
    weights = np.ones(n) if sample_weight is None else checked_weights(sample_weight, n)
    rows = np.flatnonzero(weights)
    values, there = np.empty((d, rows.size)), np.empty((d, rows.size), dtype=bool)
    at = 0
    for block in _blocks(X):
        counts = weights[block.start : block.start + len(block.X)] > 0.0
        chosen = slice(at, at + int(np.count_nonzero(counts)))
        values[:, chosen] = (block.X if counts.all() else block.X[counts]).T
        at = chosen.stop
        _refuse_infinity(values[:, chosen], rows[chosen])
    np.isnan(values, out=there)
    np.logical_not(there, out=there)
    _refuse_empty_columns(there, names)
    values[~there] = 0.0
    unit = power_of_two(_peak(values))
    if unit != 1.0:
        values /= unit
    mean, scale = _centred(values, there, weights[rows], standardize)
    spread = power_of_two(_peak(values))
    if spread != 1.0:
        values /= spread
    cell_unit = (1.0 if standardize else unit) * spread
    roots = np.sqrt(weights[rows])
    if sample_weight is not None:
        values *= roots
    return CellTable(
        Cells(values, there, roots),
        mean * unit,
        scale * unit if standardize else scale,
        cell_unit,
        n_samples=n,
        n_missing=int(there.size - np.count_nonzero(there)),
        empty_rows=rows[~there.any(axis=0)],
        rows=rows,
    )


def _centred(
    values: Array, there: NDArray[np.bool_], weights: Array, standardize: bool
) -> tuple[Array, Array]:
    """Centre each feature, and scale it if wanted, in place; the means and scales."""
    mean, scale = np.zeros(len(values)), np.ones(len(values))
    for j, (x, known) in enumerate(zip(values, there, strict=True)):
        w, seen = weights[known], x[known]
        low, high = seen.min(), seen.max()
        # Of a constant column exactly its value: rounding must not lend it a variance.
        mean[j] = low if low == high else w @ seen / w.sum()
        seen -= mean[j]
        if standardize and low < high:
            scale[j] = np.sqrt(w @ seen**2 / max(w.sum() - 1.0, 1.0))
        x[known] = seen / scale[j]
    return mean, scale


def in_memory(X: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A copy of all rows, gaps and all. Raises ``NonFiniteError`` for infinity."""
    values = np.empty(X.shape, dtype=dtype)
    for block in _blocks(X):
        rows = slice(block.start, block.start + len(block.X))
        values[rows] = block.X
        _refuse_infinity(values[rows].T, np.arange(rows.start, rows.stop))
    return values


def gap_scores(X: Any, mean: Array, scale: Array, V: Array, W: Array, ridge: Array) -> Array:
    """Scores of rows from the cells that they have.

    Parameters
    ----------
    X : rows, some of them with gaps.
    mean, scale : what is subtracted from the columns, and what they are then divided by.
    V : loadings.
    W : V(VᵀV)⁻¹, for rows without gaps.
    ridge : η of each component, for rows with gaps.
    """
    return np.concatenate(
        [_scores(cells, unit, V, W, ridge) for cells, unit in _cell_blocks(X, mean, scale)]
    )


def gap_share(X: Any, mean: Array, scale: Array, V: Array, W: Array, ridge: Array) -> float:
    """The share of Σ(x − mean)² over all cells that are there which their scores explain."""
    left, total, unit = 0.0, 0.0, None
    for cells, own in _cell_blocks(X, mean, scale):
        unit = own if unit is None else unit
        ratio = (own / unit) ** 2  # of blocks in other units
        E = cells.X - V @ _scores(cells, 1.0, V, W, ridge).T
        left += ratio * float(np.einsum("ij,ij,ij->", E, cells.weights, E))
        total += ratio * float(np.einsum("ij,ij->", cells.X, cells.X))
    return 1.0 - left / total if total > 0.0 else 0.0


def empty_rows(X: Any) -> NDArray[np.intp]:
    """The rows without any cell."""
    found = [np.flatnonzero(np.isnan(block.X).all(axis=1)) + block.start for block in _blocks(X)]
    return np.concatenate(found)


def _scores(cells: Cells, unit: float, V: Array, W: Array, ridge: Array) -> Array:
    U = cells.scores(V, np.zeros(len(V)), ridge)
    complete = cells.weights.all(axis=0)
    U[complete] = cells.X[:, complete].T @ W
    return U * unit


def _cell_blocks(X: Any, mean: Array, scale: Array) -> Iterator[tuple[Cells, float]]:
    """Blocks of rows as cells about a given centre, and the unit of each."""
    for block in _blocks(X):
        values = np.array(block.X.T, dtype=np.float64, order="C")
        _refuse_infinity(values, np.arange(block.start, block.start + len(block.X)))
        there = ~np.isnan(values)
        with np.errstate(over="ignore"):
            values -= mean[:, None]
            values /= scale[:, None]
        values[~there] = 0.0
        unit = power_of_two(_peak(values))
        yield Cells(values / unit, there, np.ones(len(block.X))), unit


def _peak(values: Array) -> float:
    """The largest magnitude, without another array of the same size."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _blocks(X: Any) -> Iterator[Rows]:
    """The rows in blocks of bounded size."""
    for block in LocalParts(X).rows():
        yield replace(block, X=block.X.toarray()) if issparse(block.X) else block


def _refuse_infinity(values: Array, rows: NDArray[np.intp]) -> None:
    """Raise for the first infinite cell of some rows, given by feature."""
    infinite = np.isinf(values)
    if infinite.any():
        at = int(np.argmax(infinite.any(axis=0)))
        column = int(np.argmax(infinite[:, at]))
        raise NonFiniteError(int(rows[at]), column, float(values[column, at]))


def _refuse_empty_columns(there: NDArray[np.bool_], names: NDArray[Any] | None) -> None:
    empty = np.flatnonzero(~there.any(axis=1))
    if empty.size == 0:
        return
    shown = [str(j) if names is None else f"{j} ({str(names[j])!r})" for j in empty[:_NAMED]]
    more = "" if empty.size <= _NAMED else f" and {empty.size - _NAMED} more"
    raise ValueError(
        f"X has no value at all in column(s) {', '.join(shown)}{more}, counted from 0; nothing can "
        "be learnt about them. Drop them first."
    )
