"""Bounds that need no search: eigenvalues, variances, and the best mixture of the two."""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import minimize

from redac.certificate.rounding import EPSILON, eigenvalue_margin, rounding_margin
from redac.certificate.smooth import fermi
from redac.sources.base import Array

# Shares of the largest eigenvalue at which sums of largest values are smoothed, variances finer.
_TEMPERATURES = (2e-3, 2e-4, 2e-5)
_FINER = 0.1
_STEPS = 150
_FIRST_WEIGHT = 0.8


def eigenvalue_bound(eigenvalues: Array, r: int) -> float:
    """What any r components explain at most: the r largest eigenvalues (Ky Fan)."""
    margin = rounding_margin(eigenvalues.size, r, float(np.linalg.norm(eigenvalues)))
    return float(np.sort(eigenvalues)[-r:].sum()) + margin


def trace_bound(variances: Array, count: int) -> float:
    """What components on ``count`` variables explain at most: the largest variances."""
    return float(np.sort(variances)[-count:].sum()) * (1 + variances.size * EPSILON)


def norm_bound(S: Array, r: int) -> float:
    """At least the r largest eigenvalues of S, from its trace and its Frobenius norm alone.

    Numbers with a given sum and given squares have the largest r of them when these are equal and
    the others too.
    """
    d, total = len(S), float(np.trace(S))
    # The sums are of d and of d² terms, and no term of theirs is rounded by more than a few ε.
    squares = float(np.einsum("ij,ij->", S, S)) * (1.0 + 4.0 * d * d * EPSILON)
    spread = max(squares - total * total / d, 0.0) + 4.0 * d * EPSILON * total * total
    bound = r * total / d + float(np.sqrt(r * (d - r) / d * spread))
    return bound * (1.0 + 4.0 * d * EPSILON)


def mixed_bound(S: Array, r: int, count: int, deadline: float = np.inf) -> float:
    """The best mixture of the two for r components on ``count`` variables, of S = AᵀA.

    With columns a_j and weights θ in [0, 1], what r components on a set U explain is

        KyFan_r(Σ_U a_j a_jᵀ) ≤ KyFan_r(Σ θ_j a_j a_jᵀ) + Σ_U (1 − θ_j)‖a_j‖²,

    and the last sum is at most that of its ``count`` largest terms. Any weights give a bound; it is
    convex in them.
    """
    A = _factor(S)
    mixture = _Mixture(A, r, count)
    theta = np.full(len(S), _FIRST_WEIGHT)
    best = np.inf

    def stop_in_time(_: Array) -> None:
        if time.monotonic() > deadline:
            raise StopIteration

    for temperature in _TEMPERATURES:
        mixture.temperature = temperature
        found = minimize(
            mixture,
            theta,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(S),
            callback=stop_in_time,
            options={"maxiter": _STEPS},
        )
        theta = np.clip(found.x, 0.0, 1.0)
        best = min(best, mixture.bound(theta))
        if time.monotonic() > deadline:
            break
    # S and AᵀA differ by rounding, and by eigenvalues that rounding has made negative.
    return best + 2.0 * eigenvalue_margin(S, r)


def _factor(S: Array) -> Array:
    """A with AᵀA = S and as many rows as S has eigenvalues that are not rounding errors."""
    values, vectors = np.linalg.eigh(S)
    live = values > eigenvalue_margin(S)
    factor: Array = np.sqrt(values[live])[:, None] * vectors[:, live].T
    return factor


class _Mixture:
    """The bound as a function of the weights, and its smooth majorant."""

    def __init__(self, A: Array, r: int, count: int) -> None:
        self.A = A
        self.r = r
        self.count = count
        self.variances = (A * A).sum(axis=0)
        self.peak = float(np.linalg.eigvalsh(A @ A.T)[-1]) if A.size else 1.0
        self.temperature = _TEMPERATURES[0]

    def bound(self, theta: Array) -> float:
        """The bound itself, rounding included."""
        kept = (self.A * theta) @ self.A.T
        eigenvalues = np.linalg.eigvalsh(kept)[-self.r :]
        rest = trace_bound((1.0 - theta) * self.variances, self.count)
        return float(eigenvalues.sum()) + rest + 2.0 * eigenvalue_margin(kept, self.r)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        values, vectors = np.linalg.eigh((self.A * theta) @ self.A.T)
        kept, occupied = fermi(values, self.r, self.temperature * self.peak)
        Q = (vectors * occupied) @ vectors.T
        rest, taken = fermi(
            (1.0 - theta) * self.variances,
            self.count,
            _FINER * self.temperature * self.peak,
        )
        slope = (self.A * (Q @ self.A)).sum(axis=0) - taken * self.variances
        return kept + rest, slope
