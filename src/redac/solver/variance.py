"""Explained variance of a set of components: the one definition of each measure of the package.

Everything is said of an orthonormal basis Q of the components, V = QR, and of M = QᵀSQ. Formulas
with VᵀV would do the same with half of the digits: where components are nearly parallel, as they
often are when features have different units, little would be left. As Q is orthonormal to rounding,
what is explained cannot exceed the total.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, dpotrf

from redac.sources.base import Array, Indices

# A component whose part outside the span of earlier ones is shorter than this depends on them and
# adds nothing. Loadings have sixteen digits, so that at least ten of that part are known.
_DEPENDENT = 1e-6
# No run brings components closer together than this separation. Scores grow with its inverse, and
# their products, from which a sweep knows its objective, still have eleven digits there.
DISTINCT = 1e-5
# Where they are so far apart, VᵀV has nearly all digits that V has.
_WELL_APART = 0.01
# What components add is known to about twelve digits; those that agree to so many are equal.
_TIE = 1e-10
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Basis:
    """An orthonormal basis of components, in their order: V = QR.

    Attributes
    ----------
    Q : one column for each independent component; zero where no component has a loading.
    R : the components in that basis; of dependent ones the part that lies in the span of others.
    independent : which components are not in the span of earlier ones.
    """

    Q: Array
    R: Array
    independent: NDArray[np.bool_]

    @classmethod
    def of(cls, V: Array) -> Basis:
        """The basis of the columns of V, whatever their lengths; columns may be zero."""
        used = np.flatnonzero(V.any(axis=1))
        W, lengths = _unit_columns(V[used])
        independent = lengths > 0.0
        q, R = np.linalg.qr(W[:, independent])
        while (first := _first_dependent(R)) is not None:
            independent[np.flatnonzero(independent)[first]] = False
            q, R = np.linalg.qr(W[:, independent])
        Q = np.zeros((len(V), q.shape[1]))
        Q[used] = q
        if not independent.all():
            R = q.T @ W
        return cls(Q, R * lengths, independent)

    def duals(self, ridge: float = 0.0) -> Array:
        """V(VᵀV + ηI)⁻¹, which turns data into the best scores; without a ridge dependent
        components get none."""
        if ridge > 0.0:
            left, s, right = np.linalg.svd(self.R, full_matrices=False)
            return np.asarray(self.Q @ (left * (s / (s * s + ridge)) @ right))
        duals = np.zeros((len(self.Q), self.independent.size))
        duals[:, self.independent] = self.Q @ np.linalg.inv(self.R[:, self.independent]).T
        return duals


@dataclass(frozen=True)
class Explained:
    """What components explain, in units of S: their basis, and M = QᵀSQ."""

    basis: Basis
    M: Array

    @classmethod
    def of(cls, V: Array, quadratic: Callable[[Array], Array]) -> Explained:
        """Of loadings V, with the function Q ↦ QᵀSQ."""
        basis = Basis.of(V)
        return cls(basis, quadratic(basis.Q))

    @classmethod
    def of_data(cls, V: Array, X: Array) -> Explained:
        """Of loadings V for the centred data X."""
        basis = Basis.of(V)
        scores = X @ basis.Q
        return cls(basis, scores.T @ scores)

    def in_order(self, order: Indices) -> Explained:
        """The same components in another order."""
        basis = Basis.of(self.basis.R[:, order])
        turned = Basis(self.basis.Q @ basis.Q, basis.R, basis.independent)
        return Explained(turned, basis.Q.T @ self.M @ basis.Q)

    def increments(self) -> Array:
        """What each component adds to what those before it explain; the sum is ``together()``."""
        added = np.zeros(self.basis.independent.size)
        added[self.basis.independent] = np.maximum(self.M.diagonal(), 0.0)
        return added

    def together(self, ridge: float = 0.0) -> float:
        """Tr(S V(VᵀV + ηI)⁻¹Vᵀ): the value that the solver maximises."""
        if ridge == 0.0:
            return float(self.increments().sum())
        axes, s, _ = np.linalg.svd(self.basis.R, full_matrices=False)
        shares = s * s / (s * s + ridge)
        return float(shares @ np.maximum((axes * (self.M @ axes)).sum(axis=0), 0.0))

    def noise_by_signal(self, total: float) -> Array:
        """s²/τ_i of each component: the ridge that suits scores which few cells determine.

        s² is the variance that one cell has beside the components, τ_i that of the scores without
        their error. A component that has no more than that is taken to have a hundredth of it.
        """
        r, beside = self.basis.independent.size, len(self.basis.Q) - self.basis.Q.shape[1]
        noise = max(total - self.together(), 0.0) / max(beside, 1)
        ridge = np.ones(r)
        inverse = np.linalg.inv(self.basis.R[:, self.basis.independent])
        spread = (inverse @ self.M @ inverse.T).diagonal()
        signal = np.maximum(spread - noise * (inverse @ inverse.T).diagonal(), 0.01 * spread)
        ridge[self.basis.independent] = noise / np.where(signal > 0.0, signal, 1.0)
        return ridge

    def greedy_order(self) -> Indices:
        """Components sorted by what they add.

        First comes the one that explains most, then the one that adds most to it, and so on.
        """
        rest = self.basis.R / np.where(self.lengths > 0.0, self.lengths, 1.0)
        left, order = list(range(rest.shape[1])), []
        while left:
            squares = (rest * rest).sum(axis=0)
            added = (rest * (self.M @ rest)).sum(axis=0) / np.maximum(squares, _DEPENDENT**2)
            added[squares <= _DEPENDENT**2] = -1.0
            # Of components that are equal but for rounding the first goes first.
            most = added[left].max()
            best = left.pop(int(np.argmax(added[left] >= most - _TIE * abs(most))))
            order.append(best)
            if added[best] >= 0.0:
                axis = rest[:, best] / np.sqrt(squares[best])
                rest -= np.multiply.outer(axis, axis @ rest)
        return np.array(order, dtype=np.intp)

    def adjusted(self) -> Array:
        """Variance of each score that is uncorrelated with the earlier ones:

        R_jj² of XV = QR (Zou, Hastie and Tibshirani).
        """
        values, axes = np.linalg.eigh(self.M)
        scores = np.sqrt(np.maximum(values, 0.0))[:, None] * (axes.T @ self.basis.R)
        basis = Basis.of(scores)
        left = np.zeros(basis.independent.size)
        left[basis.independent] = basis.R[:, basis.independent].diagonal() ** 2
        return left

    def score_correlations(self) -> Array:
        """Correlations of the best scores; those of a component without scores are zero."""
        independent = self.basis.independent
        A = np.linalg.inv(self.basis.R[:, independent])
        covariance = A @ self.M @ A.T
        deviations = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        vary = deviations > _ROUNDING * deviations.max(initial=0.0)
        scale = np.where(vary, deviations, np.inf)
        found = np.eye(independent.size)
        found[np.ix_(independent, independent)] = np.clip(
            covariance / scale / scale[:, None], -1.0, 1.0
        )
        np.fill_diagonal(found, 1.0)
        return found

    def regressed(self, products: Array) -> float:
        """What the scores explain when all features are regressed on them, with products SQ."""
        values, axes = np.linalg.eigh(self.M)
        known = values > _ROUNDING * values.max(initial=0.0)
        along = products @ axes[:, known]
        return float(((along * along).sum(axis=0) / values[known]).sum())

    @property
    def lengths(self) -> Array:
        """The lengths of the components."""
        return np.asarray(np.linalg.norm(self.basis.R, axis=0))


def duals(V: Array, G: Array, ridge: float = 0.0) -> Array:
    """V(VᵀV + ηI)⁻¹, which turns data into the best scores, with G = VᵀV.

    Components that are well apart lose no digits by the short way.
    """
    if len(G) and is_separated(G, _WELL_APART) and G.diagonal().all():
        return np.asarray(V @ np.linalg.inv(G + ridge * np.eye(len(G))))
    return Basis.of(V).duals(ridge)


def together(G: Array, M: Array, ridge: float) -> float | None:
    """Tr(S V(VᵀV + ηI)⁻¹Vᵀ) from G = VᵀV and M = VᵀSV; None for components that are not DISTINCT.

    Faster than ``Explained``, with as many digits as the sweeps have.
    """
    if not is_separated(G, DISTINCT):
        return None
    shifted = G.copy()
    diagonal = shifted.reshape(-1)[:: len(G) + 1]
    diagonal[diagonal == 0.0] = 1.0  # a component that is zero explains nothing
    diagonal += ridge
    return float(np.trace(dposv(shifted.T, M, overwrite_a=True)[1]))


def _unit_columns(V: Array) -> tuple[Array, Array]:
    """The columns as unit vectors, and their lengths, without over- or underflow on the way."""
    peaks = np.abs(V).max(axis=0, initial=0.0)
    W = V / np.where(peaks > 0.0, peaks, 1.0)
    lengths = np.sqrt((W * W).sum(axis=0))
    W /= np.where(lengths > 0.0, lengths, 1.0)
    return W, lengths * peaks


def _first_dependent(R: Array) -> int | None:
    """The first column of a triangular factor, of unit vectors, that earlier ones leave nothing."""
    short = np.ones(R.shape[1], dtype=bool)  # more vectors than dimensions depend on each other
    short[: len(R)] = np.abs(R.diagonal()) <= _DEPENDENT
    return int(np.argmax(short)) if short.any() else None


def separation(V: Array) -> float:
    """Smallest eigenvalue of VᵀV over the components that are not zero:

    1 orthogonal, 0 collapsed.
    """
    live = V[np.ix_(V.any(axis=1), V.any(axis=0))]
    if live.size == 0 or live.shape[1] > live.shape[0]:
        return 0.0
    return float(np.linalg.svd(live, compute_uv=False).min() ** 2)


def is_separated(G: Array, least: float) -> bool:
    """Whether the separation is at least that, but for rounding; faster than to compute it."""
    shifted = G.copy()
    diagonal = shifted.reshape(-1)[:: len(G) + 1]
    # A component that is zero has nothing but zeros beside the diagonal, and is in nobody's way.
    diagonal[diagonal == 0.0] = 1.0 + least
    diagonal -= least - _ROUNDING
    return int(dpotrf(shifted.T, overwrite_a=True)[1]) == 0
