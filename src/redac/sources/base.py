"""What the solver and the measures may ask of data.

Write S for the scatter matrix of the centred (and, if wanted, standardised) data, or for a
covariance matrix. With u_i = X a_i every quantity of the algorithm is a product with S, so a source
answers some questions about S and nobody above it knows whether the data are dense, sparse, on
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

    @property
    def by_feature(self) -> Array | None:
        """Xᵀ with S = XᵀX where it is in memory and X has few rows; None otherwise."""
        ...

    @property
    def row_cost(self) -> float:
        """What one row of S costs, in multiplications."""
        ...

    def dot(self, V: Array) -> Array:
        """S V for a block V of columns."""
        ...

    def combine(self, support: Indices, coefficients: Array) -> Array:
        """S v for a vector v given by its non-zero entries."""
        ...

    def rows(self, support: Indices) -> Array:
        """The rows of S that belong to some features."""
        ...

    def quadratic(self, V: Array) -> Array:
        """VᵀSV for a block V of columns."""
        ...

    def restricted(self, support: Indices) -> Source:
        """The same for these features alone: products with the part of S that belongs to them."""
        ...

    def matrix(self) -> Array:
        """S in full, where features are few; not to be changed."""
        ...

    def factor(self) -> Array:
        """A matrix A of at most d rows with AᵀA = S, formed in full: for methods that need one."""
        ...

    def principal_axes(self, r: int, *, rough: bool = False) -> tuple[Array, Array]:
        """The r leading eigenvectors of S, as columns, and their eigenvalues, largest first.

        ``rough`` where they are only a place to start from: products with S may be expensive.
        """
        ...
