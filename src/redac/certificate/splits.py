"""S as a sum of two matrices, of which one is bounded part by part: the best such sum.

For orthogonal parts Q = Σ aᵢaᵢᵀ + I_O with P ⪯ Q, and for every N = LLᵀ,

    Tr(SP) = Tr((S − N)P) + Tr(NP) ≤ KyFan_r(S − N) + Σ aᵢᵀNaᵢ + Σ_O N_jj.

The right side is bounded by the largest that each part can be, which is convex in N. It is lowered
for lists of supports that bind; whatever N comes out proves a bound for all supports.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from redac.certificate.dual import blocks
from redac.certificate.rounding import eigenvalue_margin
from redac.certificate.smooth import fermi, fermi_rows, soft_maximum
from redac.sources.base import Array, Indices

# Temperatures of the smoothing, as shares of the largest eigenvalue of S, and steps at each.
_STAGES = ((1e-2, 30), (1e-3, 40), (2e-4, 40))
# A start that is not the end of a search nearby needs a multiplier that can still turn.
_RIDGE = 1e-3
# A finer temperature lowers the bound by a few temperatures; farther from the target a region is
# divided instead.
_HOPELESS = 10.0

# The supports of one part that bind for N, one row each.
Binding = Callable[[Array], Indices]


@dataclass(frozen=True)
class Split:
    """What S − N explains at most, N, and its factor."""

    rest: float
    N: Array
    L: Array

    @classmethod
    def of(cls, S: Array, r: int, L: Array) -> Split:
        """N = LLᵀ; that it is this exactly is not assumed: the rest is computed from it."""
        N = L @ L.T
        N = (N + N.T) / 2
        rest = float(np.linalg.eigvalsh(S - N)[-r:].sum())
        # An eigenvalue −δ of N is repaired by δI, at a cost that the last margin covers.
        margin = 2.0 * eigenvalue_margin(S - N, r) + len(S) * eigenvalue_margin(N)
        return cls(rest + margin, N, L)

    @classmethod
    def clipped(cls, S: Array, r: int, cap: float, floor: float) -> Split:
        """N has the eigenvalues of S, less the floor, up to the cap."""
        values, vectors = np.linalg.eigh(S)
        kept = np.clip(values - floor, 0.0, max(cap - floor, 0.0))
        return cls.of(S, r, vectors * np.sqrt(kept + _RIDGE * values[-1]))


@dataclass(frozen=True)
class Shared:
    """Some variables are shared, and at most ``count`` of the free ones."""

    inside: Indices
    free: Indices
    count: int


def best_split(
    S: Array,
    r: int,
    parts: Sequence[tuple[Binding, int]],
    shared: Shared,
    start: Split,
    *,
    fresh: bool,
    target: float = -np.inf,
    deadline: float = np.inf,
) -> Split:
    """Lower the bound from a start, with the supports that bind on the way.

    ``parts`` come with the number of components that are alike; the work ends below ``target``.
    """
    peak = float(np.linalg.eigvalsh(S)[-1])
    L = start.L
    lists = [binding(start.N) for binding, _ in parts]
    counts = [count for _, count in parts]

    def stop(intermediate_result: OptimizeResult) -> None:
        if intermediate_result.fun <= target or time.monotonic() > deadline:
            raise StopIteration

    for temperature, steps in _STAGES if fresh else _STAGES[1:]:
        found = minimize(
            _SmoothSplit(S, r, lists, counts, shared, temperature * peak),
            L.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=stop,
            options={"maxiter": steps, "maxcor": 20, "ftol": 1e-9, "gtol": 1e-9},
        )
        L = found.x.reshape(L.shape)
        N = L @ L.T
        hopeless = found.fun > target + _HOPELESS * temperature * peak
        if hopeless or found.fun <= target or time.monotonic() > deadline:
            break
        lists = [joined(known, each(N)) for known, (each, _) in zip(lists, parts, strict=True)]
    return Split.of(S, r, L)


def joined(rows: Indices, more: Indices) -> Indices:
    """The rows of both, each once."""
    return np.unique(np.vstack([rows, more]), axis=0)


class _SmoothSplit:
    """The bound for listed supports, with all largest values smoothed, and its gradient."""

    def __init__(
        self,
        S: Array,
        r: int,
        lists: Sequence[Indices],
        counts: Sequence[int],
        shared: Shared,
        temperature: float,
    ) -> None:
        self.S = S
        self.r = r
        self.lists = lists
        self.counts = counts
        self.shared = shared
        self.temperature = temperature

    def __call__(self, x: Array) -> tuple[float, Array]:
        d, shared = len(self.S), self.shared
        L = x.reshape(d, d)
        N = L @ L.T
        values, vectors = np.linalg.eigh(self.S - N)
        total, occupied = fermi(values, self.r, self.temperature)
        slope = -(vectors * occupied) @ vectors.T
        for sets, count in zip(self.lists, self.counts, strict=True):
            values, axes = np.linalg.eigh(blocks(N, sets))
            each, share = fermi_rows(values, 1, self.temperature)
            value, weights = soft_maximum(each, self.temperature)
            total += count * value
            R = (axes * (count * weights[:, None] * share)[:, None, :]) @ axes.transpose(0, 2, 1)
            places = sets[:, :, None] * d + sets[:, None, :]
            slope += np.bincount(places.ravel(), R.ravel(), minlength=d * d).reshape(d, d)
        own = N.diagonal()
        total += float(own[shared.inside].sum())
        slope[shared.inside, shared.inside] += 1.0
        if shared.count and shared.free.size:
            value, taken = fermi(own[shared.free], shared.count, self.temperature)
            total += value
            slope[shared.free, shared.free] += taken
        return total, (2.0 * slope @ L).ravel()
