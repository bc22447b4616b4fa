"""What a loading vector may be: the closed-form updates of the paper.

Every update of a loading vector (Theorems 2, 3 and 5) answers one question: given w, which unit
vector v of the feasible set makes ⟨w, v⟩ largest? A constraint is therefore a small immutable
object with one working method, ``maximize(w)``, and ``contains(v)`` to check an answer.
``maximize`` of a zero vector is the zero vector: nothing is left to align with, and no direction is
made up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# An l1 bound of t leaves at least t² entries, and mostly fewer than this many times as many.
_OFTEN_ENOUGH = 4


class Constraint(Protocol):
    """A closed set of unit vectors over which a linear function is easily maximised."""

    def maximize(self, w: Vector) -> Vector:
        """The unit vector of the set with the largest inner product with w; zero for w = 0."""
        ...

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        """Whether v is a unit vector of the set, within ``atol``."""
        ...

    @property
    def free_range(self) -> tuple[float, float] | None:
        """Between which values the entries of a support may move without leaving the set.

        The vector is made a unit vector again afterwards. None where other entries or the length of
        the vector limit an entry.
        """
        ...


@dataclass(frozen=True)
class L0:
    """At most ``cardinality`` non-zero entries (Theorem 2)."""

    cardinality: int

    def __post_init__(self) -> None:
        if self.cardinality < 1:
            raise ValueError(
                f"cardinality={self.cardinality!r} leaves no non-zero entry; it must be at least 1."
            )

    def maximize(self, w: Vector) -> Vector:
        """Keep the entries of largest magnitude; among equal ones the first."""
        if self.cardinality >= w.size:
            return normalized(w)
        kept = largest(np.abs(w), self.cardinality)
        v = np.zeros_like(w)
        v[kept] = normalized(w[kept])
        return v

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return is_unit(v, atol) and int(np.count_nonzero(v)) <= self.cardinality

    @property
    def free_range(self) -> tuple[float, float] | None:
        return -np.inf, np.inf


@dataclass(frozen=True)
class L1:
    """Sum of magnitudes at most ``bound`` on the unit sphere (Theorem 3).

    The theorem as printed picks a negative threshold when ``w/‖w‖`` lies strictly inside the bound;
    there the optimum is ``w/‖w‖`` itself, the largest inner product of all unit vectors.
    """

    bound: float

    def __post_init__(self) -> None:
        if not self.bound >= 1:
            raise ValueError(
                f"l1_bound={self.bound!r} is infeasible: a unit vector has l1 norm 1 or more."
            )

    def maximize(self, w: Vector) -> Vector:
        """Soft-threshold w so that the l1 norm of the unit vector meets the bound."""
        v = normalized(w)
        if np.abs(v).sum() <= self.bound:
            return v
        magnitudes = np.abs(w) / np.abs(w).max()
        return np.copysign(self._shrink(magnitudes), w)

    def _shrink(self, a: Vector) -> Vector:
        """Solve ‖soft(a, λ)‖₁ = t‖soft(a, λ)‖₂ for magnitudes a scaled to a maximum of one.

        Everything is said in distances from the largest entry, δ = max(a) − a and τ = max(a) − λ,
        which keep their digits where sums of the entries themselves cancel: at ties, and on flat
        vectors.
        """
        few = math.ceil(_OFTEN_ENOUGH * self.bound**2)
        if few < a.size:
            # The threshold depends on the entries above it alone, and these are mostly few.
            candidates = np.sort(largest(a, few))
            v = self._shrink_sorted(a, candidates[np.argsort(-a[candidates], kind="stable")])
            if np.count_nonzero(v) < candidates.size:
                return v
        return self._shrink_sorted(a, np.argsort(-a, kind="stable"))

    def _shrink_sorted(self, a: Vector, order: NDArray[np.intp]) -> Vector:
        """The same, of the entries in this order, largest first, and no others."""
        t = self.bound
        delta = 1.0 - a[order]
        ties = int(np.searchsorted(delta, 0.0, side="right"))
        v = np.zeros_like(a)
        if t * t <= ties * (1 + 1e-12):
            v[order[:ties]] = _point_on_face(ties, t)
            return v
        m = _active_count(delta, t)
        tau = _threshold_distance(delta[:m], t)
        v[order[:m]] = normalized(np.maximum(tau - delta[:m], 0.0))
        return v

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return is_unit(v, atol) and float(np.abs(v).sum()) <= self.bound * (1 + atol)

    @property
    def free_range(self) -> tuple[float, float] | None:
        return None


@dataclass(frozen=True)
class Nonnegative:
    """The vectors of another constraint with no negative entry (Theorem 5)."""

    inner: Constraint

    def maximize(self, w: Vector) -> Vector:
        """Maximise over the positive part of w, or else take the least negative entry alone.

        The theorem assumes a positive entry. When there is none, ⟨w, v⟩ ≤ max(w)·‖v‖₁ ≤ max(w) for
        every feasible v, because ‖v‖₁ ≥ 1 and max(w) ≤ 0, with equality at the unit vector of the
        largest entry.
        """
        positive = np.maximum(w, 0.0)
        if positive.any() or not w.any():
            return self.inner.maximize(positive)
        v = np.zeros_like(w)
        v[np.argmax(w)] = 1.0
        return v

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return bool((v >= 0).all()) and self.inner.contains(v, atol=atol)

    @property
    def free_range(self) -> tuple[float, float] | None:
        return None if self.inner.free_range is None else (0.0, np.inf)


def normalized(w: Vector) -> Vector:
    """w/‖w‖₂ without overflow or underflow on the way; zero stays zero."""
    peak = np.abs(w).max() if w.size else 0.0
    if peak == 0.0:
        return np.zeros_like(w)
    scaled = w / peak
    unit: Vector = scaled / math.sqrt(scaled @ scaled)
    return unit


def is_unit(v: Vector, atol: float) -> bool:
    """Whether ‖v‖₂ is one within ``atol``."""
    return bool(np.isfinite(v).all()) and abs(float(np.linalg.norm(v)) - 1.0) <= atol


def largest(magnitudes: Vector, k: int) -> NDArray[np.intp]:
    """Indices of the k largest positive magnitudes; among equal ones those that come first."""
    split = magnitudes.size - k
    candidates = magnitudes.argpartition(split)[split:]
    threshold = magnitudes[candidates[0]]
    if threshold == 0.0:
        return np.flatnonzero(magnitudes)
    if np.count_nonzero(magnitudes >= threshold) == k:
        return candidates
    above = candidates[magnitudes[candidates] > threshold]
    tied = np.flatnonzero(magnitudes == threshold)[: k - above.size]
    return np.concatenate([above, tied])


def _point_on_face(ties: int, t: float) -> Vector:
    """A unit vector with ‖v‖₁ = t on equal entries, with as few non-zeros as that allows.

    All points of the face have the same inner product with w, so the sparsest is the best to read:
    one entry apart, the others equal.
    """
    q = min(math.ceil(t * t), ties)
    v = np.zeros(ties)
    if q == 1:
        v[0] = 1.0
        return v
    spread = math.sqrt(max(1.0 - t * t / q, 0.0) / (q * (q - 1)))
    v[:q] = t / q - spread
    v[0] = t / q + (q - 1) * spread
    return normalized(np.maximum(v, 0.0))


def _active_count(delta: Vector, t: float) -> int:
    """How many entries survive the threshold.

    That is the largest m with ‖soft(a, a_m)‖₁ < t‖soft(a, a_m)‖₂ for a in descending order.
    ``delta`` ascends and h(τ) = ‖(τ − δ)₊‖₁/‖(τ − δ)₊‖₂ rises with τ, so bisection finds the place
    in m; each value of h is summed afresh from differences, with nothing to cancel.
    """

    def is_below(m: int) -> bool:
        gaps = delta[m] - delta[:m]
        return bool(gaps.sum() < t * math.sqrt(gaps @ gaps)) if gaps[0] > 0 else True

    low, high = 1, delta.size  # entry `low - 1` survives, entry `high` does not
    while high - low > 0:
        middle = (low + high) // 2
        if is_below(middle):
            low = middle + 1
        else:
            high = middle
    return low


def _threshold_distance(delta: Vector, t: float) -> float:
    """The root τ of (Σ(τ − δ))² = t² Σ(τ − δ)² beyond the mean:

    λ_k of Theorem 3, as max(a) − λ_k.
    """
    m = delta.size
    mean = float(delta.mean())
    deviations = delta - mean
    # t² < m holds in exact arithmetic (Lemma 4 of the paper); rounding may touch equality.
    slack = max(m - t * t, np.finfo(float).tiny)
    return mean + t * math.sqrt(float(deviations @ deviations) / (m * slack))
