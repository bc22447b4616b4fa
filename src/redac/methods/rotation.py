"""The oldest way to readable components: principal axes, rotated, small loadings cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.constraints import L0
from redac.methods.method_data import MethodData
from redac.solver.orthomax import orthomax
from redac.sources.base import Array

# The weight of the criterion of `orthomax`.
_WEIGHTS = {"varimax": 1.0, "quartimax": 0.0}
# Axes with less variance than this share of the largest are rounding.
_EXHAUSTED = 1e-12
_TOLERANCE = 1e-8
_MOST_ROUNDS = 1000


def rotation(data: MethodData, cardinalities: Sequence[int], *, rotation: str = "varimax") -> Array:
    """Principal axes times the root of their eigenvalues, rotated to a simple structure; all but
    the k_i largest loadings are set to zero (Jolliffe 1995).

    The rotated components come by decreasing length. The cardinality is met as it is. Choose it to
    compare with the practice of factor analysis. It keeps the principal subspace until loadings are
    cut, and gives up that the first component has the largest variance.

    Parameters
    ----------
    rotation : {"varimax", "quartimax", "oblimin"}, default="varimax"
        Few large loadings in each component (Kaiser 1958); few large loadings of each feature; or
        an oblique rotation with the least Σ L_ij² L_ik² over components j ≠ k (direct oblimin with
        γ = 0, Jennrich and Sampson 1966).
    """
    if rotation not in (*_WEIGHTS, "oblimin"):
        raise ValueError(
            f"rotation={rotation!r} is unknown; choose one of varimax, quartimax, oblimin."
        )
    axes, values = data.source.principal_axes(len(cardinalities))
    V = np.zeros_like(axes)
    alive = values > _EXHAUSTED * values.max(initial=0.0)
    if not alive.any():
        return V
    loadings = axes[:, alive] * np.sqrt(values[alive] / values.max())
    if rotation == "oblimin":
        rotated = oblimin(loadings)
    else:
        rotated = orthomax(loadings, _WEIGHTS[rotation], _MOST_ROUNDS, _TOLERANCE)
    order = np.argsort(-np.linalg.norm(rotated, axis=0).round(9), kind="stable")
    for i, j in enumerate(order):
        V[:, i] = L0(cardinalities[i]).maximize(rotated[:, j])
    return V


def overlap(L: Array) -> float:
    """Σ L_ij² L_ik² over features i and pairs of components j < k: what oblimin makes small."""
    squares = L * L
    return float((squares.sum(axis=1) ** 2).sum() - (squares**2).sum()) / 2


def oblimin(loadings: Array) -> Array:
    """Loadings A(Tᵀ)⁻¹ with unit columns of T and the least overlap, by projected gradient steps
    (Jennrich 2002)."""
    T = np.eye(loadings.shape[1])
    L = loadings
    value, length = overlap(L), 1.0
    for _ in range(_MOST_ROUNDS):
        squares = L * L
        by_loading = 2 * L * (squares.sum(axis=1, keepdims=True) - squares)
        gradient = -np.linalg.solve(T.T, by_loading.T @ L)
        along = gradient - T * (T * gradient).sum(axis=0)  # on the sphere of each column
        square = float(np.vdot(along, along))
        if square <= _TOLERANCE**2 * value**2 or square == 0.0:
            break
        length *= 2
        while True:
            moved = T - length * along
            moved = moved / np.linalg.norm(moved, axis=0)
            turned = np.linalg.solve(moved, loadings.T).T
            lower = overlap(turned)
            if lower <= value - length * square / 2 or length * square <= 1e-15 * value:
                break
            length /= 2
        if lower >= value:
            break
        T, L, value = moved, turned, lower
    return L
