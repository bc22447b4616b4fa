"""What a kind of data must be able to do, and what all kinds have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.moments import Moments

_BATCH = 64


class Data(ABC):
    """A centred and scaled data matrix X of n rows, applied but never formed."""

    def __init__(self, X: Any, moments: Moments) -> None:
        self.X = X
        self.moments = moments
        self._factor = moments.factor

    @classmethod
    def standing_alone(cls, X: Any, *, standardize: bool) -> Self:
        """Data about their own mean, in units of their own standard deviations if wanted."""
        X = cls._prepared(X)
        low, high, mean = cls._range_and_mean(X)
        moments = Moments.about_own_mean(low, high, mean, n_samples=X.shape[0])
        return cls(X, moments).with_scatter(standardize=standardize)

    @classmethod
    def about(cls, X: Any, mean: Array, scale: Array) -> Self:
        """Data about a given centre and scale."""
        X = cls._prepared(X)
        low, high, _ = cls._range_and_mean(X)
        return cls(X, Moments.about(low, high, mean, scale, n_samples=X.shape[0]))

    def with_scatter(self, *, standardize: bool = False) -> Self:
        """The same data with the scatter of each column known, after one more pass."""
        sums = self._sums_of_squares()
        return type(self)(self.X, self.moments.with_sums_of_squares(sums, standardize=standardize))

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

    @abstractmethod
    def left(self, V: Array) -> Array:
        """X V."""

    @abstractmethod
    def left_columns(self, support: Indices, coefficients: Array) -> Array:
        """X v for a vector v, or X V for a block, given by its non-zero rows."""

    @abstractmethod
    def right(self, U: Array) -> Array:
        """XᵀU."""

    @abstractmethod
    def gram(self) -> Array:
        """XᵀX, in full."""

    def kernel(self) -> Array:
        """XXᵀ, in full: the smaller Gram matrix where samples are few."""
        n = self.shape[0]
        K = np.empty((n, n))
        for start in range(0, n, _BATCH):
            rows = np.zeros((n, min(_BATCH, n - start)))
            np.fill_diagonal(rows[start:], 1.0)
            K[:, start : start + _BATCH] = self.left(self.right(rows))
        return (K + K.T) / 2

    @abstractmethod
    def dense(self) -> Array:
        """X itself, in full: for methods that cannot do without."""

    @classmethod
    def _prepared(cls, X: Any) -> Any:
        """X in a form that the other methods can rely on."""
        return X

    @staticmethod
    @abstractmethod
    def _range_and_mean(X: Any) -> tuple[Array, Array, Array]:
        """Smallest, largest and mean value of each column; NaN and infinity are an error."""

    @abstractmethod
    def _sums_of_squares(self) -> Array:
        """Σ((x − μ)/peak)² of each column; in the unit of its peak nothing over- or underflows."""
