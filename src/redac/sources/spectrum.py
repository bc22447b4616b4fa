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
from redac.threads import one_thread

# The order up to which a symmetric matrix is decomposed outright.
EXACT_ORDER = 500
_OVERSAMPLING = 5
_MAX_ROUNDS = 12
# What the eigenvalues may still move in the last round, as a share of their sum.
ACCURATE = 1e-4
# The same for axes that are only a place to start from.
ROUGH = 1e-2


def leading_eigenvectors(S: Array, r: int, *, accuracy: float = ACCURATE) -> tuple[Array, Array]:
    """The r leading eigenvectors of a symmetric matrix and their eigenvalues, largest first."""
    d = S.shape[0]
    if d > EXACT_ORDER:
        return block_krylov(lambda V: (V.T @ S).T, d, r, accuracy=accuracy)
    values, vectors = eigh(S, subset_by_index=(d - r, d - 1))
    return np.asfortranarray(vectors[:, ::-1]), np.maximum(values[::-1], 0.0)


def block_krylov(
    dot: Callable[[Array], Array], d: int, r: int, *, accuracy: float = ACCURATE
) -> tuple[Array, Array]:
    """The same from few products of S with blocks.

    The span of Ω, SΩ, S²Ω, … holds the leading eigenvectors of S to an accuracy that grows much
    faster with the number of blocks than that of the last block alone; it is enlarged until the
    eigenvalues move by no more than a share ``accuracy`` of their sum.
    """
    width = min(d, r + _OVERSAMPLING)
    most = min(d, width * _MAX_ROUNDS)
    # By columns, memory is only taken for those that have been written.
    room, projected = np.empty((d, most), order="F"), np.zeros((most, most))
    block = _orthonormal(np.random.default_rng(0).standard_normal((d, width)))
    settled, known = np.zeros(r), 0
    while True:
        before, known = known, known + block.shape[1]
        basis = room[:, :known]
        basis[:, before:] = block
        block = dot(block)
        # QᵀSQ is symmetric, so the products with the new columns complete it and SQ is not kept.
        coefficients = basis.T @ block
        projected[:known, before:known] = coefficients
        projected[before:known, :known] = coefficients.T
        values, rotation = np.linalg.eigh(projected[:known, :known])
        values, rotation = values[::-1][:r], rotation[:, ::-1][:, :r]
        moved = np.abs(values - settled).sum()
        if moved <= accuracy * np.abs(values).sum() or known == most:
            break
        settled = values
        block -= basis @ coefficients
        block = _orthonormal(block)
        # Once more, for orthogonality to rounding.
        block = _orthonormal(block - basis @ (basis.T @ block))[:, : most - known]
    return np.asfortranarray(basis @ rotation), np.maximum(values, 0.0)


def _orthonormal(block: Array) -> Array:
    # The threads of another library, which has just formed S, may still be waiting for work; with
    # them a decomposition in several threads takes many times as long, and it gains little anyway.
    with one_thread(0):
        return np.linalg.qr(block)[0]


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
