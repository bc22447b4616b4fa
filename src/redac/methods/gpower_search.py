"""What the forms of GPower share: penalties, the power method, and the search for a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from redac.constraints import normalized
from redac.exceptions import CardinalityWarning
from redac.methods.pathspca import first_largest
from redac.methods.tuning import closest, search_penalty
from redac.sources.base import Array, Indices
from redac.user_line import warn_user

# Iterations before the first look at the gain; the first few can be small without convergence.
FIRST_CHECK = 3

# Columns whose lengths differ by less than this are equally good starts: the rest is rounding.
_TIE = 1e-9

# Thresholds that are tried from one start: the bracket shrinks by 2⁻³⁰.
_SOLVES = 30


@dataclass(frozen=True)
class Penalty:
    """What a loading costs. Both penalties set the small products of x with the columns to zero.

    Attributes
    ----------
    shrink : the products a_iᵀx that a threshold leaves, which weigh the columns in the gradient.
    cost : of the threshold squared, what a non-zero product costs. The value of the objective is
        Σ w_i² − cost · t² · #{w_i ≠ 0} for products w_i after shrinking.
    """

    shrink: Callable[[Array, float], Array]
    cost: float

    def value(self, weights: Array, threshold: float) -> Array:
        """The objective for each column of weights."""
        squares = np.einsum("i...,i...->...", weights, weights)
        value: Array = squares - self.cost * threshold**2 * np.count_nonzero(weights, axis=0)
        return value


def _soft(products: Array, threshold: float) -> Array:
    return np.copysign(np.maximum(np.abs(products) - threshold, 0.0), products)


def _hard(products: Array, threshold: float) -> Array:
    return np.where(np.abs(products) > threshold, products, 0.0)


L1_PENALTY = Penalty(_soft, cost=0.0)
L0_PENALTY = Penalty(_hard, cost=1.0)


@dataclass(frozen=True)
class Unit:
    """Where the power method ended: the unit vector x and the columns that are active there."""

    x: Array
    support: Indices


@dataclass(frozen=True)
class ThresholdSearch:
    """The search for a component with k loadings: over thresholds, and over starts."""

    penalty: Penalty
    n_starts: int
    tol: float
    max_iter: int

    def best_unit(
        self, A: Array, k: int, loadings: Callable[[Array, Unit], Array], what: str
    ) -> Unit:
        """Of the units with k active columns, the one whose loadings have the largest variance."""
        found: list[Unit] = []
        missed: list[Unit] = []
        for column, is_longest in _starts(A, self.n_starts):
            if found and not is_longest:
                break
            unit = self._tuned(A, k, normalized(A[:, column]))
            (found if unit.support.size == k else missed).append(unit)
        if not found:
            return _settled(missed, k, what)
        variances = [np.square(A @ normalized(loadings(A, unit))).sum() for unit in found]
        return found[first_largest(np.array(variances))]

    def _tuned(self, A: Array, k: int, x: Array) -> Unit:
        """The unit with k active columns from x, or one close to it."""
        unit = self._bisected(A, k, x, go_on=False)
        size = 0
        # From a fixed start the maximum that is reached may jump with the threshold, past k. Then
        # the search is taken up from the sparser side of the jump, and from one maximum to the
        # next, which stays with a maximum as long as there is one.
        while size < unit.support.size < k:
            size = unit.support.size
            for go_on in (False, True):
                if unit.support.size < k:
                    unit = self._bisected(A, k, unit.x, go_on=go_on)
        return unit

    def _bisected(self, A: Array, k: int, x: Array, *, go_on: bool) -> Unit:
        """Tuned by bisection, always from x or from one maximum to the next."""
        lengths = np.linalg.norm(A, axis=0)

        def solve(threshold: float) -> Unit:
            nonlocal x
            # |a_iᵀx| ≤ ‖a_i‖: shorter columns are never active, and need not be looked at.
            alive = np.flatnonzero(lengths > threshold)
            unit = ascend(A[:, alive], x, threshold, self.penalty, self.tol, self.max_iter)
            if go_on and unit.support.size > 0:
                x = unit.x
            return Unit(unit.x, alive[unit.support])

        # Another start may do where this one does not; if none does, one warning says so.
        longest = float(np.abs(A.T @ x).max())
        tried = search_penalty(solve, k, low=0.0, high=longest, count=_size, max_solves=_SOLVES)
        return closest(tried, k, _size)


def _size(unit: Unit) -> int:
    return int(unit.support.size)


def _starts(A: Array, n_starts: int) -> Iterator[tuple[int, bool]]:
    """Columns by decreasing length, equal ones by index; with each, whether none is longer."""
    lengths = np.linalg.norm(A, axis=0)
    top = float(lengths.max())
    # Rounded to the tolerance, equal lengths are equal numbers and a stable sort is enough.
    order = np.argsort(-np.round(lengths / (_TIE * top)), kind="stable")
    for column in order[:n_starts]:
        if lengths[column] > 0:
            yield int(column), bool(lengths[column] >= (1 - _TIE) * top)


def _settled(missed: Sequence[Unit], k: int, what: str) -> Unit:
    """The densest unit below k active columns; if there is none, the sparsest above."""
    sizes = [unit.support.size for unit in missed]
    below = [size for size in sizes if 0 < size < k]
    size = max(below) if below else min(sizes)
    warn_user(
        f"{what}: no penalty found that gives {k} non-zero loadings; settled for {size}.",
        CardinalityWarning,
    )
    return missed[sizes.index(size)]


def ascend(
    A: Array, x: Array, threshold: float, penalty: Penalty, tol: float, max_iter: int
) -> Unit:
    """A local maximum of the penalised objective from x, by the power method.

    The objective is convex in x, so moving to the normalised gradient never lowers it.
    """
    weights = penalty.shrink(A.T @ x, threshold)
    value = float(penalty.value(weights, threshold))
    for iteration in range(max_iter):
        if not weights.any():
            break
        x = normalized(A @ weights)
        weights = penalty.shrink(A.T @ x, threshold)
        before, value = value, float(penalty.value(weights, threshold))
        if iteration >= FIRST_CHECK and value - before <= tol * value:
            break
    return Unit(x, np.flatnonzero(weights))
