"""What is to be solved, on all features or on some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from redac.constraints import Constraint
from redac.sources.base import Array, Indices, Source


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
    total_of_all : ‖X‖² where the source holds some of the features only; None where it has all.
    """

    source: Source
    constraints: Sequence[Constraint]
    ridge: float = 0.0
    max_sweeps: int = 1000
    tol: float = 1e-7
    least_separation: float = 0.0
    total_of_all: float | None = None

    @property
    def total(self) -> float:
        """‖X‖² over all features, those that a part of the problem leaves out included."""
        return self.source.total if self.total_of_all is None else self.total_of_all

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

    @property
    def whole(self) -> Part:
        """The problem as a part that leaves nothing out."""
        return Part(self, None, self.source.n_features)

    def restricted(self, features: Indices) -> Part:
        """The same problem on some of the features, all others having no loadings."""
        problem = replace(
            self,
            source=self.source.restricted(features),
            constraints=[each.restricted(features) for each in self.constraints],
            total_of_all=self.total,
        )
        return Part(problem, features, self.source.n_features)


@dataclass(frozen=True)
class Part:
    """A problem on some features of another one.

    It does not hold the other problem, so that it can be sent to other processes without the data.

    Attributes
    ----------
    problem : the problem on those features.
    features : where they are among those of the other problem; None where it is that problem.
    n_features : how many features that has.
    """

    problem: Problem
    features: Indices | None
    n_features: int

    def inside(self, V: Array) -> Array:
        """Loadings of the other problem on the features of this part."""
        return V if self.features is None else V[self.features]

    def embed(self, V: Array) -> Array:
        """Loadings of this part as loadings of the other problem."""
        if self.features is None:
            return V
        full = np.zeros((self.n_features, V.shape[1]))
        full[self.features] = V
        return full
