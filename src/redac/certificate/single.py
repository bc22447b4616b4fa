"""Branch and bound for one component: the largest eigenvalue on at most k variables.

Of the support U some variables I are known, W is the rest. For t above the largest eigenvalue of
S_II, by the Schur complement,

    λ_max(S_UU) ≤ t   if and only if   λ_max(S′_WW) ≤ t,   S′ = S_FF + S_FI (tI − S_II)⁻¹ S_IF,

F being the variables that W can be chosen from. So whatever bounds the largest eigenvalue on |W|
variables of S′ decides whether a region can be left alone, and knows all about I.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from redac.certificate.rounding import eigenvalue_margin
from redac.certificate.tree import Incumbent, Node
from redac.sources.base import Array, Indices

# Eigenvalues of so many variables take longer than all other bounds of a region together.
_EIGENVALUE_ORDER = 600
# Steps of power iteration instead of an eigenvector, only to choose the variable to divide by.
_POWER_ORDER, _POWER_STEPS = 300, 10
# How often the distance between what a region is known not to exceed and not known is halved.
_HALVINGS = 2


@dataclass(frozen=True)
class SingleNode(Node):
    """The supports that have all variables of ``inside`` and any others of ``free``.

    ``pivot`` is the place in ``free`` of the variable to divide by; None as long as the region has
    only the bound of a larger one.
    """

    S: Array
    k: int
    inside: Indices
    free: Indices
    pivot: int | None = None

    method = "blocks"

    @classmethod
    def root(cls, S: Array, k: int) -> SingleNode:
        """All supports; the Frobenius norm is no smaller than any eigenvalue."""
        above = float(np.linalg.norm(S)) + eigenvalue_margin(S)
        return cls(above, S, k, np.zeros(0, dtype=np.intp), np.arange(len(S)))

    def branch(self, incumbent: Incumbent) -> list[Node]:
        """The supports with the pivot, and those without it."""
        if self.pivot is None:
            return [self._bounded(incumbent)]
        rest = np.delete(self.free, self.pivot)
        inside = np.append(self.inside, self.free[self.pivot])
        return [
            replace(self, inside=chosen, free=rest)._bounded(incumbent)
            for chosen in (inside, self.inside)
        ]

    def _bounded(self, incumbent: Incumbent) -> SingleNode:
        """The region without variables that lead nowhere, with a bound of its own.

        Its bound is never below the threshold: what was left out may explain as much.
        """
        missing = self.k - self.inside.size
        if missing == 0 or self.free.size <= missing:
            whole = np.concatenate([self.inside, self.free]) if missing else self.inside
            self._offer(incumbent, whole)
            return self._closed(incumbent)
        self._offer(incumbent, self.inside)
        limit = incumbent.threshold
        free, lifted = sifted(
            self.S, self.inside, self.free, self.k, limit, deadline=incumbent.deadline
        )
        if lifted is None:
            return replace(self, free=free, pivot=0)
        if free.size == 0:
            return self._closed(incumbent)
        value = sparse_bound(lifted, missing)
        if value <= limit:
            return self._closed(incumbent)
        part = _leading_part(lifted)
        nearest = np.argsort(-part)[:missing]
        self._offer(incumbent, np.concatenate([self.inside, free[nearest]]))
        # S′ falls as t rises, so that the bound at the limit is one that holds.
        kept = replace(self, free=free, pivot=int(np.argmax(part)))
        above = min(self.bound, value)
        if self.inside.size:
            above = lowered(self.S, self.inside, free, self.k, limit, above)
        return replace(kept, bound=above)

    def _closed(self, incumbent: Incumbent) -> SingleNode:
        return replace(self, bound=incumbent.threshold)

    def _offer(self, incumbent: Incumbent, support: Indices) -> None:
        if support.size == 0:
            return
        V = np.zeros((len(self.S), 1))
        V[support, 0] = np.linalg.eigh(self.S[np.ix_(support, support)])[1][:, -1]
        incumbent.offer(V)


def conditional(S: Array, inside: Indices, free: Indices, t: float) -> Array | None:
    """S′ on the free variables; None where t is not above the eigenvalues of those inside.

    The factor is that of Cholesky, whose error is one in the matrix, however small t leaves it.
    """
    part: Array = S[np.ix_(free, free)]
    if inside.size == 0:
        return part
    try:
        L = cholesky(t * np.eye(inside.size) - S[np.ix_(inside, inside)], lower=True)
    except LinAlgError:
        return None
    Y = solve_triangular(L, S[np.ix_(inside, free)], lower=True)
    lifted: Array = part + Y.T @ Y
    return lifted


def sifted(
    S: Array, inside: Indices, free: Indices, k: int, limit: float, *, deadline: float = np.inf
) -> tuple[Indices, Array | None]:
    """The free variables that a support with an eigenvalue above the limit may use; S′ on them."""
    missing = k - inside.size
    while True:
        lifted = conditional(S, inside, free, limit)
        if lifted is None or free.size <= missing or time.monotonic() > deadline:
            return free, lifted
        out = excluded(lifted, missing, limit)
        if not out.any():
            return free, lifted
        free = free[~out]
        if free.size == 0:
            return free, lifted


def lowered(S: Array, inside: Indices, free: Indices, k: int, limit: float, above: float) -> float:
    """A bound between the limit, at which a test has failed, and one that holds."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (limit + above)
        lifted = conditional(S, inside, free, middle)
        passed = lifted is not None and (
            lifted.size == 0 or sparse_bound(lifted, k - inside.size) <= middle
        )
        limit, above = (limit, middle) if passed else (middle, above)
    return above


