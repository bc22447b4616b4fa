"""One runner for all experiments: settings × contenders × repeats, in parallel, resumable."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from joblib import Parallel

from redac import metrics
from redac.experiments.contenders import Contender
from redac.experiments.experiment import Experiment
from redac.experiments.problems import ExperimentProblem
from redac.experiments.store import Record, Store, key_of
from redac.sources.base import Array
from redac.workers import delayed

# Told how many records of how many there are.
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Trial:
    """One contender on one data set."""

    experiment: Experiment
    setting: str
    contender: Contender
    repeat: int
    seed: int
    cardinality: tuple[int, ...] | None = None

    @property
    def place(self) -> tuple[str, str, int]:
        return self.setting, self.contender.name, self.repeat

    @property
    def data_seed(self) -> int:
        """The same for all contenders, another one for each setting and repeat."""
        name = zlib.crc32(f"{self.experiment.name} {self.setting}".encode())
        sequence = np.random.SeedSequence([self.seed, name, self.repeat])
        return int(sequence.generate_state(1)[0])

    @property
    def curve_at(self) -> tuple[int, ...]:
        wanted = self.repeat == 0 and self.contender.has_curve
        return self.experiment.curve_at if wanted else ()

    @property
    def keeps_components(self) -> bool:
        return self.repeat == 0 and self.experiment.keep_components

    def key(self) -> str:
        """Known before the work is done, and different for any other work."""
        experiment = self.experiment
        return key_of(
            {
                "experiment": experiment.name,
                "setting": [self.setting, experiment.settings[self.setting]],
                "contender": self.contender.specification(),
                "cardinality": self.cardinality,
                "repeat": self.repeat,
                "seed": self.data_seed,
                "kept": [self.curve_at, self.keeps_components],
            }
        )


def run(
    experiment: Experiment,
    store: Store,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    on_progress: OnProgress | None = None,
) -> list[Record]:
    """All records of an experiment; those that the store has are not computed again."""
    trials = _trials(experiment, seed)
    found: dict[tuple[str, str, int], Record] = {}
    # Contenders that are given another one's cardinalities wait for it.
    for waits in (False, True):
        stage = [
            _with_cardinality(trial, found)
            for trial in trials
            if (trial.contender.cardinality_of is not None) == waits
        ]
        for trial, record in _finished(stage, store, n_jobs):
            found[trial.place] = record
            if on_progress is not None:
                on_progress(len(found), len(trials))
    return [found[trial.place] for trial in trials]


def _trials(experiment: Experiment, seed: int) -> list[Trial]:
    """In an order that lets neighbours share their data set."""
    return [
        Trial(experiment, setting, contender, repeat, seed)
        for setting in experiment.settings
        for repeat in range(experiment.repeats)
        for contender in experiment.contenders
    ]


def _with_cardinality(trial: Trial, found: dict[tuple[str, str, int], Record]) -> Trial:
    other = trial.contender.cardinality_of
    if other is None:
        return trial
    counts = found[trial.setting, other, trial.repeat]["non_zeros"]
    # A component that the other method left empty still has to be asked for.
    cardinality = tuple(max(count, 1) for count in counts)
    return Trial(
        trial.experiment, trial.setting, trial.contender, trial.repeat, trial.seed, cardinality
    )


def _finished(trials: Sequence[Trial], store: Store, n_jobs: int) -> Iterable[tuple[Trial, Record]]:
    missing = {}
    for trial in trials:
        key = trial.key()
        record = store.get(key)
        if record is None:
            missing[key] = trial
        else:
            yield trial, record
    work = (delayed(measure)(trial, key) for key, trial in missing.items())
    for record in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work):
        store.add(record)
        yield missing[record["key"]], record


def measure(trial: Trial, key: str) -> Record:
    """Find the components, time it and score them."""
    experiment, seed = trial.experiment, trial.data_seed
    arrived = time.perf_counter()
    problem = _problem(experiment.make, experiment.settings[trial.setting], seed)
    cardinality = trial.cardinality or problem.cardinality
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        components = trial.contender.components(problem, cardinality, seed)
        seconds = time.perf_counter() - began
        record = {
            "key": key,
            "setting": trial.setting,
            "contender": trial.contender.name,
            "repeat": trial.repeat,
            "measures": experiment.measure(problem, components),
            "non_zeros": np.count_nonzero(components, axis=1).tolist(),
            "seconds": seconds,
        }
        if trial.curve_at:
            record["curve"] = _curve(trial, problem, cardinality, components)
    if trial.keeps_components:
        record["components"] = components.tolist()
    record["warnings"] = sorted({type(warning.message).__name__ for warning in caught})
    record["elapsed"] = time.perf_counter() - arrived  # with data, measures and curves
    return record


@lru_cache(maxsize=1)
def _problem(
    make: Callable[[Any, int], ExperimentProblem], setting: Any, seed: int
) -> ExperimentProblem:
    return make(setting, seed)


def _curve(
    trial: Trial, problem: ExperimentProblem, cardinality: Sequence[int], components: Array
) -> dict[str, list[float]]:
    """PEV of the first components, for several numbers of them.

    Methods that go on from one component to the next have found them all already; the others are
    run anew with each number.
    """
    pev = partial(metrics.pev, problem.matrix, covariance=problem.covariance)
    heights = []
    for count in trial.curve_at:
        if count == len(cardinality) or not trial.contender.joint:
            found = components[:count]
        else:
            found = trial.contender.components(problem, cardinality[:count], trial.data_seed)
        heights.append(pev(found))
    return {"components": list(trial.curve_at), "PEV": heights}
