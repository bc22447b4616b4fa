"""How the time of a fit grows with each size while the others stay fixed.

All points have more features than samples, so that the products go through X and its remembered
columns and not through a ready Gram matrix, and are large enough for constant overheads not to
decide. A fixed number of sweeps from one start measures the cost of the method; the default fit
beside it also has the number of sweeps that the data happen to need.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.cases import factor_data
from redac import SparsePCA

FIXED_SWEEPS = 30


@dataclass(frozen=True)
class Sizes:
    """One point of a growth series."""

    n: int = 500
    d: int = 8000
    r: int = 10
    k: int = 40


SERIES: dict[str, tuple[int, ...]] = {
    "n": (250, 500, 1000, 2000),
    "d": (4000, 8000, 16_000, 32_000),
    "r": (5, 10, 20, 40),
    "k": (20, 40, 80, 160),
}


def measure_growth(
    base: Sizes | None = None,
    series: dict[str, tuple[int, ...]] | None = None,
    *,
    rounds: int = 5,
    progress: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """The best times of each point, all points of a series in turn, with the fitted exponents."""
    results = []
    for letter, values in (series or SERIES).items():
        progress(f"growth with {letter}")
        points = [replace(base or Sizes(), **{letter: value}) for value in values]
        times, sweeps = _times(points, rounds)
        results.append(
            {
                "size": letter,
                "values": list(values),
                "fixed": {key: v for key, v in asdict(points[0]).items() if key != letter},
                "fixed_sweeps_seconds": times[0],
                "fixed_sweeps_exponent": exponent(values, times[0]),
                "default_seconds": times[1],
                "default_exponent": exponent(values, times[1]),
                "default_sweeps": sweeps,
            }
        )
    return results


def exponent(sizes: Any, seconds: Any) -> float:
    """The slope of the line of least squares through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _times(points: list[Sizes], rounds: int) -> tuple[list[list[float]], list[int]]:
    best = [[np.inf] * len(points), [np.inf] * len(points)]
    sweeps = [0] * len(points)
    data = {(p.n, p.d): factor_data(p.n, p.d) for p in points}
    fixed: dict[str, Any] = {"n_init": 1, "tol": 0.0, "max_iter": FIXED_SWEEPS}
    for _ in range(rounds):
        for i, point in enumerate(points):
            for row, options in enumerate([fixed, {}]):
                model = SparsePCA(point.r, cardinality=point.k, **options)
                best[row][i] = min(best[row][i], _seconds(model, data[point.n, point.d]))
            sweeps[i] = model.n_iter_
    return best, sweeps


def _seconds(model: SparsePCA, X: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sweeps are meant to run out
        start = time.perf_counter()
        model.fit(X)
        return time.perf_counter() - start
