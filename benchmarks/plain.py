"""Algorithms 1 and 2 in plain NumPy, on X as the paper states them: a contestant and a reference.

E_i = X − Σ_{j≠i} u_j v_jᵀ is applied, not formed; nothing else is done for speed. The code shares
nothing with the package, so that it can judge it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.decomposition import PCA

from benchmarks.cases import Sparsity

Array = NDArray[np.float64]
_BISECTIONS = 60
_ROUNDING = 1e-9


class PlainRedac:
    """The iterate (U, V) of the paper on centred data.

    With ``least_separation``, loadings that bring components closer together than that, and closer
    than they are, are not taken; the scores are.
    """

    def __init__(self, X: Any, V: Array, sparsity: Sparsity, least_separation: float = 0.0) -> None:
        self.mean = np.asarray(X.mean(axis=0)).ravel()
        # Sparse data keep their zeros; the mean is subtracted from the products.
        self.X = X if issparse(X) else X - self.mean
        self.shift = self.mean if issparse(X) else np.zeros_like(self.mean)
        self.sparsity = sparsity
        self.least_separation = least_separation
        self._has_swept = False
        self.total = _scatter(self.X, self.shift)
        self.V = V.copy()
        self.U = self._left(self.V) @ np.linalg.pinv(V.T @ V)

    def _left(self, V: Array) -> Array:
        return np.asarray(self.X @ V - self.shift @ V)

    def _right(self, u: Array) -> Array:
        return np.asarray(self.X.T @ u - self.shift * u.sum())

    def sweep(self) -> None:
        """Steps 3 to 7 of Algorithm 1."""
        for i in range(self.V.shape[1]):
            others = np.arange(self.V.shape[1]) != i
            U, V = self.U[:, others], self.V[:, others]
            u = self.U[:, i]
            v = maximize(self._right(u) - V @ (U.T @ u), self.sparsity)
            if self._may_take(i, v):
                self.V[:, i] = v
            v = self.V[:, i]
            self.U[:, i] = self._left(v) - U @ (V.T @ v)
        self._has_swept = True

    def _may_take(self, i: int, v: Array) -> bool:
        """A start is mostly not sparse: what replaces it is taken."""
        if self.least_separation == 0.0 or not (
            self._has_swept or _meets_bound(self.V, self.sparsity)
        ):
            return True
        changed = self.V.copy()
        changed[:, i] = v
        least = min(self.least_separation, _separation(self.V))
        return _separation(changed) >= least - _ROUNDING

    def objective(self) -> float:
        """‖X − UVᵀ‖²/‖X‖², without forming the residual."""
        cross = np.vdot(self._left(self.V), self.U)
        fitted = np.vdot(self.U.T @ self.U, self.V.T @ self.V)
        return float(1.0 - (2.0 * cross - fitted) / self.total)

    def run(self, *, max_sweeps: int = 1000, tol: float = 1e-7) -> int:
        """Sweep until one gains no more than ``tol`` of the variance; the number of sweeps."""
        before = np.inf
        for number in range(1, max_sweeps + 1):
            self.sweep()
            after = self.objective()
            if before - after <= tol:
                return number
            before = after
        return max_sweeps


def maximize(w: Array, sparsity: Sparsity) -> Array:
    """The unit vector of the set with the largest inner product with w."""
    if sparsity.nonnegative:
        if not (w > 0).any():
            return np.asarray(np.arange(w.size) == np.argmax(w), dtype=np.float64)
        w = np.maximum(w, 0.0)
    if sparsity.cardinality is not None:
        if sparsity.cardinality < w.size:
            kept = np.argpartition(-np.abs(w), sparsity.cardinality)[: sparsity.cardinality]
            w = np.where(np.isin(np.arange(w.size), kept), w, 0.0)
    elif sparsity.l1_bound is not None:
        w = _shrunk(w, sparsity.l1_bound)
    length = np.linalg.norm(w)
    return w / length if length > 0 else w


def _shrunk(w: Array, bound: float) -> Array:
    """w soft-thresholded by the least amount, found by bisection, that meets the l1 bound."""
    magnitudes = np.abs(w)
    low, high = 0.0, float(magnitudes.max())
    if magnitudes.sum() <= bound * np.linalg.norm(w):
        return w
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        left = np.maximum(magnitudes - middle, 0.0)
        if left.sum() > bound * np.linalg.norm(left):
            low = middle
        else:
            high = middle
    left = np.maximum(magnitudes - high, 0.0)
    return np.sign(w) * left if left.any() else w * (magnitudes == magnitudes.max())


def _separation(V: Array) -> float:
    """The smallest eigenvalue of VᵀV."""
    return float(np.linalg.svd(V, compute_uv=False)[-1] ** 2)


def _meets_bound(V: Array, sparsity: Sparsity) -> bool:
    """Whether all columns meet the bound on the l1 norm, as components do and axes do not."""
    bound = np.inf if sparsity.l1_bound is None else sparsity.l1_bound
    return bool((np.abs(V).sum(axis=0) <= bound * (1 + _ROUNDING)).all())


def principal_start(X: Any, r: int, sparsity: Sparsity) -> Array:
    """The principal axes (d × r), each turned to the side where the set has the closer vector."""
    V = _axes(X, r)
    for i in range(r):
        ahead, behind = maximize(V[:, i], sparsity), maximize(-V[:, i], sparsity)
        if behind @ -V[:, i] > ahead @ V[:, i]:
            V[:, i] *= -1
    return V


def _axes(X: Any, r: int) -> Array:
    """Exactly, through the smaller Gram matrix; of sparse data by ARPACK."""
    if issparse(X):
        axes = PCA(r, svd_solver="arpack", random_state=0).fit(X).components_.T
        return np.array(axes, dtype=np.float64)
    centred = X - X.mean(axis=0)
    n, d = X.shape
    if d <= n:
        return np.array(eigh(centred.T @ centred, subset_by_index=(d - r, d - 1))[1][:, ::-1])
    left = eigh(centred @ centred.T, subset_by_index=(n - r, n - 1))[1][:, ::-1]
    axes = centred.T @ left
    return np.array(axes / np.linalg.norm(axes, axis=0))


def _scatter(X: Any, shift: Array) -> float:
    if issparse(X):
        return float((X.data**2).sum() - X.shape[0] * (shift**2).sum())
    return float(np.vdot(X, X))


def square_root(X: Array) -> Array:
    """A matrix of d + 1 rows with the scatter matrix of X: the same iterates at less cost if n > d.

    Its columns have no mean, so it can stand in for the data.
    """
    centred = X - X.mean(axis=0)
    values, vectors = eigh(centred.T @ centred)
    rows = values.size + 1
    root: Array = np.zeros((rows, values.size))
    root[:-1] = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    # The reflection that takes the last axis, along which the root is zero, to the vector of ones.
    normal = np.full(rows, -1.0 / np.sqrt(rows))
    normal[-1] += 1.0
    root -= np.outer(normal, (2.0 / (normal @ normal)) * (normal @ root))
    return root
