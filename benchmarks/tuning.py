"""The penalty at which a penalised rival has at least as many non-zeros as redac, and few more."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.cases import Job
from benchmarks.dictionary import QuickSparsePCA

_PROBES = 16
_CLOSE = 1.01
_LEAST_STEP = 0.02  # of the logarithm of a penalty
_LONGER = 1.5  # each step is at least so much longer than the last


def tune(job: Job, path: Path, least: int, threads: int) -> float | str:
    """The penalty for at least ``least`` non-zeros, or why there is none.

    The search begins with the penalty of the job, if it has one, and otherwise with the one that
    would leave as many of the loadings of PCA.
    """
    from benchmarks.children import load
    from benchmarks.contestants import penalised

    X = load(path)
    penalised(job, X)  # says so if it does not apply
    with warnings.catch_warnings(), threadpool_limits(threads):
        warnings.simplefilter("ignore")
        quick = QuickSparsePCA(X, job.r)
        scores = np.sort(quick.scores(), axis=None)
        first = job.alpha or float(scores[-min(least, scores.size)])
        count = quick.nonzeros if job.contestant == "SparsePCA" else _by_fits(job, X)
        found = search(count, first, least)
    return found or f"no penalty found with {least} non-zeros"


def _by_fits(job: Job, X: Any) -> Callable[[float], int]:
    """Non-zeros by whole fits of the rival, for which there is no shorter way."""
    from benchmarks.contestants import penalised

    def count(alpha: float) -> int:
        model = penalised(replace(job, alpha=alpha), X).fit(X)
        return int(np.count_nonzero(model.components_))

    return count


def search(count: Callable[[float], int], first: float, least: int) -> float | None:
    """Of the penalties tried, the one with the fewest non-zeros that are not too few.

    Steps in the logarithm, as if the number were inversely proportional to the penalty, until there
    are too many on one side and too few on the other; then halves.
    """
    place, enough, few, step = float(np.log(first)), -np.inf, np.inf, 0.0
    tried: dict[float, int] = {}
    for _ in range(_PROBES):
        number = count(float(np.exp(place)))
        tried[place] = number
        if least <= number <= _CLOSE * least:
            break
        if number >= least:
            enough = max(enough, place)
        else:
            few = min(few, place)
        if np.isfinite(enough) and np.isfinite(few):
            place = (enough + few) / 2
        else:
            expected = abs(float(np.log(max(number, 1) / least)))
            step = max(expected, _LONGER * step, _LEAST_STEP)
            place += step if number >= least else -step
    good = [x for x, number in tried.items() if number >= least]
    return float(np.exp(min(good, key=tried.__getitem__))) if good else None
