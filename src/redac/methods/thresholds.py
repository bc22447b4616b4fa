"""Thresholding to a wanted number of entries, with ties broken by position."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from redac.sources.base import Array

# Applied to y with threshold t, entry by entry; entries that must vanish are dealt with before.
Shrinkage = Callable[[Array, float], Array]

# Magnitudes that differ by less than this share of the largest are equal but for rounding. Equal
# ones are common in wide data, where features are repeated.
_TIE = 1e-9


def threshold_to(y: Array, k: int, shrink: Shrinkage) -> Array:
    """y with the k entries of largest magnitude, shrunk by the largest magnitude that must vanish.

    Among equal magnitudes the first are kept, and the threshold is the next smaller magnitude, so
    that k entries stay.
    """
    kept, threshold = _largest_and_next(np.abs(y), k)
    thresholded: Array = np.where(kept, shrink(y, threshold), 0.0)
    return thresholded


def soft(y: Array, t: float | Array) -> Array:
    """Magnitudes lessened by t, or by one t for each."""
    return np.copysign(np.maximum(np.abs(y) - t, 0.0), y)


def _largest_and_next(magnitudes: Array, k: int) -> tuple[NDArray[np.bool_], float]:
    """A mask of the k largest, and the largest of the clearly smaller ones (zero without any)."""
    d = magnitudes.size
    if k >= d:
        return np.ones(d, dtype=np.bool_), 0.0
    last = np.partition(magnitudes, d - k)[d - k]
    tie = _TIE * magnitudes.max()
    kept = magnitudes > last + tie
    tied = np.flatnonzero(~kept & (magnitudes >= last - tie))
    kept[tied[: k - int(kept.sum())]] = True
    return kept, float(magnitudes[magnitudes < last - tie].max(initial=0.0))
