"""How far rows are from a model, and how far those may be that are as they should be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from redac.sources.base import Array

KEPT = 0.75  # a usual choice: up to a quarter of the rows may be bad
# What makes the median of absolute deviations a standard deviation, for normal numbers.
NORMAL = 1.4826
# Of rows that are as they should be one in forty is farther: the cube root of the square of a
# distance is nearly normal.
_FAR, _TYPICAL = 1.96, 0.975
# The lower quartile of normal numbers, far from bad rows, is so many deviations from the median.
_QUARTILE = 0.6745
# A column whose residuals are less than this share of its spread is fitted exactly.
EXACT = 1e-6


def generous_limit(distances: Array) -> float:
    """The distance that one row in forty exceeds where few rows are bad: others make it larger."""
    roots = np.cbrt(distances**2)
    centre = float(np.median(roots))
    far = centre + _FAR * NORMAL * float(np.median(np.abs(roots - centre)))
    return float(max(far, 0.0) ** 1.5)


def limit(distances: Array) -> float:
    """The distance that one row in forty exceeds of those that are as they should be.

    How many these are is found from below: the quartiles of the nearest rows tell how far others
    of their kind may be, and those that are no farther count as well.
    """
    roots, found = np.sort(np.cbrt(distances**2)), 0.0
    count = int(np.ceil(KEPT * roots.size))
    while True:
        share = min(count / (_TYPICAL * roots.size), 1.0)
        low, centre = np.quantile(roots, [share / 4, share / 2])
        found = max(found, float(centre + _FAR * (centre - low) / _QUARTILE))
        within = int(np.searchsorted(roots, found, side="right"))
        if within <= count:
            return float(found**1.5)
        count = within


def score_distances(U: Array, typical: NDArray[np.bool_]) -> Array:
    """Mahalanobis distances of scores from zero by those of typical rows."""
    chosen = U[typical]
    values, axes = np.linalg.eigh(chosen.T @ chosen / max(len(chosen), 1))
    spread = np.sqrt(np.maximum(values, 0.0))
    along = U @ axes
    known = spread > EXACT * spread.max(initial=0.0)
    return np.asarray(np.linalg.norm(along[:, known] / spread[known], axis=1))


def score_cutoff(r: int) -> float:
    """One in forty normal scores of r components is farther."""
    return float(np.sqrt(chi2.ppf(0.975, r)))
