"""What the tests of the mathematical core share: plain reference implementations, data makers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from redac.constraints import L0, L1, Constraint, Nonnegative
from redac.model.callbacks import Silent
from redac.solver.climb import Start, Step, converge, explore, settle
from redac.solver.iterate import Allowed
from redac.solver.problem import Problem
from redac.solver.sweep import OnSweep, Solution, Status, sweeps
from redac.sources import Source

# ------------------------------------------------------------ comparison


# How far loadings of one optimum may be apart that were computed twice. Runs end where a step gains
# less than tol, and may add up in another order, on other kernels of BLAS or with parts of S that
# were remembered: what is explained then agrees to rounding, but an optimum is flat, so that
# loadings agree to the square root of it. Seen: up to 3e-9. Another optimum is far further away.
SAME_OPTIMUM = 1e-6


def assert_same_loadings(
    actual: np.ndarray, expected: np.ndarray, atol: float = SAME_OPTIMUM
) -> None:
    """The same features, and loadings that differ by no more than rounding can make them."""
    np.testing.assert_array_equal(actual != 0, expected != 0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


# ------------------------------------------------------------ reference for constraints


def soft(w: np.ndarray, threshold: float) -> np.ndarray:
    """The paper's soft-thresholding function: sign(w)(|w| − λ)₊."""
    return np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0)


def best_value_l0(w: np.ndarray, k: int) -> float:
    """The largest ⟨w, v⟩ over unit vectors with at most k non-zeros, by all supports."""
    d = w.size
    best = 0.0
    for code in range(1, 2**d):
        support = [j for j in range(d) if code >> j & 1]
        if len(support) <= k:
            best = max(best, float(np.linalg.norm(w[support])))
    return best


def best_value_l1(w: np.ndarray, t: float) -> float:
    """The largest ⟨w, v⟩ over unit vectors with ‖v‖₁ ≤ t, as the least bound of duality.

    For every λ ≥ 0, ⟨w, v⟩ ≤ ‖soft(w, λ)‖₂ + λt on the ball, and the smallest of these bounds is
    attained. Each is evaluated at the kinks |w_j| and minimised between every two neighbours.
    """

    t = min(t, float(np.sqrt(w.size)))  # no vector of the ball has a larger ‖v‖₁

    def bound(threshold: float) -> float:
        return float(np.linalg.norm(soft(w, threshold))) + threshold * t

    kinks = np.unique(np.append(np.abs(w), 0.0))
    bounds = [bound(kink) for kink in kinks]
    for low, high in pairwise(kinks):
        found = minimize_scalar(
            bound, bounds=(low, high), method="bounded", options={"xatol": 1e-13 * high}
        )
        bounds.append(float(found.fun))
    return min(bounds)


def best_value(constraint: Constraint, w: np.ndarray) -> float:
    """The largest ⟨w, v⟩ over a constraint set, found independently of ``maximize``."""
    if isinstance(constraint, Nonnegative):
        if not (w > 0).any():
            return float(w.max())  # ⟨w, v⟩ ≤ max(w)‖v‖₁ ≤ max(w), because ‖v‖₁ ≥ ‖v‖₂ = 1
        return best_value(constraint.inner, np.maximum(w, 0.0))
    if isinstance(constraint, L0):
        return best_value_l0(w, constraint.cardinality)
    assert isinstance(constraint, L1)
    return best_value_l1(w, constraint.bound)


