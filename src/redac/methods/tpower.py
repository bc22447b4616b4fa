"""TPower: the power method, cut to the largest entries in every step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.constraints import L0
from redac.methods.deflation import one_by_one
from redac.methods.method_data import MethodData
from redac.methods.pathspca import first_largest
from redac.parameters import count
from redac.sources.base import Array


def tpower(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    stages: Sequence[int] = (8, 4, 2, 1),
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Array:
    """Maximise vᵀSv with ‖v‖ = 1 and ‖v‖₀ ≤ k by truncated power iterations (Yuan and Zhang 2013).

    v ← Sv, cut to the k entries of largest magnitude and scaled to length one, until it stays; vᵀSv
    never falls on the way. Since that ends in poor places if it begins with few entries, the same
    is done first with larger cardinalities, each from where the one before ended. The start is the
    feature of largest variance, the first of equal ones. Later components are sought on the data
    projected on the complement of the earlier ones.

    The cardinality is met as it is. Choose it as today's usual baseline: nothing is simpler, and
    one step costs one product with S.

    Parameters
    ----------
    stages : sequence of int, default=(8, 4, 2, 1)
        The cardinalities, as multiples of k; the last one must be 1. ``(1,)`` is the plain method.
    tol : float, default=1e-8
        A stage ends when v moves by less than this.
    max_iter : int, default=1000
        Iterations for one stage at most.
    """
    multiples = [count("stages", stage, least=1) for stage in stages]
    if not multiples or multiples[-1] != 1:
        raise ValueError(f"stages={stages!r} must end with 1, the cardinality itself.")

    def component(A: Array, k: int) -> Array:
        v = np.zeros(A.shape[1])
        v[first_largest(np.einsum("ij,ij->j", A, A))] = 1.0
        for multiple in multiples:
            v = truncated_power(A, multiple * k, v, tol=tol, max_iter=max_iter)
        return v

    return one_by_one(data.A, cardinalities, component)


def truncated_power(
    A: Array, k: int, v: Array, *, tol: float = 1e-8, max_iter: int = 1000
) -> Array:
    """Where the steps v ← AᵀAv, cut to k entries and scaled to length one, lead from v."""
    constraint = L0(min(k, A.shape[1]))
    for _ in range(max_iter):
        before, v = v, constraint.maximize(A.T @ (A @ v))
        if float(np.linalg.norm(v - before)) < tol:
            break
    return v
