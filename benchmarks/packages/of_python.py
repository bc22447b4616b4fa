"""Packages of Python; ``python -m pip install --no-deps --group bench`` installs those of PyPI."""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import MiniBatchSparsePCA
from sklearn.decomposition import SparsePCA as SklearnSparsePCA

from benchmarks.packages.package import Array, CannotFitError, Package, timed
from redac import SparsePCA

_SEED = 0


def abess_components(X: Any, r: int, k: int) -> Array:
    """Best subset selection by splicing, k features for each component."""
    if X.shape[0] < X.shape[1]:
        raise CannotFitError("returns ones for n < d")
    from abess.decomposition import SparsePCA as AbessSparsePCA

    # A one in row k − 1 asks for k non-zeros. An integer, which abess 0.4.11 accepts as well, makes
    # it ask for all memory when there is more than one component.
    sizes = np.zeros((k, r), dtype=int)
    sizes[-1] = 1
    model = AbessSparsePCA(support_size=sizes).fit(X, number=r)
    return np.atleast_2d(model.coef_.T)


def _abess(X: Array, r: int, k: float) -> tuple[Array, float]:
    return timed(lambda: abess_components(X, r, int(k)))


def _redac(X: Array, r: int, k: float) -> tuple[Array, float]:
    return timed(lambda: SparsePCA(r, cardinality=int(k)).fit(X).components_)


def _sklearn(kind: Any, X: Array, r: int, alpha: float) -> tuple[Array, float]:
    return timed(lambda: kind(r, alpha=alpha, random_state=_SEED).fit(X).components_)


def _sparsepca(X: Array, r: int, penalty: float) -> tuple[Array, float]:
    from sparsepca import spca

    def fit() -> Array:
        # Its own start takes rows of the right singular vectors for columns. With the ridge of its
        # example, 1, it explains less than with one of the size of the features; with an infinite
        # one, which soft thresholds are, version 0.2.3 does not converge.
        axes = np.linalg.svd(X, full_matrices=False)[2][:r].T
        penalties = np.full((r, 1), penalty)
        found = spca(X, penalties, float(X.shape[0]), x0=axes, y0=axes, k=r, normalize=False)
        return np.asarray(found["loadings"]).T

    return timed(fit)


def _first_alpha(X: Array, r: int, k: int) -> float:
    """The penalty that would leave r k of the loadings of PCA, scaled by the singular values."""
    _, values, axes = np.linalg.svd(X, full_matrices=False)
    return float(np.sort(np.abs(values[:r, None] * axes[:r]), axis=None)[-r * k])


def _first_lambda(X: Array, r: int, k: int) -> float:
    """The same in squares: its penalty stands beside twice the squared singular values."""
    return float(np.linalg.norm(X, 2)) * _first_alpha(X, r, k)


def _not_installed(module: str) -> str | None:
    if importlib.util.find_spec(module) is not None:
        return None
    return f"not installed (python -m pip install --no-deps {module})"


PACKAGES = (
    Package("redac SparsePCA", "same cardinality", _redac, partial(_not_installed, "redac")),
    Package(
        "scikit-learn SparsePCA",
        "total cardinality",
        partial(_sklearn, SklearnSparsePCA),
        partial(_not_installed, "sklearn"),
        _first_alpha,
    ),
    Package(
        "scikit-learn MiniBatchSparsePCA",
        "total cardinality",
        partial(_sklearn, MiniBatchSparsePCA),
        partial(_not_installed, "sklearn"),
        _first_alpha,
    ),
    Package("abess SparsePCA", "same cardinality", _abess, partial(_not_installed, "abess")),
    Package(
        "sparsepca spca (PyPI)",
        "total cardinality",
        _sparsepca,
        partial(_not_installed, "sparsepca"),
        _first_lambda,
    ),
)
