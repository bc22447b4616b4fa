"""The state of the algorithm, and its one step: new loadings for a component, then new scores.

The paper alternates, for i = 1, …, r, the closed-form updates v_i = argmax ⟨E_iᵀu_i, v⟩ and u_i =
E_i v_i with E_i = X − Σ_{j≠i} u_j v_jᵀ. The residual E_i is never formed. With P = UᵀU and c =
Vᵀv_i (c_i = 0),

    w   = E_iᵀu_i = Xᵀu_i − Σ_{j≠i} v_j P_ji
    u_i ← E_i v_i = X v_i − U c

which is all there is to do where X has few rows (``Scored``). Otherwise neither X nor U is needed:
b_i = Xᵀu_i stands for the scores (``Correlated``), and one product S v_i, on the few columns of S
that v_i touches, is all that is asked of the data:

    b_i  ← Xᵀ(E_i v_i) = S v_i − B c
    P_ji ← u_jᵀ(E_i v_i) = b_jᵀv_i − Σ_{l≠i} P_jl c_l

Both make the paper's own iterates to rounding. A ridge η on U, min ‖X − UVᵀ‖² + η‖U‖², divides the
new u_i by 1 + η and changes nothing else. A least separation of the components, which the paper
does not have, refuses a new v_i that is too close to the others: the component keeps its loadings
and only u_i is brought up to date, so the objective still never rises. It is never zero: scores of
components that are parallel but for rounding are rounding too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redac.constraints import Constraint, usable
from redac.solver import variance
from redac.sources.base import Array, Indices, Source

# A component whose scores carry less than this share of the total variance is rounding noise, not a
# component.
NOISE = 1e-13
# The set of a component beside columns of V that are marked.
Allowed = Callable[[int, Array, NDArray[np.bool_]], Constraint]


class _Loadings(NamedTuple):
    """Loadings v by their support and what is on it, with what they have to do with the state."""

    v: Array
    support: Indices
    x: Array
    c: Array  # Vᵀv
    products: Array  # Bᵀv where it comes with Vᵀv for nothing, or empty


class Iterate(ABC):
    """The loadings V, with G = VᵀV, and scores in some form: what all kinds of data share."""

    V: Array

    def __init__(self, start: Array, diagonal: Array, total: float) -> None:
        self.diagonal = diagonal
        self.total = total
        self.r = start.shape[1]
        self.G = start.T @ start
        self.least_separation = variance.DISTINCT
        # Which components have loadings that they can keep; those of a start mostly are not sparse.
        self._placed = np.zeros(self.r, dtype=bool)

    @abstractmethod
    def objective(self) -> float:
        """What the updates lower, as a share of ‖X‖²."""

    @abstractmethod
    def has_scores(self, i: int) -> bool:
        """Whether the scores of component i are more than rounding noise."""

    @abstractmethod
    def _prepare_sweep(self) -> None:
        """What all updates of a sweep need."""

    def _end_sweep(self) -> None:
        """What follows the updates of a sweep."""
        return

    def _choose(self, i: int, constraint: Constraint, w: Array) -> Array:
        """The best loadings of component i, with w from ``_direction``."""
        return constraint.maximize(w)

    @abstractmethod
    def _residual(self) -> Array:
        """What is left of the variance of each feature."""

    @abstractmethod
    def _direction_from(self, i: int, j: int) -> Array:
        """E_iᵀ of what is left of feature j, for a component i that is zero."""

    @abstractmethod
    def _direction(self, i: int) -> Array:
        """E_iᵀu_i."""

    @abstractmethod
    def _seen(self, support: Indices, x: Array) -> Array:
        """Vᵀv, and behind it Bᵀv where it comes with it for nothing."""

    @abstractmethod
    def _rescore(self, i: int, new: _Loadings) -> None:
        """Give component i the scores that fit its loadings best, with P and u_iᵀXv_i."""

    def keep_apart(self, least_separation: float, allowed: Allowed) -> bool:
        """From now on no update may bring components closer together than that.

        Whether the loadings are feasible as they are: in their sets, or zero, and so far apart.
        """
        self.least_separation = max(least_separation, variance.DISTINCT)
        inside = self._inside(allowed)
        if inside.all() and variance.is_separated(self.G, self.least_separation):
            self._placed[:] = True
        else:
            for i in np.flatnonzero(inside).tolist():
                self._placed[i] = self._is_apart(i, self._loadings(self.V[:, i]))
        return bool((self._placed | ~self.V.any(axis=0)).all())

    def _inside(self, allowed: Allowed) -> NDArray[np.bool_]:
        """Which components are in their sets, one after the other: mostly not those of a start."""
        inside = np.zeros(self.r, dtype=bool)
        for i, v in enumerate(np.ascontiguousarray(self.V.T)):
            inside[i] = allowed(i, self.V, inside).contains(v)
        return inside

    def sweep(self, allowed: Allowed) -> None:
        """Steps 4 to 6 of Algorithm 1 for one component after the other."""
        self._prepare_sweep()
        for i in range(self.r):
            self._update(i, allowed(i, self.V, self._placed))
        self._end_sweep()

    def _update(self, i: int, constraint: Constraint) -> None:
        w = self._direction(i) if self.has_scores(i) else self.fresh_direction(i, constraint)
        new = self._loadings(self._choose(i, constraint, w))
        if new.support.size == 1 and self.diagonal[new.support[0]] == 0.0:
            # A set without negative entries may offer a feature that does not vary: no better one.
            new = self._loadings(np.zeros(w.size))
        if not self._is_apart(i, new):
            if self._placed[i]:
                self._stay(i)
                return
            new = self._loadings(self._lone(constraint))
        self._placed[i] = new.support.size > 0
        self._move(i, new)

    def _loadings(self, v: Array) -> _Loadings:
        support = (v != 0.0).nonzero()[0]  # marks are searched in a third of the time
        x = v[support]
        seen = self._seen(support, x)
        return _Loadings(v, support, x, seen[: self.r], seen[self.r :])

    def _move(self, i: int, new: _Loadings) -> None:
        """Put new loadings in the place of component i, with the scores that fit them best."""
        self.V[:, i] = new.v
        new.c[i] = 0.0
        self._rescore(i, new)
        new.c[i] = new.x @ new.x
        self.G[:, i] = self.G[i, :] = new.c

    def _stay(self, i: int) -> None:
        """Leave component i where it is, with the scores that fit it best."""
        self._move(i, self._loadings(self.V[:, i].copy()))

    def _is_apart(self, i: int, new: _Loadings) -> bool:
        """Whether v in the place of component i is far enough from all that have their places."""
        G, c = self.G.copy(), new.c
        if not self._placed.all():
            G *= np.multiply.outer(self._placed, self._placed)
            c = c * self._placed
        G[i] = G[:, i] = c
        G[i, i] = new.x @ new.x
        return variance.is_separated(G, self.least_separation)

    def _lone(self, constraint: Constraint) -> Array:
        """The feature that no component uses and of which most is left: orthogonal to them all."""
        v = np.zeros(len(self.V))
        may = usable(constraint, v.size) & ~np.asarray(self.V[:, self._placed].any(axis=1))
        residual = np.where(may, self._residual(), 0.0)
        v[residual.argmax()] = residual.max() > NOISE * self.total
        return v

    def fresh_direction(self, i: int, constraint: Constraint) -> Array:
        """For a component without scores: E_iᵀ of the residual column with the largest variance.

        A start of too low a rank, or a component made superfluous by the others, gets a new chance
        where most is left to explain; the zero vector says that nothing is left.
        """
        nothing = np.zeros_like(self.diagonal)
        self._move(i, self._loadings(nothing))
        self._placed[i] = False
        residual = np.where(usable(constraint, nothing.size), self._residual(), 0.0)
        j = int(np.argmax(residual))
        return self._direction_from(i, j) if residual[j] > NOISE * self.total else nothing

    def make_feasible(self, allowed: Allowed) -> None:
        """Bring columns that an interrupted first sweep has not reached into their sets."""
        self._placed &= self._inside(allowed)  # the interrupt may have come within an update
        for i in np.flatnonzero(~self._placed).tolist():
            v = allowed(i, self.V, self._placed).maximize(self.V[:, i])
            self._placed[i] = self._is_apart(i, self._loadings(v))
            self.V[:, i] = v if self._placed[i] else 0.0
            self.G[i] = self.G[:, i] = self.V.T @ self.V[:, i]


class Unweighted(Iterate):
    """All cells count alike: P = UᵀU and the diagonal of UᵀXV, beside V and G, say it all."""

    def __init__(self, source: Source, start: Array, ridge: float, total: float) -> None:
        super().__init__(start, source.diagonal, total)
        self.source = source
        self.ridge = ridge
        # The scores that belong to loadings V are those of least squares: U = XV(VᵀV + ηI)⁻¹.
        P, cross = self._begin(start, variance.duals(start, self.G, ridge))
        self.P = (P + P.T) / 2
        self.cross = cross.copy()

    @abstractmethod
    def _begin(self, start: Array, A: Array) -> tuple[Array, Array]:
        """Take loadings V and scores U = XA; UᵀU and the diagonal of UᵀXV."""

    @property
    @abstractmethod
    def B(self) -> Array:
        """XᵀU."""

    def has_scores(self, i: int) -> bool:
        return bool(self.P[i, i] > NOISE * self.total)

    def _direction_from(self, i: int, j: int) -> Array:
        column = self.source.combine(np.array([j], dtype=np.intp), np.ones(1))
        # (X − UVᵀ)ᵀ(X − UVᵀ)e_j, with x = V[j]: S e_j − B x − V(B[j] − P x)
        x, B = self.V[j], self.B
        direction: Array = column - B @ x - self.V @ (B[j] - self.P @ x)
        return direction

    def _residual(self) -> Array:
        fitted = self.V * (2.0 * self.B - self.V @ self.P)
        left: Array = self.source.diagonal - fitted.sum(axis=1)
        return left

    def objective(self) -> float:
        """‖X − UVᵀ‖² + η‖U‖² as a share of ‖X‖²."""
        if self.total == 0.0:
            return 0.0
        fit = 2.0 * self.cross.sum() - np.vdot(self.P, self.G) - self.ridge * np.trace(self.P)
        return max(1.0 - float(fit) / self.total, 0.0)


class Correlated(Unweighted):
    """Scores by their products B = XᵀU with the data, whatever the number of samples.

    V and B stand side by side in one array, so that the rows of a support are gathered once.
    """

    def _begin(self, start: Array, A: Array) -> tuple[Array, Array]:
        self._both = np.empty((start.shape[0], 2 * self.r))
        self.V, self._B = self._both[:, : self.r], self._both[:, self.r :]
        self.V[:] = start
        self._B[:] = self.source.dot(A)
        return A.T @ self._B, np.einsum("ij,ij->j", start, self._B)

    @property
    def B(self) -> Array:
        return self._B

    def _prepare_sweep(self) -> None:
        """B is always up to date."""

    def _direction(self, i: int) -> Array:
        mixture = np.zeros(2 * self.r)
        np.negative(self.P[i], out=mixture[: self.r])
        mixture[i] = 0.0
        mixture[self.r + i] = 1.0
        w: Array = self._both @ mixture
        return w

    def _seen(self, support: Indices, x: Array) -> Array:
        both: Array = x @ self._both.take(support, axis=0)
        return both

    def _rescore(self, i: int, new: _Loadings) -> None:
        shrink = 1.0 / (1.0 + self.ridge)
        c, products = new.c, new.products
        if new.support.size == 0:
            self._B[:, i] = 0.0
        else:
            b = self.source.combine(new.support, new.x)
            b -= self._B @ c
            b *= shrink
            self._B[:, i] = b
            products[i] = new.x @ b[new.support]
        p: Array = (products - self.P @ c) * shrink
        p[i] = 0.0
        p[i] = max((products[i] - p @ c) * shrink, 0.0)
        self.P[:, i] = self.P[i, :] = p
        self.cross[i] = products[i]


class Scored(Unweighted):
    """The scores U themselves, where X is in memory and has few rows: Algorithm 1 as it stands."""

    def __init__(self, X: Array, source: Source, start: Array, ridge: float, total: float) -> None:
        self._by_feature = X  # Xᵀ, of d rows
        super().__init__(source, start, ridge, total)

    def _begin(self, start: Array, A: Array) -> tuple[Array, Array]:
        self.V = np.array(start, order="C")
        self._XV = self._by_feature.T @ start
        self._U = self._by_feature.T @ A
        return self._U.T @ self._U, np.einsum("ij,ij->j", self._U, self._XV)

    @property
    def B(self) -> Array:
        B: Array = self._by_feature @ self._U
        return B

    def _prepare_sweep(self) -> None:
        # Until its own update comes, u_i stays what it is now: one product serves all components.
        self._products = self._U.T @ self._by_feature.T

    def _direction(self, i: int) -> Array:
        others = self.P[i].copy()
        others[i] = 0.0
        w: Array = self._products[i] - self.V @ others
        return w

    def _seen(self, support: Indices, x: Array) -> Array:
        c: Array = x @ self.V.take(support, axis=0)
        return c

    def _rescore(self, i: int, new: _Loadings) -> None:
        self._XV[:, i] = new.x @ self._by_feature.take(new.support, axis=0)
        self._fit_scores(i, new.c)

    def _stay(self, i: int) -> None:
        c = self.G[i].copy()
        c[i] = 0.0
        self._fit_scores(i, c)

    def _fit_scores(self, i: int, c: Array) -> None:
        seen = self._XV[:, i]
        u = seen - self._U @ c
        u /= 1.0 + self.ridge
        self._U[:, i] = u
        self.P[:, i] = self.P[i, :] = u @ self._U
        self.cross[i] = u @ seen
