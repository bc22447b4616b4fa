"""Sample weights: checked once, then a number for each row that data multiply with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from redac.sources.base import Array

_MOST_ROWS = 2.0**53


@dataclass(frozen=True)
class WeightSummary:
    """What must be known of weights before they are used.

    Attributes
    ----------
    total : their sum.
    n_used : number of rows whose weight is not zero.
    are_counts : whether all are whole numbers.
    n_rows : number of weights.
    bad : row and value of the first weight that is negative or no number, or None.
    """

    total: float
    n_used: int
    are_counts: bool
    n_rows: int
    bad: tuple[int, float] | None

    @classmethod
    def of(cls, weights: Any) -> WeightSummary:
        """Look at the weights of some rows."""
        w = np.asarray(weights, dtype=np.float64).ravel()
        wrong = ~((w >= 0) & np.isfinite(w))
        bad = None
        if wrong.any():
            row = int(np.argmax(wrong))
            bad = (row, float(w[row]))
        total = 0.0 if bad else float(w.sum())
        # All large floats are whole numbers, but nobody counts that far.
        are_counts = bad is None and total < _MOST_ROWS and bool((w == np.floor(w)).all())
        return cls(total, int(np.count_nonzero(w)), are_counts, w.size, bad)

    def joined(self, other: WeightSummary) -> WeightSummary:
        """The summary of these weights and others that follow them."""
        bad = self.bad
        if bad is None and other.bad is not None:
            bad = (self.n_rows + other.bad[0], other.bad[1])
        return WeightSummary(
            self.total + other.total,
            self.n_used + other.n_used,
            self.are_counts and other.are_counts,
            self.n_rows + other.n_rows,
            bad,
        )

    def factor(self, n_rows: int | None) -> float:
        """What the weights are multiplied with, after a check of all that can be wrong with them.

        Whole numbers count how often a row is there. Other weights are relative: they are made to
        add up to the number of rows, so that a common factor changes nothing.
        """
        if n_rows is not None and self.n_rows != n_rows:
            raise ValueError(
                f"sample_weight has {self.n_rows} values, X has {n_rows} rows; give one for each."
            )
        if self.bad is not None:
            row, value = self.bad
            raise ValueError(
                f"sample_weight[{row}] is {value:g}; weights must be finite and not negative. "
                "Give a row that should not count the weight 0."
            )
        if self.n_used == 0:
            raise ValueError("sample_weight is zero for every row; at least one must count.")
        if not np.isfinite(self.total):
            raise ValueError(
                "sample_weight adds up to infinity; divide the weights by the largest."
            )
        return 1.0 if self.are_counts else self.n_used / self.total


def checked_weights(sample_weight: Any, n_rows: int) -> Array:
    """Weights of rows in memory, ready for use."""
    w = np.asarray(sample_weight)
    if w.ndim == 0:
        w = np.full(n_rows, w)
    if w.ndim != 1:
        raise ValueError(f"sample_weight must be 1D, one number for each row, not {w.ndim}D.")
    w = w.astype(np.float64)
    factor = WeightSummary.of(w).factor(n_rows)
    weights: Array = w if factor == 1.0 else w * factor
    return weights
