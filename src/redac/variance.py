"""Explained variance of a set of components, from two r × r matrices.

With M = VᵀSV and G = VᵀV every measure of the package is a statement about small matrices, wherever
S comes from. This module is their one definition.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf

from redac.sources.base import Array, Indices

# A component whose part outside the span of earlier ones has a squared length below this adds
# nothing.
_DEPENDENT = 1e-12
_ROUNDING = 1e-12


def increments(M: Array, G: Array) -> Array:
    """What each component adds to Tr(S P_V), P_V the projector on the span, in the given order.

    Gram–Schmidt done on the two matrices: after step j, M and G belong to the remaining components
    with their part along the first j removed. The sum is Tr(S P_V) of all components.
    """
    M, G = M.copy(), G.copy()
    lengths = G.diagonal().copy()
    added = np.zeros(len(G))
    for j in range(len(G)):
        if G[j, j] <= _DEPENDENT * max(lengths[j], np.finfo(float).tiny):
            continue
        added[j] = max(M[j, j] / G[j, j], 0.0)
        _remove(M, G, j)
    return added


def greedy_order(M: Array, G: Array) -> Indices:
    """Components sorted by what they add.

    First comes the one that explains most, then the one that adds most to it, and so on.
    """
    M, G = M.copy(), G.copy()
    lengths = G.diagonal().copy()
    left = list(range(len(G)))
    order = []
    while left:
        gains = [
            M[j, j] / G[j, j]
            if G[j, j] > _DEPENDENT * max(lengths[j], np.finfo(float).tiny)
            else -1.0
            for j in left
        ]
        best = left.pop(int(np.argmax(gains)))
        order.append(best)
        if max(gains) > 0:
            _remove(M, G, best)
    return np.array(order, dtype=np.intp)


def _remove(M: Array, G: Array, j: int) -> None:
    """Take the part along component j out of all components, in place."""
    f = G[:, j] / G[j, j]
    G -= np.multiply.outer(f, G[j].copy())
    row = M[j].copy()
    M -= np.multiply.outer(f, row)
    M -= np.multiply.outer(M[:, j].copy(), f)


def explained(M: Array, G: Array, ridge: float = 0.0) -> float:
    """Tr(S V(VᵀV + ηI)⁻¹Vᵀ):

    what all components explain together; the value that the solver maximises.
    """
    if ridge == 0.0:
        return float(increments(M, G).sum())
    return float(np.trace(np.linalg.solve(G + ridge * np.eye(len(G)), M)))


def qr_adjusted(M: Array) -> Array:
    """Variance of each score that is uncorrelated with the earlier ones:

    R_jj² of XV = QR (Zou, Hastie and Tibshirani).
    """
    M = M.copy()
    floor = _DEPENDENT * M.diagonal()
    left = np.zeros(len(M))
    for j in range(len(M)):
        if M[j, j] > floor[j]:
            left[j] = M[j, j]
            M -= np.multiply.outer(M[:, j], M[j]) / M[j, j]
    return left


def separation(G: Array) -> float:
    """Smallest eigenvalue of the Gram matrix of the live components: 1 orthogonal, 0 collapsed."""
    live = np.flatnonzero(G.diagonal() > 0)
    if live.size == 0:
        return 0.0
    return float(max(np.linalg.eigvalsh(G[np.ix_(live, live)])[0], 0.0))


def is_separated(G: Array, least: float) -> bool:
    """Whether the separation is at least that, but for rounding; faster than to compute it."""
    shifted = G.copy()
    diagonal = shifted.reshape(-1)[:: len(G) + 1]
    # A component that is zero has nothing but zeros beside the diagonal, and is in nobody's way.
    diagonal[diagonal == 0.0] = 1.0 + least
    diagonal -= least - _ROUNDING
    return int(dpotrf(shifted.T, overwrite_a=True)[1]) == 0
