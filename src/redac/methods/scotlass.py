"""SCoTLASS: components with a bound on the l1 norm, exactly orthogonal to each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from redac.constraints import L1, normalized
from redac.methods.deflation import Complement, is_exhausted
from redac.methods.method_data import MethodData
from redac.methods.tuning import cardinality_of, tune_penalty
from redac.sources.base import Array
from redac.sources.spectrum import leading_eigenvectors
from redac.user_line import warn_user

# Steps from one guess of which loadings are zero to the next; mostly a handful do.
_MOST_GUESSES = 30
# Values that agree up to this share are equal.
_ROUNDING = 1e-9
_BISECTIONS = 30
# Axes to start from where the leading one leads to no vector within the bound.
_MOST_STARTS = 10


def scotlass(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    l1_bound: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> Array:
    """Maximise vᵀSv with ‖v‖ = 1 and ‖v‖₁ ≤ t, v orthogonal to the components before it (Jolliffe,
    Trendafilov and Uddin 2003).

    vᵀSv is bounded from below by its tangent, and the best v for the tangent is found exactly, in
    turn, from the leading eigenvector outside the span of the earlier components on; the objective
    never falls. (The authors follow a projected gradient instead.) The bound t is tuned for each
    component. A small cardinality may be out of reach: i − 1 earlier components leave hardly any
    vector with fewer than i entries. Then the closest one is taken, with a warning.

    Choose it when components must be orthogonal; loadings are shrunk.

    Parameters
    ----------
    l1_bound : float or None, default=None
        t for all components, as in the paper. With a number the cardinalities are whatever comes
        out. A component is zero, with a warning, where no vector within the bound is found.
    tol : float, default=1e-6
        The iteration ends when v moves by less than this.
    max_iter : int, default=200
        Iterations for each bound at most.
    """
    if l1_bound is not None and not l1_bound >= 1:
        raise ValueError(f"l1_bound={l1_bound!r} must be 1 or more: no unit vector has less.")
    V = np.zeros((data.n_features, len(cardinalities)))
    found = Complement(data.n_features)
    for i, k in enumerate(cardinalities):
        outside = found.factor(data.A)
        if is_exhausted(outside, data.A):
            break
        ascent = Ascension(data.A, V[:, :i][:, V[:, :i].any(axis=0)], tol, max_iter)
        what = f"scotlass, component {i + 1}"
        if l1_bound is None:
            V[:, i] = _with_cardinality(ascent, k, _axes(outside, 1)[:, 0], what)
        else:
            V[:, i] = within(ascent, l1_bound, _axes(outside, _MOST_STARTS), what)
        if V[:, i].any():
            found.add(V[:, i])
    return V


def _axes(A: Array, count: int) -> Array:
    """The leading right singular vectors."""
    if A.shape[0] >= A.shape[1]:
        return leading_eigenvectors(A.T @ A, min(count, A.shape[1]))[0]
    scores = leading_eigenvectors(A @ A.T, min(count, A.shape[0]))[0]
    return np.column_stack([normalized(v) for v in (A.T @ scores).T])


def _with_cardinality(ascent: Ascension, k: int, start: Array, what: str) -> Array:
    return tune_penalty(
        lambda penalty: ascent.end(start, -penalty),
        k,
        low=-math.sqrt(start.size),
        high=-1.0,
        count=cardinality_of,
        what=what,
        max_solves=_BISECTIONS,
    )


def within(ascent: Ascension, bound: float, starts: Array, what: str) -> Array:
    """The component from the first start that leads to one within the bound."""
    for start in starts.T:
        v = ascent.end(start, bound)
        if v.any() and float(np.abs(v).sum()) <= bound * (1 + _ROUNDING):
            return v
    warn_user(
        f"{what}: found no unit vector with l1_bound={bound:g} that is orthogonal to the "
        "components before it; it is zero. Give a larger bound or ask for fewer components.",
        ConvergenceWarning,
    )
    return np.zeros(len(starts))


@dataclass(frozen=True)
class Ascension:
    """The way to a local optimum beside earlier components V."""

    A: Array
    V: Array
    tol: float
    max_iter: int

    def end(self, v: Array, bound: float) -> Array:
        """Where the steps lead from v: a unit vector orthogonal to V.

        Its l1 norm is above the bound only where the best vectors for the tangents have a length
        below one, and are scaled to it.
        """
        for _ in range(self.max_iter):
            moved = best_orthogonal(self.A.T @ (self.A @ v), bound, self.V)
            if not moved.any():
                break
            before, v = v, normalized(moved)
            if float(np.linalg.norm(v - before)) < self.tol:
                break
        return v


def best_orthogonal(w: Array, bound: float, V: Array) -> Array:
    """The vector with the largest inner product with w among those with ‖v‖ ≤ 1, ‖v‖₁ ≤ bound and
    Vᵀv = 0.

    Mostly its length is one. Then it is w − Vμ, soft-thresholded by θ and scaled. Which entries are
    zero, and the signs of the others, is guessed; μ and θ then follow, and a new guess from them.
    Otherwise it solves the linear program without the bound on its length. Zero if neither is found
    to rounding.
    """
    if V.shape[1] == 0:
        return L1(bound).maximize(w)
    peak = float(np.abs(w).max(initial=0.0))
    if peak == 0.0:
        return np.zeros_like(w)
    w = w / peak
    v = _by_guessing(w, bound, V)
    return _by_linear_program(w, bound, V) if v is None else v


def _by_guessing(w: Array, bound: float, V: Array) -> Array | None:
    active = np.ones(w.size, dtype=bool)
    signs = np.where(w < 0, -1.0, 1.0)
    for _ in range(_MOST_GUESSES):
        guess = _on_support(w, bound, V, active, signs)
        if guess is None:
            return None
        shifted, theta = guess
        beyond = np.abs(shifted) > theta
        new_signs = np.where(shifted < 0, -1.0, 1.0)
        if (beyond == active).all() and (new_signs == signs)[active].all():
            return normalized(np.where(active, shifted - theta * signs, 0.0))
        active, signs = beyond, new_signs
    return None


def _on_support(
    w: Array, bound: float, V: Array, active: Array, signs: Array
) -> tuple[Array, float] | None:
    """w − Vμ and θ, such that (w − Vμ − θs) on the support is orthogonal to V and meets the bound.

    With a and b for w and s outside the span of V on the support, that is sᵀ(a − θb) = t‖a − θb‖.
    """
    B = V[active]
    coefficients = np.linalg.lstsq(B, np.column_stack([w, signs])[active], rcond=None)[0]
    rest = np.column_stack([w, signs])[active] - B @ coefficients
    a, b = rest.T
    aa, ab, bb = float(a @ a), float(a @ b), float(b @ b)
    if aa <= _ROUNDING**2:
        return None
    theta = 0.0
    if ab > bound * math.sqrt(aa) * (1 + _ROUNDING):
        # The part of a − θb across b does not depend on θ; it says how long the one along b is.
        across = math.sqrt(max(aa - ab * ab / bb, 0.0))
        along = bound * across / math.sqrt(max(bb - bound * bound, _ROUNDING))
        theta = (ab - along * math.sqrt(bb)) / bb
    mu = coefficients[:, 0] - theta * coefficients[:, 1]
    return w - V @ mu, theta


def _by_linear_program(w: Array, bound: float, V: Array) -> Array:
    """The maximum of ⟨w, v⟩ over ‖v‖₁ ≤ bound and Vᵀv = 0, if it is no longer than one."""
    found = linprog(
        np.concatenate([-w, w]),  # v as a difference of nonnegative vectors
        A_ub=np.ones((1, 2 * w.size)),
        b_ub=[bound],
        A_eq=np.hstack([V.T, -V.T]),
        b_eq=np.zeros(V.shape[1]),
    )
    if found.x is None:
        return np.zeros_like(w)
    v: Array = found.x[: w.size] - found.x[w.size :]
    return v if float(np.linalg.norm(v)) <= 1 + _ROUNDING else np.zeros_like(w)
