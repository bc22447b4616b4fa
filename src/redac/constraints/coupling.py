"""Rules for all components together.

A coupling turns the set of a component into the one that is left of it while all others stay as
they are. Loadings that keep the rule are in what is left for each of them, so an update of one
component keeps the rule, and never raises the objective.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from redac.constraints.features import Excluding
from redac.constraints.sets import Constraint, Indices, Matrix, Vector, limited, usable


class Coupling(Protocol):
    """A rule for all components together."""

    def allowed(self, i: int, constraint: Constraint, V: Matrix) -> Constraint:
        """What is left of the set of component i beside the other columns of V."""
        ...

    def contains(self, V: Matrix) -> bool:
        """Whether loadings keep the rule."""
        ...

    def usual(self, constraints: Sequence[Constraint], size: int) -> list[Constraint]:
        """What the components may use if they share so many features alike."""
        ...

    def dealt(
        self, constraints: Sequence[Constraint], V: Matrix, strengths: Vector
    ) -> list[Constraint] | None:
        """Sets of which each may be used whatever the others do, as suits dense loadings V.

        None where no such sets are wanted. ``strengths`` say how much each column matters.
        """
        ...


@dataclass(frozen=True)
class Disjoint:
    """No feature in two components."""

    def allowed(self, i: int, constraint: Constraint, V: Matrix) -> Constraint:
        taken = np.delete(V, i, axis=1).any(axis=1)
        return Excluding(constraint, tuple(np.flatnonzero(taken).tolist()))

    def contains(self, V: Matrix) -> bool:
        return bool((np.count_nonzero(V, axis=1) <= 1).all())

    def usual(self, constraints: Sequence[Constraint], size: int) -> list[Constraint]:
        share = math.ceil(size / len(constraints))
        return [limited(c, share) if hasattr(c, "at_most") else c for c in constraints]

    def dealt(
        self, constraints: Sequence[Constraint], V: Matrix, strengths: Vector
    ) -> list[Constraint] | None:
        if self.contains(V):
            return None
        # With scores of length one that do not change, this is the best that can be done.
        magnitudes = np.abs(V) * np.sqrt(strengths)
        for i, constraint in enumerate(constraints):
            magnitudes[~usable(constraint, len(V)), i] = -1.0
        owner = magnitudes.argmax(axis=1)
        return [
            Excluding(c, tuple(np.flatnonzero(owner != i).tolist()))
            for i, c in enumerate(constraints)
        ]


@dataclass(frozen=True)
class TotalCardinality:
    """At most so many non-zero loadings in all components together.

    Attributes
    ----------
    count : how many.
    least : the places that each component keeps in any case.
    """

    count: int
    least: tuple[int, ...]

    def allowed(self, i: int, constraint: Constraint, V: Matrix) -> Constraint:
        numbers = np.count_nonzero(V, axis=0)
        left = self.count - np.delete(np.maximum(numbers, self.least), i).sum()
        return limited(constraint, max(int(numbers[i]), int(left), self.least[i]))

    def contains(self, V: Matrix) -> bool:
        return int(np.count_nonzero(V)) <= self.count

    def usual(self, constraints: Sequence[Constraint], size: int) -> list[Constraint]:
        share = math.ceil(self.count / len(constraints))
        return [
            limited(each, max(share, k)) for each, k in zip(constraints, self.least, strict=True)
        ]

    def dealt(
        self, constraints: Sequence[Constraint], V: Matrix, strengths: Vector
    ) -> list[Constraint] | None:
        numbers = np.maximum(np.count_nonzero(V, axis=0), self.least)
        if numbers.sum() > self.count:
            numbers = self._of_the_largest(np.abs(V) * np.sqrt(strengths))
        return [limited(each, int(k)) for each, k in zip(constraints, numbers, strict=True)]

    def _of_the_largest(self, magnitudes: Matrix) -> Indices:
        """How many of the largest entries each column has, and no fewer than it keeps anyway."""
        order = np.argsort(-magnitudes, axis=0, kind="stable")
        for column, k in enumerate(self.least):
            magnitudes[order[:k, column], column] = np.inf
        places = np.argsort(-magnitudes, axis=None, kind="stable")[: self.count]
        return np.bincount(places % magnitudes.shape[1], minlength=magnitudes.shape[1])
