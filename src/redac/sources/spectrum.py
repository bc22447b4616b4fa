"""Leading eigenvectors: exact for small matrices, by block Krylov iteration for large ones.

Both are deterministic. The random block of the iteration comes from a fixed seed, so that the same
data give the same start whatever their container, and a fit without ``random_state`` can be
repeated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from redac.sources.base import Array

# The order up to which a symmetric matrix is decomposed outright.
EXACT_ORDER = 500
_OVERSAMPLING = 5
_LEAST_ROUNDS = 4
_MAX_ROUNDS = 12
_RELATIVE_ACCURACY = 1e-4


def leading_eigenvectors(S: Array, r: int) -> tuple[Array, Array]:
    """The r leading eigenvectors of a symmetric matrix and their eigenvalues, largest first."""
    d = S.shape[0]
    if d > EXACT_ORDER:
        return block_krylov(lambda V: S @ V, d, r)
    values, vectors = eigh(S, subset_by_index=(d - r, d - 1))
    return np.asfortranarray(vectors[:, ::-1]), np.maximum(values[::-1], 0.0)


def block_krylov(dot: Callable[[Array], Array], d: int, r: int) -> tuple[Array, Array]:
    """The same from few products of S with blocks.

    The span of Ω, SΩ, S²Ω, … holds the leading eigenvectors of S to an accuracy that grows much
    faster with the number of blocks than that of the last block alone; it is enlarged until the
    eigenvalues have settled.
    """
    width = min(d, r + _OVERSAMPLING)
    block = np.random.default_rng(0).standard_normal((d, width))
    basis, image = np.empty((d, 0)), np.empty((d, 0))
    settled = np.zeros(r)
    for done in range(1, _MAX_ROUNDS + 1):
        for _ in range(2):  # twice is enough for orthogonality to rounding
            block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        block = block[:, : d - basis.shape[1]]
        basis, image = np.hstack([basis, block]), np.hstack([image, dot(block)])
        block = image[:, -block.shape[1] :]
        projected = basis.T @ image
        values, rotation = np.linalg.eigh((projected + projected.T) / 2)
        values, rotation = values[::-1][:r], rotation[:, ::-1][:, :r]
        moved = np.abs(values - settled[: values.size]).sum()
        is_settled = done >= _LEAST_ROUNDS and moved <= _RELATIVE_ACCURACY * np.abs(values).sum()
        if is_settled or basis.shape[1] == d:
            break
        settled = values
    return np.asfortranarray(basis @ rotation), np.maximum(values, 0.0)


def axes_through_kernel(
    kernel: Array, right: Callable[[Array], Array], d: int, r: int
) -> tuple[Array, Array]:
    """The same through K = XXᵀ, the smaller one where samples are few.

    XXᵀu = λu gives S(Xᵀu) = λ(Xᵀu); ``right`` is the product with Xᵀ.
    """
    n = len(kernel)
    found = min(r, n)
    U, values = leading_eigenvectors(kernel, found)
    axes = np.zeros((d, r), order="F")
    eigenvalues = np.zeros(r)
    eigenvalues[:found] = values
    live = np.flatnonzero(eigenvalues > n * np.finfo(float).eps * eigenvalues[0])
    raw = right(U[:, live])
    axes[:, live] = raw / np.linalg.norm(raw, axis=0)
    return axes, eigenvalues
