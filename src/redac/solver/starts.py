"""Starting points for the solver.

They are dense loadings of d × r, in the order in which bounds are given to components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from redac.constraints import Constraint, may_collapse
from redac.solver.exchange import MOST_EXCHANGED, Rest
from redac.solver.iterate import NOISE
from redac.sources.base import Array, Indices, Source
from redac.threads import one_thread

# Up to so many features S is small and runs are short.
FEW_FEATURES = 500
# Features among which sparse components are looked for one after the other, by either of two
# measures, if there are many; and up to how many all entries of S are looked at to choose them.
_POOL, _SCANNED = 150, 3000
_ROWS_AT_A_TIME = 128
_VARIMAX_ROUNDS = 100
_VARIMAX_TOL = 1e-4
# Rows of S from which a component may set out, by either of two measures, steps on their supports
# to see which are best, and steps from these.
_ROWS = 30
_RIPENING_STEPS = 3
_CLIMB_STEPS = 20
# Ends of these ways from which single features are exchanged.
_CLIMBS = 3
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
        use all of them. It looks at all features if they are few, else at a pool of them.
        """
        features = self._pool()
        source = self._source.restricted(features)
        left, floor = source.matrix().copy(), NOISE * self._source.total
        V = np.zeros((self._source.n_features, self._r), order="F")
        basis = np.zeros((features.size, 0))
        for i, constraint in enumerate(self._constraints):
            rest = Rest(source, basis, source.dot(basis))
            v = _best_on(left, rest, constraint.restricted(features), floor)
            V[features, i] = v
            q = v - basis @ (basis.T @ v)
            length = float(np.linalg.norm(q))
            if length <= _INSIDE:
                break
            basis = np.column_stack([basis, q / length])
            _deflate(left, q / length)
        return V

    def _pool(self) -> Indices:
        """All features if they are few, else those with large variances or large entries of S."""
        source, d = self._source, self._source.n_features
        if d <= FEW_FEATURES:
            return np.arange(d)
        if d <= _SCANNED and source.rows_are_cheap:
            measure = _fourth_powers(source)
        else:  # rows of S would cost passes over the data; their parts along the axes are known
            axes, values = self._axes()
            measure = np.linalg.norm(axes * values, axis=1)
        return _ahead(_POOL, source.diagonal, measure)

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
        greedy = [self.sequential] if self._is_small else []
        axes = [self.pca, self.varimax] if init == "pca" else [self.varimax, self.pca]
        return [*axes, *greedy]

    @property
    def _is_small(self) -> bool:
        """Whether features are few, or those that a component may use.

        Principal axes, which use all features, say little about such components.
        """
        d = self._source.n_features
        if d <= FEW_FEATURES:
            return True
        used = [int(np.count_nonzero(c.maximize(np.ones(d)))) for c in self._constraints]
        return not may_collapse(self._constraints) and max(used) <= MOST_EXCHANGED

    def _axes(self) -> tuple[Array, Array]:
        if self.principal is None:
            self.principal = self._source.principal_axes(self._r, rough=True)
        return self.principal

    @staticmethod
    def _rotated(loadings: Array) -> Array:
        lengths = np.linalg.norm(loadings, axis=0)
        order = np.argsort(-lengths, kind="stable")
        return loadings[:, order] / np.where(lengths[order] > 0, lengths[order], 1.0)


def _ahead(count: int, *measures: Array) -> Indices:
    """The features that are among so many with the largest values of some measure."""
    return np.unique([np.argsort(-measure, kind="stable")[:count] for measure in measures])


def _fourth_powers(source: Source) -> Array:
    """The sum of the fourth powers of each row of S, in which few large entries outweigh many."""
    d = source.n_features
    sums = np.empty(d)
    for start in range(0, d, _ROWS_AT_A_TIME):
        block = np.arange(start, min(start + _ROWS_AT_A_TIME, d))
        rows = source.rows(block) / (source.total or 1.0)
        rows *= rows
        sums[block] = np.einsum("ij,ij->i", rows, rows)
    return sums


def _best_on(left: Array, rest: Rest, constraint: Constraint, floor: float) -> Array:
    """A component that explains much of what others leave, which is given in two forms.

    Power steps, each brought into the set of the constraint, from the rows that promise most, and
    exchanges of single features from where the best of them end. Zero if no more than ``floor`` is
    left to explain.
    """
    rows = _ahead(_ROWS, left.diagonal(), np.einsum("ij,ij->i", left, left))
    seeds = [constraint.maximize(np.ascontiguousarray(left[j])) for j in rows]
    best, height = np.zeros(len(left)), floor
    seen: set[bytes] = set()
    for seed in _most_promising(left, rest, seeds):
        for start in (seed, _climbed(left, constraint, seed)):
            v: Array | None = rest.settled(start, constraint)
            while v is not None and (support := (v != 0.0).tobytes()) not in seen:
                seen.add(support)
                value, outside = rest.quotient(v)
                if value > height and outside > _INSIDE**2:
                    best, height = v, value
                v = rest.exchanged(v, constraint)
    return best


def _most_promising(left: Array, rest: Rest, seeds: list[Array]) -> list[Array]:
    """The seeds on whose supports most is explained after some power steps there."""
    W = np.column_stack(seeds)
    product = left @ W
    for _ in range(_RIPENING_STEPS):
        W = np.where(product * W > 0.0, product, 0.0)
        W /= np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
        product = left @ W
    values = (W * product).sum(axis=0) / np.maximum(rest.outside(W), _INSIDE)
    ranked = {(seeds[j] != 0.0).tobytes(): seeds[j] for j in np.argsort(values)}
    return list(ranked.values())[: -_CLIMBS - 1 : -1]


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
    """Rotate loadings (d × r) so that the variance of their squares is largest (Kaiser 1958).

    Features without any loading, such as those that do not vary, have no part in that variance.
    """
    rotation = np.eye(loadings.shape[1])
    criterion = 0.0
    used = loadings[loadings.any(axis=1)]
    for _ in range(_VARIMAX_ROUNDS if used.size else 0):
        L = used @ rotation
        squares = L * L
        gradient = used.T @ (L * (squares - squares.mean(axis=0)))
        left, singular, right = np.linalg.svd(gradient)
        rotation = left @ right
        if singular.sum() <= criterion * (1 + _VARIMAX_TOL):
            break
        criterion = singular.sum()
    return loadings @ rotation
