"""No negative loadings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redac.constraints.sets import (
    Constraint,
    Indices,
    Mask,
    Vector,
    limited,
    may_enter,
    may_join,
    required,
    usable,
)


@dataclass(frozen=True)
class Nonnegative:
    """The vectors of another constraint with no negative entry (Theorem 5).

    Parameters
    ----------
    inner : the other constraint.

    Examples
    --------
    >>> import numpy as np
    >>> from redac.constraints import L0, Nonnegative
    >>> Nonnegative(L0(2)).maximize(np.array([3.0, 4.0, -5.0]))
    array([0.6, 0.8, 0. ])
    """

    inner: Constraint

    def maximize(self, w: Vector) -> Vector:
        """Maximise over the positive part of w, or else take the least negative entry alone.

        The theorem assumes a positive entry that the inner set can use. When there is none, ⟨w, v⟩
        ≤ max(w)·‖v‖₁ ≤ max(w) over the entries that it can use, because ‖v‖₁ ≥ 1 and max(w) ≤ 0,
        with equality at the unit vector of the largest of them.
        """
        v = self.inner.maximize(np.maximum(w, 0.0))
        return self._alone(w) if not v.any() and w.any() else v

    def _alone(self, w: Vector) -> Vector:
        """The unit vector of the largest entry that may stand alone."""
        v = np.zeros_like(w)
        for j in np.argsort(-w, kind="stable"):
            v[j] = 1.0
            if self.inner.contains(v):
                break
            v[j] = 0.0
        return v

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return bool((v >= 0).all()) and self.inner.contains(v, atol=atol)

    @property
    def free_range(self) -> tuple[float, float] | None:
        return None if self.inner.free_range is None else (0.0, np.inf)

    def restricted(self, features: Indices) -> Nonnegative:
        return Nonnegative(self.inner.restricted(features))

    def may_enter(self, support: Indices, size: int) -> Mask | None:
        return may_enter(self.inner, support, size)

    def may_join(self, support: Indices, size: int) -> Mask:
        return may_join(self.inner, support, size)

    def usable(self, size: int) -> Mask:
        return usable(self.inner, size)

    def required(self) -> list[int]:
        return required(self.inner)

    def at_most(self, count: int) -> Nonnegative:
        return Nonnegative(limited(self.inner, count))
