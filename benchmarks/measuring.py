"""One case: a first trial of everybody in children, then alternating rounds in this process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import contestants
from benchmarks.cases import Case, Job, Sparsity, input_bytes
from benchmarks.children import Trial, in_child, store, too_long, trial
from benchmarks.penalties import Penalties, Penalty
from benchmarks.quality import check
from benchmarks.tuning import tune
from redac.metrics import pev

Row = dict[str, Any]

# Threads of BLAS wait for more work for a while, and each library has its own; a fit must not be
# slowed down by those of the contestant before it.
_PAUSE = 0.1
_ROUNDS_OF_SLOW = 3  # for fits of more than a second, whose times vary little
# A fit that has fewer non-zeros than it was tuned for is tried with so much of its penalty.
_WEAKER = 0.99
_CONFIRMATIONS = 3
_LARGE = 4_000_000  # entries


@dataclass(frozen=True)
class Settings:
    """How much patience there is."""

    threads: int
    rounds: int = 10
    case_seconds: float = 30.0  # for the rounds of one case; slow contestants are left out of them
    limit: float = 60.0  # for one fit of plain NumPy and of rivals without a penalty
    hopeless_limit: float = 10.0  # for plain NumPy on large data, of which every update is a pass
    peer_limit: float = 180.0  # for one fit of redac, PCA or a penalised rival
    tuning_limit: float = 900.0  # for the search for one penalty
    only: tuple[str, ...] = ()  # contestants to measure; empty: all
    penalties: Penalties = field(default_factory=Penalties)
    tune: bool = False  # search for penalties that are known, too
    progress: Callable[[str], None] = lambda text: None

    def takes(self, name: str) -> bool:
        return not self.only or name in self.only

    def changed(self, **changes: Any) -> Settings:
        return replace(self, **changes)


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
            job, result = _penalised_trial(case, job, path, trials, settings)
        else:
            limit = _limit(case, job, settings)
            result = trial(job, path, limit=limit, threads=settings.threads)
        trials[job] = result
        told = result.failure if result.seconds is None else f"{result.seconds:.3g} s"
        settings.progress(f"  {job.contestant}, {job.sparsity or 'no bound'}: {told}")
    return trials


def _limit(case: Case, job: Job, settings: Settings) -> float:
    if job.contestant in contestants.MAIN:
        return settings.peer_limit
    if job.contestant == "plain NumPy" and case.data.n * case.data.d > _LARGE:
        return min(settings.limit, settings.hopeless_limit)
    return settings.limit


def _jobs(case: Case, settings: Settings) -> Iterator[Job]:
    """Those without bounds once, the others for each kind of sparsity, redac first."""
    for name in contestants.CONTESTANTS:
        if not settings.takes(name):
            continue
        kinds: tuple[Sparsity | None, ...] = case.sparsities
        for sparsity in (None,) if name in contestants.UNBOUNDED else kinds:
            yield Job(name, case.r, sparsity)


def _penalised_trial(
    case: Case, job: Job, path: Path, trials: dict[Job, Trial], settings: Settings
) -> tuple[Job, Trial]:
    """A fit with the known penalty, or with one that is searched for, confirmed and kept."""
    ours = trials.get(Job("redac", job.r, job.sparsity), Trial()).components
    if ours is None:
        return job, Trial(failure="no result of redac to be compared with")
    aim = int(np.count_nonzero(ours))
    known = settings.penalties.get((case.data.name, job.r, str(job.sparsity), job.contestant))
    if known is not None and known.serves(aim) and not settings.tune:
        job = replace(job, alpha=known.alpha)
        if known.longer_than is not None and known.longer_than >= settings.peer_limit:
            late = known.longer_than
            return job, Trial(failure=too_long(late), longer_than=late, recorded=True)
        return job, trial(job, path, limit=settings.peer_limit, threads=settings.threads)
    settings.progress(f"  {job.contestant}, {job.sparsity}: searching for a penalty")
    job = replace(job, alpha=_first_penalty(case, job, settings))
    limit, threads = settings.tuning_limit, settings.threads
    answer = in_child(tune, job, path, aim, threads, limit=limit)
    if isinstance(answer, str):
        return job, Trial(failure=answer)
    return _confirmed(case, replace(job, alpha=answer), path, aim, settings)


def _first_penalty(case: Case, job: Job, settings: Settings) -> float | None:
    """The penalty of SparsePCA, which minimises the same function, if it is known."""
    known = settings.penalties.get((case.data.name, job.r, str(job.sparsity), "SparsePCA"))
    return None if known is None else known.alpha


def _confirmed(case: Case, job: Job, path: Path, aim: int, settings: Settings) -> tuple[Job, Trial]:
    """A whole fit with a penalty that was found, which goes into the file with what it gave."""
    for _ in range(_CONFIRMATIONS):
        result = trial(job, path, limit=settings.peer_limit, threads=settings.threads)
        count = None if result.components is None else int(np.count_nonzero(result.components))
        alpha = job.alpha
        assert alpha is not None  # noqa: S101  (the caller has set it)
        if (count is not None and count >= aim) or result.longer_than is not None:
            where = (case.data.name, job.r, str(job.sparsity), job.contestant)
            settings.penalties.add(Penalty(*where, aim, alpha, count, result.longer_than))
            return job, result
        if count is None:
            return job, result
        job = replace(job, alpha=_WEAKER * alpha)
    return replace(job, alpha=alpha), result


def _alternate(trials: dict[Job, Trial], X: Any, settings: Settings) -> dict[Job, list[float]]:
    """Times of the contestants in turn, round after round, until the time is used up.

    Who is too slow for several rounds keeps the time of the first trial.
    """
    times: dict[Job, list[float]] = {job: [] for job in _quick_enough(trials, settings)}
    start = time.perf_counter()
    for number in range(settings.rounds):
        for job, found in times.items():
            if number >= _ROUNDS_OF_SLOW and min(found) > 1.0:
                continue
            time.sleep(_PAUSE)
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
        "longer_than": first.longer_than,
        "recorded": first.recorded,
        "alpha": job.alpha,
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
        "cached_bytes": first.cached_bytes,
        "pev": pev(X, first.components),
        "nonzeros": int(np.count_nonzero(first.components)),
        "sweeps": first.sweeps,
        "passes": first.passes,
    }
