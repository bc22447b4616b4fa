"""Starting points for the solver.

They are dense loadings of d × r, in the order in which bounds are given to components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from redac.constraints import Constraint
from redac.iterate import NOISE
from redac.sources.base import Array, Source
from redac.threads import one_thread

# Up to so many features S is small and runs are short.
FEW_FEATURES = 500
_VARIMAX_ROUNDS = 100
_VARIMAX_TOL = 1e-4
# Features from whose rows of S a component may set out, by either of two measures, and its steps.
_SEEDS = 10
_CLIMB_STEPS = 20
# A component whose part outside the span of earlier ones is no longer than this is inside it.
_INSIDE = 1e-6


class Starts:
    """The starting points of one problem; the principal axes behind them are computed once."""

    def __init__(
        self, source: Source, constraints: Sequence[Constraint], rng: np.random.RandomState
    ) -> None:
        self._source = source
        self._constraints = constraints
        self._r = len(constraints)
        self._rng = rng
        # The principal axes and the eigenvalues, once a start has needed them.
        self.principal: tuple[Array, Array] | None = None

    def pca(self) -> Array:
        """The principal axes, as in the paper."""
        return self._axes()[0]

    def varimax(self) -> Array:
        """Principal axes scaled by their singular values and rotated by varimax, largest first.

        The rotation spans the same subspace by fewer large loadings, which is nearer to what is
        sought.
        """
        axes, values = self._axes()
        with one_thread(2 * axes.size):
            return self._rotated(varimax(axes * np.sqrt(values)))

    def sequential(self) -> Array:
        """Sparse components one after the other, each on what those before it leave.

        Where components may use few features, this is often nearer to the optimum than axes that
        use all of them. It needs S in full.
        """
        left = self._source.dot(np.eye(self._source.n_features))
        floor = NOISE * self._source.total
        V = np.zeros((len(left), self._r), order="F")
        basis = np.zeros((len(left), 0))
        for i, constraint in enumerate(self._constraints):
            V[:, i] = v = _best_on(left, basis, constraint, floor)
            q = v - basis @ (basis.T @ v)
            length = float(np.linalg.norm(q))
            if length <= _INSIDE:
                break
            basis = np.column_stack([basis, q / length])
            _deflate(left, q / length)
        return V

    def rotation(self) -> Array:
        """Principal axes scaled by their singular values and rotated at random."""
        axes, values = self._axes()
        live = int(np.count_nonzero(values))
        rotation = np.eye(self._r)
        rotation[:live, :live] = np.linalg.qr(self._rng.standard_normal((live, live)))[0]
        return self._rotated((axes * np.sqrt(values)) @ rotation)

    def random(self) -> Array:
        """Directions at random."""
        return self._rng.standard_normal((self._source.n_features, self._r))

    def sequence(self, init: str | Array, count: int) -> Iterator[Array]:
        """As many starting points as asked, the one named ``init`` first.

        The principal axes and their varimax rotation follow each other, then come sequential
        components where features are few, and random rotations; random directions are followed by
        random directions.
        """
        then = self.random if isinstance(init, str) and init == "random" else self.rotation
        for make in [*self._first(init), *[then] * count][:count]:
            yield make()

    def usual_count(self, init: str | Array) -> int:
        """How many are tried unless somebody says: behind the principal axes all without chance."""
        return len(self._first(init)) if isinstance(init, str) and init == "pca" else 1

    def _first(self, init: str | Array) -> list[Callable[[], Array]]:
        """The starts that come before those at random."""
        if not isinstance(init, str):
            return [lambda: init]
        if init == "random":
            return []
        greedy = [self.sequential] if self._source.n_features <= FEW_FEATURES else []
        axes = [self.pca, self.varimax] if init == "pca" else [self.varimax, self.pca]
        return [*axes, *greedy]

    def _axes(self) -> tuple[Array, Array]:
        if self.principal is None:
            self.principal = self._source.principal_axes(self._r, rough=True)
        return self.principal

    @staticmethod
    def _rotated(loadings: Array) -> Array:
        lengths = np.linalg.norm(loadings, axis=0)
        order = np.argsort(-lengths, kind="stable")
        return loadings[:, order] / np.where(lengths[order] > 0, lengths[order], 1.0)


def _best_on(S: Array, basis: Array, constraint: Constraint, floor: float) -> Array:
    """A component that explains much of S, a matrix that knows nothing of the basis.

    Power steps, each brought into the set of the constraint, from the rows of S that promise most.
    Zero if no more than ``floor`` is left to explain.
    """
    variances, lengths = S.diagonal(), np.einsum("ij,ij->i", S, S)
    seeds = {int(j) for scale in (variances, lengths) for j in np.argsort(-scale)[:_SEEDS]}
    best, height = np.zeros(len(S)), floor
    for j in sorted(seeds):
        v = _climbed(S, constraint, constraint.maximize(np.ascontiguousarray(S[j])))
        outside = v - basis @ (basis.T @ v)
        length = float(outside @ outside)
        value = float(v @ S @ v) / length if length > _INSIDE**2 else 0.0
        if value > height:
            best, height = v, value
    return best


def _climbed(S: Array, constraint: Constraint, v: Array) -> Array:
    for _ in range(_CLIMB_STEPS):
        before, v = v, constraint.maximize(S @ v)
        if np.array_equal(before != 0, v != 0):
            break  # the sweeps will find the loadings of a support
    return v


def _deflate(S: Array, q: Array) -> None:
    """S projected on what is orthogonal to a unit vector, in place."""
    Sq = S @ q
    Sq -= 0.5 * float(q @ Sq) * q
    S -= np.multiply.outer(Sq, q)
    S -= np.multiply.outer(q, Sq)


def oriented(start: Array, constraints: Sequence[Constraint]) -> Array:
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


def varimax(loadings: Array) -> Array:
    """Rotate loadings (d × r) so that the variance of their squares is largest (Kaiser 1958)."""
    rotation = np.eye(loadings.shape[1])
    criterion = 0.0
    for _ in range(_VARIMAX_ROUNDS):
        L = loadings @ rotation
        squares = L * L
        gradient = loadings.T @ (L * (squares - squares.mean(axis=0)))
        left, singular, right = np.linalg.svd(gradient)
        rotation = left @ right
        if singular.sum() <= criterion * (1 + _VARIMAX_TOL):
            break
        criterion = singular.sum()
    return loadings @ rotation
