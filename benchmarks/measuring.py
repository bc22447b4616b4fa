"""One case: a first trial of everybody in children, then alternating rounds in this process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import contestants
from benchmarks.cases import Case, Job, Sparsity, input_bytes
from benchmarks.children import Trial, in_child, store, trial
from benchmarks.quality import check
from benchmarks.tuning import tune
from redac.metrics import pev

Row = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How much patience there is."""

    threads: int
    rounds: int = 5
    case_seconds: float = 30.0  # for the rounds of one case; slow contestants are left out of them
    limit: float = 60.0  # for one fit of plain NumPy and of rivals without a penalty
    peer_limit: float = 600.0  # for one fit of redac, PCA or a penalised rival; for tuning
    only: tuple[str, ...] = ()  # contestants to measure; empty: all
    alphas: Mapping[tuple[Any, ...], float] = field(default_factory=dict)  # of an earlier run
    progress: Callable[[str], None] = lambda text: None

    def takes(self, name: str) -> bool:
        return not self.only or name in self.only


def measure(case: Case, settings: Settings) -> tuple[list[Row], list[Row]]:
    """The rows of a case, a contestant each, and its checks of quality."""
    X = case.data.matrix()
    with tempfile.TemporaryDirectory() as folder:
        path = store(X, Path(folder))
        trials = _first_trials(case, path, settings)
    times = _alternate(trials, X, settings)
    rows = [_row(case, job, trials[job], times.get(job, []), X) for job in trials]
    found = {job: result.components for job, result in trials.items()}
    return rows, list(check(case, X, found))


def _first_trials(case: Case, path: Path, settings: Settings) -> dict[Job, Trial]:
    trials: dict[Job, Trial] = {}
    for job in _jobs(case, settings):
        if job.contestant in contestants.PENALISED:
            job, failure = _tuned(case, job, path, trials, settings)
            if failure is not None:
                trials[job] = Trial(failure=failure)
                continue
        patient = job.contestant in (*contestants.MAIN, *contestants.PENALISED)
        limit = settings.peer_limit if patient else settings.limit
        trials[job] = trial(job, path, limit=limit, threads=settings.threads)
        seconds, failure = trials[job].seconds, trials[job].failure
        told = failure if seconds is None else f"{seconds:.3g} s"
        settings.progress(f"  {job.contestant}, {job.sparsity or 'no bound'}: {told}")
    return trials


def _jobs(case: Case, settings: Settings) -> Iterator[Job]:
    """Those without bounds once, the others for each kind of sparsity, redac first."""
    for name in contestants.CONTESTANTS:
        if not settings.takes(name):
            continue
        kinds: tuple[Sparsity | None, ...] = case.sparsities
        for sparsity in (None,) if name in contestants.UNBOUNDED else kinds:
            yield Job(name, case.r, sparsity)


def _tuned(
    case: Case, job: Job, path: Path, trials: dict[Job, Trial], settings: Settings
) -> tuple[Job, str | None]:
    """The job with a penalty that gives at least the non-zeros of redac, or why there is none."""
    ours = trials.get(Job("redac", job.r, job.sparsity), Trial()).components
    if ours is None:
        return job, "no result of redac to be compared with"
    least = int(np.count_nonzero(ours))
    key = (case.data.name, job.r, str(job.sparsity), job.contestant)
    job = replace(job, alpha=settings.alphas.get(key))
    limit, threads = settings.peer_limit, settings.threads
    answer = in_child(tune, job, path, least, limit, threads, limit=3 * limit)
    if isinstance(answer, str):
        late = answer.startswith("no result in")
        return job, f"not tuned: {answer}" if late else answer
    return replace(job, alpha=answer), None


def _alternate(trials: dict[Job, Trial], X: Any, settings: Settings) -> dict[Job, list[float]]:
    """Times of the contestants in turn, round after round, until the time is used up.

    Who is too slow for several rounds keeps the time of the first trial.
    """
    times: dict[Job, list[float]] = {job: [] for job in _quick_enough(trials, settings)}
    start = time.perf_counter()
    for _ in range(settings.rounds):
        for job, found in times.items():
            begin = time.perf_counter()
            contestants.fit(job, X)
            found.append(time.perf_counter() - begin)
        if time.perf_counter() - start > settings.case_seconds:
            break
    return times


def _quick_enough(trials: dict[Job, Trial], settings: Settings) -> list[Job]:
    """PCA and redac, and of the others the quickest that leave time for three rounds."""
    seconds = {job: result.seconds for job, result in trials.items() if result.seconds is not None}
    chosen = {
        job
        for job in seconds
        if job.contestant in contestants.MAIN and seconds[job] <= settings.case_seconds
    }
    one_round = sum(seconds[job] for job in chosen)
    for job in sorted(seconds.keys() - chosen, key=seconds.__getitem__):
        one_round += seconds[job]
        if one_round <= settings.case_seconds / 3:
            chosen.add(job)
    return [job for job in trials if job in chosen]


def _row(case: Case, job: Job, first: Trial, times: list[float], X: Any) -> Row:
    row: Row = {
        "data": case.data.name,
        "n": case.data.n,
        "d": case.data.d,
        "r": case.r,
        "sparsity": None if job.sparsity is None else str(job.sparsity),
        "contestant": job.contestant,
        "failure": first.failure,
    }
    if first.components is None or first.seconds is None:
        return row
    return row | {
        "seconds": min(times, default=first.seconds),
        "median_seconds": float(np.median(times)) if times else first.seconds,
        "rounds": len(times),
        "input_bytes": input_bytes(X),
        "peak_bytes": first.peak_bytes,
        "cached_columns": first.cached_columns,
        "pev": pev(X, first.components),
        "nonzeros": int(np.count_nonzero(first.components)),
        "sweeps": first.sweeps,
        "passes": first.passes,
        "alpha": job.alpha,
    }
