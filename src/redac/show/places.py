"""Fitted models as the data of a page: non-zero loadings, measures, scores, arrows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from redac.show.drawn_rows import DrawnRows
from redac.show.escaping import printable
from redac.show.shares import pca_shares
from redac.show.structure import structure_coefficients

# Loadings are whole ten-thousandths, scores two-thousandths of the largest, correlations
# thousandths: more digits are not seen, and would make the page heavy.
_LOADING, _SCORE, _CORRELATION = 10_000, 2_000, 1_000
# Features of each component that have arrows.
_ARROWS = 6
# Single cells that a page lists.
_MOST_CELLS = 200


def place_of(
    model: Any,
    rows: DrawnRows,
    *,
    cardinality: Any = None,
    notes: Sequence[str] = (),
    measures: dict[str, float] | None = None,
    pca: dict[int, float] | None = None,
    bound: float | None = None,
    steady: Any = None,
) -> tuple[dict[str, Any], dict[int, str]]:
    """A model as a place of a page, and the names of the features that it mentions.

    Parameters
    ----------
    model : fitted.
    rows : what is drawn of the data.
    cardinality : as the page calls the place; by default that of the model.
    notes : what is to be said of the model.
    measures : those that a path has beyond the model: q2, q2_se, ebic.
    pca : percent explained by numbers of principal components, as far as known.
    bound : what components of this kind cannot exceed, in percent.
    steady : what ``stability`` has returned.
    """
    components = np.asarray(model.components_, dtype=np.float64)
    r = len(components)
    orders = [_by_size(row) for row in components]
    shares = 100 * model.explained_variance_ratio_
    place: dict[str, Any] = {
        "r": r,
        "k": _said(model.cardinality if cardinality is None else cardinality),
        "nonzeros": int(np.count_nonzero(components)),
        "pev": _rounded(shares.sum(), 4),
        "separation": _rounded(model.separation_, 4),
        "shares": [_rounded(share, 4) for share in shares],
        "pca": _pca(model, pca or {}),
        "features": [order.tolist() for order in orders],
        "loadings": [
            np.round(_LOADING * row[order]).astype(int).tolist()
            for row, order in zip(components, orders, strict=True)
        ],
        "correlations": _table(getattr(model, "score_correlations_", components @ components.T)),
        "products": _table(components @ components.T),
        "notes": [printable(note) for note in notes],
    }
    if place["pca"] and place["pca"][-1] is not None:
        place["pca_pev"] = place["pca"][-1]
    place |= {name: _rounded(value, 5) for name, value in (measures or {}).items()}
    if bound is not None:
        place["bound"] = _rounded(bound, 3)
    mentioned = {int(j) for order in orders for j in order}
    if rows.X is not None:
        mentioned |= _add_scores(place, model, rows, orders)
    if hasattr(model, "row_weights_"):
        mentioned |= _add_outliers(place, model, rows)
    if steady is not None:
        place["stability"], more = stability_data(steady)
        mentioned |= more
    names = model._feature_names()
    return place, {j: printable(names[j]) for j in sorted(mentioned)}


def stability_data(steady: Any) -> tuple[dict[str, Any], set[int]]:
    """How often features were chosen, for a page, and which they are."""
    table = steady.frequencies.to_numpy()
    used = steady.model.components_.T != 0
    ever = np.flatnonzero(table.any(axis=1) | used.any(axis=1))
    peak = table[ever].max(axis=1) + used[ever].any(axis=1)
    order = ever[np.argsort(-peak, kind="stable")][:_MOST_CELLS]
    found = {
        "features": order.tolist(),
        "frequencies": np.round(100 * table[order]).astype(int).tolist(),
        "resamples": int(steady.n_resamples),
        "index": _rounded(steady.index, 3),
    }
    return found, set(order.tolist())


def _by_size(row: Any) -> Any:
    """The features with a loading, the largest first."""
    used = np.flatnonzero(row)
    return used[np.argsort(-np.abs(row[used]), kind="stable")]


def _said(cardinality: Any) -> int | str:
    if isinstance(cardinality, (int, np.integer)):
        return int(cardinality)
    if isinstance(cardinality, (list, tuple, np.ndarray)):
        return ", ".join(str(each) for each in cardinality)
    return "any" if cardinality is None else str(cardinality)


def _rounded(value: Any, digits: int) -> float | None:
    number = float(value)
    return round(number, digits) if np.isfinite(number) else None


def _table(values: Any) -> list[list[float | None]]:
    return [[_rounded(value, 3) for value in row] for row in np.asarray(values)]


def _pca(model: Any, known: dict[int, float]) -> list[float | None]:
    if known:
        return [_rounded(known.get(i + 1, np.nan), 3) for i in range(model.n_components_)]
    return [_rounded(value, 3) for value in pca_shares(model)]


def _add_scores(
    place: dict[str, Any], model: Any, rows: DrawnRows, orders: Sequence[Any]
) -> set[int]:
    """Scores of the rows that are drawn, and the arrows of the leading features."""
    with warnings.catch_warnings():  # of rows without any value the fit has warned
        warnings.simplefilter("ignore")
        scores = np.asarray(model.transform(rows.X), dtype=np.float64)
    units = np.abs(scores).max(axis=0, initial=0.0)
    units = np.where(units > 0.0, units, 1.0)
    place["scores"] = np.round(_SCORE * (scores / units).T).astype(int).tolist()
    place["score_units"] = [float(f"{unit:.6g}") for unit in units]
    leading = sorted({int(j) for order in orders for j in order[:_ARROWS]})
    arrows = structure_coefficients(rows.X, leading, scores)
    values = np.round(_CORRELATION * arrows).astype(int).tolist()
    place["arrows"] = {"features": leading, "values": values}
    return set(leading)


def _add_outliers(place: dict[str, Any], model: Any, rows: DrawnRows) -> set[int]:
    """The outlier map of a robust fit, and the cells that lost their weight."""
    kept = np.arange(len(model.row_weights_)) if rows.positions is None else rows.positions
    place_in = {int(t): number for number, t in enumerate(kept)}
    table = model.outliers_table()
    cells = table[table["feature"].notna()]
    position = {name: j for j, name in enumerate(model._feature_names())}
    listed = [
        [place_in[int(row.row)], position[row.feature], round(100 * row.weight)]
        for row in cells.itertuples()
        if int(row.row) in place_in
    ]
    place["outliers"] = {
        "score": [float(f"{x:.4g}") for x in model.score_distances_[kept]],
        "orthogonal": [float(f"{x:.4g}") for x in model.orthogonal_distances_[kept]],
        "cutoffs": [float(f"{x:.4g}") for x in model.distance_cutoffs_],
        "lost": np.flatnonzero(model.row_weights_[kept] == 0.0).tolist(),
        "cells": listed[:_MOST_CELLS],
        "n_cells": len(cells),
    }
    return {j for _, j, _ in listed[:_MOST_CELLS]}
