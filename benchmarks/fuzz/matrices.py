"""Data at random, of every shape and structure that a user may bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator

# Powers of ten that data as a whole may be multiplied with: with columns that differ by six more to
# either side, heavy tails and large means all numbers stay within 1e-307 and 1e307.
_WHOLE = {np.dtype(np.float64): 285.0, np.dtype(np.float32): 18.0}
# How far beyond its spread the mean of a column may lie, as a power of ten. Beyond, so few digits
# are left of the spread that nothing can be said about it.
_MEAN = {np.dtype(np.float64): 8.0, np.dtype(np.float32): 4.0}
_WHOLE_NUMBERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16)


@dataclass(frozen=True)
class Drawn:
    """A data matrix, and whether equal columns or equal values may make two answers equally good.

    Attributes
    ----------
    X : the matrix, with the type that the user gives.
    is_tied : whether equally good answers must be expected.
    """

    X: NDArray[Any]
    is_tied: bool


def draw_untied(rng: Rng) -> Drawn:
    """A matrix with one best answer, as far as that can be said beforehand."""
    n, d = _shape(rng)
    n, d = max(n, 8), max(d, 3)
    structure = str(rng.choice([name for name in STRUCTURES if name not in _TIED]))
    X = STRUCTURES[structure](rng, n, d)
    return Drawn(_with_units(rng, X, np.dtype(np.float64)), is_tied=False)


def draw_matrix(rng: Rng) -> Drawn:
    """A matrix of random shape, structure, size and type."""
    n, d = _shape(rng)
    structure = str(rng.choice(list(STRUCTURES)))
    X = STRUCTURES[structure](rng, n, d)
    X, has_equals = _with_equals(rng, X)
    kind = rng.random()
    if kind < 0.1:
        return Drawn(_whole_numbers(rng, X), is_tied=True)
    if kind < 0.14:
        return Drawn(np.median(X) < X, is_tied=True)
    dtype = np.dtype(np.float32 if kind < 0.3 else np.float64)
    few = n < 5 or d < 2
    is_tied = has_equals or few or structure in _TIED or dtype == np.float32
    return Drawn(_with_units(rng, X, dtype).astype(dtype), is_tied)


def _shape(rng: Rng) -> tuple[int, int]:
    if rng.random() < 0.04:
        return int(rng.integers(3, 26)), int(rng.choice([600, 2500]))
    most_rows, most_columns = rng.choice([4, 30, 30, 200]), rng.choice([6, 20, 20, 60])
    return int(rng.integers(2, most_rows + 1)), int(rng.integers(1, most_columns + 1))


def _noise(rng: Rng, n: int, d: int) -> Array:
    return rng.standard_normal((n, d))


def _factors(rng: Rng, n: int, d: int) -> Array:
    """Few factors with loadings on some features each, and noise."""
    rank = int(rng.integers(1, 6))
    loadings = rng.standard_normal((rank, d)) * (rng.random((rank, d)) < 0.5)
    noise: Array = 10.0 ** rng.uniform(-6, 0) * rng.standard_normal((n, d))
    return rng.standard_normal((n, rank)) @ loadings + noise


def _low_rank(rng: Rng, n: int, d: int) -> Array:
    rank = int(rng.integers(1, 5))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def _blocks(rng: Rng, n: int, d: int) -> Array:
    """Groups of correlated features."""
    group = rng.integers(0, max(1, d // 4) + 1, size=d)
    common: Array = rng.standard_normal((n, int(group.max()) + 1))
    return common[:, group] + rng.uniform(0.05, 2.0) * rng.standard_normal((n, d))


def _heavy_tails(rng: Rng, n: int, d: int) -> Array:
    return rng.standard_t(1.5, size=(n, d))


def _few_values(rng: Rng, n: int, d: int) -> Array:
    return rng.integers(-2, 3, size=(n, d)).astype(np.float64)


def _counts(rng: Rng, n: int, d: int) -> Array:
    return rng.poisson(rng.uniform(0.1, 5.0, size=d), size=(n, d)).astype(np.float64)


def _mostly_zero(rng: Rng, n: int, d: int) -> Array:
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < rng.uniform(0.05, 0.5))


STRUCTURES: dict[str, Callable[[Rng, int, int], Array]] = {
    "noise": _noise,
    "factors": _factors,
    "low rank": _low_rank,
    "blocks": _blocks,
    "heavy tails": _heavy_tails,
    "few values": _few_values,
    "counts": _counts,
    "mostly zero": _mostly_zero,
}
_TIED = ("low rank", "few values", "counts", "mostly zero")


def _with_equals(rng: Rng, X: Array) -> tuple[Array, bool]:
    """Some columns made equal, opposite, constant or zero, or some rows made equal."""
    if rng.random() < 0.6:
        return X, False
    n, d = X.shape
    chosen = np.flatnonzero(rng.random(d) < rng.uniform(0.0, 0.7))
    kind = rng.integers(5)
    if kind == 0:
        X[:, chosen] = X[:, rng.integers(0, d, size=chosen.size)]
    elif kind == 1:
        X[:, chosen] = -X[:, [0]]
    elif kind == 2:
        X[:, chosen] = rng.choice([0.1, 1.0, -3.7, 1e8])
    elif kind == 3:
        X[:, chosen] = 0.0
    else:
        X = X[rng.integers(0, n, size=n)]
    return X, True


def _with_units(rng: Rng, X: Array, dtype: np.dtype[Any]) -> Array:
    """Columns in units of their own, with means of their own; then all in another unit."""
    d = X.shape[1]
    if rng.random() < 0.3:
        X = X + X.std(axis=0) * 10.0 ** rng.uniform(-1.0, rng.uniform(0.0, _MEAN[dtype]), size=d)
    if rng.random() < 0.4:
        decades = rng.choice([0.5, 3.0, 6.0])
        X = X * 10.0 ** rng.uniform(-decades, decades, size=d)
    if rng.random() < 0.15:
        X = X * 10.0 ** rng.uniform(-_WHOLE[dtype], _WHOLE[dtype])
    return X


def _whole_numbers(rng: Rng, X: Array) -> NDArray[Any]:
    dtype = np.dtype(rng.choice(np.array(_WHOLE_NUMBERS, dtype=object)))
    limits = np.iinfo(dtype)
    largest = min(float(limits.max), 2.0**40)
    peak = max(float(np.abs(X).max()), 1.0)
    X = np.round(X / peak * largest ** rng.uniform(0.2, 1.0))
    return np.clip(X, max(float(limits.min), -largest), largest).astype(dtype)
