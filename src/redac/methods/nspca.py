"""Nonnegative sparse PCA by coordinate ascent, all components at once (Zass and Shashua 2007)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from redac.constraints import normalized
from redac.exceptions import CardinalityWarning
from redac.methods.method_data import MethodData
from redac.methods.tuning import cardinality_of, closest, search_penalty
from redac.parameters import count
from redac.solver import variance
from redac.sources.base import Array
from redac.user_line import warn_user

# The default weight of orthogonality against the largest eigenvalue of S. Larger ones give disjoint
# supports and poor optima, smaller ones let weak components vanish.
_RELATIVE_ALPHA = 0.5
# Default restarts: this many, or on large problems as many as keep d · r times their number below.
_MOST_RESTARTS = 40
_RESTART_BUDGET = 20_000


def nspca(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    rng: np.random.RandomState,
    alpha: float | None = None,
    beta: float | None = None,
    n_restarts: int | None = None,
    max_iter: int = 500,
    tol: float = 1e-3,
) -> Array:
    """Maximise ½Tr(UᵀSU) − (α/4)‖I − UᵀU‖² − β ΣU_ij over U ⪰ 0 (Zass and Shashua 2007).

    The penalty β controls the sparsity of all components together, so that only the sum of the
    cardinalities is reached. Starts are random. Choose it for nonnegative components that hardly
    overlap. They come in the order of the variance that they add.

    Parameters
    ----------
    alpha : weight of orthogonality, in units of variance. Default: half the largest eigenvalue of
        S. The larger, the less the components overlap.
    beta : weight of sparsity, in units of variance. Default: tuned to the sum of the cardinalities.
        With a number the cardinalities are whatever comes out.
    n_restarts : random starts. Default: 40 on small problems, down to one for large d · r.
    max_iter : sweeps over all entries of U at most.
    tol : the ascent ends when a sweep raises the objective by less than this share.
    """
    r = len(cardinalities)
    if not data.A.any():
        return np.zeros((data.n_features, r))
    problem = _NspcaProblem.posed(data.A, alpha, tol, max_iter)
    starts = _starts(data.n_features, r, n_restarts, rng)
    if beta is None:
        return _in_order(problem.A, problem.best_tuned(starts, sum(cardinalities)))
    return _in_order(problem.A, problem.best_at(starts, beta))


def _starts(d: int, r: int, n_restarts: int | None, rng: np.random.RandomState) -> Iterator[Array]:
    if n_restarts is None:
        n_restarts = max(1, min(_MOST_RESTARTS, _RESTART_BUDGET // (d * r)))
    return (rng.random_sample((d, r)) for _ in range(count("n_restarts", n_restarts, least=1)))


def _in_order(A: Array, U: Array) -> Array:
    """Unit columns, sorted by the variance they add; equal ones by their first feature."""
    by_feature = np.argsort((U != 0).argmax(axis=0), kind="stable")
    V = np.column_stack([normalized(u) for u in U[:, by_feature].T])
    return V[:, variance.Explained.of_data(V, A).greedy_order()]


@dataclass(frozen=True)
class _NspcaProblem:
    """The problem for all β, in units that make the largest entry of A one."""

    A: Array
    unit: float  # of variance
    largest_eigenvalue: float
    alpha: float
    tol: float
    max_iter: int

    @classmethod
    def posed(cls, A: Array, alpha: float | None, tol: float, max_iter: int) -> _NspcaProblem:
        peak = float(np.abs(A).max())
        A = A / peak
        largest = float(np.linalg.norm(A, 2)) ** 2
        weight = _RELATIVE_ALPHA * largest if alpha is None else alpha / peak**2
        if not weight > 0:
            raise ValueError(f"alpha={alpha!r} must be positive: without it U grows without bound.")
        return cls(A, peak**2, largest, weight, tol, max_iter)

    def climb(self, start: Array, beta: float) -> Ascent:
        ascent = Ascent(self.A, self.alpha, beta, start)
        ascent.run(self.tol, self.max_iter)
        return ascent

    def best_at(self, starts: Iterable[Array], beta: float) -> Array:
        """The answer with the largest objective, for β in the user's units."""
        ascents = [self.climb(start, beta / self.unit) for start in starts]
        return max(ascents, key=lambda ascent: ascent.objective()).U

    def best_tuned(self, starts: Iterable[Array], target: int) -> Array:
        """The answer that explains most among those nearest to the wanted number of non-zeros."""
        answers = [self.tuned(start, target) for start in starts]
        miss = min(abs(cardinality_of(U) - target) for U in answers)
        nearest = [U for U in answers if abs(cardinality_of(U) - target) == miss]
        best = max(nearest, key=self.explained)
        if miss > 0:
            found = f"no penalty found that gives {target} non-zero loadings"
            message = f"nspca: {found}; settled for {cardinality_of(best)}."
            warn_user(message, CardinalityWarning)
        return best

    def explained(self, U: Array) -> float:
        return variance.Explained.of_data(U, self.A).together()

    def tuned(self, start: Array, target: int) -> Array:
        """An answer with the wanted number of non-zeros, or close to it.

        The penalty grows on the way: each ascent starts where the largest smaller penalty that
        leaves enough non-zeros ended. Large penalties at once would push whole components to zero.
        """
        dense = {0.0: self.climb(start, 0.0).U}
        if cardinality_of(dense[0.0]) <= target:
            return dense[0.0]

        def solve(beta: float) -> Array:
            nearest = max(penalty for penalty in dense if penalty <= beta)
            U = self.climb(dense[nearest], beta).U
            if cardinality_of(U) >= target:
                dense[beta] = U
            return U

        # Another start may hit where this one misses; if none does, one warning says so.
        tried = search_penalty(
            solve, target, low=0.0, high=self.largest_eigenvalue, count=cardinality_of
        )
        return closest(tried, target, cardinality_of)


