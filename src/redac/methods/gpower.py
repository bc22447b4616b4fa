"""GPower, single-unit: one sparse component at a time by a power method on a convex function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from redac.methods.deflation import is_exhausted, project_factor, residual
from redac.methods.gpower_search import L0_PENALTY, L1_PENALTY, ThresholdSearch, Unit
from redac.methods.method_data import MethodData
from redac.methods.pathspca import leading_on_support
from redac.parameters import count
from redac.sources.base import Array


def gpower_l1(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    n_starts: int = 20,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Array:
    """Maximise Σ_i max(|a_iᵀx| − γ, 0)² with ‖x‖ = 1 (Journée, Nesterov, Richtárik and Sepulchre
    2010, single-unit, l1).

    The a_i are the columns of a factor A of S. The threshold γ = ρ·max‖a_i‖ sets the sparsity, and
    is tuned for each component: features with |a_iᵀx| ≤ γ are out. The loadings are those of
    largest variance on the features that stay. Later components are sought on the data projected on
    the complement of the earlier ones.

    The start x is the column of largest norm. Among equally long columns, as in a correlation
    matrix, all are tried in their order, ``n_starts`` at most, and the loadings with the largest
    variance kept (the first of equal ones). Where none of them reaches the cardinality, the
    following columns by length are tried, up to the first that does.

    Choose it for speed on wide data; the l1 form finds supports more smoothly than l0.

    Parameters
    ----------
    n_starts : int, default=20
        Columns to start from for each component, at most.
    tol : float, default=1e-4
        The power method ends when the objective grows by less than this share.
    max_iter : int, default=1000
        Iterations of the power method at most.
    """
    count("n_starts", n_starts, least=1)
    search = ThresholdSearch(L1_PENALTY, n_starts, tol, max_iter)
    return _one_by_one(data, cardinalities, search, _refitted, _projected, "gpower_l1")


def gpower_l0(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    n_starts: int = 20,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Array:
    """Maximise Σ_i max((a_iᵀx)² − γ, 0) with ‖x‖ = 1 (Journée, Nesterov, Richtárik and Sepulchre
    2010, single-unit, l0).

    The a_i are the columns of a factor A of S. The threshold γ = ρ·max‖a_i‖² sets the sparsity, and
    is tuned for each component. The loadings are the products a_iᵀx with squares above γ. Later
    components are sought in what the rank-one fit xzᵀ leaves of A, z being those products before
    they are scaled to length one.

    Starts, and what happens where a cardinality cannot be reached, as in ``gpower_l1``.

    Choose it for speed on wide data when loadings should not be shrunk.

    Parameters
    ----------
    n_starts : int, default=20
        Columns to start from for each component, at most.
    tol : float, default=1e-4
        The power method ends when the objective grows by less than this share.
    max_iter : int, default=1000
        Iterations of the power method at most.
    """
    count("n_starts", n_starts, least=1)
    search = ThresholdSearch(L0_PENALTY, n_starts, tol, max_iter)
    return _one_by_one(data, cardinalities, search, _products, _residual, "gpower_l0")


def _one_by_one(
    data: MethodData,
    cardinalities: Sequence[int],
    search: ThresholdSearch,
    loadings: Callable[[Array, Unit], Array],
    deflate: Callable[[Array, Unit, Array], Array],
    name: str,
) -> Array:
    """Each component on what the earlier ones left."""
    V = np.zeros((data.n_features, len(cardinalities)))
    A = data.A
    for j, k in enumerate(cardinalities):
        if is_exhausted(A, data.A):
            break
        unit = search.best_unit(A, k, loadings, f"{name}, component {j + 1}")
        V[:, j] = loadings(A, unit)
        A = deflate(A, unit, V[:, j])
    return V


def _refitted(A: Array, unit: Unit) -> Array:
    return leading_on_support(A, unit.support)


def _projected(A: Array, unit: Unit, v: Array) -> Array:
    return project_factor(A, v)


def _products(A: Array, unit: Unit) -> Array:
    z = np.zeros(A.shape[1])
    z[unit.support] = A[:, unit.support].T @ unit.x
    return z


def _residual(A: Array, unit: Unit, z: Array) -> Array:
    return residual(A, unit.x, z)
