"""Penalised matrix decomposition: rank-one fits with a bound on the l1 norm of the loadings."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from redac.constraints import L1, normalized
from redac.exceptions import CardinalityWarning
from redac.methods.data import MethodData
from redac.methods.deflation import residual
from redac.methods.tuning import cardinality_of
from redac.sources.base import Array

# How many bounds are tried on the way from one loading to the wanted number of them.
_STEPS = 50

# Relative accuracy of a tuned bound.
_RESOLUTION = 1e-6


@dataclass(frozen=True)
class RankOne:
    """Unit vectors u and v of a rank-one fit, under the bound ‖v‖₁ ≤ c."""

    u: Array
    v: Array
    bound: float

    @property
    def cardinality(self) -> int:
        return cardinality_of(self.v)


def pmd(
    data: MethodData, cardinalities: Sequence[int], *, max_iter: int = 200, tol: float = 1e-7
) -> Array:
    """Maximise uᵀAv with ‖u‖ = ‖v‖ = 1 and ‖v‖₁ ≤ c, AᵀA = S (Witten, Tibshirani and Hastie 2009).

    Alternates u = Av/‖Av‖ and the best v for given u, which is Aᵀu soft-thresholded so that the
    bound holds; v starts at the leading right singular vector. Each component is sought in what the
    rank-one fits before it left, A − (uᵀAv)uvᵀ. The bound c sets the sparsity and is tuned for each
    component: going up from c = 1, where one loading is left, the first stretch of bounds with the
    wanted cardinality is sought, and its largest bound, which fits best, is taken.

    Choose it when loadings should be shrunk, and when a convex bound on the loadings (with a convex
    problem in u and in v) is wanted. It explains less variance than methods that do not shrink.

    Parameters
    ----------
    max_iter : int, default=200
        Alternations for each bound at most.
    tol : float, default=1e-7
        They end when v moves by less than this in the l1 norm.
    """
    V = np.zeros((data.n_features, len(cardinalities)))
    A = data.A
    for j, k in enumerate(cardinalities):
        if not A.any():
            break
        start = np.linalg.svd(A, full_matrices=False)[2][0]
        solve = partial(rank_one, A, start, max_iter=max_iter, tol=tol)
        fit = _fit_with_cardinality(solve, k, f"pmd, component {j + 1}")
        V[:, j] = fit.v
        A = residual(A, fit.u * float(fit.u @ A @ fit.v), fit.v)
    return V


def _fit_with_cardinality(fit: Callable[[float], RankOne], k: int, what: str) -> RankOne:
    """The fit at the end of the first stretch of bounds that leave k loadings.

    The cardinality mostly grows with the bound, but not always: the alternation may fall into
    another local maximum. Bisection over the whole range would then land on any of the stretches,
    so the range is walked through from its sparse end.
    """
    # k entries of a unit vector have an l1 norm of √k at most, one entry alone has norm 1.
    lower = fit(1.0)
    below = lower
    for bound in np.geomspace(1.0, math.sqrt(k), _STEPS)[1:]:
        if lower.cardinality == k:
            break
        upper = fit(float(bound))
        if lower.cardinality < k < upper.cardinality:
            lower = _hit_between(fit, lower, upper, k)
        if lower.cardinality != k:
            lower = upper
        if below.cardinality < lower.cardinality < k:
            below = lower
    if lower.cardinality == k:
        return _end_of_stretch(fit, lower, math.sqrt(k))
    warnings.warn(
        f"{what}: no bound found that gives {k} non-zero loadings; settled for "
        f"{below.cardinality}.",
        CardinalityWarning,
        stacklevel=3,
    )
    return below


def _hit_between(
    fit: Callable[[float], RankOne], lower: RankOne, upper: RankOne, k: int
) -> RankOne:
    """A fit with k loadings between two with fewer and with more, or one close to the jump."""
    while upper.bound - lower.bound > _RESOLUTION * upper.bound:
        middle = fit((lower.bound + upper.bound) / 2)
        if middle.cardinality == k:
            return middle
        if middle.cardinality < k:
            lower = middle
        else:
            upper = middle
    return lower


def _end_of_stretch(fit: Callable[[float], RankOne], hit: RankOne, most: float) -> RankOne:
    """The fit with the largest bound up to which the cardinality stays that of ``hit``."""
    step = most ** (1 / _STEPS)
    outside = most
    while hit.bound * step < most:
        further = fit(hit.bound * step)
        if further.cardinality != hit.cardinality:
            outside = further.bound
            break
        hit = further
    while outside - hit.bound > _RESOLUTION * outside:
        middle = fit((hit.bound + outside) / 2)
        if middle.cardinality == hit.cardinality:
            hit = middle
        else:
            outside = middle.bound
    return hit


def rank_one(
    A: Array, v: Array, bound: float, *, max_iter: int = 200, tol: float = 1e-7
) -> RankOne:
    """A local maximum of uᵀAv with ‖v‖₁ ≤ bound, by alternation from v."""
    constraint = L1(max(bound, 1.0))
    for _ in range(max_iter):
        u = normalized(A @ v)
        before, v = v, constraint.maximize(A.T @ u)
        if float(np.abs(v - before).sum()) < tol:
            break
    return RankOne(normalized(A @ v), v, bound)
