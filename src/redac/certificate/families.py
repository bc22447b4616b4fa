"""The supports that a component may still have at a node of the search tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from redac.sources.base import Array, Indices

# Up to this many supports a family is written out, and its bound looks at each of them.
LISTED = 1000


@dataclass(frozen=True)
class Family:
    """All supports of size k with ``inside`` ⊆ T ⊆ ``inside`` ∪ ``free``, listed if they are few.

    ``least`` breaks ties between components of equal cardinality: of two such supports the one with
    the larger code comes later.
    """

    k: int
    inside: tuple[int, ...]
    free: tuple[int, ...]
    least: int = 0
    sets: Indices | None = None

    @classmethod
    def all_supports(cls, d: int, k: int) -> Family:
        """Every support of size k among d variables."""
        return cls(k, (), tuple(range(d)))._listed()

    @classmethod
    def between(cls, k: int, inside: tuple[int, ...], free: tuple[int, ...]) -> Family:
        """Every support of size k that has some variables and otherwise some of others.

        All of these where they are no more than k.
        """
        return cls(min(k, len(inside) + len(free)), inside, free)._listed()

    @property
    def is_decided(self) -> bool:
        return self.sets is not None and len(self.sets) == 1

    @property
    def is_empty(self) -> bool:
        return self.sets is not None and len(self.sets) == 0

    @property
    def hull(self) -> Indices:
        """The smallest known set that contains every support of the family."""
        if self.sets is not None:
            return np.unique(self.sets)
        return np.array(sorted(self.inside + self.free), dtype=np.intp)

    def split(self, x: int) -> tuple[Family, Family]:
        """The supports with variable x, and those without it."""
        free = tuple(j for j in self.free if j != x)
        taken = replace(self, inside=(*self.inside, x), free=free)
        left = replace(self, free=free)
        if self.sets is None:
            return taken._listed(), left._listed()
        has = (self.sets == x).any(axis=1)
        return replace(taken, sets=self.sets[has]), replace(left, sets=self.sets[~has])

    def from_code(self, least: int) -> Family:
        """The supports whose code is at least this."""
        bounded = replace(self, least=max(least, self.least))
        if self.sets is None:
            return bounded
        return replace(bounded, sets=_from_code(self.sets, bounded.least))

    def only(self, chosen: NDArray[np.bool_]) -> Family:
        """The supports chosen from the list."""
        return replace(self, sets=self.sets[chosen] if self.sets is not None else None)

    def branching_variable(self, weights: Array | None, scores: Array) -> int:
        """The variable that divides the family best.

        Listed supports carry weights, the shares in which the bound mixes them: the variable whose
        share is nearest to one half tells them apart. Otherwise the best-scored free variable.
        """
        if self.sets is None:
            return max(self.free, key=lambda j: float(scores[j]))
        if weights is None or len(weights) != len(self.sets):
            weights = np.full(len(self.sets), 1.0 / len(self.sets))
        count = np.bincount(self.sets.ravel(), minlength=len(scores))
        divides = (count > 0) & (count < len(self.sets))
        share = np.bincount(
            self.sets.ravel(), np.repeat(weights, self.sets.shape[1]), minlength=len(scores)
        )
        # Where one support has all the weight every share is 0 or 1; then prefer its variables.
        merit = np.where(divides, share * (1.0 - share) + 1e-3 * share, -1.0)
        return int(np.argmax(merit))

    def _listed(self) -> Family:
        missing = self.k - len(self.inside)
        if self.sets is not None or comb(len(self.free), missing) > LISTED:
            return self
        rows = [sorted(self.inside + more) for more in combinations(self.free, missing)]
        sets = np.array(rows, dtype=np.intp).reshape(len(rows), self.k)
        return replace(self, sets=_from_code(sets, self.least))


def _from_code(sets: Indices, least: int) -> Indices:
    kept: Indices = sets[[code(row) >= least for row in sets]] if least else sets
    return kept


def code(support: Iterable[int]) -> int:
    """A number for each support, by which supports are ordered."""
    return sum(1 << int(j) for j in support)
