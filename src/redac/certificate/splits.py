"""S as a sum of two matrices, of which one is bounded part by part: the best such sum.

For orthogonal parts Q = Σ aᵢaᵢᵀ + I_O with P ⪯ Q, and for every N = LLᵀ,

    Tr(SP) = Tr((S − N)P) + Tr(NP) ≤ KyFan_r(S − N) + Σ aᵢᵀNaᵢ + Σ_O N_jj.

Components that share nothing are orthogonal to all others. They may be taken out: S takes the place
of N for them, and r does not count them.

The right side is bounded by the largest that each part can be, which is convex in N. The parts do
not overlap, so each variable is used once or not at all: with a price for every variable, a part
pays for what it uses, and all of them together no more than the prices of so many variables as they
use. N and the prices are lowered for lists of supports that bind; whatever comes out proves a bound
for all supports.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from redac.certificate.dual import blocks
from redac.certificate.rounding import EPSILON, eigenvalue_margin
from redac.certificate.smooth import fermi, fermi_rows, soft_maximum
from redac.sources.base import Array, Indices

# Temperatures of the smoothing, as shares of the largest eigenvalue of S, and steps at each.
_STAGES = ((1e-2, 30), (1e-3, 40), (2e-4, 40))
# A start that is not the end of a search nearby needs a multiplier that can still turn.
_RIDGE = 1e-3
# Prices are squares, the first ones this share of the largest eigenvalue: at zero none would turn.
_FIRST_PRICE = 1e-4
# A finer temperature lowers the bound by a few temperatures; farther from the target a region is
# divided instead.
_HOPELESS = 10.0


@dataclass(frozen=True)
class Priced:
    """A matrix N and what a part pays for each variable that it uses; no price is negative."""

    N: Array
    prices: Array

    @classmethod
    def free(cls, N: Array) -> Priced:
        """Nothing is paid."""
        return cls(N, np.zeros(len(N)))

    def largest(self, sets: Indices) -> Array:
        """The largest eigenvalue of N on each set, less the prices of the set."""
        values = np.linalg.eigvalsh(blocks(self.N, sets))[:, -1]
        return np.asarray(values - self.prices[sets].sum(axis=1), dtype=np.float64)

    def diagonal(self, chosen: Indices) -> Array:
        """What single variables are worth, less their prices."""
        return np.asarray(self.N.diagonal()[chosen] - self.prices[chosen], dtype=np.float64)

    def least_paid(self, inside: Indices, free: Indices, missing: int) -> float:
        """The least that a set pays with some variables and so many others of a list."""
        cheapest = np.sort(self.prices[free])[:missing]
        return float(self.prices[inside].sum() + cheapest.sum())


# The supports of one part that bind, one row each.
Binding = Callable[[Priced], Indices]


@dataclass(frozen=True)
class Split:
    """What S − N explains at most, N with the prices, and its factor.

    ``alone``: the matrix for components that share nothing, which is S where they are taken out.
    """

    rest: float
    priced: Priced
    alone: Priced
    L: Array

    @property
    def N(self) -> Array:
        return self.priced.N

    def paid(self, allowed: Indices, count: int) -> float:
        """The most that parts pay which use so many of the allowed variables, each once."""
        prices = np.sort(self.priced.prices[allowed])[::-1]
        # Every sum of prices in the bound is rounded, and that of a variable is in one for each
        # part at most.
        margin = 16.0 * len(self.N) * EPSILON * float(self.priced.prices.sum())
        return float(prices[:count].sum()) + len(self.N) * margin

    @classmethod
    def of(
        cls, S: Array, r: int, L: Array, prices: Array | None = None, *, taken_out: int = 0
    ) -> Split:
        """N = LLᵀ; that it is this exactly is not assumed: the rest is computed from it."""
        prices = np.zeros(len(S)) if prices is None else prices
        left = r - taken_out
        N = L @ L.T
        N = (N + N.T) / 2
        rest = float(np.linalg.eigvalsh(S - N)[-left:].sum()) if left else 0.0
        # An eigenvalue −δ of N is repaired by δI, at a cost that the last margin covers.
        margin = 2.0 * eigenvalue_margin(S - N, r) + len(S) * eigenvalue_margin(N)
        priced = Priced(N, prices)
        return cls(rest + margin, priced, Priced(S, prices) if taken_out else priced, L)

    @classmethod
    def clipped(cls, S: Array, r: int, cap: float, floor: float) -> Split:
        """N has the eigenvalues of S, less the floor, up to the cap."""
        values, vectors = np.linalg.eigh(S)
        kept = np.clip(values - floor, 0.0, max(cap - floor, 0.0))
        return cls.of(S, r, vectors * np.sqrt(kept + _RIDGE * values[-1]))


@dataclass(frozen=True)
class Own:
    """The supports that bind for components which are alike; ``alone`` if they share nothing."""

    binding: Binding
    count: int
    alone: bool


@dataclass(frozen=True)
class Shared:
    """Some variables are shared, and at most ``count`` of the free ones.

    ``used``: so many variables all parts use together, at most.
    """

    inside: Indices
    free: Indices
    count: int
    used: int


def best_split(
    S: Array,
    r: int,
    parts: Sequence[Own],
    shared: Shared,
    start: Split,
    *,
    fresh: bool,
    priced: bool,
    target: float = -np.inf,
    deadline: float = np.inf,
) -> Split:
    """Lower the bound from a start, with the supports that bind on the way.

    The work ends below ``target``. Without ``priced`` all prices are zero, and no component is
    taken out: prices are what keeps these from using the same variables.
    """
    taken_out = sum(part.count for part in parts if part.alone) if priced else 0
    d, peak = len(S), float(np.linalg.eigvalsh(S)[-1])
    roots = np.sqrt(start.priced.prices + _FIRST_PRICE * peak) if priced else np.zeros(d)
    x = np.append(start.L.ravel(), roots)

    def binding(part: Own, N: Array, prices: Array) -> Indices:
        return part.binding(Priced(S if taken_out and part.alone else N, prices))

    lists = [binding(part, start.N, roots * roots) for part in parts]

    def stop(intermediate_result: OptimizeResult) -> None:
        if intermediate_result.fun <= target or time.monotonic() > deadline:
            raise StopIteration

    for temperature, steps in _STAGES if fresh else _STAGES[1:]:
        found = minimize(
            _SmoothSplit(S, r - taken_out, parts, lists, shared, temperature * peak, priced=priced),
            x,
            jac=True,
            method="L-BFGS-B",
            callback=stop,
            options={"maxiter": steps, "maxcor": 20, "ftol": 1e-9, "gtol": 1e-9},
        )
        x = found.x
        L = x[:-d].reshape(d, d)
        N, prices = L @ L.T, x[-d:] ** 2
        hopeless = found.fun > target + _HOPELESS * temperature * peak
        if hopeless or found.fun <= target or time.monotonic() > deadline:
            break
        more = (binding(part, N, prices) for part in parts)
        lists = [joined(known, found) for known, found in zip(lists, more, strict=True)]
    return Split.of(S, r, x[:-d].reshape(d, d), x[-d:] ** 2, taken_out=taken_out)


def joined(rows: Indices, more: Indices) -> Indices:
    """The rows of both, each once."""
    return np.unique(np.vstack([rows, more]), axis=0)


class _SmoothSplit:
    """The bound for listed supports, with all largest values smoothed, and its gradient."""

    def __init__(
        self,
        S: Array,
        r: int,
        parts: Sequence[Own],
        lists: Sequence[Indices],
        shared: Shared,
        temperature: float,
        *,
        priced: bool,
    ) -> None:
        self.S = S
        self.r = r
        self.parts = parts
        self.lists = lists
        self.shared = shared
        self.temperature = temperature
        self.priced = priced

    def __call__(self, x: Array) -> tuple[float, Array]:
        d, shared = len(self.S), self.shared
        L, roots = x[:-d].reshape(d, d), x[-d:]
        N, prices = L @ L.T, roots * roots
        total, slope, falls = 0.0, np.zeros((d, d)), np.zeros(d)
        if self.r:
            values, vectors = np.linalg.eigh(self.S - N)
            total, occupied = fermi(values, self.r, self.temperature)
            slope -= (vectors * occupied) @ vectors.T
        if self.priced:
            paid, falls = fermi(prices, min(shared.used, d), self.temperature)
            total += paid
        for part, sets in zip(self.parts, self.lists, strict=True):
            taken_out = self.priced and part.alone
            values, axes = np.linalg.eigh(blocks(self.S if taken_out else N, sets))
            each, share = fermi_rows(values, 1, self.temperature)
            value, weights = soft_maximum(each - prices[sets].sum(axis=1), self.temperature)
            total += part.count * value
            weights = part.count * weights
            uses = np.repeat(weights, sets.shape[1])
            falls = falls - np.bincount(sets.ravel(), uses, minlength=d)
            if not taken_out:
                R = (axes * (weights[:, None] * share)[:, None, :]) @ axes.transpose(0, 2, 1)
                places = sets[:, :, None] * d + sets[:, None, :]
                slope += np.bincount(places.ravel(), R.ravel(), minlength=d * d).reshape(d, d)
        value, taken = self._shared(N.diagonal() - prices)
        slope[np.arange(d), np.arange(d)] += taken
        return total + value, np.append((2.0 * slope @ L).ravel(), 2.0 * (falls - taken) * roots)

    def _shared(self, worth: Array) -> tuple[float, Array]:
        """What the shared variables are worth, and in which shares they are taken."""
        shared, taken = self.shared, np.zeros(len(worth))
        taken[shared.inside] = 1.0
        total = float(worth[shared.inside].sum())
        if shared.count and shared.free.size:
            # Those that are not worth their price are left out.
            nothing = np.zeros(shared.count if self.priced else 0)
            offered = np.append(worth[shared.free], nothing)
            value, shares = fermi(offered, shared.count, self.temperature)
            total += value
            taken[shared.free] += shares[: shared.free.size]
        return total, taken
