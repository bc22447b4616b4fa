"""DCPCA: the number of loadings approximated by a sum of logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from redac.constraints import L0, normalized
from redac.methods.deflation import one_by_one
from redac.methods.method_data import MethodData
from redac.methods.pathspca import leading_on_support
from redac.methods.thresholds import soft
from redac.methods.tuning import cardinality_of, tune_penalty
from redac.sources.base import Array

# Penalties that are tried: the bracket shrinks by 2⁻³⁰.
_BISECTIONS = 30


def dcpca(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    epsilon: float = 1e-2,
    refit: bool = True,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> Array:
    """Maximise vᵀSv − ρ Σ log(1 + |v_i|/ε)/log(1 + 1/ε) with ‖v‖ ≤ 1 (Sriperumbudur, Torres and
    Lanckriet 2011).

    The sum approaches the number of loadings as ε goes to zero. The objective is a difference of
    convex functions: with both linearised about v, the best next v is Sv, soft-thresholded by
    ρ_ε w_i/2, and scaled to length one; w_i = 1/(|v_i| + ε) and ρ_ε = ρ/log(1 + 1/ε). No step
    lowers the objective. The start is the leading eigenvector. The penalty ρ sets the sparsity and
    is tuned for each component; where none gives the cardinality, the smallest entries of the next
    denser answer go. Later components are sought on the data projected on the complement of the
    earlier ones.

    Choose it for its penalty, which hardly shrinks large loadings and so is nearer to a bound on
    their number than an l1 norm is.

    Parameters
    ----------
    epsilon : float, default=1e-2
        ε. The smaller, the nearer to the number of loadings, and the sooner a small loading is lost
        for good.
    refit : bool, default=True
        Whether the loadings are those of largest variance on the features found, as the authors do
        for comparisons; otherwise they are what the iteration ends with.
    tol : float, default=1e-6
        The iteration ends when v moves by less than this.
    max_iter : int, default=1000
        Iterations for each penalty at most.
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon={epsilon!r} must be positive.")
    number = 0

    def component(A: Array, k: int) -> Array:
        nonlocal number
        number += 1
        axis = leading_on_support(A, np.arange(A.shape[1]))
        scaled = A / float(np.linalg.norm(A @ axis))  # the largest eigenvalue is then one
        v = tune_penalty(
            lambda penalty: dc_ascent(scaled, axis, penalty, epsilon, tol=tol, max_iter=max_iter),
            k,
            low=0.0,
            high=2 * (1 + epsilon) * math.log1p(1 / epsilon),  # nothing is left there
            count=cardinality_of,
            what=f"dcpca, component {number}",
            trim=L0(k).maximize,
            max_solves=_BISECTIONS,
        )
        return leading_on_support(A, np.flatnonzero(v)) if refit else v

    return one_by_one(data.A, cardinalities, component)


def dc_ascent(
    A: Array, v: Array, penalty: float, epsilon: float, *, tol: float = 1e-6, max_iter: int = 1000
) -> Array:
    """Where the iteration for one penalty ρ leads from v; zero if nothing outweighs the penalty."""
    threshold = penalty / math.log1p(1 / epsilon) / 2
    for _ in range(max_iter):
        shrunk = soft(A.T @ (A @ v), threshold / (np.abs(v) + epsilon))
        before, v = v, normalized(shrunk)
        if float(np.linalg.norm(v - before)) < tol:
            break
    return v
