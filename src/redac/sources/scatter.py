"""Means and scatter of some rows, in a form in which those of other rows can be added.

Rows are read once. Sums about the rows' own mean are kept rather than raw sums, so that nothing is
lost when the mean is large against the spread, and two sets of rows are joined by the update of
Chan, Golub and LeVeque (1983): S = S_a + S_b + W_a W_b/(W_a + W_b) δδᵀ with δ = μ_b − μ_a.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from redac.sources.base import Array

# Sums of squares beyond these limits may have lost digits to over- or underflow. The largest of
# them, which others are measured by, stays in a range in which its fourth power is safe, too.
_SAFE_SQUARES = (1e-180, 1e180)
_SAFE_LARGEST = (1e-60, 1e60)


@dataclass(frozen=True)
class Scatter:
    """What one pass over rows has found.

    Attributes
    ----------
    lengths : number of rows of each block, in order.
    weight : sum of the weights of the rows; without weights their number.
    centre, offset : the mean of each column in two parts. The sum of both has to be rounded; where
        the mean is large against the spread, the step from one mean to another has not.
    squares : weighted sum of squares of each column about its mean; exactly zero where the column
        does not vary.
    matrix : the full scatter matrix, or None where only its diagonal was wanted.
    is_safe : whether all of this can be trusted; NaN, infinity and extreme numbers take away trust.
    """

    lengths: tuple[int, ...]
    weight: float
    centre: Array
    offset: Array
    squares: Array
    matrix: Array | None
    is_safe: bool

    @classmethod
    def untrusted(cls, length: int, weight: float, d: int) -> Scatter:
        """For rows whose numbers are too large, too small, or no numbers."""
        zero = np.zeros(d)
        return cls((length,), weight, zero, zero, zero, None, is_safe=False)

    @classmethod
    def of_nothing(cls, length: int, d: int, *, full: bool) -> Scatter:
        """For rows none of which counts."""
        zero = np.zeros(d)
        matrix = np.zeros((d, d)) if full else None
        return cls((length,), 0.0, zero, zero, zero, matrix, is_safe=True)

    @property
    def mean(self) -> Array:
        return self.centre + self.offset

    @property
    def n_rows(self) -> int:
        return sum(self.lengths)

    def joined(self, other: Scatter) -> Scatter:
        """The scatter of these rows and others that follow them."""
        lengths = self.lengths + other.lengths
        weight = self.weight + other.weight
        if not (self.is_safe and other.is_safe):
            return replace(self, lengths=lengths, weight=weight, matrix=None, is_safe=False)
        if 0.0 in (self.weight, other.weight):
            kept = other if self.weight == 0.0 else self
            return replace(kept, lengths=lengths, weight=weight)
        with np.errstate(over="ignore", invalid="ignore"):
            step = self.step_to(other)
            share = other.weight / weight
            between = step * step * (self.weight * share)
            squares = self.squares + other.squares + between
            matrix = None
            if self.matrix is not None and other.matrix is not None:
                matrix = self.matrix + other.matrix
                matrix += np.multiply.outer(step * (self.weight * share), step)
            offset = self.offset + step * share
        # A step whose square vanishes would make a column that varies look constant.
        safe = within_limits(squares) and not ((between == 0.0) & (step != 0.0)).any()
        return Scatter(lengths, weight, self.centre, offset, squares, matrix, is_safe=safe)

    def step_to(self, other: Scatter) -> Array:
        """The mean of other rows minus the mean of these."""
        return (other.centre - self.centre) + (other.offset - self.offset)


@dataclass(frozen=True)
class ScatterAlong:
    """The scatter of each column of some rows, and M = VᵀSV for a few directions V.

    It is what the measures need to know of rows, without their whole scatter matrix S.
    """

    scatter: Scatter
    M: Array

    def joined(self, other: ScatterAlong, V: Array) -> ScatterAlong:
        """That of these rows and others that follow them, for the same directions V."""
        mine, its = self.scatter, other.scatter
        both = mine.joined(its)
        M = self.M + other.M
        if both.is_safe and mine.weight > 0.0 and its.weight > 0.0:
            step = V.T @ mine.step_to(its)
            M += np.multiply.outer(step * (mine.weight * (its.weight / both.weight)), step)
        return ScatterAlong(both, M)


def joined(parts: list[Scatter]) -> Scatter:
    """The scatter of several sets of rows, in their order."""
    return reduce(Scatter.joined, parts)


def within_limits(squares: Array) -> bool:
    """Whether sums of squares are finite and far from over- and underflow, or exactly zero."""
    low, high = _SAFE_SQUARES
    if not ((squares == 0.0) | ((squares > low) & (squares < high))).all():
        return False
    largest = squares.max(initial=0.0)
    return bool(largest == 0.0 or _SAFE_LARGEST[0] < largest < _SAFE_LARGEST[1])


@dataclass(frozen=True)
class Extremes:
    """Smallest and largest value and mean of each column, and the first entry that is no number.

    This is what data of extreme size need before anything can be squared.

    Attributes
    ----------
    low, high, mean : one value for each column; the mean is that of all rows, this block's share.
    n_rows : number of rows looked at.
    bad : row, column and value of the first NaN or infinity, or None.
    """

    low: Array
    high: Array
    mean: Array
    n_rows: int
    bad: tuple[int, int, float] | None

    def joined(self, other: Extremes) -> Extremes:
        """The extremes of these rows and others that follow them."""
        bad = self.bad
        if bad is None and other.bad is not None:
            row, column, value = other.bad
            bad = (self.n_rows + row, column, value)
        return Extremes(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.mean + other.mean,
            self.n_rows + other.n_rows,
            bad,
        )
