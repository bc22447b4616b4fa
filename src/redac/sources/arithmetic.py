"""Small operations on blocks of dense numbers."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from redac.sources.base import Array


def add_squares(S: Array, block: Array) -> Array:
    """S plus the upper triangle of BᵀB, in place."""
    if block.flags.c_contiguous:
        return blas.dsyrk(1.0, block.T, beta=1.0, c=S, overwrite_c=True)  # type: ignore[no-any-return]
    return blas.dsyrk(1.0, block, trans=True, beta=1.0, c=S, overwrite_c=True)  # type: ignore[no-any-return]


def weigh(block: Array, weights: Array) -> None:
    """Multiply rows with the roots of their weights; rows of weight zero may hold anything."""
    block *= np.sqrt(weights)[:, None]
    unused = weights == 0.0
    if unused.any():
        block[unused] = 0.0


def mirror_upper(S: Array) -> Array:
    """Copy the upper triangle of a square matrix onto the lower one, in place, block by block."""
    d, step = S.shape[0], 128
    for start in range(0, d, step):
        stop = min(start + step, d)
        S[start:stop, :start] = S[:start, start:stop].T
        corner = S[start:stop, start:stop]
        S[start:stop, start:stop] = np.triu(corner) + np.triu(corner, 1).T
    return S
