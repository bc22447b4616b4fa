"""A bound on the number of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redac.constraints.sets import Indices, Mask, Vector, is_unit, largest, normalized
from redac.constraints.supports import Supports, others_than, require_cardinality


@dataclass(frozen=True)
class L0(Supports):
    """At most ``cardinality`` non-zero entries (Theorem 2).

    Parameters
    ----------
    cardinality : the most non-zero entries.

    Examples
    --------
    >>> import numpy as np
    >>> from redac.constraints import L0
    >>> L0(2).maximize(np.array([3.0, 1.0, -4.0]))
    array([ 0.6,  0. , -0.8])
    """

    cardinality: int

    def __post_init__(self) -> None:
        require_cardinality(self.cardinality)

    def maximize(self, w: Vector) -> Vector:
        """Keep the entries of largest magnitude; among equal ones the first."""
        if self.cardinality >= w.size:
            return normalized(w)
        kept = largest(np.abs(w), self.cardinality)
        v = np.zeros(w.size)
        v[kept] = normalized(w[kept])
        return v

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return is_unit(v, atol) and int(np.count_nonzero(v)) <= self.cardinality

    def restricted(self, features: Indices) -> L0:
        return self

    def chosen(self, magnitudes: Vector, first: Indices) -> Indices:
        others = others_than(magnitudes.size, first)
        kept = largest(magnitudes[others], self.cardinality - first.size)
        return np.concatenate([first, others[kept]])

    def allows(self, support: Indices) -> bool:
        return support.size <= self.cardinality

    def may_join(self, support: Indices, size: int) -> Mask:
        return np.full(size, support.size < self.cardinality)

    def may_enter(self, support: Indices, size: int) -> Mask | None:
        return None

    def at_most(self, count: int) -> L0:
        return L0(min(self.cardinality, count))
