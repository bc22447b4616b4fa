"""How far rows are from a model, and how far those may be that are as they should be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from redac.sources.base import Array

KEPT = 0.75  # a usual choice: up to a quarter of the rows may be bad
# What makes the median of absolute deviations a standard deviation, for normal numbers.
NORMAL = 1.4826
# Of rows that are as they should be one in forty is farther: the cube root of the square of a
# distance is nearly normal.
_FAR, _TYPICAL = 1.96, 0.975
# Rows that are nearer than all but so few may have next to no cells, and say little of others.
_NEAREST = 0.05
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

    How many these are is found from above: first all; a line through the nearer ones, over normal
    quantiles, tells how far others of their kind may be, and if more than one in forty is farther,
    fewer are as they should be. Found from below a limit is often much too low.
    """
    roots, share = np.sort(np.cbrt(distances**2)), 1.0
    places = (np.arange(roots.size) + 0.5) / roots.size
    while True:
        near = (places >= _NEAREST * share) & (places <= KEPT * share)
        z, x = ndtri(places[near] / share), roots[near]
        z = z - (middle := z.mean())
        slope = float(z @ x / (z @ z)) if x.size > 1 else 0.0
        found = float(x.mean()) + (_FAR - float(middle)) * slope
        within = np.searchsorted(roots, found, side="right") / roots.size
        fewer = max(float(within), KEPT) / _TYPICAL
        if fewer >= share:
            return float(max(found, 0.0) ** 1.5)
        share = fewer


def score_distances(U: Array, typical: NDArray[np.bool_]) -> Array:
    """Mahalanobis distances of scores from zero, in the axes of typical rows.

    Typical rows may be those that are left when far ones are not counted. So their spread says only
    which axes are long; the unit is that in which the median of all rows is that of normal scores.
    """
    chosen = U[typical]
    values, axes = np.linalg.eigh(chosen.T @ chosen / max(len(chosen), 1))
    spread = np.sqrt(np.maximum(values, 0.0))
    along = U @ axes
    known = spread > EXACT * spread.max(initial=0.0)
    distances = np.linalg.norm(along[:, known] / spread[known], axis=1)
    median = float(np.median(distances))
    usual = np.sqrt(chdtri(np.count_nonzero(known), 0.5)) if median > 0.0 else 1.0
    return np.asarray(distances * (usual / (median or 1.0)))


def score_cutoff(r: int) -> float:
    """One in forty normal scores of r components is farther."""
    return float(np.sqrt(chdtri(r, 1.0 - _TYPICAL)))
