"""What a loading vector may be: the closed-form updates of the paper.

Every update of a loading vector (Theorems 2, 3 and 5) answers one question: given w, which unit
vector v of the feasible set makes ⟨w, v⟩ largest? A constraint is therefore a small immutable
object with one working method, ``maximize(w)``, and ``contains(v)`` to check an answer.
``maximize`` of a zero vector is the zero vector: nothing is left to align with, and no direction is
made up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["L0", "L1", "Constraint", "Nonnegative"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Steps towards the survivors of an l1 bound. Each leaves about half of the entries; more of them
# cost more than they save.
_NARROWING_STEPS = 2
_ROUNDING = 1e-9
_TINY = float(np.finfo(np.float64).tiny)


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

    def restricted(self, features: NDArray[np.intp]) -> Constraint:
        """The same set for vectors of these features alone, the entries of all others being zero.

        The constraint itself where it treats all features alike; one that knows its features by
        their numbers must count anew.
        """
        ...


def may_collapse(constraints: Sequence[Constraint]) -> bool:
    """Whether nothing keeps some components sparse when they approach others: l1 bounds do not."""
    return any(constraint.free_range is None for constraint in constraints)


def oriented(start: Matrix, constraints: Sequence[Constraint]) -> Matrix:
    """The start with every column turned to the side on which its set has the closer vector.

    A direction and its opposite are the same component, but not for a set without negative entries.
    """
    start = np.array(start, dtype=np.float64, order="F")
    for i, constraint in enumerate(constraints):
        w = start[:, i]
        v = constraint.maximize(w)
        # A set with −v in it is one for which both sides are equal.
        if not constraint.contains(-v) and constraint.maximize(-w) @ -w > v @ w:
            start[:, i] = -w
    return start


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
        v = np.zeros(w.size)
        v[kept] = normalized(w[kept])
        return v

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return is_unit(v, atol) and int(np.count_nonzero(v)) <= self.cardinality

    @property
    def free_range(self) -> tuple[float, float] | None:
        return -np.inf, np.inf

    def restricted(self, features: NDArray[np.intp]) -> L0:
        return self


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
        a = np.abs(w)
        peak = a.max() if a.size else 0.0
        if peak == 0.0:
            return np.zeros_like(w)
        a /= peak
        if a.sum() <= self.bound * math.sqrt(a @ a):
            return normalized(w)
        delta = np.subtract(1.0, a, out=a)
        support, magnitudes = self._shrink(delta)
        v = np.zeros(w.size)
        v[support] = np.copysign(magnitudes, w[support])
        return v

    def _shrink(self, delta: Vector) -> tuple[NDArray[np.intp], Vector]:
        """The entries that survive the threshold, and their values on the unit sphere.

        ‖soft(a, λ)‖₁ = t‖soft(a, λ)‖₂ is solved for magnitudes a with a maximum of one. Everything
        is said in distances from the largest entry, δ = 1 − a and τ = 1 − λ, which keep their
        digits where sums of the entries themselves cancel: at ties, and on flat vectors.
        """
        candidates, delta = _near_enough(delta, self.bound)
        nearest = np.sort(delta)
        m, tau = _survivors(nearest, self.bound)
        active = (delta <= (nearest[m - 1] if m else 0.0)).nonzero()[0]
        if m == 0:
            return candidates[active], _point_on_face(active.size, self.bound)
        x = np.maximum(tau - delta[active], 0.0)
        x /= math.sqrt(x @ x)  # τ is no smaller than rounding: nothing underflows
        return candidates[active], x

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return is_unit(v, atol) and float(np.abs(v).sum()) <= self.bound * (1 + atol)

    @property
    def free_range(self) -> tuple[float, float] | None:
        return None

    def restricted(self, features: NDArray[np.intp]) -> L1:
        return self


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

    def restricted(self, features: NDArray[np.intp]) -> Nonnegative:
        return Nonnegative(self.inner.restricted(features))


def maximize_curved(constraint: Constraint, w: Vector, curvature: Vector, v: Vector) -> Vector:
    """Unit loadings, up to their length the minimum of Σ a_j x_j² − 2⟨w, x⟩, with curvatures a_j.

    Where the entries of a support move freely, y_j = √a_j x_j is in the same set, as a unit vector,
    and ‖y‖² − 2⟨w/√a, y⟩ is the question that ``maximize`` answers. Otherwise the curvatures
    are raised to the largest one about ``v``, the loadings of now: an upper bound that is exact
    there, so that loadings that lower it lower the sum itself.
    """
    largest_curvature = float(curvature.max(initial=0.0))
    if largest_curvature == 0.0:
        return np.zeros_like(w)
    if constraint.free_range is None:
        return constraint.maximize(w + (largest_curvature - curvature) * v)
    # Only zeros have no curvature, and stay zero whatever they are divided by.
    roots = np.sqrt(np.where(curvature > 0.0, curvature / largest_curvature, 1.0))
    return normalized(constraint.maximize(w / roots) / roots)


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
    return abs(math.sqrt(v @ v) - 1.0) <= atol  # not where an entry is infinite or not a number


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


def _near_enough(delta: Vector, t: float) -> tuple[NDArray[np.intp], Vector]:
    """Where the entries are among which all survivors must be, and those entries: few to sort.

    Over any set of entries that holds the survivors, the root of Σ(τ − δ) = t(Σ(τ − δ)²)^½ is no
    smaller than the threshold τ: at the threshold the entries beyond it add what is negative to the
    left side and what is positive to the right one, and the left side rises faster. Entries beyond
    that root do not survive.
    """
    kept = np.arange(delta.size)
    for _ in range(_NARROWING_STEPS):
        near = (delta <= _threshold_distance(delta, t) * (1.0 + _ROUNDING)).nonzero()[0]
        kept, delta = kept[near], delta[near]
    return kept, delta


def _survivors(delta: Vector, t: float) -> tuple[int, float]:
    """How many entries survive the threshold τ, and τ; none if equal ones alone have the l1 norm t.

    That is the largest m with ‖soft(a, a_m)‖₁ < t‖soft(a, a_m)‖₂ for a in descending order.
    ``delta`` ascends. Running sums say for all m at once whether that holds, but cancel; the τ that
    belongs to the right m lies behind δ_m and before the next one, and to no other m.
    """
    ties = int(delta.searchsorted(0.0, side="right"))
    if t * t <= ties * (1 + 1e-12):
        return 0, 0.0
    m = _likely_count(delta, t)
    tau = _threshold_distance(delta[:m], t)
    if m <= t * t or tau < delta[m - 1] or (m < delta.size and delta[m] < tau):
        m = _active_count(delta, ties, t)
        tau = _threshold_distance(delta[:m], t)
    return m, tau


def _active_count(delta: Vector, ties: int, t: float) -> int:
    """How many survive, without cancellation:

    h(τ) = ‖(τ − δ)₊‖₁/‖(τ − δ)₊‖₂ rises with τ, so bisection finds the place in m.
    """
    low, high = ties, delta.size  # entry `low - 1` survives, entry `high` does not
    while high - low > 0:
        middle = (low + high) // 2
        if _is_below(delta, middle, t):
            low = middle + 1
        else:
            high = middle
    return low


def _is_below(delta: Vector, m: int, t: float) -> bool:
    """Whether entry m survives: h(δ_m) < t, summed from differences, with nothing to cancel."""
    gaps = delta[m] - delta[:m]
    return bool(gaps.sum() < t * math.sqrt(gaps @ gaps)) if m and gaps[0] > 0 else True


def _likely_count(delta: Vector, t: float) -> int:
    """The same count from running sums, but for rounding."""
    sums = delta.cumsum()
    lengths = np.arange(1.0, delta.size + 1.0) * delta - sums
    squares = delta * (lengths - sums) + (delta * delta).cumsum()
    beyond = lengths * lengths > t * t * squares  # never so for the largest and its equals
    first = int(beyond.argmax())
    return first if beyond[first] else delta.size


def _threshold_distance(delta: Vector, t: float) -> float:
    """The root τ of (Σ(τ − δ))² = t² Σ(τ − δ)² beyond the mean:

    λ_k of Theorem 3, as max(a) − λ_k.
    """
    m = delta.size
    mean = float(delta.sum()) / m
    deviations = delta - mean
    # t² < m holds in exact arithmetic (Lemma 4 of the paper); rounding may touch equality.
    slack = max(m - t * t, _TINY)
    return mean + t * math.sqrt(float(deviations @ deviations) / (m * slack))
