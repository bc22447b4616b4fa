"""Data whose numbers of components and features are known: what a choice of them is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PlantedSet:
    """Data with r components of k features each, and the grid that they are looked for in.

    Attributes
    ----------
    name : the family and the seed.
    X : the data.
    r, k : what was planted; both zero in pure noise.
    counts, cardinalities : the grid.
    """

    name: str
    X: Array
    r: int
    k: int
    counts: tuple[int, ...]
    cardinalities: tuple[int, ...]


def planted(
    rng: np.random.Generator,
    n: int,
    d: int,
    k: int,
    variances: Sequence[float],
    overlap: int,
) -> Array:
    """Components on k consecutive features, the first ``overlap`` shared with the one before.

    Loadings ±U(0.5, 1.5) of unit length, scores N(0, variance), noise N(0, 1).
    """
    X = rng.standard_normal((n, d))
    for i, variance in enumerate(variances):
        v = rng.uniform(0.5, 1.5, k) * rng.choice([-1.0, 1.0], k)
        first = i * (k - overlap)
        scores = np.sqrt(variance) * rng.standard_normal(n)
        X[:, first : first + k] += np.multiply.outer(scores, v / np.linalg.norm(v))
    return X


def hubert(rng: np.random.Generator, n: int, d: int) -> Array:
    """Two blocks of four correlated features, the rest without structure (Hubert et al. 2016)."""
    correlation = np.eye(d)
    correlation[:4, :4] = 0.9
    correlation[4:8, 4:8] = 0.5
    np.fill_diagonal(correlation, 1.0)
    deviations = np.concatenate([np.full(4, 10.0), np.full(4, 5.0), np.full(d - 8, 2.0)])
    covariance = correlation * np.multiply.outer(deviations, deviations)
    X = rng.multivariate_normal(np.zeros(d), covariance, size=n, method="cholesky")
    return np.asarray(X + rng.standard_normal((n, d)))


_UP_TO_FIVE = (1, 2, 3, 4, 5)


def all_sets(seed: int = 0) -> list[PlantedSet]:
    """The 38 sets, each with a generator of its own."""
    sets = []

    def add(family: int, count: int, r: int, k: int, counts: tuple[int, ...], ks: tuple[int, ...]):
        for number in range(count):
            rng = np.random.default_rng([seed, family, number])
            name = f"S{family}/{number}"
            sets.append(PlantedSet(name, _MAKERS[family](rng), r, k, counts, ks))

    add(1, 10, 3, 6, _UP_TO_FIVE, (2, 3, 4, 5, 6, 7, 8, 10, 14, 20, 30, 50))
    add(2, 2, 4, 10, (2, 3, 4, 5, 6), (4, 6, 8, 9, 10, 11, 12, 16, 25, 50, 100, 200))
    add(3, 12, 2, 4, _UP_TO_FIVE, tuple(range(1, 11)))
    add(4, 6, 0, 0, _UP_TO_FIVE, (1, 2, 3, 5, 8, 12, 20, 30))
    add(5, 8, 3, 8, _UP_TO_FIVE, (2, 4, 6, 7, 8, 9, 10, 12, 16, 25, 40, 60))
    return sets


_MAKERS = {
    1: lambda rng: planted(rng, 200, 50, 6, (9, 6, 4), 0),
    2: lambda rng: planted(rng, 100, 200, 10, (20, 15, 10, 8), 3),
    3: lambda rng: hubert(rng, 100, 10),
    4: lambda rng: rng.standard_normal((100, 30)),
    5: lambda rng: planted(rng, 100, 60, 8, (6, 4, 3), 2),
}
