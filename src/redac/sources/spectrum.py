"""Leading eigenvectors: exact for small matrices, by subspace iteration for large ones.

Both are deterministic. The random block of the iteration comes from a fixed seed, so that the same
data give the same start whatever their container, and a fit without ``random_state`` can be
repeated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from redac.sources.base import Array

# The order up to which a symmetric matrix is decomposed exactly (about a second on a laptop).
EXACT_ORDER = 2000
_OVERSAMPLING = 10
_MAX_ROUNDS = 12
_RELATIVE_ACCURACY = 1e-4


def leading_eigenvectors(S: Array, r: int) -> tuple[Array, Array]:
    """The r leading eigenvectors of a symmetric matrix and their eigenvalues, largest first."""
    d = S.shape[0]
    if d > EXACT_ORDER:
        return subspace_iteration(lambda V: S @ V, d, r)
    values, vectors = eigh(S, subset_by_index=(d - r, d - 1))
    return np.asfortranarray(vectors[:, ::-1]), np.maximum(values[::-1], 0.0)


def subspace_iteration(dot: Callable[[Array], Array], d: int, r: int) -> tuple[Array, Array]:
    """The same from products with S alone, stopped when the eigenvalues have settled."""
    width = min(d, r + _OVERSAMPLING)
    block = np.random.default_rng(0).standard_normal((d, width))
    settled = np.zeros(r)
    for _ in range(_MAX_ROUNDS):
        basis = np.linalg.qr(block)[0]
        block = dot(basis)
        values, rotation = np.linalg.eigh(basis.T @ block)
        values, rotation = values[::-1][:r], rotation[:, ::-1][:, :r]
        if np.abs(values - settled).sum() <= _RELATIVE_ACCURACY * np.abs(values).sum():
            break
        settled = values
    return np.asfortranarray(basis @ rotation), np.maximum(values, 0.0)
