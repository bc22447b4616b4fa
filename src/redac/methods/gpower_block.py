"""GPower, block: all sparse components at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redac.exceptions import CardinalityWarning
from redac.methods.gpower_search import FIRST_CHECK, L0_PENALTY, L1_PENALTY, Penalty
from redac.methods.method_data import MethodData
from redac.methods.pathspca import first_largest
from redac.methods.tuning import closest, search_penalty
from redac.parameters import count
from redac.solver import variance
from redac.sources.base import Array
from redac.user_line import warn_user

# Steps without thresholds before the first with them. They turn the random start towards the
# leading subspace; where all is random, hard thresholds keep whatever support comes first. The
# original has none; this was the best of twelve variants compared on pitprops.
_WARM_UP = 5

# Thresholds that are tried in one restart.
_SOLVES = 30

# Pattern filling ends when its objective grows by less than this share, or after so many steps.
_FILL_TOL = 1e-6
_FILL_STEPS = 1000


@dataclass(frozen=True)
class Block:
    """Where the block iteration ended: orthonormal columns X, and the active features of each."""

    X: Array
    support: NDArray[np.bool_]

    @property
    def total(self) -> int:
        """Active features of all columns together."""
        return int(np.count_nonzero(self.support))


def gpower_l1_block(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    rng: np.random.RandomState,
    n_restarts: int = 20,
    distinct_weights: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Array:
    """Maximise Σ_j Σ_i max(μ_j|a_iᵀx_j| − γ_j, 0)² with XᵀX = I (Journée, Nesterov, Richtárik and
    Sepulchre 2010, block, l1).

    The a_i are the columns of a factor A of S. The thresholds γ_j = ρ μ_j max‖a_i‖ set the
    sparsity: ρ is tuned so that all components together have as many non-zero loadings as asked
    for; how many each gets, the method decides. The loadings then maximise Σ_j μ_j x_jᵀAz_j over
    orthonormal X and unit vectors z_j with the supports found.

    Choose it when components should be found together, without deflation, and only the total number
    of loadings matters.

    Parameters
    ----------
    n_restarts : int, default=20
        Random starts: the longest column of A (the first of equal ones) and Gaussian columns. The
        one with the largest explained variance among those with the right total is kept.
    distinct_weights : bool, default=False
        Whether μ_j = 1/j, which makes components differ in importance, instead of μ_j = 1.
    tol : float, default=1e-4
        The iteration ends when the objective grows by less than this share.
    max_iter : int, default=1000
        Iterations for each threshold at most.
    """
    search = BlockSearch(data.A, L1_PENALTY, tol, max_iter, distinct_weights)
    return _best_restart(search, search.filled, cardinalities, n_restarts, rng, "gpower_l1_block")


def gpower_l0_block(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    rng: np.random.RandomState,
    n_restarts: int = 20,
    distinct_weights: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Array:
    """Maximise Σ_j Σ_i max((μ_j a_iᵀx_j)² − γ_j, 0) with XᵀX = I (Journée, Nesterov, Richtárik and
    Sepulchre 2010, block, l0).

    The same as ``gpower_l1_block`` with γ_j = ρ(μ_j max‖a_i‖)², except that the loadings are the
    products a_iᵀx_j that pass the threshold, as they are. Choose it when they should not be shrunk
    on the way to the supports.

    Parameters
    ----------
    n_restarts : int, default=20
        Random starts; see ``gpower_l1_block``.
    distinct_weights : bool, default=False
        Whether μ_j = 1/j instead of μ_j = 1.
    tol : float, default=1e-4
        The iteration ends when the objective grows by less than this share.
    max_iter : int, default=1000
        Iterations for each threshold at most.
    """
    search = BlockSearch(data.A, L0_PENALTY, tol, max_iter, distinct_weights)
    return _best_restart(search, search.masked, cardinalities, n_restarts, rng, "gpower_l0_block")


class BlockSearch:
    """The block iteration, and the search for a threshold that gives a wanted total."""

    def __init__(
        self, A: Array, penalty: Penalty, tol: float, max_iter: int, distinct_weights: bool
    ) -> None:
        self.A = A
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter
        self.lengths: Array = np.linalg.norm(A, axis=0)
        self.distinct_weights = distinct_weights

    def start(self, m: int, rng: np.random.RandomState) -> Array:
        """Orthonormal columns around the longest column of A."""
        columns = rng.standard_normal((len(self.A), m))
        columns[:, 0] = self.A[:, first_largest(self.lengths)]
        X: Array = np.linalg.qr(columns)[0]
        for _ in range(_WARM_UP):
            X = polar(self.A @ (self.A.T @ X))
        return X

    def tuned(self, X: Array, total: int) -> Block:
        """The block with so many active features in total from this start, or close to it."""
        # Another restart may do where this one does not; if none does, one warning says so.
        tried = search_penalty(
            lambda threshold: self._ascend_alive(X, threshold),
            total,
            low=0.0,
            high=float(self.lengths.max()),
            count=_total,
            max_solves=_SOLVES,
        )
        return closest(tried, total, _total)

    def _ascend_alive(self, X: Array, threshold: float) -> Block:
        # |a_iᵀx| ≤ ‖a_i‖: shorter columns are never active, and need not be looked at.
        alive = np.flatnonzero(self.lengths > threshold)
        found = self.ascend(self.A[:, alive], X, threshold)
        support = np.zeros((self.A.shape[1], X.shape[1]), dtype=np.bool_)
        support[alive] = found.support
        return Block(found.X, support)

    def ascend(self, A: Array, X: Array, threshold: float) -> Block:
        """A local maximum from X. With γ_j as above, |a_iᵀx_j| meets one threshold for all j."""
        weights = self._mu(X) ** 2
        W = self.penalty.shrink(A.T @ X, threshold)
        value = float(weights @ self.penalty.value(W, threshold))
        for iteration in range(self.max_iter):
            if not W.any():
                break
            X = polar((A @ W) * weights)
            W = self.penalty.shrink(A.T @ X, threshold)
            before, value = value, float(weights @ self.penalty.value(W, threshold))
            if iteration >= FIRST_CHECK and value - before <= self.tol * value:
                break
        return Block(X, W != 0)

    def masked(self, block: Block) -> Array:
        """Loadings: the products of X with the columns on the supports, of length one."""
        Z = np.where(block.support, self.A.T @ block.X, 0.0)
        lengths = np.linalg.norm(Z, axis=0)
        unit: Array = Z / np.where(lengths > 0, lengths, 1.0)
        return unit

    def filled(self, block: Block) -> Array:
        """Loadings: a local maximum of Σ_j μ_j x_jᵀAz_j on the supports, by alternation."""
        mu = self._mu(block.X)
        Z = self.masked(block)
        value = 0.0
        for _ in range(_FILL_STEPS):
            G = (self.A @ Z) * mu
            X = polar(G)
            Z = self.masked(Block(X, block.support))
            before, value = value, float(np.einsum("ij,ij->", X, G))
            if value - before <= _FILL_TOL * value:
                break
        return Z

    def _mu(self, X: Array) -> Array:
        m = X.shape[1]
        return 1.0 / np.arange(1, m + 1) if self.distinct_weights else np.ones(m)


def _best_restart(
    search: BlockSearch,
    loadings: Callable[[Block], Array],
    cardinalities: Sequence[int],
    n_restarts: int,
    rng: np.random.RandomState,
    what: str,
) -> Array:
    """Loadings of the restart that explains most among those with the right total.

    The components come in no order of their own; they are sorted by what they add to the explained
    variance.
    """
    count("n_restarts", n_restarts, least=1)
    A, total = search.A, sum(cardinalities)
    V = np.zeros((A.shape[1], len(cardinalities)))
    if not A.any():
        return V
    # More orthonormal columns than rows there cannot be; what is over stays zero.
    m = min(len(cardinalities), len(A))
    blocks = [search.tuned(search.start(m, rng), total) for _ in range(n_restarts)]
    miss = min(abs(block.total - total) for block in blocks)
    if miss > 0:
        warn_user(
            f"{what}: no penalty found that gives {total} non-zero loadings in total; settled for "
            f"the nearest, {miss} away.",
            CardinalityWarning,
        )
    candidates = [loadings(block) for block in blocks if abs(block.total - total) == miss]
    explained = [variance.Explained.of_data(Z, A) for Z in candidates]
    best = first_largest(np.array([each.together() for each in explained]))
    V[:, :m] = candidates[best][:, explained[best].greedy_order()]
    return V


def polar(G: Array) -> Array:
    """The orthonormal factor of the polar decomposition: the X that maximises ⟨X, G⟩."""
    U, _, Wt = np.linalg.svd(G, full_matrices=False)
    X: Array = U @ Wt
    return X


def _total(block: Block) -> int:
    return int(block.total)
