"""The penalty at which a penalised rival has at least as many non-zeros as redac, and few more."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.cases import Job

_ROUGH_STEPS = 7
_ROUGH_ITERATIONS = 10
_FINE_STEPS = 8
_FINE_STEP = 0.05
_CLOSE = 1.02
# A rival that cannot make this many iterations within the limit is not started: it would hardly be
# done by then.
_LEAST_ITERATIONS = {"SparsePCA": 20, "MiniBatchSparsePCA": 2}


def tune(job: Job, path: Path, least: int, limit: float, threads: int) -> float | str:
    """The penalty for at least ``least`` non-zeros, or why it is not worth looking for.

    A penalty that the job already has is kept if it fits.
    """
    from benchmarks.children import load

    X = load(path)
    with warnings.catch_warnings(), threadpool_limits(threads):
        warnings.simplefilter("ignore")
        largest = float(np.linalg.norm(X - X.mean(axis=0), axis=0).max())
        start = time.perf_counter()
        _nonzeros(replace(job, alpha=largest / 10), X, max_iter=1)
        one, count = time.perf_counter() - start, _LEAST_ITERATIONS[job.contestant]
        if one * count > limit:
            return f"not started: {count} iterations of {one:.0f} s pass {limit / 60:g} min"
        if job.alpha is not None and least <= _nonzeros(job, X) <= _CLOSE * least:
            return job.alpha
        return _search(job, X, least, largest, start + limit / 2)


def _search(job: Job, X: Any, least: int, largest: float, deadline: float) -> float | str:
    """Bisection with few iterations, then with whole fits while there is time."""
    low, high = np.log(largest * 1e-4), np.log(largest)
    for _ in range(_ROUGH_STEPS):
        middle = (low + high) / 2
        count = _nonzeros(replace(job, alpha=float(np.exp(middle))), X, max_iter=_ROUGH_ITERATIONS)
        low, high = (middle, high) if count >= least else (low, middle)
    return _refined(job, X, least, (low + high) / 2, deadline)


def _refined(job: Job, X: Any, least: int, middle: float, deadline: float) -> float | str:
    """From the logarithm of a penalty to a better one by whole fits, while there is time."""
    enough, few, step = -np.inf, np.inf, _FINE_STEP
    for _ in range(_FINE_STEPS):
        count = _nonzeros(replace(job, alpha=float(np.exp(middle))), X)
        if count >= least:
            enough = max(enough, middle)
        else:
            few = min(few, middle)
        close = least <= count <= _CLOSE * least
        if close or (np.isfinite(enough) and time.perf_counter() > deadline):
            break
        if np.isfinite(enough) and np.isfinite(few):
            middle = (enough + few) / 2
        else:  # one side is not known yet
            middle += step if np.isfinite(enough) else -step
            step *= 2
    if not np.isfinite(enough):
        return f"no penalty found with {least} non-zeros"
    return float(np.exp(enough))


def _nonzeros(job: Job, X: Any, **options: Any) -> int:
    from benchmarks.contestants import penalised

    return int(np.count_nonzero(penalised(job, X, **options).fit(X).components_))
