"""Data whose cells have weights: a gap is a cell of weight zero.

Weights ω are from 0 to 1. With a model M = 1mᵀ + UVᵀ the sum that counts is Σ ω(x − M)². A solver
has sweeps of their own for such data; everything else that it does to complete data it can do to
the data completed by a model, X̂ = ω∘X + (1 − ω)∘M, because

    Σ ω(x − μ)² + Σ (1 − ω)(M − μ)² = ‖X̂ − μ‖² + constant

for any other model μ: what lowers the right side, which begins at μ = M, lowers the first sum too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.sources.base import Array, Indices, Source
from redac.sources.columns import Columns
from redac.sources.data import GRAM_ORDER
from redac.sources.dense import DenseData
from redac.sources.factor import Factor
from redac.sources.gram import Gram

# Entries of the temporaries that products are made of.
_BLOCK = 1 << 20
# Up to this many samples the completed data are kept as they are, as of complete data.
_FEW_SAMPLES = 128
# A direction of scores that cells determine by less than this share of the best determined one is
# not determined: its score is zero.
_UNDETERMINED = 1e-12


@dataclass(frozen=True)
class CellModel:
    """A model of cells: M = s mᵀ + UVᵀ, s being the roots of the weights of rows.

    Attributes
    ----------
    V : loadings, d × r.
    U : scores of the rows, n × r, each row times its root.
    mean : m.
    """

    V: Array
    U: Array
    mean: Array

    def of_features(self, chosen: Indices) -> CellModel:
        """The model of some of the features."""
        return CellModel(self.V[chosen], self.U, self.mean[chosen])


@dataclass(frozen=True)
class Cells:
    """A data matrix, kept by feature, and the weights of its cells.

    Attributes
    ----------
    X : d × n, each sample times the root of its own weight; zero where a cell has no weight.
    weights : d × n, from 0 to 1; True and False where cells are there or not.
    roots : roots of the weights of the samples.
    offset : what is added to the sum of squares, where it is the bound of another sum.
    unit : what objectives are measured in; None: the total of these cells.
    """

    X: Array
    weights: NDArray[Any]
    roots: Array
    offset: float = 0.0
    unit: float | None = None

    @property
    def n_features(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def counts(self) -> Array:
        """Σ ω s² of each feature: how many samples count."""
        return self.products(None, (self.roots**2)[:, None])[1][:, 0]

    @cached_property
    def means(self) -> Array:
        """The mean of each feature by its weights; zero where nothing counts."""
        sums = self.products(self.roots[:, None], None)[0][:, 0]
        return np.divide(sums, self.counts, out=np.zeros_like(sums), where=self.counts > 0.0)

    @cached_property
    def diagonal(self) -> Array:
        """Σ ω(x − sm)² of each feature about its own mean m."""
        return self.squares_about(self.means)

    @cached_property
    def total(self) -> float:
        """The sum of squares about the means, or what objectives are measured in otherwise."""
        return float(self.diagonal.sum()) if self.unit is None else self.unit

    def squares_about(self, mean: Array) -> Array:
        """Σ ω(x − sm)² of each feature about some means."""
        squares = np.empty(self.n_features)
        for part in self._parts():
            E = self.X[part] - np.multiply.outer(mean[part], self.roots)
            squares[part] = np.einsum("ij,ij,ij->i", E, self.weights[part], E)
        return squares

    def products(self, T: Array | None, squares: Array | None) -> tuple[Array, Array]:
        """(Ω∘X)T and ΩQ for matrices T and Q of n rows."""
        nothing = np.zeros((self.n_samples, 0))
        T = nothing if T is None else T
        Q = nothing if squares is None else squares
        of_values = np.empty((self.n_features, T.shape[1]))
        of_weights = np.empty((self.n_features, Q.shape[1]))
        plain = self.weights.dtype == np.bool_
        for part in self._parts():
            W = self.weights[part].astype(np.float64, copy=False)
            of_values[part] = (self.X[part] if plain else self.X[part] * W) @ T
            of_weights[part] = W @ Q
        return of_values, of_weights

    def residuals(self, features: Indices, model: CellModel) -> Array:
        """ω(x − M) of some features."""
        E = self.X[features] - np.multiply.outer(model.mean[features], self.roots)
        E -= model.V[features] @ model.U.T
        E *= self.weights[features]
        return E

    def squares_left(self, features: Indices, model: CellModel) -> Array:
        """Σ ω(x − M)² of some features."""
        E, omega = self.residuals(features, model), self.weights[features]
        squares = E * E
        if omega.dtype != np.bool_:
            np.divide(squares, omega, out=squares, where=omega > 0.0)
        return np.asarray(squares.sum(axis=1))

    def of_features(self, chosen: Indices) -> Cells:
        """Some of the features."""
        return Cells(self.X[chosen], self.weights[chosen], self.roots)

    def of_samples(self, chosen: NDArray[np.bool_]) -> Cells:
        """Some of the samples."""
        return Cells(self.X[:, chosen], self.weights[:, chosen], self.roots[chosen])

    def scores(self, V: Array, mean: Array, ridge: Array) -> Array:
        """The scores U of all samples that fit loadings best, with η_i for each component.

        They minimise Σ ω(x − sm − Vu)² + Σ η_i u_i² for each sample alone.
        """
        used = np.flatnonzero(V.any(axis=1))
        r, W = V.shape[1], V[used]
        U = np.zeros((self.n_samples, r))
        if used.size == 0:
            return U
        pairs = (W[:, :, None] * W[:, None, :]).reshape(len(used), r * r)
        height = max(1, _BLOCK // (len(used) + r * r + 1))
        for start in range(0, self.n_samples, height):
            rows = slice(start, start + height)
            omega = self.weights[used, rows].astype(np.float64, copy=False)
            E = self.X[used, rows] - np.multiply.outer(mean[used], self.roots[rows])
            E *= omega
            gram = (omega.T @ pairs).reshape(-1, r, r)
            U[rows] = _solved(gram, E.T @ W, ridge)
        return U

    def known(self, V: Array) -> Array:
        """Σ_j ω_tj v_ji² of each sample and component: how well the cells determine a score."""
        used = np.flatnonzero(V.any(axis=1))
        squares, known = V[used] ** 2, np.empty((self.n_samples, V.shape[1]))
        height = max(1, _BLOCK // (used.size + 1))
        for start in range(0, self.n_samples, height):
            rows = slice(start, start + height)
            known[rows] = self.weights[used, rows].T @ squares
        return known

    def filled(self) -> Source:
        """The source of the data completed by their means."""
        nothing = np.zeros((self.n_features, 0)), np.zeros((self.n_samples, 0))
        return self.completed(CellModel(*nothing, self.means))

    def completed(self, model: CellModel) -> Source:
        """The source of the data completed by a model, about their own means."""
        live = np.asarray(self.weights.any(axis=0))
        if not live.all():  # rows that are nothing but the model would only hold it where it is
            rest = CellModel(model.V, model.U[live], model.mean)
            return self.of_samples(live).completed(rest)
        n, d = self.n_samples, self.n_features
        weight = float((self.roots**2).sum())
        filled = self._filled(model, slice(None)) if d > min(n, GRAM_ORDER) else None
        if filled is None:
            return Gram(self._scatter(model, weight))
        filled -= np.multiply.outer(filled @ self.roots / weight, self.roots)
        if n <= _FEW_SAMPLES:
            return Factor(filled)
        return Columns(DenseData.raw(filled.T).checked().with_scatter())

    def _scatter(self, model: CellModel, weight: float) -> Array:
        """The scatter matrix of the completed data, without forming these."""
        S, sums = np.zeros((self.n_features, self.n_features)), np.zeros(self.n_features)
        height = max(1, _BLOCK // self.n_features)
        for start in range(0, self.n_samples, height):
            rows = slice(start, start + height)
            block = self._filled(model, rows)
            S += block @ block.T
            sums += block @ self.roots[rows]
        S -= np.multiply.outer(sums, sums / weight)
        return (S + S.T) / 2

    def _filled(self, model: CellModel, rows: slice) -> Array:
        """X̂ of some samples."""
        M = model.V @ model.U[rows].T
        M += np.multiply.outer(model.mean, self.roots[rows])
        X, W = self.X[:, rows], self.weights[:, rows]
        if W.dtype == np.bool_:
            np.copyto(M, X, where=W)
            return M
        M += W * (X - M)
        return M

    def _parts(self) -> Iterator[slice]:
        """Features in blocks."""
        height = max(1, _BLOCK // max(self.n_samples, 1))
        for start in range(0, self.n_features, height):
            yield slice(start, start + height)


def _solved(gram: Array, right: Array, ridge: Array) -> Array:
    """(G_t + diag η)⁻¹ b_t for each sample t; zero along directions that nothing determines."""
    shifted = gram + np.diag(ridge)
    if (ridge > 0.0).all():
        return np.asarray(np.linalg.solve(shifted, right[:, :, None])[:, :, 0], dtype=np.float64)
    values, axes = np.linalg.eigh(shifted)
    known = values > _UNDETERMINED * values[:, -1:]
    along = np.einsum("tij,ti->tj", axes, right)
    along = np.divide(along, values, out=np.zeros_like(along), where=known)
    return np.asarray(np.einsum("tij,tj->ti", axes, along))
