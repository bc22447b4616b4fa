"""What a path is for: complete data, of which rows are held out, or data with gaps, of which cells
are.

Both have a source on which a grid is solved, make fitted models of what was found there, and hold
parts of themselves out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from redac import parameters
from redac.choose.grid import Solved
from redac.choose.press import press
from redac.model import incomplete
from redac.model.component_model import ComponentModel
from redac.model.estimator import SparsePCA
from redac.solver.attempts import spread
from redac.solver.refine import CellSolution, Refinement
from redac.solver.search import Monitor
from redac.sources import Data, Source
from redac.sources.base import Array, Indices
from redac.sources.folds import Fold
from redac.sources.gaps import CellTable, read_cells

# Attributes of whoever has read the data that every model of a path has, too.
_OF_THE_DATA = (
    "mean_",
    "scale_",
    "n_samples_",
    "n_missing_",
    "n_features_in_",
    "feature_names_in_",
    "_names_were_given",
)


class HeldOut(Protocol):
    """A part that is held out, and all the rest."""

    @property
    def train(self) -> Source:
        """The rest, to find loadings on."""
        ...

    def q2(self, point: Solved, monitor: Monitor | None) -> float:
        """The share of the squared errors of the mean that loadings save on the part."""
        ...


class Sheet(Protocol):
    """The data of a path.

    Attributes
    ----------
    reader : who has read them, and knows their means, sizes and names.
    source : the data as a whole.
    dtype : of the components.
    parts : what is held out in turn; None: nothing is.
    n_parts : how many parts there are.
    is_complete : whether no cell is missing.
    n_passes : how often the rows were read; None where they are kept in memory or there are none.
    """

    reader: ComponentModel
    source: Source
    dtype: np.dtype[Any]
    n_parts: int
    is_complete: bool

    @property
    def n_passes(self) -> int | None: ...

    @property
    def parts(self) -> Iterable[HeldOut] | None: ...

    def keep(self, model: SparsePCA, point: Solved, monitor: Monitor | None) -> None:
        """Make a model fitted by what was found on the source."""
        ...


@dataclass
class CompleteSheet:
    """Data without gaps: rows are held out, and their cells predicted from each other."""

    reader: ComponentModel
    source: Source
    dtype: np.dtype[Any]
    folds: Iterable[Fold] | None = None
    n_parts: int = 0
    data: Data | None = None
    is_complete: bool = True

    @property
    def n_passes(self) -> int | None:
        return None if self.data is None else self.data.n_passes

    @property
    def parts(self) -> Iterable[HeldOut] | None:
        return None if self.folds is None else map(HeldOutRows, self.folds)

    def keep(self, model: SparsePCA, point: Solved, monitor: Monitor | None) -> None:
        _take_over(model, self.reader)
        search = point.search
        model._conclude(search.found, search.attempts, self.source, self.dtype, point.starts)


@dataclass(frozen=True)
class HeldOutRows:
    """Rows that are held out."""

    fold: Fold

    @property
    def train(self) -> Source:
        return self.fold.train

    def q2(self, point: Solved, monitor: Monitor | None) -> float:
        alone = self.fold.test.total
        return 1.0 - press(self.fold.test, point.V, point.ridge) / alone if alone > 0 else 0.0


@dataclass
class GappySheet:
    """Data with gaps: cells are hidden, each that is there once, and predicted by what is left.

    What is found on data whose gaps are filled goes on to fit the cells that are there.

    Attributes
    ----------
    table : the cells.
    ridge : η of all scores; None: what the cells suggest.
    standardize : whether columns are divided by their deviations.
    random_state : the seed of which cells are hidden together.
    """

    reader: ComponentModel
    table: CellTable
    dtype: np.dtype[Any]
    ridge: float | None
    standardize: bool
    n_parts: int
    random_state: Any = None
    is_complete: bool = False
    n_passes: int | None = None
    source: Source = field(init=False)

    def __post_init__(self) -> None:
        self.source = self.table.cells.filled()
        reader, cells = self.reader, self.table.cells
        reader.mean_ = self.table.mean + cells.means * self.table.scale * self.table.unit
        reader.scale_ = self.table.scale
        reader.n_samples_, reader.n_missing_ = self.table.n_samples, self.table.n_missing
        reader.__dict__.pop("n_passes_", None)  # all was read into memory

    @property
    def parts(self) -> Iterable[HeldOut] | None:
        return self._parts() if self.n_parts else None

    def _parts(self) -> Iterator[HiddenCells]:
        table, cells = self.table, self.table.cells
        X = cells.X.T * (table.scale * table.unit) + table.mean
        there = np.asarray(cells.weights, dtype=bool).T
        part_of = dealt_cells(there, self.n_parts, self.random_state)
        for number in range(self.n_parts):
            is_hidden = there & (part_of == number)
            # Nothing can be learnt about a column without any cell.
            is_hidden[:, ~(there & ~is_hidden).any(axis=0)] = False
            shown = np.where(there & ~is_hidden, X, np.nan)
            rest = read_cells(shown, standardize=self.standardize, sample_weight=None, names=None)
            rows, columns = np.nonzero(is_hidden)
            values = (X - rest.mean) / (rest.scale * rest.unit)
            yield HiddenCells(rest, self.ridge, rows, columns, values[rows, columns])

    def keep(self, model: SparsePCA, point: Solved, monitor: Monitor | None) -> None:
        _take_over(model, self.reader)
        found = on_cells(point, self.table, self.ridge, monitor)
        model.search_history_ = spread(point.search.attempts, found.V)
        incomplete.keep(model, self.table, found, self.dtype, sort=model._is_sorted)
        model._keep_run(found)


@dataclass
class HiddenCells:
    """Cells that are hidden, in the units of all others.

    Attributes
    ----------
    rest : the other cells.
    ridge : η of all scores; None: what the cells suggest.
    rows, columns, values : the cells that are hidden.
    """

    rest: CellTable
    ridge: float | None
    rows: Indices
    columns: Indices
    values: Array
    train: Source = field(init=False)

    def __post_init__(self) -> None:
        self.train = self.rest.cells.filled()

    def q2(self, point: Solved, monitor: Monitor | None) -> float:
        found = on_cells(point, self.rest, self.ridge, monitor)
        mean, alone = found.mean[self.columns], self.rest.cells.means[self.columns]
        fitted = np.einsum("ij,ij->i", found.U[self.rows], found.V[self.columns])
        total = float(((self.values - alone) ** 2).sum())
        left = float(((self.values - mean - fitted) ** 2).sum())
        return 1.0 - left / total if total > 0.0 else 0.0


def on_cells(
    point: Solved, table: CellTable, ridge: float | None, monitor: Monitor | None
) -> CellSolution:
    """Where the loadings of a place go on filled data lead on the cells themselves."""
    refinement = Refinement(point.search.problem, table.cells, ridge, monitor)
    found = refinement.run(point.V)
    if refinement.search.is_over:
        raise KeyboardInterrupt
    return found


def dealt_cells(there: NDArray[np.bool_], count: int, random_state: Any) -> Indices:
    """The number of the part of each cell: the cells of a row are shuffled and dealt in turn.

    Rows begin with another part each, so that parts are of a size. Which features are hidden
    together differs from row to row: otherwise none could speak for another one.
    """
    rng = check_random_state(0 if random_state is None else random_state)
    order = np.where(there, rng.random_sample(there.shape), 2.0)  # the cells that are there first
    ranks = order.argsort(axis=1).argsort(axis=1)
    return np.asarray((ranks + np.arange(len(there))[:, None]) % count, dtype=np.intp)


def part_count(cv: Any, n_cells: int) -> int:
    """How many parts cells are dealt into; none for None."""
    if cv is None:
        return 0
    if not isinstance(cv, (int, np.integer)):
        raise TypeError(
            f"cv={cv!r} splits rows, but cells are missing: there cells are hidden in turn. Give a "
            "whole number of parts."
        )
    return parameters.count("cv", cv, least=2, most=n_cells, why=f": there are {n_cells} cells")


def _take_over(model: SparsePCA, reader: ComponentModel) -> None:
    for name in _OF_THE_DATA:
        if hasattr(reader, name):
            setattr(model, name, getattr(reader, name))


def concluded(sheet: Sheet, model: SparsePCA, point: Solved, monitor: Monitor | None) -> SparsePCA:
    """The fitted model of one place; numbers of extreme size are spoken of once, elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sheet.keep(model, point, monitor)
    return model
