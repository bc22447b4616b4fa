"""Starting points for the solver.

They are dense loadings of d × r, in the order in which bounds are given to components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from redac.solver.climb import Start, promising
from redac.solver.iterate import NOISE
from redac.solver.orthomax import varimax
from redac.solver.problem import Problem
from redac.solver.redraw import in_turn
from redac.solver.search import Search
from redac.sources.base import Array
from redac.threads import one_thread

# Shares that grow by less have stopped growing.
_SETTLED = 1e-6


class Starts:
    """The starting points of one problem; the principal axes behind them are computed once."""

    def __init__(self, problem: Problem, rng: np.random.RandomState) -> None:
        self._problem = problem
        self._source = problem.source
        self._r = len(problem.constraints)
        self._rng = rng
        # The principal axes and the eigenvalues, once a start has needed them; and more than those.
        self.principal: tuple[Array, Array] | None = None
        self._further: tuple[Array, Array] | None = None

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

    def sparsest(self) -> Array:
        """Vectors in the span of the principal axes with as much as possible on few features.

        They need not be orthogonal. Of those that the features lead to, the most concentrated ones
        that are not too close to each other are taken.
        """
        axes, values = self._axes()
        Q = axes[:, values > NOISE * self._problem.total]
        strengths = np.linalg.norm(Q, axis=1)
        rows = np.argsort(-strengths, kind="stable")[: self._problem.n_seeds]
        loadings = np.zeros_like(axes)
        basis = np.zeros((Q.shape[1], 0))
        for i, k in enumerate(self._problem.used[: Q.shape[1]]):
            U, shares = _concentrated(Q, k, Q[rows])
            rest = U - U @ basis @ basis.T
            lengths = np.linalg.norm(rest, axis=1)
            is_new = lengths**2 >= self._problem.strategy.outside
            # Shares that differ by less than rounding are equal: the strongest feature leads.
            best = int(np.argmax(np.where(is_new, shares.round(6), lengths - 1.0)))
            basis = np.column_stack([basis, rest[best] / (lengths[best] or 1.0)])
            loadings[:, i] = Q @ U[best]
        return loadings

    def in_turn(self) -> Array:
        """Components drawn one after the other, from axes that varimax has rotated.

        These are more axes than components: where of many features few are used, what they explain
        is spread over many axes.
        """
        problem = self._problem
        axes, values = self._further_axes()
        with one_thread(2 * axes.size):
            rotated = varimax(axes * np.sqrt(values))
        part = problem.look_at(promising(problem, rotated))
        return part.embed(in_turn(part.problem, part.inside(rotated)))

    def one_by_one(self) -> Array:
        """Components that are searched for one after the other, beside those found before.

        What they explain is added up as if they were orthogonal, which those without a feature in
        common are.
        """
        problem = self._problem
        V = np.zeros((self._source.n_features, self._r))
        for i in range(self._r):
            alone = replace(problem, constraints=[problem.share(i, V)], couplings=())
            starts = Starts(alone, np.random.RandomState(0))
            search = Search(alone)
            search.try_starts(starts.sequence("pca", starts.usual_count("pca")), automatic=True)
            if search.interrupted:
                raise KeyboardInterrupt  # it was heeded there; it is to be heeded here, too
            V[:, i] = search.found.V[:, 0]
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

    def sequence(self, init: str | Array, count: int) -> Iterator[Start]:
        """As many starting points as asked, the one named ``init`` first.

        The principal axes, their varimax rotation and components drawn in turn follow each other,
        then come random rotations; random directions are followed by random directions. Sweeps
        begin with a ridge, but where a sweep is much work, the first start is followed nearly as in
        the paper.
        """
        then = self.random if isinstance(init, str) and init == "random" else self.rotation
        for number, make in enumerate([*self._first(init), *[then] * count][:count]):
            is_own = number == 0 and not isinstance(init, str)  # and near its place already
            yield Start(make(), 0.0 if is_own else self._first_ridge(number))

    def _first_ridge(self, number: int) -> float:
        """η of the first sweeps from a start.

        For the first start it is less, the more work a sweep is, and nothing where components must
        stay apart anyway.
        """
        strategy, problem = self._problem.strategy, self._problem
        if number > 0:
            return strategy.first_ridge
        if problem.least_separation > 0.0:
            return 0.0
        return strategy.first_ridge * min(1.0, strategy.redraws / problem.work)

    def usual_count(self, init: str | Array) -> int:
        """How many are tried unless somebody says: behind the principal axes all without chance."""
        return len(self._first(init)) if isinstance(init, str) and init == "pca" else 1

    def _first(self, init: str | Array) -> list[Callable[[], Array]]:
        """The starts that come before those at random."""
        if not isinstance(init, str):
            return [lambda: init]
        if init == "random":
            return []
        first = [self.pca, self.varimax] if init == "pca" else [self.varimax, self.pca]
        if self._draws_in_turn:
            first = [*first, self.in_turn]
        if self._problem.couplings:
            first = [*first, self.one_by_one]
        # Only where next to nothing is outside their span, what is sought is known to be inside.
        total, inside = self._problem.total, self._axes()[1].sum()
        is_inside = total - inside <= self._problem.strategy.rough * total
        return [*first, self.sparsest] if is_inside else first

    def _axes(self) -> tuple[Array, Array]:
        if self.principal is None:
            axes, values = self._further_axes()
            self.principal = axes[:, : self._r], values[: self._r]
        return self.principal

    @property
    def _draws_in_turn(self) -> bool:
        """Whether sweeps are so little work that another start is no matter."""
        return round(self._problem.strategy.redraws / self._problem.work) > 0

    def _further_axes(self) -> tuple[Array, Array]:
        """Twice as many axes as components where components are drawn in turn."""
        if self._further is None:
            count = 2 * self._r if self._draws_in_turn else self._r
            count = min(count, self._source.n_features)
            self._further = self._source.principal_axes(count, rough=True)
        return self._further

    @staticmethod
    def _rotated(loadings: Array) -> Array:
        lengths = np.linalg.norm(loadings, axis=0)
        order = np.argsort(-lengths, kind="stable")
        return loadings[:, order] / np.where(lengths[order] > 0, lengths[order], 1.0)


def _concentrated(Q: Array, k: int, U: Array) -> tuple[Array, Array]:
    """Turn vectors Qu, given by rows u, to where k features have most of their squared length.

    The vectors, again by rows, and those shares. In turn the k largest entries of a vector, and the
    vector of the span with most on them; the share never falls.
    """
    before = np.zeros(len(U))
    while True:
        largest = np.abs(U @ Q.T).argpartition(-k, axis=1)[:, -k:]
        parts = Q[largest]
        values, axes = np.linalg.eigh(parts.transpose(0, 2, 1) @ parts)
        U, shares = axes[:, :, -1], values[:, -1]
        if (shares <= before + _SETTLED).all():
            return U, shares
        before = shares
