"""What is measured: data sets with fixed seeds, numbers of components, kinds of sparsity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from redac.constraints import L0, L1
from redac.parameters import least_separation

SEED = 0
# The bound on the number of non-zeros of a component, and the one on its l1 norm.
CARDINALITY = 50
L1_BOUND = 3.5  # over these data about as many non-zeros as the cardinality, 20 to 100
_FACTORS = 30
_TOPIC_WORDS = 200


@dataclass(frozen=True)
class DataSet:
    """A matrix that can be made again, n × d."""

    name: str
    n: int
    d: int
    make: Callable[[int, int], Any]
    generated: bool = True
    l1_bound: float = L1_BOUND

    def matrix(self) -> Any:
        """The data: a C-ordered float64 array, or a CSR matrix."""
        return self.make(self.n, self.d)


@dataclass(frozen=True)
class Sparsity:
    """One kind of bound on the loadings, the same for every component."""

    name: str
    cardinality: int | None = None
    l1_bound: float | None = None
    nonnegative: bool = False

    @property
    def least_separation(self) -> float:
        """How far apart redac keeps the components unless it is told otherwise."""
        bound = L0(self.cardinality or 1) if self.l1_bound is None else L1(self.l1_bound)
        return least_separation("auto", [bound], ridge=0.0)

    def __str__(self) -> str:
        bound = f"k = {self.cardinality}" if self.cardinality else f"t = {self.l1_bound:g}"
        return f"{self.name}, {bound}"


@dataclass(frozen=True)
class Job:
    """One contestant on one setting; what a child process is told to do."""

    contestant: str
    r: int
    sparsity: Sparsity | None = None  # None: the contestant has no bound (PCA)
    alpha: float | None = None  # the penalty of methods that are steered by one


@dataclass(frozen=True)
class Case:
    """A data set with a number of components; all contestants on it alternate."""

    data: DataSet
    r: int
    sparsities: tuple[Sparsity, ...]

    @property
    def name(self) -> str:
        return f"{self.data.name}/r{self.r}"


SPARSITIES = ("l0", "l1", "nonnegative l0")


def sparsity_for(name: str, data: DataSet) -> Sparsity:
    """A kind of sparsity with the bound that belongs to the data."""
    if name == "l1":
        return Sparsity(name, l1_bound=data.l1_bound)
    return Sparsity(name, cardinality=CARDINALITY, nonnegative=name.startswith("nonnegative"))


def factor_data(n: int, d: int) -> NDArray[np.float64]:
    """30 factors with 10 % non-zero normal loadings, strengths from 3 down to 0.5, unit noise."""
    rng = np.random.default_rng([SEED, n, d])
    loadings = rng.standard_normal((_FACTORS, d)) * (rng.random((_FACTORS, d)) < 0.1)
    scores = rng.standard_normal((n, _FACTORS)) * np.linspace(3.0, 0.5, _FACTORS)
    X = rng.standard_normal((n, d))
    X += scores @ loadings
    return X


def gene_like(n: int, d: int) -> NDArray[np.float64]:
    """The factor data with log-normal scales of the columns, as intensities of genes have them."""
    scales = np.random.default_rng([SEED, 1]).lognormal(sigma=1.0, size=d)
    X: NDArray[np.float64] = factor_data(n, d) * scales
    return X


def topic_counts(n: int, d: int) -> csr_matrix:
    """Counts of words: 0.1 % of d drawn for each row, half from one of 30 topics, half by Zipf."""
    rng = np.random.default_rng([SEED, n, d])
    half = max(d // 2000, 1)
    words = min(_TOPIC_WORDS, d)
    topics = np.array([rng.choice(d, size=words, replace=False) for _ in range(_FACTORS)])
    mine = topics[rng.integers(_FACTORS, size=n)]
    own = np.take_along_axis(mine, rng.integers(words, size=(n, half)), axis=1)
    frequency = 1.0 / np.arange(1, d + 1)
    common = rng.choice(d, size=(n, half), p=frequency / frequency.sum())
    columns = np.hstack([own, common]).ravel()
    rows = np.repeat(np.arange(n), 2 * half)
    return csr_matrix((np.ones(columns.size), (rows, columns)), shape=(n, d))


def colon(n: int, d: int) -> NDArray[np.float64]:
    """The colon data, if they are at hand; nothing is downloaded for a benchmark."""
    from redac.datasets import fetch_colon

    X = np.ascontiguousarray(fetch_colon().data, dtype=np.float64)
    if X.shape != (n, d):
        raise ValueError(f"The colon data have the shape {X.shape}, not {(n, d)}.")
    return X


DATA_SETS = (
    DataSet("colon", 62, 2000, colon, generated=False),
    DataSet("gene-like", 62, 2000, gene_like),
    DataSet("1000x1000", 1000, 1000, factor_data),
    DataSet("10000x1000", 10_000, 1000, factor_data),
    DataSet("100000x500", 100_000, 500, factor_data),
    DataSet("2000x10000", 2000, 10_000, factor_data),
    DataSet("sparse", 20_000, 50_000, topic_counts),
)
QUICK = ("gene-like", "1000x1000")


def grid(names: tuple[str, ...], kinds: tuple[str, ...] = (), *, quick: bool = False) -> list[Case]:
    """All cases whose name (data set, or data set/r) begins with one of the given ones."""
    cases = [
        Case(data, r, tuple(sparsity_for(kind, data) for kind in kinds or SPARSITIES))
        for data in DATA_SETS
        for r in ((10,) if quick else (10, 20))
        if not quick or names or data.name in QUICK
    ]
    if not names:
        return cases
    for name in names:
        if not any(case.name.startswith(name) for case in cases):
            known = ", ".join(case.name for case in cases)
            raise ValueError(f"--case {name}: no such case. There are {known}.")
    return [case for case in cases if case.name.startswith(names)]


def input_bytes(X: Any) -> int:
    """What the data take in memory."""
    if issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
