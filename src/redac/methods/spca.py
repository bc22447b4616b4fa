"""SPCA: sparse PCA as a regression of the principal scores on the features."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from redac.constraints import normalized
from redac.methods.method_data import MethodData
from redac.methods.thresholds import soft, threshold_to
from redac.sources.base import Array

# Sparse coefficients for the correlations of the features with a response, and their number.
Regression = Callable[[Array, int], Array]

# Up to this many features the elastic net is cheap; beyond, its d × d matrix is not worth it.
_MOST_FEATURES_FOR_LARS = 500
_SMALL_RIDGE = 1e-6


def spca(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    ridge: float | None = None,
    tol: float = 1e-3,
    max_iter: int = 200,
) -> Array:
    """Minimise ‖A − ABQᵀ‖² + λΣ‖b_j‖² + Σλ_j‖b_j‖₁ over B and Q with QᵀQ = I (Zou, Hastie and
    Tibshirani 2006).

    For fixed Q every b_j is an elastic net regression of the score Aq_j on the features; for fixed
    B the best Q is the polar factor of SB. The λ_j control sparsity. None is chosen beforehand: the
    regularisation path is followed until k_j coefficients are not zero and left where the next one
    would enter. Components are neither orthogonal nor refitted. Choose it to compare with the
    literature, where it is the usual reference; others explain more variance.

    Parameters
    ----------
    ridge : float or None, default=None
        λ, relative to the mean variance of the features; ``numpy.inf`` turns the regression into
        soft-thresholding of Sq_j, as the authors propose for many more features than samples. None
        means 1e-6 for up to 500 features and ``numpy.inf`` beyond, where a small λ is slow and, on
        gene expressions, explains less.
    tol : float, default=1e-3
        Stop when no loading of the unit-length components changes by more.
    max_iter : int, default=200
        Stop after so many sweeps in any case.
    """
    d = data.n_features
    if ridge is None:
        ridge = _SMALL_RIDGE if d <= _MOST_FEATURES_FOR_LARS else math.inf
    if not ridge >= 0:
        raise ValueError(f"ridge={ridge!r} must not be negative.")
    # The path solver compares with absolute numbers, so the mean variance is made one.
    A = data.A / (math.sqrt(float((data.A**2).sum()) / d) or 1.0)
    regress = _soft_top_k if math.isinf(ridge) else _elastic_net(A.T @ A, ridge)
    Q = data.source.principal_axes(len(cardinalities))[0]
    V = np.full_like(Q, math.inf)
    for _ in range(max_iter):
        previous = V
        correlations = A.T @ (A @ Q)
        B = np.column_stack([regress(correlations[:, j], k) for j, k in enumerate(cardinalities)])
        V = np.column_stack([normalized(b) for b in B.T])
        if np.abs(np.abs(V) - np.abs(previous)).max() < tol:
            break
        left, _, right = np.linalg.svd(A.T @ (A @ B), full_matrices=False)
        Q = left @ right
    return V


def _soft_top_k(w: Array, k: int) -> Array:
    return threshold_to(w, k, soft)


def _elastic_net(S: Array, ridge: float) -> Regression:
    """The elastic net with k non-zeros for the Gram matrix S of the features."""
    gram = S + ridge * np.eye(S.shape[0])

    def regress(correlations: Array, k: int) -> Array:
        steps = k
        while True:
            path = _lasso_path(correlations, gram, steps)
            sizes = np.count_nonzero(path, axis=0)
            # Features that leave the path again cost steps; a path that is over does not grow.
            if sizes.max() >= k or path.shape[1] <= steps or steps > 100 * gram.shape[0]:
                return path[:, int(np.argmax(sizes >= min(k, sizes.max())))]
            steps *= 2

    return regress


def _lasso_path(correlations: Array, gram: Array, steps: int) -> Array:
    """The coefficients at the first knots of a lasso path, one column for each, zero first."""
    with warnings.catch_warnings():
        # The solver warns where a path ends early, as on data of low rank; the caller sees that
        # coefficients are missing.
        warnings.simplefilter("ignore", ConvergenceWarning)
        path: Array = lars_path_gram(
            correlations, gram, n_samples=1, method="lasso", max_iter=steps
        )[2]
    return path
