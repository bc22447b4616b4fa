"""Weights that take wild cells and wild rows out of a fit.

Cells: with residuals e in units σ_j of their column, the loss is that of Tukey with a flat middle:
cells up to ``CORE`` σ count in full, as in least squares, those beyond ``CUT`` σ not at all. Its
weights fall as |e| grows, so the sum of squares with the weights of now, plus a constant, is an
upper bound of the loss that is exact now: for fixed σ what lowers one lowers the other.

Rows: those that lie far from the model count not at all. First the nearest ``KEPT`` of them are
fitted, and again those that are nearest then; in the end all rows count again that are no farther
than chance explains, over all features and over those in use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from redac.solver.distances import (
    EXACT,
    KEPT,
    NORMAL,
    generous_limit,
    limit,
    score_cutoff,
    score_distances,
)
from redac.sources.base import Array
from redac.sources.cells import CellModel, Cells

# Of (0, 4.685), which is Tukey's loss, (1, 5) and (2, 6) the one with which most supports were
# exact on twenty Hastie sets with wild cells; what lies in the core has a weight of exactly one.
CORE, CUT = 2.0, 6.0
# A cell is clipped, before anything is fitted, at so many deviations from the median.
_CLIP = 2.5
# Or it is put back to the median: not at all up to the first of these, wholly from the second on.
_BACK = 1.5, 4.0
# Of 2, 3, 4 and 6 the one with which angles were smallest on ten of Hubert's sets with bad rows,
# with wild cells and without.
_CAP = 3.0
# Rounds in which the rows in the middle are found.
_MIDDLE_ROUNDS = 3


@dataclass(frozen=True)
class Weighing:
    """How cells and rows of a table get their weights from a model.

    Attributes
    ----------
    cells : the table, with all its cells.
    kind : "cells", "rows" or "both".
    spread : a robust standard deviation of each feature.
    scale : σ of each feature; None: to be found anew each time.
    rows : the weights of rows, zero or one, where they are fixed.
    unit : what objectives are measured in.
    """

    cells: Cells
    kind: str
    spread: Array
    unit: float
    scale: Array | None = None
    rows: Array | None = None

    @classmethod
    def of(cls, cells: Cells, kind: str) -> Weighing:
        """Nothing is known yet but the table."""
        raw = _raw(cells)
        spread = _deviations(cells, raw - _medians(cells, raw)[:, None])
        return cls(cells, kind, spread, clipped(cells).total or 1.0)

    def weighed(self, model: CellModel) -> Cells:
        """The table with the weights that belong to a model."""
        E = self._residuals(model)
        rows = self._kept(model) if self.rows is None else self.rows
        if self.kind == "rows":
            kept = self.cells.weights & (rows > 0.0)
            X = np.where(kept, self.cells.X, 0.0)
            return replace(self.cells, X=X, weights=kept, unit=self.unit)
        sigma = self._sigma(E, rows)[:, None]
        z = np.abs(E) / sigma
        weights = self.cells.weights * cell_weights(z)
        offsets = 2.0 * cell_losses(z) * sigma**2 - weights * E**2
        counted = self.cells.weights * (rows * self.cells.roots**2)
        offset = float(np.einsum("ij,ij->", offsets, counted))
        return replace(self.cells, weights=weights * rows, offset=offset, unit=self.unit)

    def settled(self, model: CellModel, *, strict: bool = True) -> Weighing:
        """With σ and rows fixed at what belongs to a model: all rows that are not too far count."""
        E = self._residuals(model)
        rows = np.ones(self.cells.n_samples)
        if self.kind != "cells":
            kept = self._kept(model)
            if strict:
                near = self._farness(model, kept) <= 1.0
            else:
                distances = self._distances(E, kept)
                near = distances <= generous_limit(distances)
            rows = np.where(near, 1.0, 0.0)
        return replace(self, scale=self._sigma(E, rows), rows=rows)

    def distances(self, model: CellModel) -> Array:
        """How far each row is from the model, as if it had all its cells."""
        rows = self._kept(model) if self.rows is None else self.rows
        return self._distances(self._residuals(model, drawn=self.kind == "both"), rows)

    def cutoff(self, model: CellModel) -> float:
        """The distance beyond which a row is not as it should be."""
        return limit(self.distances(model))

    def verdict(self, model: CellModel) -> tuple[Array, Array, Array]:
        """The weights of rows, those of their cells (one where a cell is missing), and how far
        their scores are from zero."""
        E = self._residuals(model)
        rows = self._kept(model) if self.rows is None else self.rows
        weights = np.ones_like(E)
        if self.kind != "rows":
            weights = cell_weights(np.abs(E) / self._sigma(E, rows)[:, None])
        cells = replace(self.cells, weights=self.cells.weights * weights)
        U = cells.scores(model.V, model.mean, np.zeros(model.V.shape[1]))
        return rows, weights, score_distances(U / self.cells.roots[:, None], rows > 0.0)

    def loss(self, model: CellModel) -> float:
        """By which the better of two models is told: Σ|e| of cells, or Σ e² of the nearest rows."""
        E = self._residuals(model)
        rows = self._kept(model)
        if self.kind == "rows":
            return float(self._distances(E, rows) ** 2 @ (rows * self.cells.roots**2))
        return float((np.abs(E) * self.cells.weights * rows * self.cells.roots**2).sum())

    def _residuals(self, model: CellModel, *, drawn: bool = False) -> Array:
        """x − m − Vu of all cells that are there, with scores of all rows drawn in or not."""
        U = self._all_scores(model, drawn=drawn)
        E = _raw(self.cells) - model.mean[:, None]
        E -= (model.V @ U.T) / self.cells.roots
        E *= self.cells.weights
        return E

    def _all_scores(self, model: CellModel, *, drawn: bool) -> Array:
        """The scores of all rows. Those of rows that do not count are drawn in to where others are.

        Else a row far out along a component, which it would turn, had no distance from the model.
        Where cells may be wild that goes for all rows: few cells, the others being wild, say
        whatever a score needs.
        """
        idle = np.asarray(~model.U.any(axis=1))
        if idle.all():
            return model.U
        U = model.U.copy()
        if idle.any():
            own = self.cells.of_samples(idle)
            U[idle] = own.scores(model.V, model.mean, np.zeros(U.shape[1]))
        distances = score_distances(U / self.cells.roots[:, None], ~idle)
        reach = score_cutoff(U.shape[1])
        shrink = np.minimum(1.0, reach / np.maximum(distances, reach))
        U *= np.where(idle | drawn, shrink, 1.0)[:, None]
        return U

    def _sigma(self, E: Array, rows: Array) -> Array:
        if self.scale is not None:
            return self.scale
        chosen = rows > 0.0
        sigma = _deviations(self.cells.of_samples(chosen), E[:, chosen])
        sigma = np.maximum(sigma, EXACT * self.spread)
        return np.where(sigma > 0.0, sigma, 1.0)

    def _kept(self, model: CellModel) -> Array:
        """Weight one for the rows that are nearest, with KEPT of all weight."""
        rows = np.ones(self.cells.n_samples)
        if self.kind == "cells":
            return rows
        if self.kind == "rows":  # as it is their squares that are summed
            far = self._distances(self._residuals(model), rows)
        else:
            far = self._farness(model, rows)
        order = np.argsort(far, kind="stable")
        weight = np.cumsum(self.cells.roots[order] ** 2)
        rows[order[weight > KEPT * weight[-1]]] = 0.0
        return rows

    def _farness(self, model: CellModel, rows: Array) -> Array:
        """Distances as shares of what is far, over all features or over those in use.

        The larger of both counts: among many features what turns a component may be lost.
        """
        E = self._residuals(model, drawn=self.kind == "both")
        used = np.asarray(model.V.any(axis=1))
        ways = [self._distances(E, rows)]
        if used.any():
            ways.append(self._distances(E, rows, used))
        return np.asarray(np.max([way / (limit(way) or 1.0) for way in ways], axis=0))

    def _distances(
        self, E: Array, rows: Array, features: NDArray[np.bool_] | slice = slice(None)
    ) -> Array:
        """Root of Σ e² over some features, times what a row's cells are of all.

        Where single cells may be wild none counts for more than ``_CAP`` deviations: a row is far
        when many of its cells are off.
        """
        squares = E[features] ** 2
        if self.kind == "both":
            reach = _CAP * self._sigma(E, rows)[features]
            squares = np.minimum(squares, (reach**2)[:, None])
        there = self.cells.weights[features]
        seen = np.count_nonzero(there, axis=0)
        sums = (squares * there).sum(axis=0)
        return np.asarray(np.sqrt(sums * (len(there) / np.maximum(seen, 1))))


def cell_weights(z: Array, core: float = CORE, cut: float = CUT) -> Array:
    """ψ(z)/z for z ≥ 0: one up to the core, then (1 − s²)² down to zero at the cut."""
    s = np.clip((z - core) / (cut - core), 0.0, 1.0)
    return np.asarray((1.0 - s * s) ** 2)


def cell_losses(z: Array) -> Array:
    """∫ z ω(z) dz for z ≥ 0: z²/2 up to CORE, constant from CUT on."""
    width = CUT - CORE
    s = np.clip((z - CORE) / width, 0.0, 1.0)
    s2 = s * s
    odd = s * (1.0 - s2 * (2.0 / 3.0 - s2 / 5.0))
    even = s2 * (0.5 - s2 * (0.5 - s2 / 6.0))
    return np.asarray(np.minimum(z, CORE) ** 2 / 2.0 + width * (CORE * odd + width * even))


def clipped(cells: Cells) -> Cells:
    """The table with cells drawn to within some deviations of the median of their column."""
    raw = _raw(cells)
    centre = _medians(cells, raw)[:, None]
    reach = _CLIP * _deviations(cells, raw - centre)[:, None]
    drawn = np.clip(raw, centre - reach, centre + reach) * cells.roots
    # More than half of a column may be one value; then the others are all that varies.
    drawn = np.where(reach > 0.0, drawn, cells.X)
    return replace(cells, X=drawn * cells.weights)


def withdrawn(cells: Cells) -> Cells:
    """The table with cells far from the median of their column put back to it.

    Where wild cells and bad rows come together no sample can be trusted whole, but rows that are
    bad in a feature have no say about it.
    """
    raw = _raw(cells)
    centre = _medians(cells, raw)[:, None]
    spread = _deviations(cells, raw - centre)[:, None]
    z = np.divide(np.abs(raw - centre), spread, out=np.zeros_like(raw), where=spread > 0.0)
    drawn = centre + (raw - centre) * cell_weights(z, *_BACK)
    return replace(cells, X=drawn * cells.roots * cells.weights)


def _raw(cells: Cells) -> Array:
    return cells.X / cells.roots


def _deviations(cells: Cells, E: Array) -> Array:
    """Robust standard deviations of deviations E, over the cells that are there."""
    return NORMAL * _medians(cells, np.abs(E))


def _medians(cells: Cells, values: Array) -> Array:
    """The median of each feature over the cells that are there, by the weights of samples."""
    medians = np.zeros(cells.n_features)
    weights = cells.roots**2
    alike = bool((weights == weights[:1]).all())
    for j, (x, omega) in enumerate(zip(values, cells.weights, strict=True)):
        there = omega > 0
        if there.any():
            medians[j] = np.median(x[there]) if alike else _median(x[there], weights[there])
    return medians


def _median(x: Array, weights: Array) -> float:
    """The value with half of the weight on either side, between two if it falls between them."""
    order = np.argsort(x)
    upto = np.cumsum(weights[order])
    low = np.searchsorted(upto, upto[-1] / 2.0, side="left")
    high = np.searchsorted(upto, upto[-1] / 2.0, side="right")
    return float(x[order[low]] + x[order[min(high, x.size - 1)]]) / 2.0


def halves(cells: Cells, kind: str, count: int) -> list[NDArray[np.bool_]]:
    """Halves of the samples to start from: the one in the middle, and others by chance.

    Chance comes from a fixed seed: the same table always has the same halves.
    """
    rng, n = np.random.RandomState(0), cells.n_samples
    return [_middle(cells, kind), *(_first_half(rng.permutation(n)) for _ in range(count - 1))]


def _middle(cells: Cells, kind: str) -> NDArray[np.bool_]:
    """The samples that are nearest to the medians in robust deviations, found in a few rounds.

    What counts is the farthest cell or, where single cells may be wild, all of them, each capped.
    Medians and deviations are those of the samples in the middle, once these are known.
    """
    raw, middle = _raw(cells), np.ones(cells.n_samples, dtype=bool)
    for _ in range(_MIDDLE_ROUNDS):
        inner, values = cells.of_samples(middle), raw[:, middle]
        centre = _medians(inner, values)[:, None]
        deviations = _deviations(inner, values - centre)[:, None]
        z = np.divide(
            np.abs(raw - centre), deviations, out=np.zeros_like(raw), where=deviations > 0
        )
        z *= cells.weights
        if kind == "rows":
            far = z.max(axis=0)
        else:
            seen = np.count_nonzero(cells.weights, axis=0)
            far = (np.minimum(z, CUT) ** 2).sum(axis=0) / np.maximum(seen, 1)
        middle = _first_half(np.argsort(far, kind="stable"))
    return middle


def _first_half(order: NDArray[np.intp]) -> NDArray[np.bool_]:
    half = np.zeros(order.size, dtype=bool)
    half[order[: max(2, (order.size + 1) // 2)]] = True
    return half
