"""What any constraint is, and what all of them share.

Every update of a loading vector (Theorems 2, 3 and 5 of the paper) answers one question: given w,
which unit vector v of the feasible set makes ⟨w, v⟩ largest? A constraint is therefore a small
immutable object with one working method, ``maximize(w)``, and ``contains(v)`` to check an answer.
``maximize`` of a zero vector is the zero vector: nothing is left to align with, and no direction is
made up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


class Constraint(Protocol):
    """A closed set of unit vectors over which a linear function is easily maximised."""

    def maximize(self, w: Vector) -> Vector:
        """The unit vector of the set with the largest inner product with w; zero for w = 0."""
        ...

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        """Whether v is a unit vector of the set, within ``atol``."""
        ...

    @property
    def free_range(self) -> tuple[float, float] | None:
        """Between which values the entries of a support may move without leaving the set.

        The vector is made a unit vector again afterwards. None where other entries or the length of
        the vector limit an entry.
        """
        ...

    def restricted(self, features: NDArray[np.intp]) -> Constraint:
        """The same set for vectors of these features alone, the entries of all others being zero.

        The constraint itself where it treats all features alike; one that knows its features by
        their numbers must count anew.
        """
        ...


def may_collapse(constraints: Sequence[Constraint]) -> bool:
    """Whether nothing keeps some components sparse when they approach others: l1 bounds do not."""
    return any(constraint.free_range is None for constraint in constraints)


def oriented(start: Matrix, constraints: Sequence[Constraint]) -> Matrix:
    """The start with every column turned to the side on which its set has the closer vector.

    A direction and its opposite are the same component, but not for a set without negative entries.
    """
    start = np.array(start, dtype=np.float64, order="F")
    for i, constraint in enumerate(constraints):
        w = start[:, i]
        v = constraint.maximize(w)
        # A set with −v in it is one for which both sides are equal.
        if not constraint.contains(-v) and constraint.maximize(-w) @ -w > v @ w:
            start[:, i] = -w
    return start


def maximize_curved(constraint: Constraint, w: Vector, curvature: Vector, v: Vector) -> Vector:
    """Unit loadings, up to their length the minimum of Σ a_j x_j² − 2⟨w, x⟩, with curvatures a_j.

    Where the entries of a support move freely, y_j = √a_j x_j is in the same set, as a unit vector,
    and ‖y‖² − 2⟨w/√a, y⟩ is the question that ``maximize`` answers. Otherwise the curvatures
    are raised to the largest one about ``v``, the loadings of now: an upper bound that is exact
    there, so that loadings that lower it lower the sum itself.
    """
    largest_curvature = float(curvature.max(initial=0.0))
    if largest_curvature == 0.0:
        return np.zeros_like(w)
    if constraint.free_range is None:
        return constraint.maximize(w + (largest_curvature - curvature) * v)
    # Only zeros have no curvature, and stay zero whatever they are divided by.
    roots = np.sqrt(np.where(curvature > 0.0, curvature / largest_curvature, 1.0))
    return normalized(constraint.maximize(w / roots) / roots)


def normalized(w: Vector) -> Vector:
    """w/‖w‖₂ without overflow or underflow on the way; zero stays zero."""
    peak = np.abs(w).max() if w.size else 0.0
    if peak == 0.0:
        return np.zeros_like(w)
    scaled = w / peak
    unit: Vector = scaled / math.sqrt(scaled @ scaled)
    return unit


def is_unit(v: Vector, atol: float) -> bool:
    """Whether ‖v‖₂ is one within ``atol``."""
    return abs(math.sqrt(v @ v) - 1.0) <= atol  # not where an entry is infinite or not a number


def largest(magnitudes: Vector, k: int) -> NDArray[np.intp]:
    """Indices of the k largest positive magnitudes; among equal ones those that come first."""
    if k >= magnitudes.size:
        return np.flatnonzero(magnitudes)
    if k <= 0:
        return np.zeros(0, dtype=np.intp)
    split = magnitudes.size - k
    candidates = magnitudes.argpartition(split)[split:]
    threshold = magnitudes[candidates[0]]
    if threshold == 0.0:
        return np.flatnonzero(magnitudes)
    if np.count_nonzero(magnitudes >= threshold) == k:
        return candidates
    above = candidates[magnitudes[candidates] > threshold]
    tied = np.flatnonzero(magnitudes == threshold)[: k - above.size]
    return np.concatenate([above, tied])


def may_enter(constraint: Constraint, support: Indices, size: int) -> Mask | None:
    """For each feature of a support, as rows, which others may take its place.

    None where all may, or where the constraint does not say: then ``contains`` decides.
    """
    told = getattr(constraint, "may_enter", None)
    return None if told is None else told(support, size)


def usable(constraint: Constraint, size: int) -> Mask:
    """Which features a component may have at all; all where the constraint does not say."""
    told = getattr(constraint, "usable", None)
    return np.ones(size, dtype=bool) if told is None else told(size)


def may_join(constraint: Constraint, support: Indices, size: int) -> Mask:
    """Which features may join a support; none where the constraint does not say."""
    told = getattr(constraint, "may_join", None)
    return np.zeros(size, dtype=bool) if told is None else told(support, size)


def required(constraint: Constraint) -> list[int]:
    """The features that have their places in any case."""
    told = getattr(constraint, "required", None)
    return [] if told is None else told()


def limited(constraint: Constraint, count: int) -> Constraint:
    """The vectors of a set with at most so many non-zero entries."""
    if not hasattr(constraint, "at_most"):
        raise ValueError(
            f"{constraint!r} has no exact step with a bound on the number of features."
        )
    fewer: Constraint = constraint.at_most(count)
    return fewer
