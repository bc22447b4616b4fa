"""Small operations on blocks of dense numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from redac.sources.base import Array

# Rows of S that are formed at a time: enough for products at full speed, in little memory.
_PANEL = 128


def add_squares(S: Array, block: Array) -> None:
    """Add the upper triangle of BᵀB to that of S, in place.

    By panels of numpy's products rather than by scipy's dsyrk: each library has threads of its own,
    and those of the one wait for work while the other computes, which doubles its time.
    """
    d = S.shape[0]
    memory = np.empty(min(_PANEL, d) * d)
    for panel in _panels(d):
        rest = slice(panel.start, d)
        product = memory[: (panel.stop - panel.start) * (d - panel.start)]
        product = product.reshape(-1, d - panel.start)
        np.matmul(block[:, panel].T, block[:, rest], out=product)
        S[panel, rest] += product


def subtract_outer(S: Array, a: Array, b: Array) -> None:
    """Subtract the upper triangle of abᵀ from that of S, in place."""
    for panel in _panels(S.shape[0]):
        S[panel, panel.start :] -= np.multiply.outer(a[panel], b[panel.start :])


def _panels(d: int) -> Iterator[slice]:
    return (slice(start, min(start + _PANEL, d)) for start in range(0, d, _PANEL))


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
