"""One problem: a matrix that is made when it is first asked for, and what is looked for in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac import SparsePCA
from redac.metrics import pev

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TestProblem:
    """A matrix, a number of components and a bound on each of them.

    Attributes
    ----------
    name : what the problem is called; no two have the same name.
    make : gives the matrix, the same one every time.
    r : the number of components.
    cardinality, l1_bound : the bound; one of the two.
    nonnegative : whether loadings must not be negative.
    is_covariance : whether the matrix is a covariance (or correlation) matrix, or else data.
    """

    __test__ = False  # no class of tests, whatever pytest thinks of its name

    name: str
    make: Callable[[], Array]
    r: int
    cardinality: int | None = None
    l1_bound: float | None = None
    nonnegative: bool = False
    is_covariance: bool = True

    def __post_init__(self) -> None:
        if (self.cardinality is None) == (self.l1_bound is None):
            raise ValueError(f"{self.name}: cardinality or l1_bound, one of the two.")

    @cached_property
    def matrix(self) -> Array:
        """The covariance matrix, or the data; made at the first look."""
        return self.make()

    @property
    def n_features(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def bound(self) -> dict[str, Any]:
        """The bound in the words of ``SparsePCA``."""
        key = "cardinality" if self.l1_bound is None else "l1_bound"
        return {key: getattr(self, key), "nonnegative": self.nonnegative}

    def fit(self, **options: Any) -> SparsePCA:
        """Fit ``SparsePCA`` with these options; warnings about the components are left aside."""
        model = SparsePCA(self.r, **{**self.bound, **options})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.is_covariance:
                model.fit_covariance(self.matrix)
            else:
                model.fit(self.matrix)
        return model

    def pev(self, components: Any) -> float:
        """The percentage of the variance that components explain."""
        return pev(self.matrix, components, covariance=self.is_covariance)


def spread(problems: list[TestProblem], limit: int | None) -> list[TestProblem]:
    """As many of the problems as wanted, from the first to the last at equal distances."""
    count = len(problems) if limit is None else min(max(limit, 0), len(problems))
    return [problems[i * len(problems) // count] for i in range(count)]
