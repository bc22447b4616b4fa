"""What is to be solved, on all features or on some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from redac.constraints import Constraint, Coupling
from redac.solver import variance
from redac.solver.strategy import Strategy, current
from redac.sources.base import Array, Indices, Source

# Values that differ by no more than this share of the variance differ by rounding.
EQUAL = 1e-10
# To copy a larger share of S costs more than a run saves by looking at it alone.
_WORTH_RESTRICTING = 0.5


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
    strategy : how to go about it.
    couplings : rules for all components together.
    """

    source: Source
    constraints: Sequence[Constraint]
    ridge: float = 0.0
    max_sweeps: int = 1000
    tol: float = 1e-7
    least_separation: float = 0.0
    total_of_all: float | None = None
    strategy: Strategy = field(default_factory=current)
    couplings: Sequence[Coupling] = ()

    @property
    def total(self) -> float:
        """‖X‖² over all features, those that a part of the problem leaves out included."""
        return self.source.total if self.total_of_all is None else self.total_of_all

    @cached_property
    def n_varying(self) -> int:
        """How many features vary: a feature that does not must not decide about anything."""
        return int(np.count_nonzero(self.source.diagonal))

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """A number for each constraint, the same for equal ones."""
        constraints = list(self.constraints)
        return tuple(constraints.index(each) for each in constraints)

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """For which components the entries of a support may take any value, or any positive one."""
        return np.array([each.free_range is not None for each in self.constraints])

    @cached_property
    def usual(self) -> Sequence[Constraint]:
        """The sets of the components if they share alike what they have together."""
        constraints = self.constraints
        for each in self.couplings:
            constraints = each.usual(constraints, self.source.n_features)
        return constraints

    def allowed(self, i: int, V: Array, placed: NDArray[np.bool_] | None = None) -> Constraint:
        """The set of component i while the others are as in V; only those that are placed count."""
        if not self.couplings:
            return self.constraints[i]
        beside = V if placed is None else np.where(placed, V, 0.0)
        return self._beside(self.constraints[i], i, beside)

    def share(self, i: int, V: Array) -> Constraint:
        """The same if the component takes no more than its share of what there is for all."""
        return self._beside(self.usual[i], i, V)

    def _beside(self, constraint: Constraint, i: int, V: Array) -> Constraint:
        for each in self.couplings:
            constraint = each.allowed(i, constraint, V)
        return constraint

    @property
    def least_apart(self) -> float:
        """The least separation that loadings may have: what is asked for, or can be told apart."""
        return max(self.least_separation, variance.DISTINCT)

    def keeps_together(self, V: Array) -> bool:
        """Whether components are far enough apart, and keep the rules for all of them together."""
        is_apart = variance.is_separated(V.T @ V, self.least_apart)
        return is_apart and all(each.contains(V) for each in self.couplings)

    def dealt(self, V: Array, strengths: Array | None = None) -> Problem:
        """The problem for first sweeps from dense loadings V: what is shared has been dealt out.

        ``strengths`` say how much each column matters; None: as much as it explains alone.
        """
        problem = self
        for each in self.couplings:
            if strengths is None:
                strengths = np.maximum(self.source.quadratic(V).diagonal(), 0.0)
            constraints = each.dealt(problem.constraints, V, strengths)
            if constraints is not None:
                left = [other for other in problem.couplings if other is not each]
                problem = replace(problem, constraints=constraints, couplings=left)
        return problem

    @cached_property
    def used(self) -> tuple[int, ...]:
        """How many features each component may use."""
        varies = np.where(self.source.diagonal > 0.0, 1.0, 0.0)
        return tuple(int(np.count_nonzero(each.maximize(varies))) for each in self.usual)

    @cached_property
    def work(self) -> float:
        """What a sweep over the features that are looked at costs, in multiplications."""
        wanted = max(self.strategy.scope * sum(self.used), self.strategy.least_features)
        n_looked_at = max(min(wanted, self.n_varying), 1)
        return float(n_looked_at * (len(self.constraints) ** 2 + sum(self.used)))

    def value(self, V: Array) -> float:
        """What loadings explain with the best scores: what the solver maximises, in units of S."""
        value = variance.together(V.T @ V, self.source.quadratic(V), self.ridge)
        if value is None:  # as loadings of a start may be
            return variance.Explained.of(V, self.source.quadratic).together(self.ridge)
        return value

    def contributions(self, V: Array) -> Array:
        """What each component adds to what all others explain."""
        duals = variance.Basis.of(V).duals()
        lengths = np.einsum("ij,ij->j", duals, duals)
        scores = self.source.quadratic(duals).diagonal()
        return np.asarray(scores / np.where(lengths > 0.0, lengths, 1.0))

    def is_better(self, value: float, other: float) -> bool:
        """Whether one value is larger than another by more than rounding."""
        return value > other + EQUAL * self.total

    def is_gain(self, value: float, other: float) -> bool:
        """Whether one value is larger than another by more than ``tol``, so that it is worth it."""
        return value > other + self.tol * self.total

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

    def look_at(self, features: Indices) -> Part:
        """The problem on some features, or on all where they are so many that it saves nothing."""
        if 0 < features.size <= _WORTH_RESTRICTING * self.n_varying:
            return self.restricted(features)
        return self.whole

    @property
    def n_exchanges(self) -> int:
        """How many exchanges one component may have in a row: fewer where each costs more."""
        k = max(self.used, default=0)
        # All pairs of a feature of the component and another one, and loadings on a new support.
        return int(self.strategy.exchanges / (k * self.n_varying + k**3 or 1))

    @property
    def n_redraws(self) -> int:
        """How often components are drawn anew: fewer times, the more work a sweep is.

        At most once more than there are components: of two, each alone and both. Three times as
        often where rules tie all together, which leaves a single one less to change: 26 loadings in
        all then explain 86.75 instead of 86.52 % of pitprops.
        """
        most = (len(self.constraints) + 1) * (3 if self.couplings else 1)
        return int(min(self.strategy.redraws / (self.work or 1.0), most))

    @property
    def n_seeds(self) -> int:
        """How many rows of S are tried where something new is looked for."""
        return 1 + int(self.strategy.seeds / (self.n_varying * len(self.constraints) or 1))


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
