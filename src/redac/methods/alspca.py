"""ALSPCA: sparse components that are orthogonal and nearly uncorrelated, all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from redac.constraints import normalized
from redac.exceptions import CardinalityWarning
from redac.methods.method_data import MethodData
from redac.methods.tuning import cardinality_of
from redac.sources.base import Array
from redac.user_line import warn_user

# In units of the largest eigenvalue. A smaller first weight lets columns collapse to zero for good.
_FIRST_WEIGHT = 5.0
_MOST_WEIGHT = 1e5
_MOST_OUTER_STEPS = 40
_MOST_INNER_STEPS = 100
_MEMORY = 5  # the objective may rise above the last, but not above all of so many values
_SHORTEST_STEP, _LONGEST_STEP = 1e-8, 1e4
_MOST_PENALTIES = 30


@dataclass(frozen=True)
class AlspcaSolution:
    """A point where the augmented Lagrangian method stopped.

    Attributes
    ----------
    V : loadings, d × r, no entries cut. violation : the largest amount by which VᵀV = I or
    |VᵀSV| ≤ Δ is missed, S in units of its largest eigenvalue.
    """

    V: Array
    violation: float

    def cut(self, below: float) -> Array:
        """Unit columns with the entries of magnitude below a bound set to zero."""
        V = np.column_stack([normalized(v) for v in self.V.T])
        return np.where(np.abs(V) < below, 0.0, V)


@dataclass(frozen=True)
class _State:
    """Loadings, the multipliers of both constraints, and the weight of their violation."""

    V: Array
    orthogonality: Array
    correlation: Array
    weight: float


@dataclass(frozen=True)
class _Point:
    """What one evaluation of the augmented Lagrangian yields, the l1 norm apart."""

    value: float
    gradient: Array
    orthogonality: Array
    correlation: Array
    violation: float


class _Lagrangian:
    """−‖AV‖² + ⟨M, VᵀV − I⟩ + σ/2‖VᵀV − I‖² + Σ[|L + σVᵀSV| − σΔ]₊²/2σ over i ≠ j.

    M and L are the multipliers. L is signed: of VᵀSV ≤ Δ and VᵀSV ≥ −Δ only one can be active.
    """

    def __init__(self, A: Array, bound: Array, state: _State) -> None:
        self.A, self.bound, self.state = A, bound, state

    def at(self, V: Array) -> _Point:
        weight = self.state.weight
        AV = self.A @ V
        covariances = AV.T @ AV
        off_diagonal = covariances - np.diag(covariances.diagonal())
        deviation = V.T @ V - np.eye(V.shape[1])
        pushed = self.state.correlation + weight * off_diagonal
        pushed = np.sign(pushed) * np.maximum(np.abs(pushed) - weight * self.bound, 0.0)
        orthogonality = self.state.orthogonality + weight * deviation
        value = (
            -float(np.trace(covariances))
            + float(np.vdot(self.state.orthogonality + weight / 2 * deviation, deviation))
            + float(np.vdot(pushed, pushed)) / (2 * weight)
        )
        gradient = 2 * (V @ orthogonality - self.A.T @ (AV - AV @ pushed))
        excess = max(float((np.abs(off_diagonal) - self.bound).max()), 0.0)
        violation = max(float(np.abs(deviation).max()), excess)
        return _Point(value, gradient, orthogonality, pushed, violation)


def alspca(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    correlation_bound: float = 0.5,
    cut: float = 1e-2,
    tol: float = 1e-4,
) -> Array:
    """Maximise Tr(VᵀSV) − ρΣ|V_ij| with VᵀV = I, |v_iᵀSv_j| ≤ Δ_ij for i ≠ j (Lu and Zhang 2012).

    All components are found together, from the principal axes on, by an augmented Lagrangian
    method. The penalty ρ controls sparsity; one ρ serves all loadings, so only the total of the
    cardinalities is met and the method deals it out. Choose it when components should be orthogonal
    and nearly uncorrelated rather than of a given size each.

    Parameters
    ----------
    correlation_bound : float, default=0.5
        Δ_ij as a share of √(λ_iλ_j), the λ being the leading eigenvalues of S; near zero the
        components are uncorrelated and hardly sparse, from one on the bound has no effect.
    cut : float, default=1e-2
        Entries of the unit-length components with a smaller magnitude are set to zero. Where no ρ
        gives the total exactly, the smallest entries of the next denser solution go as well.
    tol : float, default=1e-4
        How far the constraints may be missed (before entries are cut), S in units of its largest
        eigenvalue.
    """
    if not correlation_bound >= 0:
        raise ValueError(f"correlation_bound={correlation_bound!r} must not be negative.")
    r = len(cardinalities)
    axes, eigenvalues = data.source.principal_axes(r)
    peak = float(np.sum((data.A @ axes[:, 0]) ** 2))
    if peak <= 0:
        return np.zeros((data.n_features, r))
    A = data.A / math.sqrt(peak)
    shares = np.sqrt(np.maximum(eigenvalues, 0.0) / eigenvalues[0])
    bound = correlation_bound * np.multiply.outer(shares, shares)

    def solve(rho: float) -> Array:
        found = solve_alspca(A, rho, bound, axes, tol=tol)
        # Columns that collapsed leave the constraints violated: such a ρ is too large.
        return found.cut(cut) if found.violation <= 0.5 else np.zeros_like(axes)

    return _search(solve, sum(cardinalities), 2.0 * float((A**2).sum(axis=0).max()))


def solve_alspca(
    A: Array, rho: float, bound: Array, start: Array, *, tol: float = 1e-4
) -> AlspcaSolution:
    """Maximise ‖AV‖² − ρΣ|V_ij| with VᵀV = I and |VᵀAᵀAV| ≤ ``bound`` off the diagonal.

    Parameters
    ----------
    A : matrix with largest singular value one. rho : the penalty.
    bound : r × r matrix. start : orthonormal d × r matrix, best the principal axes.
    tol : how far the constraints may be missed.
    """
    scores = A @ start
    # The multipliers of the principal axes without a penalty: their eigenvalues.
    multipliers = np.diag((scores**2).sum(axis=0))
    state = _State(start, multipliers, np.zeros_like(multipliers), _FIRST_WEIGHT)
    last_value, last_violation = math.inf, math.inf
    for outer in range(_MOST_OUTER_STEPS):
        target = max(1e-4, 1e-2 * 0.5**outer)
        V, point, settled = _descend(_Lagrangian(A, bound, state), rho, target)
        value = point.value + rho * float(np.abs(V).sum())
        settled = settled or abs(value - last_value) <= 1e-4 * abs(value)
        state = _State(V, point.orthogonality, point.correlation, state.weight)
        if point.violation <= tol and settled:
            break
        if tol < point.violation > 0.5 * last_violation:
            state = replace(state, weight=min(2 * state.weight, _MOST_WEIGHT))
        last_value, last_violation = value, point.violation
    return AlspcaSolution(state.V, point.violation)


def _descend(lagrangian: _Lagrangian, rho: float, target: float) -> tuple[Array, _Point, bool]:
    """Proximal gradient steps of Barzilai and Borwein's length, until the gradient mapping is below
    the target; whether it is."""
    V = lagrangian.state.V
    point = lagrangian.at(V)
    values = [point.value + rho * float(np.abs(V).sum())]
    length = 1.0 / (4.0 * lagrangian.state.weight)
    for _ in range(_MOST_INNER_STEPS):
        ceiling = max(values[-_MEMORY:])
        while True:
            moved = _soft(V - length * point.gradient, length * rho)
            step = moved - V
            square = float(np.vdot(step, step))
            trial = lagrangian.at(moved)
            value = trial.value + rho * float(np.abs(moved).sum())
            if value <= ceiling - 1e-4 * square / length or length <= _SHORTEST_STEP:
                break
            length /= 2
        size = math.sqrt(square) / length
        curvature = float(np.vdot(step, trial.gradient - point.gradient))
        V, point = moved, trial
        values.append(value)
        if size <= target:
            return V, point, True
        length = square / curvature if curvature > 0 else 2 * length
        length = min(max(length, _SHORTEST_STEP), _LONGEST_STEP)
    return V, point, False


def _soft(Y: Array, threshold: float) -> Array:
    shrunk: Array = np.copysign(np.maximum(np.abs(Y) - threshold, 0.0), Y)
    return shrunk


def _search(solve: Callable[[float], Array], target: int, high: float) -> Array:
    """The loadings with ``target`` non-zeros in total, by bisection on the penalty up to ``high``.

    The count falls with the penalty on the whole but not step by step, and may skip numbers. A
    surplus of two in a hundred is therefore cut right away, any other when the search ends.
    """
    low = 0.0
    tried: list[tuple[int, Array]] = []
    for _ in range(_MOST_PENALTIES):
        rho = (low + high) / 2
        V = solve(rho)
        found = cardinality_of(V)
        tried.append((found, V))
        if target <= found <= 1.02 * target:
            return without_smallest(V, found - target)
        low, high = (rho, high) if found > target else (low, rho)
        if high - low <= 1e-6 * high:
            break
    denser = [row for row in tried if row[0] > target]
    if denser:
        found, V = min(denser, key=lambda row: row[0])
        return without_smallest(V, found - target)
    found, V = max(tried, key=lambda row: row[0])
    warn_user(
        f"alspca: no penalty found that gives {target} non-zero loadings in total; settled for "
        f"{found}.",
        CardinalityWarning,
    )
    return V


def without_smallest(V: Array, surplus: int) -> Array:
    """V without the entries of smallest magnitude, except the largest of each column; of equal ones
    the last goes first."""
    magnitudes = np.abs(V)
    magnitudes[np.argmax(magnitudes, axis=0), np.arange(V.shape[1])] = math.inf
    magnitudes[V == 0] = math.inf
    order = np.argsort(magnitudes.ravel()[::-1], kind="stable")[:surplus]
    kept = V.copy().ravel()
    kept[V.size - 1 - order] = 0.0
    return kept.reshape(V.shape)
