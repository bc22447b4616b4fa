"""A constraint that leaves some features alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redac.constraints import Constraint


@dataclass(frozen=True)
class Never:
    """The vectors of another constraint that have no loading in some places.

    Attributes
    ----------
    inner : the other constraint.
    forbidden : the places of the features that get no loading.
    """

    inner: Constraint
    forbidden: tuple[int, ...]

    def maximize(self, w: np.ndarray) -> np.ndarray:
        """The vector of the set with the largest inner product with w."""
        allowed = w.copy()
        allowed[list(self.forbidden)] = 0.0
        v = self.inner.maximize(allowed)
        if v[list(self.forbidden)].any():
            # Without a positive entry the nonnegative set takes the largest one, which may be a
            # forbidden zero; what is best is the least negative of those that are allowed.
            allowed[list(self.forbidden)] = -np.inf
            v = np.zeros_like(w)
            v[np.argmax(allowed)] = 1.0
        return v

    def contains(self, v: np.ndarray, *, atol: float = 1e-9) -> bool:
        """Whether v is in the set, up to rounding."""
        return not v[list(self.forbidden)].any() and self.inner.contains(v, atol=atol)

    @property
    def free_range(self) -> tuple[float, float] | None:
        """Between which values a loading may move freely; None where it may not."""
        return self.inner.free_range

    def restricted(self, features: np.ndarray) -> Never:
        """The same constraint where only these features are looked at."""
        places = np.flatnonzero(np.isin(features, self.forbidden))
        return Never(self.inner, tuple(places.tolist()))
