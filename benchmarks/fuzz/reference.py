"""What components explain, computed apart from redac: directly on the data, in extended precision.

The data are divided by a power of two near their largest entry first, so that nothing overflows
where a long double is no longer than a double.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Exact = NDArray[np.longdouble]
Array = NDArray[np.float64]

# A component whose part outside the span of others has a squared length below the first may or may
# not count as one of its own; below the second rounding of its loadings decides where it points.
MAY_DEPEND, DEPENDS = 1e-10, 1e-24


@dataclass(frozen=True)
class Reference:
    """Centred and, where asked for, standardised data, each row times the root of its weight.

    Attributes
    ----------
    centred : the data in units of 2**exponent.
    exponent : the unit as a power of two.
    mean, scale : in the units of the data.
    weights : those of all rows, as documented.
    """

    centred: Exact
    exponent: int
    mean: Exact
    scale: Exact
    weights: Exact

    @property
    def degrees(self) -> float:
        """What a sum of squares is divided by to become a variance."""
        return max(float(self.weights.sum()) - 1.0, 0.0) or 1.0

    @property
    def total(self) -> float:
        return float((self.centred**2).sum())

    def increments(self, components: Array, floor: float) -> Array:
        """The share of the variance that each component adds to those before it."""
        V, Z = self._loadings_and_scores(components)
        added = np.zeros(V.shape[1])
        for j in range(V.shape[1]):
            added[j] = _gains(V, Z, [j], floor)[0]
            _remove(V, Z, j, floor)
        return added / (self.total or 1.0)

    def disorder(self, components: Array) -> float:
        """By how much a component would add more in the place of one that stands before it.

        As far as that can be told: not beyond a component that may depend on those before it.
        """
        V, Z = self._loadings_and_scores(components)
        r, worst = V.shape[1], 0.0
        for j in range(r - 1):
            if (V[:, j] ** 2).sum() <= MAY_DEPEND:
                break
            gains = _gains(V, Z, range(j, r), MAY_DEPEND)
            worst = max(worst, float(gains.max() - gains[0]))
            _remove(V, Z, j, MAY_DEPEND)
        return worst / (self.total or 1.0)

    def value(self, components: Array, ridge: float) -> float:
        """What the fit maximises: the explained share, with a ridge less what the scores cost."""
        if ridge == 0.0:
            return float(self.increments(components, MAY_DEPEND).sum())
        V, Z = self._loadings_and_scores(components)
        G = np.asarray(V.T @ V, dtype=np.float64)
        M = np.asarray(Z.T @ Z / (self.total or 1.0), dtype=np.float64)
        return float(np.trace(np.linalg.solve(G + ridge * np.eye(len(G)), M)))

    def covariance(self) -> Array:
        """The covariance matrix in the units of the data, for data whose squares are numbers."""
        centred = self.centred * np.longdouble(2.0) ** self.exponent
        return np.asarray(centred.T @ centred / self.degrees, dtype=np.float64)

    def _loadings_and_scores(self, components: Array) -> tuple[Exact, Exact]:
        V = components.T.astype(np.longdouble)
        return V, self.centred @ V


def reference(
    X: NDArray[Any], weights: Array | None = None, *, standardize: bool = False
) -> Reference:
    """The reference for data, by the documented rules for weights and constant columns."""
    documented = _documented_weights(weights, len(X))
    w = documented[documented > 0]
    exponent = _exponent(X)
    scaled = np.ldexp(X[documented > 0].astype(np.longdouble), -exponent)
    constant = (scaled == scaled[:1]).all(axis=0)
    mean = np.where(constant, scaled[0], (w @ scaled) / w.sum())
    deviations = scaled - mean
    rest = (w @ deviations) / w.sum()
    mean = mean + rest
    centred = np.where(constant, 0, deviations - rest) * np.sqrt(w)[:, None]
    unit = np.longdouble(2.0) ** exponent
    ones = np.ones(X.shape[1], dtype=np.longdouble)
    plain = Reference(centred, exponent, mean * unit, ones, documented)
    if not standardize:
        return plain
    spread: Exact = np.sqrt((centred**2).sum(axis=0) / plain.degrees)
    spread[constant] = 1
    scale = np.where(constant, 1, spread * unit)
    return replace(plain, centred=centred / spread, exponent=0, scale=scale)


def _documented_weights(weights: Array | None, n: int) -> Exact:
    """Whole numbers count; others are made to add up to the number of rows that count."""
    if weights is None:
        return np.ones(n, dtype=np.longdouble)
    w = weights.astype(np.longdouble)
    return w if (w == np.floor(w)).all() else w * (np.count_nonzero(w) / w.sum())


def _exponent(X: NDArray[Any]) -> int:
    return math.frexp(float(np.abs(X.astype(np.float64)).max()))[1]


def _gains(V: Exact, Z: Exact, columns: Sequence[int] | range, floor: float) -> Array:
    """What each of these components adds now, when earlier ones have been removed."""
    lengths = (V[:, columns] ** 2).sum(axis=0)
    gains = (Z[:, columns] ** 2).sum(axis=0) / np.where(lengths > floor, lengths, 1)
    return np.asarray(np.where(lengths > floor, gains, 0), dtype=np.float64)


def _remove(V: Exact, Z: Exact, j: int, floor: float) -> None:
    """Take the direction of component j out of all later ones, twice against rounding; in place."""
    length = (V[:, j] ** 2).sum()
    if length <= floor:
        return
    for _ in range(2):
        shares = V[:, j] @ V[:, j + 1 :] / length
        V[:, j + 1 :] -= np.multiply.outer(V[:, j], shares)
        Z[:, j + 1 :] -= np.multiply.outer(Z[:, j], shares)
