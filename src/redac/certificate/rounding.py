"""How much rounding can spoil a computed bound; added to every bound before it is reported.

LAPACK's symmetric eigenvalues are the exact ones of A + E with ‖E‖₂ ≤ p(d)·ε·‖A‖₂, p a modest
polynomial; by Weyl's inequality no eigenvalue is off by more. With p(d) = 16·d there is ample room:
errors observed are below d·ε·‖A‖.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.sources.base import Array

EPSILON = float(np.finfo(np.float64).eps)
_ROOM = 16


def rounding_margin(d: int, count: int, norm: float) -> float:
    """More than the error of a sum of ``count`` computed eigenvalues of a matrix of order d."""
    return _ROOM * d * EPSILON * count * norm


def eigenvalue_margin(A: Array, count: int = 1) -> float:
    """The same for a matrix A; its Frobenius norm is no smaller than its spectral norm."""
    return rounding_margin(A.shape[-1], count, float(np.linalg.norm(A)))


def dual_margin(lifted: Array, multipliers: Array, r: int, ranks: Sequence[int]) -> float:
    """More than the rounding error of a lifted dual bound.

    A product LLᵀ that was rounded may have an eigenvalue −δ; adding δI repairs it and raises the
    bound by (r − rank)·δ. Forming the sums costs no more than an eigenvalue does.
    """
    margin = 2.0 * eigenvalue_margin(lifted, r)
    for M, rank in zip(multipliers, ranks, strict=True):
        margin += eigenvalue_margin(M, r + rank)
    return margin