class Ascent:
    """Exact coordinate ascent on U, row by row, with AU and UᵀU kept up to date.

    As a function of one entry t = U_ij the negative objective is α(t⁴ + 2pt² + 4qt)/4 plus a
    constant. With H = UᵀU without row i and x the other entries of that row,

        p = H_jj + ‖x‖² − 1 − S_ii/α,    q = (β − (SU)_ij)/α + ⟨H_j, x⟩,

    (SU)_ij without the entry itself. What is the same for the whole row is computed at once; the
    steps themselves remain one after the other.
    """

    def __init__(self, A: Array, alpha: float, beta: float, start: Array) -> None:
        self._A, self._alpha, self._beta = A, alpha, beta
        self._columns = np.ascontiguousarray(A.T)
        self._variances = np.einsum("ij,ij->i", self._columns, self._columns)
        # A feature without variance explains nothing, and would only pad the length of a column.
        self._live = np.flatnonzero(self._variances > 0).tolist()
        self.U = np.where(self._variances[:, None] > 0, start, 0.0)
        self._refresh()

    def run(self, tol: float, max_iter: int) -> None:
        """Sweep until the objective has settled."""
        value = self.objective()
        for _ in range(max_iter):
            self.sweep()
            before, value = value, self.objective()
            if value - before <= tol * abs(value):
                break

    def objective(self) -> float:
        error = np.eye(len(self._gram)) - self._gram
        penalty = self._alpha / 4 * np.vdot(error, error) + self._beta * self.U.sum()
        return float(np.vdot(self._scores, self._scores) / 2 - penalty)

    def sweep(self) -> None:
        """Each entry once, set to its best value."""
        for i in self._live:
            self._update_row(i)
        self._refresh()

    def _refresh(self) -> None:
        """Forget the rounding of many small updates."""
        self._scores = self._A @ self.U
        self._gram = self.U.T @ self.U

    def _update_row(self, i: int) -> None:
        row, a, S_ii = self.U[i], self._columns[i], float(self._variances[i])
        squares = float(row @ row)
        lengths = self._gram.diagonal() - row * row
        p = lengths - (1.0 + S_ii / self._alpha)
        q = (self._beta + S_ii * row - a @ self._scores) / self._alpha
        q += row @ self._gram - squares * row
        if squares == 0.0 and bool(((q >= 0) & (27 * q * q >= -2 * p**3)).all()):
            return  # nothing in this row leaves zero
        updated = self._pass(row, squares, p.tolist(), q.tolist(), lengths.tolist())
        self._scores += a[:, None] * (updated - row)
        self._gram += updated[:, None] * updated - row[:, None] * row
        self.U[i] = updated

    def _pass(
        self, row: Array, squares: float, p: list[float], q: list[float], lengths: list[float]
    ) -> Array:
        """The entries of a row, one after the other, each with all earlier changes in place.

        ``p`` lacks the squares of the row; ``q`` includes the entry's own term H_jj U_ij.
        """
        entries = row.tolist()
        for j, t in enumerate(entries):
            best = best_entry(p[j] + squares - t * t, q[j] - t * lengths[j])
            if best == t:
                continue
            others = (self._gram[j] - row[j] * row).tolist()
            q = [value + (best - t) * weight for value, weight in zip(q, others, strict=True)]
            squares += best * best - t * t
            entries[j] = best
        return np.array(entries)


def best_entry(p: float, q: float) -> float:
    """The minimiser of t⁴ + 2pt² + 4qt over t ≥ 0: zero, or the largest root of t³ + pt + q."""
    if q >= 0.0 and (p >= 0.0 or 27 * q * q >= -2 * p * p * p):
        return 0.0
    return max(largest_root(p, q), 0.0)


def largest_root(p: float, q: float) -> float:
    """The largest real root of t³ + pt + q, without the cancellation of Cardano's formula."""
    scale = math.sqrt(abs(p) / 3)
    if scale**3 <= 1e-16 * abs(q):
        return math.cbrt(-q)
    ratio = q / 2 / scale**3
    if p > 0:
        return -2 * scale * math.sinh(math.asinh(ratio) / 3)
    if abs(ratio) > 1:
        return math.copysign(2 * scale * math.cosh(math.acosh(abs(ratio)) / 3), -q)
    return 2 * scale * math.cos(math.acos(-ratio) / 3)
