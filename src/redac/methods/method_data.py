"""What a method is given: one object, whether the user had data or a covariance matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from redac.sources import Source
from redac.sources.base import Array
from redac.sources.data import Data

# Forming a d × d matrix beyond this order is refused: it would take gigabytes.
_MOST_FEATURES = 20_000


@dataclass(frozen=True)
class MethodData:
    """A covariance matrix S as the methods of the literature want it: S itself, or a factor of it.

    All methods are invariant under a rotation of the samples, so ``A`` may be any matrix with AᵀA =
    S. It has at most as many rows as there are samples or features, whichever is less. Both are in
    the user's units.
    """

    source: Source
    samples: Data | None = None  # the rows, for methods for which S is not enough

    @property
    def n_features(self) -> int:
        return self.source.n_features

    @cached_property
    def A(self) -> Array:
        """A matrix with AᵀA = S, of shape (min(n, d), d). Not to be changed in place."""
        return self.source.factor() * float(np.sqrt(self.source.variance_unit))

    @cached_property
    def S(self) -> Array:
        """The covariance matrix. Not to be changed in place; wide data should do without it."""
        d = self.n_features
        if d > _MOST_FEATURES:
            raise ValueError(
                f"This method needs the covariance matrix of all {d} features, which is too large; "
                "choose a method that works on the data."
            )
        S = self.A.T @ self.A
        return (S + S.T) / 2
