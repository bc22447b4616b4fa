"""From names of experiments to a folder of results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from redac.disk import output_folder, write_atomically
from redac.experiments import figures
from redac.experiments.catalogue import EXPERIMENTS
from redac.experiments.experiment import Experiment
from redac.experiments.page import Result, page, run_facts
from redac.experiments.runner import run
from redac.experiments.store import Record, Store
from redac.experiments.summary import json_rows, rows_of
from redac.files.together import written_together

# Told the name of the experiment, how much is done and how much there is to do.
Watch = Callable[[str, int, int], None]

_FIGURES = [file for name in EXPERIMENTS for file in figures.files_of(name)]
RESULT_FILES = ["results.json", "run.json", "results.md", *(f"figures/{f}" for f in _FIGURES)]
DOCS_FILES = ["reproduction.md", *(f"figures/reproduction/{file}" for file in _FIGURES)]


@dataclass(frozen=True)
class Reproduction:
    """Experiments that were run, with their records."""

    results: list[Result]
    records: dict[str, list[Record]]
    facts: dict[str, str]


def reproduce(
    experiments: Sequence[Experiment],
    folder: str | os.PathLike[str],
    *,
    seed: int = 0,
    n_jobs: int = 1,
    watch: Watch | None = None,
) -> Reproduction:
    """Run experiments and write results.json, run.json, results.md and the figures to a folder.

    What is finished is kept in the folder ``finished`` at once, so that the same call goes on where
    an earlier one was interrupted. The other files are written together at the end, and replace
    those of an earlier call.

    Parameters
    ----------
    experiments : from ``EXPERIMENTS``, in the order of the page.
    folder : created if need be.
    seed : of everything that is random.
    n_jobs : processes side by side; -1 for one on each core.
    watch : told of the progress.
    """
    place = output_folder(folder)
    records = {}
    for experiment in experiments:
        store = Store(place / "finished" / f"{experiment.name}.jsonl")
        on_progress = partial(watch, experiment.name) if watch is not None else None
        records[experiment.name] = run(
            experiment, store, seed=seed, n_jobs=n_jobs, on_progress=on_progress
        )
    results = [
        Result(
            experiment,
            rows_of(experiment, records[experiment.name]),
            sum(record["elapsed"] for record in records[experiment.name]),
        )
        for experiment in experiments
    ]
    made = Reproduction(results, records, run_facts(seed, results))
    with written_together(place, RESULT_FILES) as new:
        rows = json_rows(row for result in results for row in result.rows)
        _write_json(new / "results.json", rows)
        _write_json(new / "run.json", made.facts)
        _write_page(made, new / "results.md", new / "figures")
    return made


def write_docs(made: Reproduction, folder: str | os.PathLike[str]) -> None:
    """Write the page of results for the documentation, and its figures below the folder."""
    with written_together(folder, DOCS_FILES) as new:
        _write_page(made, new / "reproduction.md", new / "figures" / "reproduction")


def _write_page(made: Reproduction, path: Path, pictures: Path) -> None:
    drawn: dict[str, list[str]] = {}
    if find_spec("matplotlib") is not None:
        output_folder(pictures)
        for result in made.results:
            own = made.records[result.experiment.name]
            names = figures.draw(result.experiment, result.rows, own, pictures)
            drawn[result.experiment.name] = names
    text = page(made.results, made.facts, drawn, pictures.relative_to(path.parent).as_posix())
    write_atomically(path, lambda file: _write_text(file, text))


def _write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, lambda file: _write_text(file, text + "\n"))


def _write_text(file: IO[bytes], text: str) -> None:
    file.write(text.encode())
