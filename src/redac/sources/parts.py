"""Parts of S that belong to some of the features: what is known of a new one is not computed again.

Sweeps from different starts look at much the same features, and so does one run later on.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.gram import Gram

# A part is completed if no more than this share of its features are missing, else made anew: of a
# symmetric matrix one half is computed, of the rows that are missing both.
_MOST_MISSING = 0.25
_ROWS_AT_A_TIME = 128


class Parts:
    """The parts that somebody still uses, and the last one that was made."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._in_use: WeakKeyDictionary[Gram, Indices] = WeakKeyDictionary()
        self._last: Gram | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._data,)  # what is known stays in its process

    def of(self, support: Indices) -> Gram:
        """The part of S that belongs to these features, in their order."""
        near, places = self._nearest(support)
        if near is not None and np.array_equal(self._in_use[near], support):
            self._last = near
            return near
        # The last one is let go before the next is made, unless it is needed for that.
        self._last = None
        if near is None or np.count_nonzero(places < 0) > _MOST_MISSING * support.size:
            near = None
            matrix = self._data.submatrix(support)
        else:
            matrix = self._completed(near, support, places)
        part = self._last = Gram(matrix, variance_unit=self._data.variance_unit)
        self._in_use[part] = support.copy()
        return part

    def quadratic(self, V: Array) -> Array | None:
        """VᵀSV, if a part of S that is known is enough for it."""
        support = np.flatnonzero(V.any(axis=1))
        near, places = self._nearest(support)
        if near is None or (places < 0).any():
            return None
        W = np.zeros((near.n_features, V.shape[1]))
        W[places] = V[support]
        return near.quadratic(W)

    def _nearest(self, support: Indices) -> tuple[Gram | None, Indices]:
        """The part with most of these features, and their places in it; −1 where they are not."""
        nearest, places = None, np.full(support.size, -1, dtype=np.intp)
        lookup = np.full(self._data.shape[1], -1, dtype=np.intp)
        for part, features in self._in_use.items():
            lookup[features] = np.arange(features.size)
            found = lookup[support]
            lookup[features] = -1
            if np.count_nonzero(found >= 0) > np.count_nonzero(places >= 0):
                nearest, places = part, found
        return nearest, places

    def _completed(self, near: Gram, support: Indices, places: Indices) -> Array:
        """The part of S that belongs to these features, most of which have places in another."""
        missing = np.flatnonzero(places < 0)
        S = np.empty((support.size, support.size))
        places = np.maximum(places, 0)  # what is copied to the place of missing ones will not stay
        for start in range(0, support.size, _ROWS_AT_A_TIME):
            some = slice(start, start + _ROWS_AT_A_TIME)
            S[some] = near.S.take(places[some], axis=0).take(places, axis=1)
        if missing.size:
            rows = self._data.submatrix(support, missing)
            corner = rows[:, missing]
            rows[:, missing] = (corner + corner.T) / 2
            S[missing] = rows
            S[:, missing] = rows.T
        return S
