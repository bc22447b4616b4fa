"""What is proved: public matrices and generated ones, and numbers of components and non-zeros."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import generated, real

Array = NDArray[np.float64]
Make = Callable[[], Array]

# Seeds and sizes of the generated matrices: chosen before anything was run on them.
_SEED = 24
_LARGE = (100, 150, 250, 350, 500)
_SMALL = (20, 30, 40, 60)


@dataclass(frozen=True)
class Case:
    """One certificate: a matrix, cardinalities, the group it is counted in, what is wanted."""

    group: str
    data: str
    make: Make
    cardinality: tuple[int, ...]
    wanted: float
    seconds: float = 60.0

    @property
    def name(self) -> str:
        return f"{self.data} {self.settings}"

    @property
    def settings(self) -> str:
        r, k = len(self.cardinality), self.cardinality[0]
        return (
            f"{r} × {k}"
            if len(set(self.cardinality)) == 1
            else "-".join(map(str, self.cardinality))
        )


def cases() -> list[Case]:
    """All of them, in the order of the tables."""
    return [*_pitprops(), *_one(), *_several(), *_wide()]


def _pitprops() -> Iterator[Case]:
    wanted = {
        ((8, 5, 6, 2, 3, 2), (7, 4, 4, 1, 1, 1), (7, 2, 3, 1, 1, 1)): (0.01, 30.0),
        ((4, 4), (3, 3, 3, 3)): (0.02, 60.0),
        ((6, 4, 3, 2),): (0.2, 60.0),
        ((5, 5, 5),): (0.5, 60.0),
    }
    for settings, (gap, seconds) in wanted.items():
        for cardinality in settings:
            yield Case("pitprops", "pitprops", real.pitprops, cardinality, gap, seconds)


def _one() -> Iterator[Case]:
    matrices: dict[str, Make] = {"pitprops": real.pitprops}
    for name in real.TABLES:
        for kind in ("covariance", "correlation"):
            matrices[f"{name}, {kind}"] = partial(real.matrix, name, kind)
    matrices |= _generated(_LARGE)
    for name, make in matrices.items():
        for k in (5, 10):
            if len(make()) > k:
                yield Case("one component", name, make, (k,), 0.01)


def _several() -> Iterator[Case]:
    matrices: dict[str, Make] = {"pitprops": real.pitprops}
    for name, kinds in {
        "wine": ("covariance", "correlation"),
        "breast cancer": ("correlation",),
        "digits": ("correlation",),
        "diabetes": ("covariance", "correlation"),
    }.items():
        for kind in kinds:
            matrices[f"{name}, {kind}"] = partial(real.matrix, name, kind)
    matrices |= _generated(_SMALL)
    for r, group, wanted in ((2, "two of five", 0.5), (3, "three of five", 1.0)):
        for name, make in matrices.items():
            yield Case(group, name, make, (5,) * r, wanted)


def _generated(sizes: tuple[int, ...]) -> dict[str, Make]:
    """For each size a kind, with equal and with very unequal variances."""
    found: dict[str, Make] = {}
    kinds = ("spectrum 1/j", "samples", "blocks", "factors", "memory")
    for d, kind in zip(sizes, kinds, strict=False):
        for equal in (True, False):
            words = "equal variances" if equal else "unequal variances"
            found[f"{kind}, d = {d}, {words}"] = partial(_matrix, kind, d, equal=equal)
    return found


def _matrix(kind: str, d: int, *, equal: bool) -> Array:
    seed = (_SEED, d)
    if kind == "spectrum 1/j":
        return generated.with_spectrum(seed, "power", d, equal=equal)
    if kind == "samples":
        return generated.wishart(seed, 2 * d, d, equal=equal)
    if kind == "memory":
        return generated.wishart(seed, 2 * d, d, equal=equal, memory=0.8)
    if kind == "blocks":
        return generated.blocks(seed, d, max(d // 12, 3), equal=equal)
    X = generated.factors(seed, 2 * d, d, 8)
    scales = np.random.default_rng(seed).lognormal(sigma=0.6, size=d)
    S = np.corrcoef(X, rowvar=False) if equal else np.cov(X * scales, rowvar=False)
    return np.asarray(S, dtype=np.float64)


def _wide() -> Iterator[Case]:
    if real.has_colon():
        yield Case("wide", "colon", _colon, (50,) * 20, 10.0)


def _colon() -> Array:
    return np.asarray(np.cov(real.colon(), rowvar=False), dtype=np.float64)
