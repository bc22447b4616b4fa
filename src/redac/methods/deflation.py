"""Taking a component out before the next one is sought: the schemes in use, each written once.

A scheme for a covariance matrix S takes a unit vector v and returns a new matrix; a scheme for a
factor A (AᵀA = S) returns a new factor. Mackey (2009) compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from redac.sources.base import Array

# What is left of a factor below this share of its norm is rounding: variances are known to 1e-16 of
# the largest at best, and a factor of a covariance matrix to the root of that.
_EXHAUSTED = 1e-7


def one_by_one(
    A: Array, cardinalities: Sequence[int], component: Callable[[Array, int], Array]
) -> Array:
    """Components, each found for its cardinality on a factor without those before it."""
    V = np.zeros((A.shape[1], len(cardinalities)))
    deflated = A
    for i, k in enumerate(cardinalities):
        if is_exhausted(deflated, A):
            break
        V[:, i] = component(deflated, k)
        deflated = project_factor(deflated, V[:, i])
    return V


def is_exhausted(deflated: Array, A: Array) -> bool:
    """Whether deflation left nothing of A but rounding."""
    return bool(np.linalg.norm(deflated) <= _EXHAUSTED * np.linalg.norm(A))


def project(S: Array, v: Array) -> Array:
    """(I − vvᵀ)S(I − vvᵀ): S on the complement of v."""
    Sv = S @ v
    outer = np.multiply.outer(Sv, v)
    deflated: Array = S - outer - outer.T + (v @ Sv) * np.multiply.outer(v, v)
    return deflated


def project_factor(A: Array, v: Array) -> Array:
    """A(I − vvᵀ): the same on a factor."""
    deflated: Array = A - np.multiply.outer(A @ v, v)
    return deflated


def hotelling(S: Array, v: Array) -> Array:
    """S − (vᵀSv)vvᵀ. For vectors that are not eigenvectors the result may lose definiteness."""
    deflated: Array = S - (v @ S @ v) * np.multiply.outer(v, v)
    return deflated


def schur(S: Array, v: Array) -> Array:
    """S − Svvᵀ S/(vᵀSv): the covariance that is left when the score of v is known."""
    Sv = S @ v
    variance = float(v @ Sv)
    if variance <= 0:
        return S.copy()
    deflated: Array = S - np.multiply.outer(Sv, Sv) / variance
    return deflated


def residual(A: Array, u: Array, v: Array) -> Array:
    """A − uvᵀ: what a rank-one fit leaves, with the length in either vector."""
    deflated: Array = A - np.multiply.outer(u, v)
    return deflated


class Complement:
    """Orthogonalised projection: what lies outside the span of all components so far."""

    def __init__(self, n_features: int) -> None:
        self._basis = np.empty((n_features, 0))

    def add(self, v: Array) -> None:
        """Take the direction of v that is not in the span yet into it."""
        fresh = self.outside(v)
        length = float(np.linalg.norm(fresh))
        if length > 1e-10 * float(np.linalg.norm(v)):
            self._basis = np.column_stack([self._basis, fresh / length])

    def outside(self, v: Array) -> Array:
        """The part of v outside the span."""
        # Twice is enough: the second pass removes what rounding left of the first.
        for _ in range(2):
            v = v - self._basis @ (self._basis.T @ v)
        return v

    def factor(self, A: Array) -> Array:
        """A with all rows projected on the complement."""
        return A - (A @ self._basis) @ self._basis.T
