"""Data in blocks of rows: larger than memory, or spread over a cluster.

Every question about S = XᵀX is a sum over blocks of rows, S V = Σ_b X_bᵀ(X_b V), so a block is
loaded, asked as dense or sparse data in memory, and let go. Where the blocks come from and who
adds up the answers is the business of ``Parts``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from scipy.sparse import issparse

from redac.sources.base import Array, Indices
from redac.sources.data import GRAM_ORDER, Data
from redac.sources.dense import DenseData
from redac.sources.moments import Moments, real_numbers
from redac.sources.scatter import Extremes, Scatter, ScatterAlong
from redac.sources.sparse import SparseData

T = TypeVar("T")

# Up to this size wide data are put together when the products of their few rows are wanted.
_DENSE_ENTRIES = 1 << 26


@dataclass(frozen=True)
class Rows:
    """One block of rows in memory, with its place among the blocks and that of its first row."""

    X: Any
    weights: Array | None
    number: int
    start: int


class Parts(Protocol):
    """Blocks of rows in a fixed order."""

    n_features: int
    is_weighted: bool
    # The number of rows of each block; None as long as it is not known.
    lengths: tuple[int, ...] | None

    def fold(self, work: Callable[[Rows], T], join: Callable[[T, T], T]) -> T:
        """Do the work on every block and join the results of neighbours."""
        ...

    def each(self, work: Callable[[Rows], T]) -> list[T]:
        """Do the work on every block and list the results in order."""
        ...


class Blocks(Data):
    """A data matrix in blocks of rows, each centred and scaled while it is in memory."""

    X: Parts

    def __init__(self, X: Parts, moments: Moments, weights: Array | None = None) -> None:
        super().__init__(X, moments, weights)

    @classmethod
    def of(cls, parts: Parts, *, mean: Array | None = None, scale: Array | None = None) -> Self:
        """Data about a given centre, or none, of which nothing has been read."""
        mean = np.zeros(parts.n_features) if mean is None else mean
        return cls(parts, Moments.given(mean, np.ones_like(mean) if scale is None else scale))

    @property
    def shape(self) -> tuple[int, int]:
        if self.X.lengths is None:
            self.n_passes += 1
            self.X.lengths = tuple(self.X.each(_n_rows))
        return sum(self.X.lengths), self.X.n_features

    def left(self, V: Array) -> Array:
        return self._stacked("left", V)

    def right(self, U: Array) -> Array:
        self.shape  # noqa: B018 - from here on it is known where each block begins
        self.n_passes += 1
        return self.X.fold(partial(_right, self.moments, U), operator.add)

    def product(self, V: Array) -> Array:
        return self._sum("product", V)

    def columns(self, support: Indices) -> Array:
        return self._sum("columns", support)

    def submatrix(self, support: Indices, rows: Indices | None = None) -> Array:
        return self._sum("submatrix", support, rows)

    def quadratic(self, V: Array) -> Array:
        return self._sum("quadratic", V)

    def kernel(self) -> Array:
        n, d = self.shape
        if n * d > _DENSE_ENTRIES:
            return super().kernel()
        A = self.dense()
        K: Array = A @ A.T
        return K

    def dense(self) -> Array:
        return self._stacked("dense")

    def dense_columns(self, support: Indices) -> Array:
        return self._stacked("dense_columns", support)

    def scatter(self, *, full: bool) -> Scatter:
        self.n_passes += 1
        return self._counted(self.X.fold(partial(_scatter, full), Scatter.joined))

    def products_about_mean(self, V: Array) -> tuple[float, Array]:
        self.n_passes += 1
        found = self.X.fold(partial(_scatter_along, V), partial(_joined_along, V))
        scatter = self._counted(found.scatter)
        if scatter.is_safe:
            return float(scatter.squares.sum()), found.M
        return self._products_after(scatter, V)

    def extremes(self, total: float) -> Extremes:
        self.n_passes += 1
        work: Callable[[Rows], Extremes] = partial(_ask, self.moments, "extremes", (total,))
        return self.X.fold(work, Extremes.joined)

    def sums_of_squares(self) -> Array:
        return self._sum("sums_of_squares")

    def squares_and_quadratic(self, V: Array) -> tuple[Array, Array]:
        self.n_passes += 1
        found: tuple[Array, Array] = self.X.fold(
            partial(_ask, self.moments, "squares_and_quadratic", (V,)), _added
        )
        return found

    def _gram(self) -> Array:
        return self._sum("gram")

    def _wants_gram(self) -> bool:
        known = self.X.lengths
        return self.X.n_features <= min(GRAM_ORDER, GRAM_ORDER if known is None else sum(known))

    def _total_weight(self) -> float:
        if not self.X.is_weighted:
            return float(self.shape[0])
        return float(self.X.fold(_weight_of, operator.add))

    def _counted(self, scatter: Scatter) -> Scatter:
        """The scatter, after a note of the number of rows, which must be two at least."""
        self.X.lengths = scatter.lengths
        if scatter.n_rows < 2:
            raise ValueError(f"X has {scatter.n_rows} row(s); at least 2 are needed.")
        return scatter

    def _sum(self, question: str, *arguments: Any) -> Array:
        self.n_passes += 1
        return self.X.fold(partial(_ask, self.moments, question, arguments), operator.add)

    def _stacked(self, question: str, *arguments: Any) -> Array:
        self.n_passes += 1
        return np.concatenate(self.X.each(partial(_ask, self.moments, question, arguments)))


# These functions are sent to other processes, so they are functions of this module.


def in_memory(rows: Rows, moments: Moments) -> Data:
    """A block as dense or sparse data."""
    kind: type[Data] = SparseData if issparse(rows.X) else DenseData
    X, weights = kind._prepared(rows.X, rows.weights)
    return kind(X, moments, weights)


def _ask(moments: Moments, question: str, arguments: tuple[Any, ...], rows: Rows) -> Any:
    return getattr(in_memory(rows, moments), question)(*arguments)


def _right(moments: Moments, U: Array, rows: Rows) -> Array:
    return in_memory(rows, moments).right(U[rows.start : rows.start + rows.X.shape[0]])


def _scatter(full: bool, rows: Rows) -> Scatter:
    d = rows.X.shape[1]
    return in_memory(rows, Moments.given(np.zeros(d), np.ones(d))).scatter(full=full)


def _scatter_along(V: Array, rows: Rows) -> ScatterAlong:
    scatter = _scatter(False, rows)
    if not scatter.is_safe:
        return ScatterAlong(scatter, np.zeros((V.shape[1], V.shape[1])))
    # About its own mean, so that no digits are lost where the mean is large against the spread.
    moments = Moments.of_scatter(scatter, standardize=False)
    return ScatterAlong(scatter, in_memory(rows, moments).quadratic(V))


def _joined_along(V: Array, first: ScatterAlong, second: ScatterAlong) -> ScatterAlong:
    return first.joined(second, V)


def _added(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    return first[0] + second[0], first[1] + second[1]


def _weight_of(rows: Rows) -> float:
    return float(rows.X.shape[0] if rows.weights is None else rows.weights.sum())


def _n_rows(rows: Rows) -> int:
    return int(rows.X.shape[0])


def as_block(values: Any, n_features: int) -> Any:
    """A block as it was read, as a sparse matrix or an array of real numbers."""
    if not issparse(values):
        values = np.asarray(values)
    if values.ndim != 2 or values.shape[1] != n_features:
        raise ValueError(f"it has shape {values.shape}; {n_features} columns are expected.")
    if values.dtype.kind not in "biufc":
        raise ValueError(f"its type is {values.dtype}; numbers are needed.")
    return real_numbers(values)
