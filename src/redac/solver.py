"""Algorithms 1 and 2 of the paper: the only loop.

The paper alternates, for i = 1, …, r, the closed-form updates v_i = argmax ⟨E_iᵀu_i, v⟩ and u_i =
E_i v_i with E_i = X − Σ_{j≠i} u_j v_jᵀ. Neither X, U nor E_i is needed for that. With b_i = Xᵀu_i
and P = UᵀU,

    w   = E_iᵀu_i  = b_i − Σ_{j≠i} v_j P_ji
    b_i ← Xᵀ(E_i v_i) = S v_i − Σ_{j≠i} b_j c_j,          c = Vᵀv_i
    P_ji ← u_jᵀ(E_i v_i) = b_jᵀv_i − Σ_{l≠i} P_jl c_l

so one product S v_i, on the few columns of S that v_i touches, is all that is asked of the data,
and the iterates are the paper's own to rounding. A ridge η on U, min ‖X − UVᵀ‖² + η‖U‖², divides
the new u_i by 1 + η and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

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
    """

    V: Array
    history: tuple[float, ...]
    status: Status

    @property
    def n_sweeps(self) -> int:
        return len(self.history)

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
    on_sweep: OnSweep | None = None,
) -> Solution:
    """Run sweeps from the loadings ``start`` (d × r) until one gains no more than ``tol``.

    ``on_sweep(number, objective, V)`` is called after every sweep and stops the run by returning
    True. Ctrl-C ends it with the loadings reached so far.
    """
    source.expect(_first_supports(start, constraints))
    iterate = _Iterate(source, start, ridge)
    history: list[float] = []
    status = Status.STOPPED
    try:
        while len(history) < max_sweeps:
            for i, constraint in enumerate(constraints):
                iterate.update(i, constraint)
            history.append(iterate.objective())
            stop = on_sweep is not None and on_sweep(len(history), history[-1], iterate.V)
            if len(history) > 1 and history[-2] - history[-1] <= tol:
                status = Status.CONVERGED
                break
            if stop:
                break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        iterate.make_feasible(constraints)
    return Solution(iterate.V, tuple(history), status)


def _first_supports(start: Array, constraints: Sequence[Constraint]) -> Indices:
    """The features that the first sweep is likely to use."""
    used = np.zeros(start.shape[0], dtype=bool)
    for i, constraint in enumerate(constraints):
        used |= constraint.maximize(np.ascontiguousarray(start[:, i])) != 0
    return np.flatnonzero(used)


class _Iterate:
    """The state (V, B, P) of the algorithm, with G = VᵀV and the diagonal of UᵀXV."""

    def __init__(self, source: Source, start: Array, ridge: float) -> None:
        self.source = source
        self.ridge = ridge
        self.V = np.array(start, dtype=np.float64, order="F")
        # The scores that belong to loadings V are those of least squares: U = XV(VᵀV + ηI)⁻¹, so B
        # = S V(VᵀV + ηI)⁻¹.
        G = self.V.T @ self.V
        weights = np.linalg.pinv(G + ridge * np.eye(len(G)), hermitian=True)
        SV = source.dot(self.V)
        M = self.V.T @ SV
        self.B = np.asfortranarray(SV @ weights)
        self.P = weights @ ((M + M.T) / 2) @ weights
        self.G = G
        self.cross = (M @ weights).diagonal().copy()

    def update(self, i: int, constraint: Constraint) -> None:
        """Steps 4 to 6 of Algorithm 1 for component i."""
        if self.P[i, i] > NOISE * self.source.total:
            others = self.P[:, i].copy()
            others[i] = 0.0
            w = self.B[:, i] - self.V @ others
        else:
            w = self._fresh_direction(i)
        v = constraint.maximize(w)
        self._move(i, v, np.flatnonzero(v))

    def _move(self, i: int, v: Array, support: Indices) -> None:
        """Put v in the place of component i, with the scores that fit it best."""
        shrink = 1.0 / (1.0 + self.ridge)
        x = v[support]
        c = x @ self.V[support]
        c[i] = 0.0
        self.V[:, i] = v
        if support.size == 0:
            self.B[:, i] = 0.0
        else:
            self.B[:, i] = (self.source.combine(support, x) - self.B @ c) * shrink
        products = x @ self.B[support]
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
        fitted = self.V * (2.0 * self.B - self.V @ self.P)
        residual = self.source.diagonal - fitted.sum(axis=1)
        j = int(np.argmax(residual))
        if residual[j] <= NOISE * self.source.total:
            return np.zeros(self.source.n_features)
        unit = np.array([j], dtype=np.intp)
        column = self.source.combine(unit, np.ones(1))
        # (X − UVᵀ)ᵀ(X − UVᵀ)e_j, with x = V[j]: S e_j − B x − V(B[j] − P x)
        x = self.V[j]
        direction: Array = column - self.B @ x - self.V @ (self.B[j] - self.P @ x)
        return direction

    def objective(self) -> float:
        """‖X − UVᵀ‖² + η‖U‖² as a share of ‖X‖²."""
        if self.source.total == 0.0:
            return 0.0
        fit = 2.0 * self.cross.sum() - np.vdot(self.P, self.G) - self.ridge * np.trace(self.P)
        return max(1.0 - float(fit) / self.source.total, 0.0)

    def make_feasible(self, constraints: Sequence[Constraint]) -> None:
        """Bring columns that an interrupted first sweep has not reached into their sets."""
        for i, constraint in enumerate(constraints):
            if not constraint.contains(self.V[:, i]):
                self.V[:, i] = constraint.maximize(self.V[:, i])
