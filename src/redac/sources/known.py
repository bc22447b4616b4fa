"""What is known of S, columns of it and parts that belong to some of the features.

What is known is not computed again: sweeps from different starts look at much the same features,
and so does one run later on.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from redac.sources.base import Array, Indices
from redac.sources.data import Data
from redac.sources.factor import Factor
from redac.sources.gram import Gram

# Up to so many samples for each feature of a part, its columns of X are smaller than its part of S,
# need not be multiplied to be made, and serve the sweeps as well.
_FEW_SAMPLES = 0.5
# A part of S is completed if no more than this share of its features are missing, else made anew:
# of a symmetric matrix one half is computed, of the rows that are missing both.
_MOST_MISSING = 0.25
_ROWS_AT_A_TIME = 128
# What the columns may take, and those that are computed in one pass over the data.
_CACHE_BYTES = 1 << 30
_BATCH_BYTES = 1 << 25

Part = Gram | Factor


class KnownScatter:
    """Columns that were asked for, parts that somebody still uses, and the last one that was made.

    Columns are remembered for good. Where there is no more room for them all are forgotten.
    """

    def __init__(self, data: Data) -> None:
        self._data = data
        self._place = np.full(data.shape[1], -1, dtype=np.intp)
        self.n_columns = 0
        self._in_use: WeakKeyDictionary[Part, Indices] = WeakKeyDictionary()
        self._last: Part | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._data,)  # what is known stays in its process

    @property
    def room(self) -> int:
        """How many columns may be remembered."""
        d = self._data.shape[1]
        return min(_CACHE_BYTES // (8 * d), d)

    def columns(self, support: Indices) -> tuple[Array, Indices]:
        """An array that has these columns of S as rows, and where they are in it."""
        self._learn(support)
        return self._rows, self._place[support]

    def part(self, support: Indices) -> Part:
        """The part of S that belongs to these features, in their order."""
        near, places = self._nearest(support)
        if near is not None and np.array_equal(self._in_use[near], support):
            self._last = near
            return near
        # The last one is let go before the next is made, unless it is needed for that.
        self._last = None
        if np.count_nonzero(places < 0) > _MOST_MISSING * support.size:
            near = None
        part = self._last = self._made(near, support, places)
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

    def _nearest(self, support: Indices) -> tuple[Part | None, Indices]:
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

    def _made(self, near: Part | None, support: Indices, places: Indices) -> Part:
        data = self._data
        unit = data.variance_unit
        has_few_samples = data.shape[0] <= _FEW_SAMPLES * support.size
        if isinstance(near, Factor) and (places >= 0).all():
            part = near.restricted(places)
            return part if has_few_samples else Gram(part.matrix(), variance_unit=unit)
        if has_few_samples:
            by_feature = np.ascontiguousarray(data.dense_columns(support).T)
            return Factor(by_feature, variance_unit=unit)
        if (self._place[support] >= 0).all():
            S = self._rows[np.ix_(self._place[support], support)]
            return Gram((S + S.T) / 2, variance_unit=unit)
        if isinstance(near, Gram):
            return Gram(self._completed(near, support, places), variance_unit=unit)
        return Gram(data.submatrix(support), variance_unit=unit)

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

    @cached_property
    def _rows(self) -> Array:
        """Room for columns of S; the memory is only taken when a row is written."""
        return np.empty((self.room, self._data.shape[1]))

    def _learn(self, support: Indices) -> None:
        """Have the columns of the support at hand; where there is no room, forget all others."""
        missing = support[self._place[support] < 0]
        if missing.size == 0:
            return
        if self.n_columns + missing.size > self.room:
            self._place[:] = -1
            self.n_columns = 0
            missing = support
        size = max(_BATCH_BYTES // (8 * self._data.shape[1]), 1)
        for start in range(0, missing.size, size):
            batch = missing[start : start + size]
            columns = self._data.columns(batch)
            rows = np.arange(self.n_columns, self.n_columns + batch.size)
            self._rows[rows] = columns.T
            self._place[batch] = rows
            self.n_columns += batch.size
