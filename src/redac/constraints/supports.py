"""Sets that only say which features may go together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from redac.constraints.sets import Indices, Mask, Vector, is_unit, normalized

NO_FEATURES = np.zeros(0, dtype=np.intp)


class Supports(ABC):
    """Unit vectors whose support is one of a family; what is part of an allowed one is allowed.

    On a support T no unit vector has a larger ⟨w, v⟩ than w_T/‖w_T‖, which has ‖w_T‖
    (Cauchy–Schwarz). So ``maximize`` is exact if it takes the support with the largest Σ_T w_j²,
    which is what ``chosen`` does.
    """

    @abstractmethod
    def chosen(self, magnitudes: Vector, first: Indices) -> Indices:
        """The allowed support with the largest sum of squares of those that hold ``first``."""

    @abstractmethod
    def allows(self, support: Indices) -> bool:
        """Whether a support belongs to the family."""

    @abstractmethod
    def may_join(self, support: Indices, size: int) -> Mask:
        """Which of so many features may join an allowed support, each alone."""

    @abstractmethod
    def restricted(self, features: Indices) -> Self: ...

    def maximize(self, w: Vector) -> Vector:
        """w on the best support, as a unit vector."""
        magnitudes = np.abs(w)
        peak = magnitudes.max(initial=0.0)
        v = np.zeros(w.size)
        if peak > 0.0:
            kept = self.chosen(magnitudes / peak, NO_FEATURES)
            v[kept] = normalized(w[kept])
        return v

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return is_unit(v, atol) and self.allows(np.flatnonzero(v))

    @property
    def free_range(self) -> tuple[float, float] | None:
        return -np.inf, np.inf

    def usable(self, size: int) -> Mask:
        """Which features may be used at all."""
        return self.may_join(NO_FEATURES, size)

    def may_enter(self, support: Indices, size: int) -> Mask | None:
        """For each feature of a support, as rows, which others may take its place; None: all."""
        rows = [self.may_join(np.delete(support, p), size) for p in range(support.size)]
        return np.array(rows, dtype=bool).reshape(support.size, size)


def others_than(size: int, first: Indices) -> Indices:
    """The features that are not among ``first``."""
    others = np.ones(size, dtype=bool)
    others[first] = False
    return np.flatnonzero(others)


def fewer(cardinality: int | None, count: int) -> int:
    """The smaller of two numbers of features, the first of which need not be given."""
    return count if cardinality is None else min(cardinality, count)


def require_cardinality(cardinality: int | None) -> None:
    """Refuse a number of features that leaves nothing."""
    if cardinality is not None and cardinality < 1:
        raise ValueError(
            f"cardinality={cardinality!r} leaves no non-zero entry; it must be at least 1."
        )
