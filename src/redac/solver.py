"""Algorithms 1 and 2 of the paper: the only loop.

The paper alternates, for i = 1, …, r, the closed-form updates v_i = argmax ⟨E_iᵀu_i, v⟩ and u_i =
E_i v_i with E_i = X − Σ_{j≠i} u_j v_jᵀ. Neither X, U nor E_i is needed for that. With b_i = Xᵀu_i
and P = UᵀU,

    w   = E_iᵀu_i  = b_i − Σ_{j≠i} v_j P_ji
    b_i ← Xᵀ(E_i v_i) = S v_i − Σ_{j≠i} b_j c_j,          c = Vᵀv_i
    P_ji ← u_jᵀ(E_i v_i) = b_jᵀv_i − Σ_{l≠i} P_jl c_l

so one product S v_i, on the few columns of S that v_i touches, is all that is asked of the data,
and the iterates are the paper's own to rounding. A ridge η on U, min ‖X − UVᵀ‖² + η‖U‖², divides
the new u_i by 1 + η and changes nothing else. A least separation of the components, which the paper
does not have, refuses a new v_i that is too close to the others: the component keeps its loadings
and only u_i is brought up to date, so the objective still never rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from redac import variance
from redac.constraints import Constraint
from redac.sources.base import Array, Indices, Source

# A component whose scores carry less than this share of the total variance is rounding noise, not a
# component.
NOISE = 1e-13


class Status(Enum):
    """How a run ended."""

    CONVERGED = "converged"
    STOPPED = "stopped"  # the sweeps ran out, or a callback asked to stop
    INTERRUPTED = "interrupted"  # Ctrl-C


@dataclass(frozen=True)
class Solution:
    """Where a run ended.

    Attributes
    ----------
    V : the loadings, one column for each component; zero where a component was exhausted.
    history : ‖X − UVᵀ‖² + η‖U‖² after each sweep, as a share of ‖X‖².
    status : how the run ended.
    gain : what the last sweep gained; infinity where that is not known.
    sweeps_before : those that led to where the history begins.
    """

    V: Array
    history: tuple[float, ...]
    status: Status
    gain: float
    sweeps_before: int = 0

    @property
    def n_sweeps(self) -> int:
        return len(self.history)

    @property
    def n_sweeps_in_all(self) -> int:
        return self.sweeps_before + self.n_sweeps

    @property
    def exhausted(self) -> tuple[int, ...]:
        """The components that found nothing left to explain."""
        return tuple(int(i) for i in np.flatnonzero(~self.V.any(axis=0)))


# Told of the number of the sweep, the objective and the loadings (to look at, not to keep); stops
# the run by returning True.
OnSweep = Callable[[int, float, Array], bool]


def solve(
    source: Source,
    constraints: Sequence[Constraint],
    start: Array,
    *,
    ridge: float = 0.0,
    max_sweeps: int = 1000,
    tol: float = 1e-7,
    total: float | None = None,
    least_separation: float = 0.0,
    on_sweep: OnSweep | None = None,
) -> Solution:
    """Run sweeps from the loadings ``start`` (d × r) until one gains no more than ``tol``.

    ``on_sweep(number, objective, V)`` is called after every sweep and stops the run by returning
    True. Ctrl-C ends it with the loadings reached so far. ``total`` is ‖X‖² where the source knows
    a part of the features only. No update brings components closer together than
    ``least_separation``.
    """
    iterate = _Iterate(source, start, ridge, source.total if total is None else total)
    if least_separation > 0.0:
        iterate.keep_apart(least_separation, constraints)
    history: list[float] = []
    status, gain = Status.STOPPED, np.inf
    before = iterate.objective() if iterate.is_feasible(constraints) else np.inf
    try:
        while len(history) < max_sweeps:
            for i, constraint in enumerate(constraints):
                iterate.update(i, constraint)
            history.append(iterate.objective())
            stop = on_sweep is not None and on_sweep(len(history), history[-1], iterate.V)
            gain, before = before - history[-1], history[-1]
            if gain <= tol:
                status = Status.CONVERGED
                break
            if stop:
                break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        iterate.make_feasible(constraints)
    return Solution(iterate.V, tuple(history), status, gain)


def directions(source: Source, V: Array, ridge: float) -> Array:
    """The vectors w = E_iᵀu_i of all components, with the best scores that loadings V can have."""
    iterate = _Iterate(source, V, ridge, source.total)
    others = iterate.P.copy()
    np.fill_diagonal(others, 0.0)
    W: Array = iterate.B - iterate.V @ others
    return W


class _Iterate:
    """The state (V, B, P) of the algorithm, with G = VᵀV and the diagonal of UᵀXV.

    V and B stand side by side in one array, so that the rows of a support are gathered once.
    """

    def __init__(self, source: Source, start: Array, ridge: float, total: float) -> None:
        self.source = source
        self.ridge = ridge
        self.total = total
        d, self.r = start.shape
        # The scores that belong to loadings V are those of least squares: U = XV(VᵀV + ηI)⁻¹, so B
        # = S V(VᵀV + ηI)⁻¹.
        G = start.T @ start
        weights = np.linalg.pinv(G + ridge * np.eye(len(G)), hermitian=True)
        SV = source.dot(start)
        M = start.T @ SV
        self._both = np.empty((d, 2 * self.r))
        self.V, self.B = self._both[:, : self.r], self._both[:, self.r :]
        self.V[:] = start
        np.matmul(SV, weights, out=self.B)
        self.P = weights @ ((M + M.T) / 2) @ weights
        self.G = G
        self.cross = (M @ weights).diagonal().copy()
        self.least_separation = 0.0
        # Which components have loadings that they can keep; those of a start mostly are not sparse.
        self._placed = np.zeros(self.r, dtype=bool)

    def keep_apart(self, least_separation: float, constraints: Sequence[Constraint]) -> None:
        """From now on no update may bring components closer together than that."""
        self.least_separation = least_separation
        for i, constraint in enumerate(constraints):
            v = self.V[:, i]
            self._placed[i] = constraint.contains(v) and self._is_apart(i, v, v.nonzero()[0])

    def update(self, i: int, constraint: Constraint) -> None:
        """Steps 4 to 6 of Algorithm 1 for component i."""
        if self.P[i, i] > NOISE * self.total:
            mixture = np.zeros(2 * self.r)
            np.negative(self.P[i], out=mixture[: self.r])
            mixture[i] = 0.0
            mixture[self.r + i] = 1.0
            w = self._both @ mixture
        else:
            w = self._fresh_direction(i)
        v = constraint.maximize(w)
        support = v.nonzero()[0]
        if self.least_separation > 0.0:
            if not self._is_apart(i, v, support):
                v = self.V[:, i].copy() if self._placed[i] else self._lone_feature()
                support = v.nonzero()[0]
            self._placed[i] = support.size > 0
        self._move(i, v, support)

    def _is_apart(self, i: int, v: Array, support: Indices) -> bool:
        """Whether v in the place of component i is far enough from all that have their places."""
        x = v[support]
        G = self.G * np.outer(self._placed, self._placed)
        G[i] = G[:, i] = (x @ self.V[support]) * self._placed
        G[i, i] = x @ x
        return variance.is_separated(G, self.least_separation)

    def _lone_feature(self) -> Array:
        """The feature that no component uses and of which most is left: orthogonal to them all."""
        residual = np.where(self.V[:, self._placed].any(axis=1), 0.0, self._residual())
        v = np.zeros(residual.size)
        j = int(np.argmax(residual))
        v[j] = residual[j] > NOISE * self.total
        return v

    def _move(self, i: int, v: Array, support: Indices) -> None:
        """Put v in the place of component i, with the scores that fit it best."""
        shrink = 1.0 / (1.0 + self.ridge)
        x = v[support]
        both = x @ self._both.take(support, axis=0)
        c, products = both[: self.r], both[self.r :]
        c[i] = 0.0
        self.V[:, i] = v
        if support.size == 0:
            self.B[:, i] = 0.0
        else:
            b = self.source.combine(support, x)
            b -= self.B @ c
            b *= shrink
            self.B[:, i] = b
            products[i] = x @ b[support]
        p = (products - self.P @ c) * shrink
        p[i] = 0.0
        p[i] = max((products[i] - p @ c) * shrink, 0.0)
        self.P[:, i] = self.P[i, :] = p
        self.cross[i] = products[i]
        c[i] = x @ x
        self.G[:, i] = self.G[i, :] = c

    def _fresh_direction(self, i: int) -> Array:
        """For a component without scores: E_iᵀ of the residual column with the largest variance.

        A start of too low a rank, or a component made superfluous by the others, gets a new chance
        where most is left to explain; the zero vector says that nothing is left.
        """
        self._move(i, np.zeros(self.source.n_features), np.empty(0, dtype=np.intp))
        self._placed[i] = False
        residual = self._residual()
        j = int(np.argmax(residual))
        if residual[j] <= NOISE * self.total:
            return np.zeros(self.source.n_features)
        unit = np.array([j], dtype=np.intp)
        column = self.source.combine(unit, np.ones(1))
        # (X − UVᵀ)ᵀ(X − UVᵀ)e_j, with x = V[j]: S e_j − B x − V(B[j] − P x)
        x = self.V[j]
        direction: Array = column - self.B @ x - self.V @ (self.B[j] - self.P @ x)
        return direction

    def _residual(self) -> Array:
        """What is left of the variance of each feature."""
        fitted = self.V * (2.0 * self.B - self.V @ self.P)
        left: Array = self.source.diagonal - fitted.sum(axis=1)
        return left

    def objective(self) -> float:
        """‖X − UVᵀ‖² + η‖U‖² as a share of ‖X‖²."""
        if self.total == 0.0:
            return 0.0
        fit = 2.0 * self.cross.sum() - np.vdot(self.P, self.G) - self.ridge * np.trace(self.P)
        return max(1.0 - float(fit) / self.total, 0.0)

    def is_feasible(self, constraints: Sequence[Constraint]) -> bool:
        """Whether all columns are in their sets, or zero: not so for most starting points."""
        return all(
            constraint.contains(v) or not v.any()
            for constraint, v in zip(constraints, self.V.T, strict=True)
        )

    def make_feasible(self, constraints: Sequence[Constraint]) -> None:
        """Bring columns that an interrupted first sweep has not reached into their sets."""
        for i, constraint in enumerate(constraints):
            if not constraint.contains(self.V[:, i]):
                self.V[:, i] = constraint.maximize(self.V[:, i])
