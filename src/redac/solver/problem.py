"""What is to be solved, on all features or on some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from redac.constraints import Constraint
from redac.sources.base import Array, Indices, Source


@dataclass(frozen=True)
class Place:
    """Where the features of a part are among all, how many those are, and ‖X‖² over all of them.

    Not the whole problem itself: a part is sent to other processes without the data behind it.
    """

    features: Indices
    n_features: int
    total: float


@dataclass(frozen=True)
class Problem:
    """What is to be solved, and how exactly: everything but the starting point.

    Attributes
    ----------
    source : the data, as products with S.
    constraints : the set of each component.
    ridge : η of the objective ‖X − UVᵀ‖² + η‖U‖².
    max_sweeps : the most sweeps of a run.
    tol : a run has converged when a sweep gains no more than this share of ‖X‖².
    least_separation : the least eigenvalue that VᵀV may have.
    place : of a part of a problem, where its features are in the whole.
    """

    source: Source
    constraints: Sequence[Constraint]
    ridge: float = 0.0
    max_sweeps: int = 1000
    tol: float = 1e-7
    least_separation: float = 0.0
    place: Place | None = None

    @cached_property
    def total(self) -> float:
        """‖X‖² over all features, those that a part of the problem leaves out included."""
        return self.source.total if self.place is None else self.place.total

    @cached_property
    def n_varying(self) -> int:
        """How many features vary: a feature that does not must not decide about anything."""
        return int(np.count_nonzero(self.source.diagonal))

    @cached_property
    def work(self) -> float:
        """What a sweep over all features costs, in multiplications."""
        varies = np.where(self.source.diagonal > 0.0, 1.0, 0.0)
        used = sum(np.count_nonzero(each.maximize(varies)) for each in self.constraints)
        return float(max(self.n_varying, 1) * (len(self.constraints) ** 2 + used))

    def restricted(self, features: Indices) -> Problem:
        """The same problem on some of the features, all others having no loadings."""
        return replace(
            self,
            source=self.source.restricted(features),
            constraints=[each.restricted(features) for each in self.constraints],
            place=Place(features, self.source.n_features, self.total),
        )

    def inside(self, V: Array) -> Array:
        """Loadings of the whole problem on the features of this part."""
        return V if self.place is None else V[self.place.features]

    def embed(self, V: Array) -> Array:
        """Loadings of this part as loadings of the whole problem."""
        if self.place is None:
            return V
        full = np.zeros((self.place.n_features, V.shape[1]))
        full[self.place.features] = V
        return full
