"""Means, spreads and the numerical unit of a data matrix, shared by every kind of data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.sources.base import Array, Indices
from redac.sources.scatter import Extremes, Scatter, within_limits

# Outside this range eighth powers, and sums of them, come too near the limits of float64: varimax
# takes fourth powers of loadings in the units of the data, others squares of entries of S.
_SAFE_PEAK = (1e-30, 1e30)
_LEAST_RANGE = 1e-307


@dataclass(frozen=True)
class Moments:
    """What is known of each column before any component is sought.

    Attributes
    ----------
    n_samples : number of rows, or the sum of their weights.
    mean : what is subtracted from each column.
    scale : what each column is divided by: its standard deviation, or one.
    constant : which columns do not vary.
    peak : the largest distance from the mean in each column; one for constant columns.
    unit : a power of two. The solver sees the data divided by it, so that neither tiny nor huge
        data lose digits.
    diagonal : the sum of squares of each centred, scaled column in that unit.
    """

    n_samples: float
    mean: Array
    scale: Array
    constant: NDArray[np.bool_]
    peak: Array
    unit: float
    diagonal: Array

    @classmethod
    def given(cls, mean: Array, scale: Array) -> Moments:
        """A centre and a scale that were given, for data of which nothing else is known."""
        plain = np.zeros(mean.shape, dtype=bool)
        return cls(0.0, mean, scale, plain, np.ones_like(mean), 1.0, np.zeros_like(mean))

    @classmethod
    def of_scatter(cls, scatter: Scatter, *, standardize: bool) -> Moments:
        """Moments about the own mean of rows whose scatter is known and safe."""
        constant = scatter.squares == 0.0
        ones = np.ones_like(scatter.mean)
        peak = np.where(constant, 1.0, np.sqrt(scatter.squares))
        plain = cls(scatter.weight, scatter.mean, ones, constant, peak, 1.0, scatter.squares)
        sums = np.where(constant, 0.0, 1.0)  # in the unit of the peak
        return plain.with_sums_of_squares(sums, standardize=True) if standardize else plain

    @classmethod
    def about_own_mean(cls, extremes: Extremes, *, n_samples: float) -> Moments:
        """Moments of first order from the extremes and the mean of each column."""
        low, high, mean = extremes.low, extremes.high, extremes.mean
        # A constant column is recognised by its extremes: rounding of the mean must not lend it a
        # variance.
        # Variation that only subnormal numbers can hold counts as none.
        constant = high / 2 - low / 2 <= _LEAST_RANGE
        mean = np.where(constant, low, np.clip(mean, low, high))
        return cls._build(low, high, mean, np.ones_like(mean), constant, n_samples)

    @classmethod
    def about(cls, extremes: Extremes, mean: Array, scale: Array, *, n_samples: float) -> Moments:
        """Moments about a given centre, for data that were not fitted on."""
        plain = np.zeros(mean.shape, dtype=bool)
        return cls._build(extremes.low, extremes.high, mean, scale, plain, n_samples)

    @classmethod
    def _build(
        cls,
        low: Array,
        high: Array,
        mean: Array,
        scale: Array,
        constant: NDArray[np.bool_],
        n_samples: float,
    ) -> Moments:
        distance = np.where(constant, 0.0, np.maximum(np.abs(high - mean), np.abs(mean - low)))
        peak = np.where(distance > 0, distance, 1.0)
        unit = power_of_two(float((distance / scale).max(initial=0.0)))
        return cls(n_samples, mean, scale, constant, peak, unit, np.zeros_like(mean))

    def with_sums_of_squares(self, sums: Array, *, standardize: bool) -> Moments:
        """Complete the moments from Σ((x − μ)/peak)² of each column."""
        sums = np.where(self.constant, 0.0, sums)
        if not standardize:
            # A column without any spread has no peak to speak of.
            peak = np.where(sums > 0.0, self.peak, 0.0)
            return replace(self, diagonal=sums * (peak / (self.scale * self.unit)) ** 2)
        degrees = self.degrees
        deviation = self.peak * np.sqrt(sums / degrees)
        return replace(
            self,
            scale=np.where(self.constant, 1.0, deviation),
            unit=1.0,
            diagonal=np.where(self.constant, 0.0, degrees),
        )

    def of(self, features: Indices) -> Moments:
        """The moments of some of the columns, in the same unit."""
        return replace(
            self,
            mean=self.mean[features],
            scale=self.scale[features],
            constant=self.constant[features],
            peak=self.peak[features],
            diagonal=self.diagonal[features],
        )

    @property
    def factor(self) -> Array | None:
        """What centred columns are multiplied with, or None where there is nothing to do."""
        if self.unit == 1.0 and (self.scale == 1.0).all():
            return None
        return 1.0 / (self.scale * self.unit)

    @property
    def is_scale_safe(self) -> bool:
        """Whether nothing is lost by dividing products of columns by squares of their scales."""
        with np.errstate(over="ignore"):
            squares = self.scale**2
        return bool(squares.all()) and within_limits(squares)

    @property
    def guard(self) -> float:
        """What keeps sums of entries that are not centred yet from overflowing."""
        return 2.0**-64 if float((np.abs(self.mean) / 2 + self.peak / 2).max()) > 1e280 else 1.0

    @property
    def degrees(self) -> float:
        """What a sum of squares is divided by to become a variance."""
        return self.n_samples - 1.0 if self.n_samples > 1.0 else 1.0

    @property
    def variance_unit(self) -> float:
        """What turns a sum of squares in the solver's unit into a variance."""
        return self.unit / self.degrees * self.unit


def power_of_two(widest: float) -> float:
    """One where float64 needs no help, otherwise a power of two near the number."""
    if widest == 0.0 or _SAFE_PEAK[0] < widest < _SAFE_PEAK[1]:
        return 1.0
    return 2.0 ** min(max(math.frexp(widest)[1], -1022), 1023)


def real_numbers(X: Any) -> Any:
    """X, if its entries are real numbers."""
    if X.dtype.kind == "c":
        raise ValueError("Complex numbers have no principal components here; pass real ones.")
    return X
