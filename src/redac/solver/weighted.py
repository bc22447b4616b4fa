"""Sweeps over cells with weights: gaps have none, wild values little.

The objective is Σ ω(x − sm − Vu)² + Σ_i η_i‖u_i‖², means included. For one component, with E what
the others leave, each block has an exact minimum:

    v : a_j = Σ_t ω_tj u_t² + η‖u‖²,  b_j = Σ_t ω_tj u_t E_tj;
        v_j = b_j/a_j on the support for which Σ b_j²/a_j is largest
    u : u_t = Σ_j ω_tj E_tj v_j / (Σ_j ω_tj v_j² + η)
    m : m_j = Σ_t ω_tj s_t(x_tj − u_tᵀv_j) / Σ_t ω_tj s_t²

With all weights one these are the paper's updates. Outside the supports E is x − sm, so two
products with all cells serve a whole sweep, and what is left of the features in use is kept up to
date.
"""

from __future__ import annotations

import numpy as np

from redac.constraints import Constraint, maximize_curved
from redac.solver.iterate import NOISE, Iterate, _Loadings
from redac.sources.base import Array, Indices
from redac.sources.cells import CellModel, Cells


class Weighted(Iterate):
    """Loadings V, scores U by component, means, and what is left of the features in use."""

    def __init__(self, cells: Cells, model: CellModel, ridge: Array) -> None:
        super().__init__(model.V, cells.diagonal, cells.total)
        self.cells = cells
        self.ridge = ridge
        self.V = np.array(model.V, order="C")
        self._U = np.array(model.U.T, order="C")
        self._mean = model.mean.copy()
        self._open()

    @property
    def model(self) -> CellModel:
        """Where the sweeps are."""
        return CellModel(self.V.copy(), self._U.T.copy(), self._mean.copy())

    def objective(self) -> float:
        if self.total == 0.0:
            return 0.0
        penalty = self.ridge @ np.einsum("ij,ij->i", self._U, self._U)
        return float(self.squares_left() + penalty + self.cells.offset) / self.total

    def squares_left(self) -> float:
        """Σ ω(x − M)²."""
        return float(self._residual().sum())

    def has_scores(self, i: int) -> bool:
        return bool(self._U[i] @ self._U[i] > NOISE * self.total)

    def _open(self) -> None:
        """What is left of the features in use, computed anew; all others have their own means."""
        used = self.V.any(axis=1)
        self._mean[~used] = self.cells.means[~used]
        self._features = np.flatnonzero(used)
        self._place = np.full(self.V.shape[0], -1, dtype=np.intp)
        self._place[self._features] = np.arange(self._features.size)
        now = CellModel(self.V, self._U.T, self._mean)
        self._left = self.cells.residuals(self._features, now)
        # The loadings that are taken off there.
        self._taken = [self._loadings(v.copy()) for v in self.V.T]

    def _prepare_sweep(self) -> None:
        self._open()
        T = self._U.T
        values, sums = self.cells.products(T, np.hstack([T * self.cells.roots[:, None], T * T]))
        self._B = values - self._mean[:, None] * sums[:, : self.r]
        self._A = sums[:, self.r :]

    def _direction(self, i: int) -> Array:
        b = self._B[:, i].copy()
        b[self._features] = self._left @ self._U[i]
        b += self._A[:, i] * self.V[:, i]
        return b

    def _direction_from(self, i: int, j: int) -> Array:
        self._learn(np.array([j], dtype=np.intp))
        self._U[i] = u = self._left[self._place[j]]
        values, sums = self.cells.products(
            u[:, None], np.column_stack([u * self.cells.roots, u * u])
        )
        self._B[:, i] = values[:, 0] - self._mean * sums[:, 0]
        self._A[:, i] = sums[:, 1]
        return self._direction(i)

    def _choose(self, i: int, constraint: Constraint, w: Array) -> Array:
        curvature = self._A[:, i] + self.ridge[i] * (self._U[i] @ self._U[i])
        return maximize_curved(constraint, w, curvature, self.V[:, i])

    def _seen(self, support: Indices, x: Array) -> Array:
        c: Array = x @ self.V.take(support, axis=0)
        return c

    def _rescore(self, i: int, new: _Loadings) -> None:
        old, self._taken[i] = self._taken[i], new
        self._take(old.support, old.x, -self._U[i])
        self._learn(new.support)
        omega = self.cells.weights[new.support]
        fits = new.x @ self._left[self._place[new.support]]
        known = (new.x**2) @ omega + self.ridge[i]
        self._U[i] = np.divide(fits, known, out=np.zeros_like(fits), where=known > 0.0)
        self._take(new.support, new.x, self._U[i])

    def _take(self, support: Indices, x: Array, u: Array) -> None:
        """Take ω∘(u xᵀ) off what is left of a support."""
        self._left[self._place[support]] -= self.cells.weights[support] * np.multiply.outer(x, u)

    def _learn(self, support: Indices) -> None:
        """Have what is left of some features at hand: nothing was taken off others yet."""
        missing = support[self._place[support] < 0]
        if missing.size == 0:
            return
        count = self._features.size
        self._place[missing] = np.arange(count, count + missing.size)
        self._features = np.concatenate([self._features, missing])
        E = self.cells.X[missing] - np.multiply.outer(self._mean[missing], self.cells.roots)
        self._left = np.concatenate([self._left, self.cells.weights[missing] * E])

    def _end_sweep(self) -> None:
        """New means of the features in use."""
        counts = self.cells.counts[self._features]
        step = self._left @ self.cells.roots / np.where(counts > 0.0, counts, 1.0)
        self._mean[self._features] += step
        self._left -= self.cells.weights[self._features] * np.multiply.outer(step, self.cells.roots)

    def _residual(self) -> Array:
        omega = self.cells.weights[self._features]
        squares = self._left * self._left
        if omega.dtype != np.bool_:
            np.divide(squares, omega, out=squares, where=omega > 0.0)
        left = self.cells.diagonal.copy()
        left[self._features] = squares.sum(axis=1)
        return left
