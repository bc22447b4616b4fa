"""What components explain at most on a union of supports of which only the size is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from redac.certificate.single import moment_bound
from redac.sources.base import Array, Indices

# Beyond this order an eigenvalue bound at every node costs more than the branching it saves.
_EIGENVALUE_ORDER = 300


@dataclass(frozen=True)
class Matrix:
    """A covariance matrix with the squares of its entries."""

    S: Array

    @cached_property
    def diagonal(self) -> Array:
        return self.S.diagonal().copy()

    @cached_property
    def squares(self) -> Array:
        squares = self.S * self.S
        np.fill_diagonal(squares, 0.0)
        return squares

    def ky_fan(self, chosen: Indices, rank: int) -> float:
        """The sum of the largest eigenvalues of a principal submatrix."""
        if chosen.size == 0:
            return 0.0
        return float(np.linalg.eigvalsh(self.S[np.ix_(chosen, chosen)])[-rank:].sum())


def union_bound(matrix: Matrix, rank: int, size: int, inside: Indices, free: Indices) -> float:
    """At least KyFan_rank(S_UU) for every U with inside ⊆ U ⊆ inside ∪ free and |U| ≤ size.

    The smallest of three: the eigenvalues of all of it, the largest trace, and the largest sum that
    eigenvalues with such a trace and such a Frobenius norm can have.
    """
    missing = size - inside.size
    allowed = np.concatenate([inside, free])
    if missing <= 0 or allowed.size <= size:
        return matrix.ky_fan(inside if missing <= 0 else allowed, rank)
    variances = np.sort(matrix.diagonal[free])
    base = float(matrix.diagonal[inside].sum())
    high = base + float(variances[-missing:].sum())
    low = base + float(variances[:missing].sum())
    squares = _largest_square_sum(matrix, missing, inside, free)
    bound = min(high, moment_bound(rank, size, low, high, squares))
    if allowed.size <= _EIGENVALUE_ORDER:
        bound = min(bound, matrix.ky_fan(allowed, rank))
    return bound


def _largest_square_sum(matrix: Matrix, missing: int, inside: Indices, free: Indices) -> float:
    """At least ‖S_UU‖² in the Frobenius norm: each row takes its own largest entries."""
    allowed = np.concatenate([inside, free])
    rows = matrix.squares[allowed]
    from_free = rows[:, free]
    sums = matrix.diagonal[allowed] ** 2 + rows[:, inside].sum(axis=1)
    count = inside.size
    split = free.size - missing
    sums[:count] += np.partition(from_free[:count], split, axis=1)[:, split:].sum(axis=1)
    # A free row has its own diagonal entry among those it takes.
    if missing > 1:
        tail = np.partition(from_free[count:], split + 1, axis=1)[:, split + 1 :]
        sums[count:] += tail.sum(axis=1)
    return float(sums[:count].sum() + np.partition(sums[count:], split)[split:].sum())
