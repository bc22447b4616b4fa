"""A bound on the sum of magnitudes of the loadings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redac.constraints.sets import Vector, is_unit, normalized

# Steps towards the survivors of an l1 bound. Each leaves about half of the entries; more of them
# cost more than they save.
_NARROWING_STEPS = 2
_ROUNDING = 1e-9
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class L1:
    """Sum of magnitudes at most ``bound`` on the unit sphere (Theorem 3).

    The theorem as printed picks a negative threshold when ``w/‖w‖`` lies strictly inside the bound;
    there the optimum is ``w/‖w‖`` itself, the largest inner product of all unit vectors.

    Parameters
    ----------
    bound : the largest sum of magnitudes, from 1 (one entry) to √n_features (no bound).

    Examples
    --------
    >>> import numpy as np
    >>> from redac.constraints import L1
    >>> L1(1.0).maximize(np.array([3.0, 1.0, -4.0]))
    array([ 0.,  0., -1.])
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
