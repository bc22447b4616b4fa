"""Penalised matrix decomposition: rank-one fits with a bound on the l1 norm of the loadings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from redac.constraints import L1, normalized
from redac.exceptions import CardinalityWarning
from redac.methods.deflation import is_exhausted, residual
from redac.methods.method_data import MethodData
from redac.methods.tuning import cardinality_of
from redac.sources.base import Array
from redac.user_line import warn_user

# Bounds between 1 (one loading) and √d (no constraint) that a cardinality is sought on. The
# cardinality does not grow steadily with the bound, so the answer depends on the search; the grid
# and the rule of the first stretch were inferred from the loadings of a run of the R package.
_GRID = 800

# This many of them are skipped at a time as long as there are too few loadings.
_STRIDE = 8

# Bisections between two neighbours on the grid that jump over the wanted cardinality.
_BISECTIONS = 20


@dataclass(frozen=True)
class RankOne:
    """Unit vectors u and v of a rank-one fit, under the bound ‖v‖₁ ≤ c."""

    u: Array
    v: Array
    bound: float

    @property
    def cardinality(self) -> int:
        return cardinality_of(self.v)


Solve = Callable[[float, Array], RankOne]


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
        if is_exhausted(A, data.A):
            break
        fit = _fit_with_cardinality(A, k, f"pmd, component {j + 1}", max_iter, tol)
        V[:, j] = fit.v
        A = residual(A, fit.u * float(fit.u @ A @ fit.v), fit.v)
    return V


def rank_one(
    A: Array, v: Array, bound: float, *, max_iter: int = 200, tol: float = 1e-7
) -> RankOne:
    """A local maximum of uᵀAv with ‖v‖₁ ≤ bound, by alternation from v."""
    constraint = L1(bound)
    for _ in range(max_iter):
        before, v = v, constraint.maximize(A.T @ normalized(A @ v))
        if float(np.abs(v - before).sum()) < tol:
            break
    return RankOne(normalized(A @ v), v, bound)


def _fit_with_cardinality(A: Array, k: int, what: str, max_iter: int, tol: float) -> RankOne:
    """The fit at the end of the first stretch of bounds that leave k loadings.

    The cardinality mostly grows with the bound, but not always, since the alternation may fall into
    another local maximum; so the bounds are walked through from the sparse end. Where that maximum
    jumps over k, each fit is started from the one before instead, which stays with a maximum as
    long as there is one.
    """
    axis: Array = np.linalg.svd(A, full_matrices=False)[2][0]
    bounds = np.linspace(1.0, math.sqrt(A.shape[1]), _GRID)

    def afresh(bound: float, _: Array) -> RankOne:
        return rank_one(A, axis, bound, max_iter=max_iter, tol=tol)

    def onwards(bound: float, v: Array) -> RankOne:
        return rank_one(A, v, bound, max_iter=max_iter, tol=tol)

    tried: list[RankOne] = []
    for solve in (afresh, onwards):
        fits = list(_walk(solve, bounds, k, axis))
        if fits[-1].cardinality == k:
            return fits[-1]
        tried += fits
    settled = max((fit for fit in tried if fit.cardinality <= k), key=lambda fit: fit.cardinality)
    warn_user(
        f"{what}: no bound found that gives {k} non-zero loadings; settled for "
        f"{settled.cardinality}.",
        CardinalityWarning,
    )
    return settled


def _walk(solve: Solve, bounds: Array, k: int, v: Array) -> Iterator[RankOne]:
    """Fits for growing bounds; the last one has k loadings unless no bound gives k."""
    reachable = bounds[: int(np.searchsorted(bounds, math.sqrt(k), side="right")) + 1]
    place = 0
    fit = solve(1.0, v)
    while place + _STRIDE < len(reachable):
        further = solve(float(reachable[place + _STRIDE]), fit.v)
        if further.cardinality >= k:
            break
        fit, place = further, place + _STRIDE
    yield fit
    for bound in reachable[place + 1 :]:
        further = solve(float(bound), fit.v)
        if fit.cardinality < k < further.cardinality:
            yield (fit := _between(solve, fit, further, k))
        if fit.cardinality == k and further.cardinality != k:
            return
        yield (fit := further)


def _between(solve: Solve, lower: RankOne, upper: RankOne, k: int) -> RankOne:
    """A fit with k loadings between two with fewer and with more, or one close to the jump."""
    for _ in range(_BISECTIONS):
        middle = solve((lower.bound + upper.bound) / 2, lower.v)
        if middle.cardinality == k:
            return middle
        if middle.cardinality < k:
            lower = middle
        else:
            upper = middle
    return lower
