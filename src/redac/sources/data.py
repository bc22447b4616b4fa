"""What a kind of data must be able to do, and what all kinds have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from redac.exceptions import NonFiniteError
from redac.sources.base import Array, Indices
from redac.sources.moments import Moments
from redac.sources.scatter import Extremes, Scatter, within_limits

# What a batch of rows may take, written out, when the matrix of their products is formed.
_BATCH_BYTES = 1 << 29
# Up to this many features, and no more than samples, S is formed with the means in one pass and the
# data are not read again.
GRAM_ORDER = 2000


class Data(ABC):
    """A centred and scaled data matrix X, each row times the root of its weight; never formed.

    ``columns``, ``product`` and ``quadratic`` are the questions that a solver should ask: they
    answer about S = XᵀX in one pass over the data and hold nothing that grows with the number of
    rows. ``left`` and ``right`` are their two halves.
    """

    def __init__(self, X: Any, moments: Moments, weights: Array | None = None) -> None:
        self.X = X
        self.moments = moments
        self.weights = weights
        # How often all rows were read. What is done to a block that is in memory is not counted.
        self.n_passes = 0
        self._factor = moments.factor
        self._matrix: Array | None = None

    @classmethod
    def raw(
        cls,
        X: Any,
        *,
        mean: Array | None = None,
        scale: Array | None = None,
        weights: Array | None = None,
    ) -> Self:
        """Data about a given centre, or none, of which nothing has been read."""
        X, weights = cls._prepared(X, weights)
        mean = np.zeros(X.shape[1]) if mean is None else mean
        return cls(X, Moments.given(mean, np.ones_like(mean) if scale is None else scale), weights)

    def about_own_mean(self, *, standardize: bool = False) -> Self:
        """These data about their own mean, in units of their own standard deviations if wanted."""
        scatter = self.scatter(full=self._wants_gram())
        return self._about_mean_of(scatter, standardize=standardize)

    def products_about_mean(self, V: Array) -> tuple[float, Array]:
        """Tr S and VᵀSV in the same unit, with S = XᵀX about the mean of these raw data.

        Unlike S itself, they are found without work or memory that grows with d².
        """
        return self._products_after(self.scatter(full=False), V)

    def checked(self) -> Self:
        """These data about their given centre, known to be finite and in a unit that suits them."""
        total = self._total_weight()
        extremes = self._finite_extremes(total)
        given = self.moments
        return self._with(Moments.about(extremes, given.mean, given.scale, n_samples=total))

    def with_scatter(self, *, standardize: bool = False) -> Self:
        """The same data with the scatter of each column known, after one more pass."""
        sums = self.sums_of_squares()
        return self._with(self.moments.with_sums_of_squares(sums, standardize=standardize))

    def scores(self, W: Array) -> Array:
        """X W in the user's units, of data about a given centre; one pass if all is well."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.left(W)
        if scores.size and np.isfinite(scores).all():  # of no scores at all nothing can be read
            return scores
        data = self.checked()  # says which entry is to blame, or finds a unit for huge numbers
        return data.left(W) * data.unit

    def plain_products(self, V: Array) -> tuple[float, Array] | None:
        """‖X‖² and VᵀXᵀX V of data about a given centre, in the user's units.

        None where numbers are not finite, or so large or small that this loses digits.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            squares, M = self.squares_and_quadratic(V)
        if not (within_limits(squares) and self.moments.is_scale_safe):
            return None
        total = float((squares / self.moments.scale**2).sum())
        return (total, M) if total > 0.0 and np.isfinite(M).all() else None

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return int(n), int(d)

    @property
    def diagonal(self) -> Array:
        """The sum of squares of each column of X."""
        return self.moments.diagonal

    @property
    def unit(self) -> float:
        """What X was divided by to stay within the safe range of float64; mostly one."""
        return self.moments.unit

    @property
    def variance_unit(self) -> float:
        """What an entry of XᵀX must be multiplied with to become a variance in the user's units."""
        return self.moments.variance_unit

    @property
    def columns_pay_up_to(self) -> int:
        """The largest support for which v is multiplied with columns of XᵀX rather than with X."""
        return 2 * self.shape[0]

    @abstractmethod
    def left(self, V: Array) -> Array:
        """X V."""

    @abstractmethod
    def right(self, U: Array) -> Array:
        """XᵀU."""

    @abstractmethod
    def product(self, V: Array) -> Array:
        """XᵀX V."""

    @abstractmethod
    def columns(self, support: Indices) -> Array:
        """The columns of XᵀX that belong to some features."""

    def submatrix(self, support: Indices, rows: Indices | None = None) -> Array:
        """The part of XᵀX that belongs to some features; or some rows of it, by their places."""
        chosen = support if rows is None else support[rows]
        part: Array = self.columns(chosen)[support].T
        return part

    @abstractmethod
    def quadratic(self, V: Array) -> Array:
        """VᵀXᵀX V."""

    def squares_and_quadratic(self, V: Array) -> tuple[Array, Array]:
        """``sums_of_squares`` and ``quadratic``, for which blocks of rows are read only once."""
        return self.sums_of_squares(), self.quadratic(V)

    def gram(self) -> Array:
        """XᵀX, in full."""
        return self._gram() if self._matrix is None else self._matrix

    def kernel(self) -> Array:
        """XXᵀ, in full: the smaller Gram matrix where samples are few."""
        n, d = self.shape
        size = max(64, _BATCH_BYTES // (8 * d))
        K = np.empty((n, n))
        for start in range(0, n, size):
            rows = np.zeros((n, min(size, n - start)))
            np.fill_diagonal(rows[start:], 1.0)
            K[:, start : start + size] = self.left(self.right(rows))
        return (K + K.T) / 2

    @abstractmethod
    def dense(self) -> Array:
        """X itself, in full: for methods that cannot do without."""

    @abstractmethod
    def dense_columns(self, support: Indices) -> Array:
        """Some columns of X, formed, for data with few rows."""

    @abstractmethod
    def scatter(self, *, full: bool) -> Scatter:
        """Mean and scatter about it from one pass; with ``full`` the whole matrix XᵀX."""

    @abstractmethod
    def extremes(self, total: float) -> Extremes:
        """Smallest and largest value and Σwx/total of each column, before anything is centred."""

    @abstractmethod
    def sums_of_squares(self) -> Array:
        """Σ((x − μ)/peak)² of each column; in the unit of its peak nothing over- or underflows."""

    @abstractmethod
    def _gram(self) -> Array:
        """XᵀX from the data."""

    @classmethod
    def _prepared(cls, X: Any, weights: Array | None) -> tuple[Any, Array | None]:
        """X and weights in a form that the other methods can rely on."""
        return X, weights

    def _wants_gram(self) -> bool:
        """Whether S is small enough to be formed, and the data rather taller than wide."""
        return self.shape[1] <= min(self.shape[0], GRAM_ORDER)

    def _products_after(self, scatter: Scatter, V: Array) -> tuple[float, Array]:
        """Tr S and VᵀSV, after a pass that has found the mean and the scatter about it."""
        data = self._about_mean_of(scatter)
        total, M = float(data.diagonal.sum()), data.quadratic(V)
        self.n_passes = data.n_passes
        return total, M

    def _about_mean_of(self, scatter: Scatter, *, standardize: bool = False) -> Self:
        """These data about the mean that a pass has found; more passes if it cannot be trusted."""
        if scatter.is_safe:
            moments = Moments.of_scatter(scatter, standardize=standardize)
            data = self._with(moments)
            data._matrix = None if scatter.matrix is None else _in_units(scatter.matrix, moments)
            return data
        extremes = self._finite_extremes(scatter.weight)
        moments = Moments.about_own_mean(extremes, n_samples=scatter.weight)
        return self._with(moments).with_scatter(standardize=standardize)

    def _with(self, moments: Moments) -> Self:
        data = type(self)(self.X, moments, self.weights)
        data.n_passes = self.n_passes
        return data

    def _total_weight(self) -> float:
        return float(self.shape[0]) if self.weights is None else float(self.weights.sum())

    def _finite_extremes(self, total: float) -> Extremes:
        extremes = self.extremes(total)
        if extremes.bad is not None:
            raise NonFiniteError(*extremes.bad)
        return extremes


def _in_units(S: Array, moments: Moments) -> Array:
    """The scatter matrix of data in the units of the moments; S may be overwritten."""
    factor = moments.factor
    if factor is not None:
        S *= factor
        S *= factor[:, None]
        np.fill_diagonal(S, moments.diagonal)
    return S
