"""What the solver and the measures may ask of data.

Write S for the scatter matrix of the centred (and, if wanted, standardised) data, or for a
covariance matrix. With u_i = X a_i every quantity of the algorithm is a product with S, so a source
answers four questions about S and nobody above it knows whether the data are dense, sparse, on
disk, or a covariance matrix.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Source(Protocol):
    """Products with S, a positive semi-definite d × d matrix that need not exist in memory."""

    @property
    def n_features(self) -> int: ...

    @property
    def diagonal(self) -> Array:
        """The diagonal of S: the scatter of each feature."""
        ...

    @property
    def total(self) -> float:
        """The trace of S: what all components together could explain."""
        ...

    @property
    def variance_unit(self) -> float:
        """What an entry of S must be multiplied with to become a variance in the user's units."""
        ...

    def dot(self, V: Array) -> Array:
        """S V for a block V of columns."""
        ...

    def combine(self, support: Indices, coefficients: Array) -> Array:
        """S v for a vector v given by its non-zero entries."""
        ...

    def quadratic(self, V: Array) -> Array:
        """VᵀSV for a block V of columns."""
        ...

    def factor(self) -> Array:
        """A matrix A of at most d rows with AᵀA = S, formed in full: for methods that need one."""
        ...

    def principal_axes(self, r: int) -> tuple[Array, Array]:
        """The r leading eigenvectors of S, as columns, and their eigenvalues, largest first."""
        ...


class Data(Protocol):
    """A centred and scaled data matrix X of n rows, applied but never formed."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def diagonal(self) -> Array:
        """The sum of squares of each column of X."""
        ...

    @property
    def unit(self) -> float:
        """What X was divided by to stay within the safe range of float64; mostly one."""
        ...

    @property
    def variance_unit(self) -> float:
        """What an entry of XᵀX must be multiplied with to become a variance in the user's units."""
        ...

    def left(self, V: Array) -> Array:
        """X V."""
        ...

    def left_columns(self, support: Indices, coefficients: Array) -> Array:
        """X v for a vector v, or X V for a block, given by its non-zero rows."""
        ...

    def right(self, U: Array) -> Array:
        """XᵀU."""
        ...

    def gram(self) -> Array:
        """XᵀX, in full."""
        ...

    def dense(self) -> Array:
        """X itself, in full: for methods that cannot do without."""
        ...
