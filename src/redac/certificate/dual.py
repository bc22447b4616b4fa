"""The lifted dual: a bound on the explained variance from any positive semi-definite multipliers.

Let E be the span of the loadings, P its projector, r its dimension. A *term* says that E meets one
of several coordinate subspaces R^T, T in ``sets``, in at least ``rank`` dimensions. Then P
dominates a projector R of that rank on R^T, and for every positive semi-definite M

    Tr(SP) = Tr((S + M)P) − Tr(MP) ≤ KyFan_r(S + M) − min_T σ(M_TT),

with σ the sum of the ``rank`` smallest eigenvalues. Several terms have a multiplier each, which are
summed. The bound holds whatever the multipliers are; minimising it makes it sharp.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from redac.certificate.rounding import dual_margin
from redac.certificate.smooth import fermi
from redac.sources.base import Array, Indices

# Temperatures of the smoothing, as shares of the largest eigenvalue of S: the sum of r eigenvalues
# has kinks, and a quasi-Newton method needs slopes.
_TEMPERATURES = (1e-2, 1e-3, 2e-4)
_STEPS = (25, 40, 60)
_FIRST_MULTIPLIER = 0.3
# A finer temperature lowers the bound by a few temperatures at most; farther from the target it is
# not worth the time.
_HOPELESS = 10.0


@dataclass(frozen=True)
class Term:
    """The span has at least ``rank`` dimensions within one of the ``sets`` (one row each)."""

    rank: int
    sets: Indices


@dataclass(frozen=True)
class DualBound:
    """A proved bound, the factors L of the multipliers M = LLᵀ, and the weights of the sets."""

    value: float
    factors: Array
    weights: tuple[Array, ...]


def evaluate(S: Array, r: int, terms: Sequence[Term], factors: Array) -> float:
    """The bound that the multipliers LLᵀ prove, rounding included."""
    multipliers = factors @ factors.transpose(0, 2, 1)
    lifted = S + multipliers.sum(axis=0)
    value = float(np.linalg.eigvalsh(lifted)[-r:].sum())
    for term, M in zip(terms, multipliers, strict=True):
        eigenvalues = np.linalg.eigvalsh(blocks(M, term.sets))
        value -= float(eigenvalues[:, : term.rank].sum(axis=1).min())
    return value + dual_margin(lifted, multipliers, r, [term.rank for term in terms])


def minimise(
    S: Array,
    r: int,
    terms: Sequence[Term],
    *,
    start: Array | None = None,
    target: float = -np.inf,
    deadline: float = np.inf,
    patient: bool = True,
) -> DualBound:
    """Lower the bound by L-BFGS on a smoothed form until it reaches ``target`` or settles.

    Without patience, it gives up early where the target is out of reach.
    """
    peak = float(np.linalg.eigvalsh(S)[-1])
    scale = np.sqrt(peak) if peak > 0 else 1.0
    smooth = _Smoothed(S / (scale * scale), r, terms)
    stages = list(zip(_TEMPERATURES, _STEPS, strict=True))
    if start is None:
        L = np.tile(_FIRST_MULTIPLIER * np.eye(len(S)), (len(terms), 1, 1))
    else:  # a good start needs no rough first stage
        L, stages = start / scale, stages[1:]
    best, best_L = np.inf, L

    def stop_in_time(_: Array) -> None:
        if time.monotonic() > deadline:
            raise StopIteration

    for temperature, steps in stages:
        smooth.temperature = temperature
        found = minimize(
            smooth,
            L.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=stop_in_time,
            options={"maxiter": steps, "maxcor": 20, "ftol": 1e-9, "gtol": 1e-9},
        )
        L = found.x.reshape(L.shape)
        value = evaluate(S, r, terms, L * scale)
        if value < best:
            best, best_L = value, L
        hopeless = not patient and best > target + _HOPELESS * temperature * peak
        if best <= target or hopeless or time.monotonic() > deadline:
            break
    smooth(best_L.ravel())
    return DualBound(best, best_L * scale, tuple(smooth.weights))


class _Smoothed:
    """The bound with all sums of eigenvalues replaced by smooth majorants, and its gradient."""

    def __init__(self, S: Array, r: int, terms: Sequence[Term]) -> None:
        self.S = S
        self.r = r
        self.terms = terms
        self.temperature = _TEMPERATURES[0]
        self.weights: list[Array] = []

    def __call__(self, x: Array) -> tuple[float, Array]:
        d = len(self.S)
        L = x.reshape(-1, d, d)
        multipliers = L @ L.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(self.S + multipliers.sum(axis=0))
        total, occupied = fermi(values, self.r, self.temperature)
        P = (vectors * occupied) @ vectors.T
        slopes = np.tile(P, (len(self.terms), 1, 1))
        self.weights = []
        for term, M, slope in zip(self.terms, multipliers, slopes, strict=True):
            total += self._term(term, M, slope)
        return total, (2.0 * slopes @ L).ravel()

    def _term(self, term: Term, M: Array, slope: Array) -> float:
        """−min_T σ(M_TT), smoothed; its slope is subtracted in place."""
        values, vectors = np.linalg.eigh(blocks(M, term.sets))
        if term.rank == 1:
            lowest = values.min()
            share = np.exp((lowest - values) / self.temperature)
            total = share.sum()
            share /= total
            value = float(self.temperature * np.log(total) - lowest)
            self.weights.append(share.sum(axis=1))
        elif len(values) == 1:
            value, occupied = fermi(-values[0], term.rank, self.temperature)
            share = occupied[None]
            self.weights.append(np.ones(1))
        else:
            sums = values[:, : term.rank].sum(axis=1)
            weights = np.exp((sums.min() - sums) / self.temperature)
            value = float(self.temperature * np.log(weights.sum()) - sums.min())
            weights /= weights.sum()
            share = np.zeros_like(values)
            share[:, : term.rank] = weights[:, None]
            self.weights.append(weights)
        R = (vectors * share[:, None, :]) @ vectors.transpose(0, 2, 1)
        np.subtract.at(slope, (term.sets[:, :, None], term.sets[:, None, :]), R)
        return value


def blocks(M: Array, sets: Indices) -> Array:
    """The principal submatrices of M on each of the sets."""
    chosen: Array = M[sets[:, :, None], sets[:, None, :]]
    return chosen
