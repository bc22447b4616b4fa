"""Rotations of loadings towards few large ones."""

from __future__ import annotations

import numpy as np

from redac.sources.base import Array


def varimax(loadings: Array, most_rounds: int = 100, tol: float = 1e-4) -> Array:
    """Rotate loadings (d × r) so that the variance of their squares is largest (Kaiser 1958).

    Features without any loading, such as those that do not vary, have no part in that variance.
    """
    return orthomax(loadings, 1.0, most_rounds, tol)


def orthomax(loadings: Array, weight: float, most_rounds: int = 100, tol: float = 1e-4) -> Array:
    """Rotate loadings so that Σ_j (Σ_i L_ij⁴ − weight/d · (Σ_i L_ij²)²) is largest.

    The weight is 1 for varimax, and 0 for quartimax, which looks for features with one large
    loading rather than for components with few.
    """
    rotation = np.eye(loadings.shape[1])
    criterion = 0.0
    used = loadings[loadings.any(axis=1)]

    def reached(L: Array) -> float:
        squares = L * L
        return float((squares * (squares - weight * squares.mean(axis=0))).sum())

    for _ in range(most_rounds if used.size else 0):
        L = used @ rotation
        squares = L * L
        gradient = used.T @ (L * (squares - weight * squares.mean(axis=0)))
        left, singular, right = np.linalg.svd(gradient)
        rotation = left @ right
        if singular.sum() <= criterion * (1 + tol):
            break
        criterion = singular.sum()
    # With few features a round may lose more than it gains, and no later one makes up for it.
    is_better = used.size and reached(used @ rotation) >= reached(used)
    return loadings @ rotation if is_better else loadings
