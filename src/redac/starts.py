"""Starting points for the solver.

They are dense loadings of d × r, in the order in which bounds are given to components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from redac.constraints import Constraint
from redac.sources.base import Array, Source

_VARIMAX_ROUNDS = 100
_VARIMAX_TOL = 1e-4


class Starts:
    """The starting points of one problem; the principal axes behind them are computed once."""

    def __init__(self, source: Source, r: int, rng: np.random.RandomState) -> None:
        self._source = source
        self._r = r
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
        return self._rotated(varimax(axes * np.sqrt(values)))

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

        The principal axes and their varimax rotation follow each other, then come random rotations;
        random directions are followed by random directions.
        """
        if not isinstance(init, str):
            first: list[Callable[[], Array]] = [lambda: init]
        else:
            first = {
                "pca": [self.pca, self.varimax],
                "varimax": [self.varimax, self.pca],
                "random": [self.random] * count,
            }[init]
        for make in [*first, *[self.rotation] * count][:count]:
            yield make()

    def _axes(self) -> tuple[Array, Array]:
        if self.principal is None:
            self.principal = self._source.principal_axes(self._r)
        return self.principal

    @staticmethod
    def _rotated(loadings: Array) -> Array:
        lengths = np.linalg.norm(loadings, axis=0)
        order = np.argsort(-lengths, kind="stable")
        return loadings[:, order] / np.where(lengths[order] > 0, lengths[order], 1.0)


def oriented(start: Array, constraints: Sequence[Constraint]) -> Array:
    """The start with every column turned to the side on which its set has the closer vector.

    A direction and its opposite are the same component, but not for a set without negative entries.
    """
    start = np.array(start, dtype=np.float64, order="F")
    for i, constraint in enumerate(constraints):
        w = start[:, i]
        if constraint.maximize(-w) @ -w > constraint.maximize(w) @ w:
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
