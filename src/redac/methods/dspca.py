"""DSPCA: the semidefinite relaxation of sparse PCA, and a first-order solver for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, eigvalsh

from redac.constraints import L0, normalized
from redac.methods.deflation import hotelling
from redac.methods.method_data import MethodData
from redac.methods.tuning import cardinality_of, tune_penalty
from redac.sources.base import Array

_MOST_FEATURES = 200
# Loadings below this, relative to the largest, are what the solver left of zeros.
_CUT = 1e-2
# A surplus of non-zeros that makes up no more than this of the squared length may go.
_NEGLIGIBLE = 1e-3
# Variances closer than this, relative to the largest, count as equal.
_TIE = 1e-9
# Steps between two looks at the duality gap, which costs as much as a step.
_STEPS_BETWEEN_CHECKS = 10
# Over-relaxation; between 1.5 and 1.8 is usual.
_RELAXATION = 1.6


@dataclass(frozen=True)
class DspcaSolution:
    """A pair of feasible points of the semidefinite program and its dual.

    Attributes
    ----------
    U : positive semidefinite matrix with trace one. W : symmetric matrix with |W_ij| ≤ ρ.
    value : tr(SU) − ρΣ|U_ij|. gap : λ_max(S + W) − value, how far it may be from the optimum.
    """

    U: Array
    W: Array
    value: float
    gap: float

    def loading(self) -> Array:
        """The leading eigenvector of U, small entries cut."""
        d = self.U.shape[0]
        v: Array = eigh(self.U, subset_by_index=(d - 1, d - 1))[1][:, 0]
        v[np.abs(v) < _CUT * np.abs(v).max()] = 0.0
        return normalized(v)


def dspca(
    data: MethodData, cardinalities: Sequence[int], *, tol: float = 1e-5, max_iter: int = 2000
) -> Array:
    """Maximise tr(SU) − ρΣ|U_ij| over U ⪰ 0 with tr U = 1 (d'Aspremont, El Ghaoui, Jordan and
    Lanckriet 2007).

    The loading is the leading eigenvector of U. The problem is convex, so there are no starts and
    no local optima; the penalty ρ controls sparsity and is sought for each component. Components
    are taken out by Hotelling's deflation and are not refitted. Where no ρ gives the cardinality,
    the smallest loadings of the next denser solution are cut. Choose it for a single component
    and few features, up to 200, when a proof of optimality for the relaxed problem is wanted.

    Parameters
    ----------
    tol : float, default=1e-5
        Duality gap at which a semidefinite program counts as solved, relative to the largest
        variance.
    max_iter : int, default=2000
        Steps after which the solver stops in any case.
    """
    d = data.n_features
    if d > _MOST_FEATURES:
        raise ValueError(
            f"dspca solves a semidefinite program over {d} × {d} matrices for every penalty that "
            f"it tries; d = {d} is too large, the limit is {_MOST_FEATURES}. Choose pathspca or "
            "redac_l0."
        )
    S = data.S
    components = []
    for i, k in enumerate(cardinalities):
        v = _component(S, k, tol, max_iter, f"dspca, component {i + 1}")
        components.append(v)
        S = hotelling(S, v)
    return np.column_stack(components)


def _component(S: Array, k: int, tol: float, max_iter: int, what: str) -> Array:
    """The loading with k non-zeros, by search of ρ."""
    variances = S.diagonal()
    peak = float(variances.max())
    if k == 1 or peak <= 0:
        # A large ρ leaves the feature of largest variance alone, and any of those that tie.
        v = np.zeros_like(variances)
        if peak > 0:
            v[np.argmax(variances >= (1 - _TIE) * peak)] = 1.0
        return v
    latest: list[DspcaSolution] = []

    def solve(rho: float) -> Array:
        # Neighbouring penalties have similar solutions.
        start = latest[-1] if latest else None
        latest.append(solve_dspca(S, rho, tol=tol, max_iter=max_iter, start=start))
        v = latest[-1].loading()
        # Features may enter in pairs, one too many with loadings close to the cut.
        kept = L0(k).maximize(v)
        return kept if 1 - float(v @ kept) ** 2 <= _NEGLIGIBLE else v

    # From there on every off-diagonal entry of U costs more than it brings.
    high = float(np.abs(S - np.diag(variances)).max())
    return tune_penalty(
        solve,
        k,
        low=0.0,
        high=high,
        count=cardinality_of,
        what=what,
        trim=L0(k).maximize,
    )


def solve_dspca(
    S: Array,
    rho: float,
    *,
    tol: float = 1e-4,
    max_iter: int = 5000,
    start: DspcaSolution | None = None,
) -> DspcaSolution:
    """Maximise tr(SU) − ρΣ|U_ij| over U ⪰ 0, tr U = 1; the dual is to minimise λ_max(S + W) over
    |W_ij| ≤ ρ.

    Alternating directions: U is projected on the spectrahedron, a copy Z of it is soft-thresholded,
    and the multiplier of U = Z is −W. Both U and W are feasible after every step, so the gap is a
    certificate wherever the iteration stops.

    Parameters
    ----------
    S : symmetric matrix, not necessarily definite. rho : the penalty, not negative.
    tol : gap, relative to the largest diagonal entry of S, at which to stop.
    max_iter : number of steps after which to stop in any case.
    start : a solution for a similar problem.
    """
    d = S.shape[0]
    unit = float(np.abs(S.diagonal()).max()) or 1.0
    S, rho = S / unit, rho / unit
    U = start.U if start else np.eye(d) / d
    W = np.clip(start.W / unit, -rho, rho) if start else np.zeros((d, d))
    best = _Pair(U, W, S, rho)
    Z, beta = U, 2.0
    for step in range(1, max_iter + 1):
        previous_Z = Z
        U = project_on_spectrahedron(Z + (S + W) / beta)
        target = _RELAXATION * U + (1 - _RELAXATION) * Z - W / beta
        W = np.clip(-beta * target, -rho, rho)
        Z = target + W / beta
        if step % _STEPS_BETWEEN_CHECKS == 0:
            best = min(best, _Pair(U, W, S, rho), key=lambda pair: pair.gap)
            if best.gap <= tol:
                break
            beta *= _balance(np.linalg.norm(U - Z), beta * np.linalg.norm(Z - previous_Z))
    return DspcaSolution(best.U, unit * best.W, unit * best.value, unit * max(best.gap, 0.0))


class _Pair:
    """Feasible points with what they say about the optimum."""

    def __init__(self, U: Array, W: Array, S: Array, rho: float) -> None:
        d = S.shape[0]
        self.U, self.W = U, W
        self.value = float(np.vdot(S, U) - rho * np.abs(U).sum())
        self.gap = float(eigvalsh(S + W, subset_by_index=(d - 1, d - 1))[0]) - self.value


def _balance(primal: np.floating, dual: np.floating) -> float:
    """How to change the weight of U = Z so that both residuals shrink alike."""
    if primal > 5 * dual:
        return 2.0
    return 0.5 if dual > 5 * primal else 1.0


def project_on_spectrahedron(M: Array) -> Array:
    """The nearest positive semidefinite matrix with trace one to a symmetric matrix."""
    values, vectors = np.linalg.eigh(M)
    falling = values[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, falling.size + 1)
    kept = int(np.flatnonzero(falling > excess)[-1]) + 1
    factor = vectors[:, -kept:] * np.sqrt(np.maximum(values[-kept:] - excess[kept - 1], 0.0))
    projected: Array = factor @ factor.T
    return projected