def excluded(T: Array, count: int, t: float) -> np.ndarray:
    """The variables that no support of so many variables with an eigenvalue of T above t has.

    With variable j known, the Schur complement has the diagonal T_ii + T_ij² / (t − T_jj), and the
    largest eigenvalue is no larger than the trace.
    """
    own = T.diagonal()
    below = own < t
    raised = T * T
    raised /= np.where(below, t - own, 1.0)[:, None]
    raised += own
    np.fill_diagonal(raised, -np.inf)
    out: np.ndarray = below & (top_sums(raised, count - 1) <= t)
    return out


def sparse_bound(T: Array, count: int) -> float:
    """At least the largest eigenvalue of T on any ``count`` variables; T has no negative one.

    The smallest of: the largest trace; what a trace and squares allow; the sums of the largest
    absolute entries of a row, as they are or in units of the deviations; the eigenvalue of all.
    """
    own = T.diagonal()
    if len(T) <= count:
        return float(np.linalg.eigvalsh(T)[-1])
    if count == 1:
        return float(own.max())
    ordered = np.sort(own)
    most, least = float(ordered[-count:].sum()), float(ordered[:count].sum())
    size = np.abs(T)
    np.fill_diagonal(size, -np.inf)
    bound = min(most, float((top_sums(size, count - 1) + own).max()))
    scale = np.sqrt(np.maximum(own, np.finfo(float).tiny))
    weighted = size * (scale[None, :] / scale[:, None])
    bound = min(bound, float((top_sums(weighted, count - 1) + own).max()))
    squares = T * T
    np.fill_diagonal(squares, -np.inf)
    rows = top_sums(squares, count - 1) + own * own
    bound = min(bound, moment_bound(1, count, least, most, float(np.sort(rows)[-count:].sum())))
    if len(T) <= _EIGENVALUE_ORDER:
        bound = min(bound, float(np.linalg.eigvalsh(T)[-1]))
    return bound


def moment_bound(rank: int, size: int, low: float, high: float, squares: float) -> float:
    """The largest sum of ``rank`` of ``size`` numbers with a sum in [low, high] and these squares.

    For a given sum s the extreme case has ``rank`` equal numbers and equal others; that value,
    rank·s/size + √(rank(size − rank)/size·(squares − s²/size)), is concave in s and largest at
    s = √(rank·squares).
    """
    total = min(max(np.sqrt(rank * squares), low), high)
    spread = max(squares - total * total / size, 0.0)
    return float(rank * total / size + np.sqrt(rank * (size - rank) / size * spread))


def top_sums(A: Array, count: int) -> Array:
    """The sum of the largest ``count`` entries of each row."""
    if count <= 0:
        return np.zeros(len(A))
    split = A.shape[1] - count
    largest = np.partition(A, split, axis=1)[:, split:] if split > 0 else A
    sums: Array = largest.sum(axis=1)
    return sums


def _leading_part(T: Array) -> Array:
    """The squares of the leading eigenvector, or what power iteration comes to."""
    if len(T) <= _POWER_ORDER:
        leading: Array = np.linalg.eigh(T)[1][:, -1] ** 2
        return leading
    v = T[int(np.argmax(T.diagonal()))]
    for _ in range(_POWER_STEPS):
        v = T @ (v / max(float(np.linalg.norm(v)), np.finfo(float).tiny))
    power: Array = v * v
    return power
