"""Models of data with gaps: how they are fitted, and what they say of rows with gaps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redac import parameters
from redac.exceptions import EmptyRowsWarning, NonFiniteError
from redac.model import outliers
from redac.model.advice import warn_of
from redac.model.identity import order_like, reference_signs, signed
from redac.model.running import refined, run_search
from redac.solver import variance
from redac.solver.attempts import spread
from redac.solver.observed import shares
from redac.solver.refine import CellSolution
from redac.solver.robust import Weighing, clipped
from redac.sources.base import Array
from redac.sources.gaps import (
    CellTable,
    empty_rows,
    gap_scores,
    gap_share,
    in_memory,
    may_have_gaps,
)
from redac.sources.reading import Given
from redac.user_line import warn_user

if TYPE_CHECKING:
    from redac.model.component_model import ComponentModel
    from redac.model.estimator import SparsePCA

# How many rows a warning names.
_NAMED = 5


def is_gap(model: ComponentModel, error: NonFiniteError, given: Given) -> bool:
    """Whether what an error complains of is a missing cell, and the model can do with those."""
    return model._takes_gaps and math.isnan(error.value) and may_have_gaps(given.values)


def fit(model: SparsePCA, given: Given, table: CellTable) -> None:
    """Fit to data with gaps or wild cells: first to filled and tame data, then to the cells."""
    cells, kind = table.cells, parameters.robust(model.robust)
    weighing = None if kind is None else Weighing.of(cells, kind)
    tame = cells if kind is None else clipped(cells)
    run = run_search(model, tame.filled(), given.values)
    ridge = parameters.ridge(model.ridge)
    if ridge is None and table.n_missing == 0:
        ridge = 0.0
    found, weighed, weighing = refined(run, cells, ridge, weighing)
    run.watcher.close()
    model.search_history_ = spread(run.attempts, found.V)
    final = replace(table, cells=weighed)
    keep(model, final, found, given.float_dtype, sort=model._is_sorted)
    if weighing is not None:
        outliers.keep(model, table, weighing, found.model)
    model._keep_run(found)
    model.__dict__.pop("n_passes_", None)  # all was read into memory
    warn_of_empty(table.empty_rows)
    warn_of(model, found, run.problem)


def scores(model: ComponentModel, given: Given) -> Array:
    """Scores of rows, some of which have gaps."""
    warn_of_empty(empty_rows(given.values))
    with given.naming_columns():
        return gap_scores(given.values, *_description(model))


def share(model: ComponentModel, given: Given) -> float:
    """The share of the variance of the cells that are there which the components explain."""
    with given.naming_columns():
        return gap_share(given.values, *_description(model))


def imputed(model: ComponentModel, given: Given) -> NDArray[Any]:
    """The rows with their gaps filled by the model."""
    with given.naming_columns():
        values = in_memory(given.values, given.float_dtype)
    rows = np.flatnonzero(np.isnan(values).any(axis=1))
    if rows.size:
        restored = model.inverse_transform(scores(model, given)[rows])
        values[rows] = np.where(np.isnan(values[rows]), restored, values[rows])
    return values


def warn_of_empty(rows: NDArray[np.intp]) -> None:
    """One warning for all rows without any value."""
    if rows.size == 0:
        return
    shown = ", ".join(map(str, rows[:_NAMED])) + (", …" if rows.size > _NAMED else "")
    warn_user(
        f"{rows.size} row(s) of X have no value at all (counted from 0: {shown}); their scores are "
        "zero, which stands for the mean. Drop them if that is not what you want.",
        EmptyRowsWarning,
    )


def _description(model: ComponentModel) -> tuple[Array, Array, Array, Array, Array]:
    """What scores of rows depend on."""
    V = model.components_.astype(np.float64).T
    ridge = getattr(model, "score_ridge_", np.zeros(V.shape[1]))  # older files have none
    return model.mean_, model.scale_, V, variance.Basis.of(V).duals(), ridge


def keep(
    model: SparsePCA, table: CellTable, solution: CellSolution, dtype: np.dtype[Any], *, sort: bool
) -> None:
    """Set the fitted attributes that follow from a solution on cells."""
    V = solution.V.astype(dtype).astype(np.float64)  # what is measured is what is kept
    cells, ridge = table.cells, solution.ridge
    source = cells.completed(solution.model)
    explained = variance.Explained.of(V, source.quadratic)
    like = reference_signs(model)
    if sort:
        order = explained.greedy_order() if like is None else order_like(V, like)
        V, ridge, explained = V[:, order], ridge[order], explained.in_order(order)
    added = shares(cells, V, solution.mean, ridge)
    model.components_ = signed(V.T, like).astype(dtype)
    model.score_ridge_ = ridge
    model.mean_ = table.mean + solution.mean * (table.scale * table.unit)
    model.scale_ = table.scale
    model._keep_shares(V, added, added * table.total_variance, table.unit * table.unit)
    model._keep_relations(V, explained, source)
    model.n_samples_ = table.n_samples
    model.n_missing_ = table.n_missing
    # What a certificate would need of complete data.
    model.scaled_covariance_ = None
    model.variance_limits_ = np.ones(2)
