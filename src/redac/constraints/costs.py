"""Features that cost something, and a budget for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from redac.constraints.knapsack import best_choice
from redac.constraints.sets import Indices, Mask, Vector
from redac.constraints.supports import Supports, fewer, others_than, require_cardinality

# Sums of costs are compared to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Budget(Supports):
    """Features that cost no more than a budget together.

    Taking a feature brings w_j² and costs what it costs: a 0/1 knapsack. It is solved exactly
    unless more than 5,000 choices stand side by side, of which none is both cheaper and better than
    another: with costs that are whole numbers and a budget of up to 5,000, never. Beyond, those
    that promise most are followed, and the step is not proved to be the best.

    Parameters
    ----------
    costs : what each feature costs, zero or more.
    budget : what the features of a component may cost together.
    cardinality : the most features; None: no limit.

    Examples
    --------
    >>> import numpy as np
    >>> from redac.constraints import Budget
    >>> Budget(np.array([1.0, 1.0, 5.0]), 2.0).maximize(np.array([3.0, 4.0, 9.0]))
    array([0.6, 0.8, 0. ])
    """

    costs: Vector
    budget: float
    cardinality: int | None = None

    def __init__(self, costs: Any, budget: float, cardinality: int | None = None) -> None:
        require_cardinality(cardinality)
        costs = np.array(costs, dtype=np.float64)
        if costs.ndim != 1 or not (np.isfinite(costs) & (costs >= 0.0)).all():
            raise ValueError("costs must be a list of numbers that are zero or more, and finite.")
        if not 0.0 < budget < np.inf:
            raise ValueError(f"budget={budget!r} must be more than zero, and finite.")
        object.__setattr__(self, "costs", costs)
        object.__setattr__(self, "budget", float(budget))
        object.__setattr__(self, "cardinality", cardinality)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        same = (self.budget, self.cardinality) == (other.budget, other.cardinality)
        return same and np.array_equal(self.costs, other.costs)

    def __hash__(self) -> int:
        return hash((self.costs.tobytes(), self.budget, self.cardinality))

    def chosen(self, magnitudes: Vector, first: Indices) -> Indices:
        others = others_than(magnitudes.size, first)
        left = self.budget - self.costs[first].sum()
        most = None if self.cardinality is None else self.cardinality - first.size
        best = best_choice(magnitudes[others] ** 2, self.costs[others], left, most)
        return np.concatenate([first, others[best]])

    def allows(self, support: Indices) -> bool:
        within = self.costs[support].sum() <= self.budget * (1.0 + _ROUNDING)
        return bool(within) and (self.cardinality is None or support.size <= self.cardinality)

    def may_join(self, support: Indices, size: int) -> Mask:
        mask: Mask = self.costs + self.costs[support].sum() <= self.budget * (1.0 + _ROUNDING)
        if self.cardinality is not None and support.size >= self.cardinality:
            mask = np.zeros(size, dtype=bool)
        return mask

    def at_most(self, count: int) -> Budget:
        return Budget(self.costs, self.budget, fewer(self.cardinality, count))

    def restricted(self, features: Indices) -> Budget:
        return Budget(self.costs[features], self.budget, self.cardinality)
