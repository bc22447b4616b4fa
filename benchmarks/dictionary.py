"""The iterates of scikit-learn's SparsePCA at a small part of their cost, to find penalties with.

SparsePCA minimises ½‖X − UV‖² + α‖V‖₁ with rows v of V and columns u of U of norm at most one: in
turn V, one lasso for each feature, and the columns of U one after the other. Here all lassos are
solved together by coordinate descent, and where there are more samples than features the data are
replaced by a square root of their scatter matrix. Neither changes an iterate. Only scikit-learn
itself is ever timed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

Array = NDArray[np.float64]
_MOST_CYCLES = 500
_ACCURACY = 1e-7  # of a lasso, as a share of the penalty
_UNUSED = 1e-6  # SparsePCA replaces a component of a lower sum of squares by a random sample


class QuickSparsePCA:
    """The default SparsePCA on some data, for any penalty."""

    def __init__(self, X: Any, r: int) -> None:
        self.data, self._axes = _compressed(X - X.mean(axis=0), r)
        self.total = float(np.vdot(self.data, self.data))
        self.r = r

    def scores(self) -> Array:
        """The loadings of PCA, not scaled: penalties are of their size."""
        return np.abs(self.data.T @ self._axes)

    def fit(self, alpha: float, *, max_iter: int = 1000, tol: float = 1e-8) -> tuple[Array, int]:
        """The loadings (d × r, not scaled) and the number of iterations."""
        # Like SparsePCA, start from columns that are as long as the singular values.
        U = self._axes * np.linalg.norm(self.data.T @ self._axes, axis=0)
        V = np.zeros((self.data.shape[1], self.r))
        before, iteration = np.inf, 0
        while iteration < max_iter:
            iteration += 1
            V = lassos(self.data.T @ U, U.T @ U, alpha, V)
            projected, squares = self.data @ V, V.T @ V
            _update(U, projected, squares)
            cost = 0.5 * (self.total - 2.0 * np.vdot(projected, U) + np.vdot(squares, U.T @ U))
            cost += alpha * float(np.abs(V).sum())
            if before - cost < tol * cost:
                break
            before = cost
        return V, iteration

    def nonzeros(self, alpha: float, **options: Any) -> int:
        """How many loadings are not zero at a penalty."""
        return int(np.count_nonzero(self.fit(alpha, **options)[0]))


def lassos(scores: Array, gram: Array, alpha: float, V: Array) -> Array:
    """The minima of ½ vᵀGv − sᵀv + α‖v‖₁ for all rows s of the scores, from the rows of V."""
    found = np.zeros_like(V)
    # Where no score exceeds the penalty the minimum is zero.
    rows = np.flatnonzero(np.abs(scores).max(axis=1) > alpha)
    scores, V = np.asfortranarray(scores[rows]), np.asfortranarray(V[rows])
    for _ in range(_MOST_CYCLES):
        change = 0.0
        for i in np.flatnonzero(gram.diagonal() > 0.0):
            left = scores[:, i] - V @ gram[:, i] + gram[i, i] * V[:, i]
            new = (left - np.clip(left, -alpha, alpha)) / gram[i, i]
            change = max(change, float(np.abs(new - V[:, i]).max(initial=0.0)))
            V[:, i] = new
        if change <= _ACCURACY * alpha:
            break
    found[rows] = V
    return found


def _update(U: Array, projected: Array, squares: Array) -> None:
    """The columns of U in turn, in place; those of components without loadings stay."""
    for i in range(U.shape[1]):
        if squares[i, i] > _UNUSED:
            U[:, i] += (projected[:, i] - U @ squares[:, i]) / squares[i, i]
        U[:, i] /= max(float(np.linalg.norm(U[:, i])), 1.0)


def _compressed(centred: Array, r: int) -> tuple[Array, Array]:
    """Data of at most d rows with the same scatter matrix, and their left singular vectors."""
    n, d = centred.shape
    if n <= d:
        return centred, eigh(centred @ centred.T, subset_by_index=(n - r, n - 1))[1][:, ::-1]
    values, vectors = eigh(centred.T @ centred)
    root = np.sqrt(np.maximum(values[::-1], 0.0))[:, None] * vectors.T[::-1]
    return root, np.eye(d, r)
