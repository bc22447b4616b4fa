"""ReDaC in the shape of the comparison methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from redac.constraints import L0, Constraint, Nonnegative, Vector, is_unit, normalized
from redac.methods.method_data import MethodData
from redac.methods.thresholds import soft, threshold_to
from redac.model.callbacks import Silent
from redac.parameters import start_count
from redac.solver.problem import Problem
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.solver.sweep import Status
from redac.sources.base import Array, Indices


@dataclass(frozen=True)
class SoftTopK:
    """Soft-thresholding that leaves k entries: Theorem 3 with the largest bound t that does so.

    The threshold is the (k + 1)-th largest magnitude, or the next smaller one where the two tie;
    the l1 bound is then whatever the result has.
    """

    cardinality: int

    def maximize(self, w: Vector) -> Vector:
        return normalized(threshold_to(w, self.cardinality, soft))

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return is_unit(v, atol) and int(np.count_nonzero(v)) <= self.cardinality

    @property
    def free_range(self) -> tuple[float, float] | None:
        return None

    def restricted(self, features: Indices) -> SoftTopK:
        return self


def redac_l0(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    rng: np.random.RandomState,
    n_init: Any = "auto",
) -> Array:
    """Minimise ‖X − UVᵀ‖² with ‖v_i‖₀ ≤ k_i (Zhao, Meng and Xu, Algorithm 1 with p = 0).

    The cardinality is a constraint and is met as it is. Choose it unless there is a reason not to.
    """
    return _solve(data, [L0(k) for k in cardinalities], rng, n_init)


def redac_l1(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    rng: np.random.RandomState,
    n_init: Any = "auto",
) -> Array:
    """Minimise ‖X − UVᵀ‖² with ‖v_i‖₁ ≤ t_i (Algorithm 1 with p = 1), t_i such that k_i entries
    stay.

    Choose it when small loadings should be shrunk rather than cut.
    """
    return _solve(data, [SoftTopK(k) for k in cardinalities], rng, n_init)


def redac_l0_nonnegative(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    rng: np.random.RandomState,
    n_init: Any = "auto",
) -> Array:
    """The same as ``redac_l0`` with v_i ⪰ 0 (Algorithm 2 with p = 0).

    Choose it when loadings are amounts, such as weights of a portfolio or parts of a picture.
    """
    return _solve(data, [Nonnegative(L0(k)) for k in cardinalities], rng, n_init)


def redac_l1_nonnegative(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    rng: np.random.RandomState,
    n_init: Any = "auto",
) -> Array:
    """The same as ``redac_l1`` with v_i ⪰ 0 (Algorithm 2 with p = 1).

    Choose it when loadings are amounts and small ones should be shrunk rather than cut.
    """
    return _solve(data, [Nonnegative(SoftTopK(k)) for k in cardinalities], rng, n_init)


def _solve(
    data: MethodData, constraints: Sequence[Constraint], rng: np.random.RandomState, n_init: Any
) -> Array:
    problem = Problem(data.source, constraints)
    search = Search(problem, Silent())
    starts = Starts(problem, rng)
    count = start_count(n_init, starts.usual_count("pca"))
    search.try_starts(starts.sequence("pca", count), automatic=n_init == "auto")
    if search.found.status is Status.INTERRUPTED:  # half a run would not be this method
        raise KeyboardInterrupt
    return search.found.V