def theorem_3_as_printed(w: np.ndarray, t: float) -> tuple[np.ndarray, float]:
    """v*₁(w, t) of the paper's Theorem 3, to the letter, and its threshold λ; w has no ties."""
    d = w.size

    def f(threshold: float) -> np.ndarray:
        thresholded = soft(w, threshold)
        return thresholded / np.linalg.norm(thresholded)

    if t >= np.sqrt(d):
        return f(0.0), 0.0
    ascending = np.sort(np.abs(w))
    for k in range(1, d):
        upper = np.sqrt(d) if k == 1 else np.abs(f(ascending[k - 2])).sum()
        if np.abs(f(ascending[k - 1])).sum() <= t < upper:
            a, m = ascending[k - 1 :], d - k + 1
            root = np.sqrt(t**2 * (m - t**2) * (m * (a**2).sum() - a.sum() ** 2))
            threshold = ((m - t**2) * a.sum() - root) / (m * (m - t**2))
            return f(threshold), threshold
    raise AssertionError(f"Theorem 3 has no case for t={t}")


def random_feasible(constraint: Constraint, d: int, rng: np.random.Generator) -> np.ndarray:
    """A unit vector of the set that does not come from ``maximize``."""
    if isinstance(constraint, Nonnegative):
        return np.abs(random_feasible(constraint.inner, d, rng))
    v = np.zeros(d)
    if isinstance(constraint, L0):
        support = rng.permutation(d)[: rng.integers(1, min(constraint.cardinality, d) + 1)]
        v[support] = rng.standard_normal(support.size)
        return v / np.linalg.norm(v)
    assert isinstance(constraint, L1)
    # From a coordinate vector (‖v‖₁ = 1) towards any direction, as far as the bound allows.
    corner = np.zeros(d)
    corner[rng.integers(d)] = rng.choice([-1.0, 1.0])
    target = rng.standard_normal(d)
    for share in np.linspace(1.0, 0.0, 21):
        v = share * target + (1 - share) * 3.0 * corner
        v /= np.linalg.norm(v)
        if np.abs(v).sum() <= constraint.bound:
            return v
    return corner


# ------------------------------------------------------------ reference for data


def centred(X: np.ndarray, *, standardize: bool = False) -> np.ndarray:
    """X minus its column means, divided by its column deviations if wanted, in extended precision.

    Constant columns become zero.
    """
    exact = np.asarray(X).astype(np.longdouble)
    constant = (exact == exact[:1]).all(axis=0)
    exact = exact - exact.mean(axis=0)
    exact = exact - exact.mean(axis=0)
    exact[:, constant] = 0
    if standardize:
        deviation = np.sqrt((exact**2).sum(axis=0) / max(len(exact) - 1, 1))
        exact = exact / np.where(constant, 1, deviation)
    return exact


def relative_error(actual: np.ndarray, expected: np.ndarray) -> float:
    """‖actual − expected‖ / ‖expected‖, the difference taken in the wider of the two precisions."""
    difference = np.linalg.norm(np.asarray(actual - expected, dtype=np.float64))
    return float(difference / np.linalg.norm(np.asarray(expected, dtype=np.float64)))


def projector(V: np.ndarray) -> np.ndarray:
    """The orthogonal projector on the span of the columns of V."""
    return V @ np.linalg.pinv(V)


# ------------------------------------------------------------ Algorithms 1 and 2


class NaiveRedac:
    """Algorithms 1 and 2 as the paper states them: X, U and every E_i are formed explicitly.

    With ``least``, loadings that would bring components closer together are not taken.
    """

    def __init__(
        self,
        X: np.ndarray,
        V: np.ndarray,
        constraints: Sequence[Constraint],
        ridge: float = 0.0,
        least: float = 0.0,
    ) -> None:
        self.X = X
        self.V = V.copy()
        self.constraints = constraints
        self.ridge = ridge
        self.least = least
        self.n_refused = 0
        r = V.shape[1]
        self.U = np.linalg.solve(V.T @ V + ridge * np.eye(r), (X @ V).T).T

    def residual_without(self, i: int) -> np.ndarray:
        """E_i = X − Σ_{j≠i} u_j v_jᵀ."""
        E = self.X.copy()
        for j in range(self.V.shape[1]):
            if j != i:
                E -= np.outer(self.U[:, j], self.V[:, j])
        return E

    def sweep(self) -> None:
        """Steps 3 to 7 of Algorithm 1."""
        for i, constraint in enumerate(self.constraints):
            E = self.residual_without(i)
            before = self.V[:, i].copy()
            self.V[:, i] = constraint.maximize(E.T @ self.U[:, i])
            if np.linalg.svd(self.V, compute_uv=False)[-1] ** 2 < self.least:
                self.V[:, i] = before
                self.n_refused += 1
            self.U[:, i] = best_scores(E, self.V[:, i], self.ridge)

    def objective(self) -> float:
        """‖X − UVᵀ‖² + η‖U‖² as a share of ‖X‖²."""
        loss = ((self.X - self.U @ self.V.T) ** 2).sum() + self.ridge * (self.U**2).sum()
        return float(loss / (self.X**2).sum())


def best_scores(E: np.ndarray, v: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """u = E v/(1 + η): Theorem 1, with a ridge."""
    return E @ v / (1.0 + ridge)


def solve(
    source: Source,
    constraints: Sequence[Constraint],
    start: np.ndarray,
    *,
    ridge: float = 0.0,
    max_sweeps: int = 1000,
    tol: float = 1e-7,
    least_separation: float = 0.0,
    on_sweep: OnSweep | None = None,
) -> Solution:
    """The plain algorithm from loadings ``start``: all sweeps over all features, nothing else.

    ``on_sweep`` may end it by returning True.
    """
    problem = Problem(source, constraints, ridge, max_sweeps, tol, least_separation)
    found = Solution(start)
    for found in sweeps(problem, Solution(start)):
        if on_sweep is not None and on_sweep(found.n_sweeps, found.history[-1], found.V):
            return replace(found, status=Status.STOPPED)
    return found


def fixed(constraints: Sequence[Constraint]) -> Allowed:
    """What a sweep allows each component where the others do not matter."""
    return lambda i, V, placed: constraints[i]


def steps_from(problem: Problem, start: Start) -> Iterator[Step]:
    """The way from a start to its end, sweep by sweep."""
    step = None
    for step in settle(problem, start):
        yield step
    assert step is not None
    step = yield from explore(problem, step)
    yield from converge(problem, step)


def climbed(problem: Problem, start: Start) -> Step:
    """Where the way from a start ends."""
    *_, last = steps_from(problem, start)
    return last


# ------------------------------------------------------------ data makers


def factor_data(n: int, d: int, seed: int, *, rank: int | None = None) -> np.ndarray:
    """A few strong overlapping factors plus noise; with ``rank``, data of exactly that rank."""
    rng = np.random.default_rng(seed)
    if rank is not None:
        return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    factors = rng.standard_normal((n, 4)) * np.array([4.0, 3.0, 2.0, 1.5])
    loadings = rng.standard_normal((4, d)) * (rng.random((4, d)) < 0.5)
    return factors @ loadings + 0.5 * rng.standard_normal((n, d))


def unit_columns(d: int, r: int, seed: int) -> np.ndarray:
    """r directions at random, of length one."""
    V = np.random.default_rng(seed).standard_normal((d, r))
    return V / np.linalg.norm(V, axis=0)


# The kinds of constraint, each made from a share of the d features that a component may use.
CONSTRAINTS: dict[str, Callable[[int, float], Constraint]] = {
    "l0": lambda d, share: L0(max(1, round(share * d))),
    "l1": lambda d, share: L1(max(1.0, float(np.sqrt(share * d)))),
    "nonnegative-l0": lambda d, share: Nonnegative(L0(max(1, round(share * d)))),
    "nonnegative-l1": lambda d, share: Nonnegative(L1(max(1.0, float(np.sqrt(share * d))))),
}


# ------------------------------------------------------------ watchers


class Impatient(Silent):
    """A watcher who stops the work after some tasks."""

    def __init__(self, patience: int) -> None:
        self.patience = patience

    def end(self) -> None:
        self.patience -= 1
        self.stopped = self.patience <= 0
