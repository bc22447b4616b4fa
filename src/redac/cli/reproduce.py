"""``redac reproduce``: the tables and figures of the paper, ours beside theirs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from redac.cli.results import add_force, answer, check_folder
from redac.cli.session import session
from redac.files.together import refuse_unusable_folder

if TYPE_CHECKING:
    from redac.experiments import Experiment, Reproduction
    from redac.experiments.reproduction import Watch

_ALL = "all"
_FOLDER = "reproduction"


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="run the experiments of the paper",
        description="Run the experiments of the paper and put ours beside theirs. An interrupted "
        "run goes on where it stopped.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="experiments, or 'all' (the default); a wrong name gets the list of right ones",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        metavar="N",
        help="data sets, splits or random starts for each setting, where there is something to "
        "repeat (default: at least as many as in the paper)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small version of everything, in minutes"
    )
    parser.add_argument(
        "--output",
        default=_FOLDER,
        metavar="DIR",
        help=f"folder for results.json, results.md and the figures (default: {_FOLDER})",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed (default: 0)")
    parser.add_argument(
        "--jobs", type=int, default=-1, metavar="N", help="processes (default: one for each core)"
    )
    parser.add_argument(
        "--docs",
        metavar="DIR",
        help="write the page as DIR/reproduction.md too, with DIR/figures/reproduction",
    )
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run, print a summary, write."""
    from redac.cli import terminal
    from redac.experiments import reproduce
    from redac.experiments.reproduction import DOCS_FILES, RESULT_FILES, write_docs
    from redac.experiments.summary import json_rows

    check_folder(options, RESULT_FILES)
    if options.docs is not None:
        refuse_unusable_folder(options.docs, DOCS_FILES)
    _check(options)
    experiments = [_sized(experiment, options) for experiment in _chosen(options.names)]
    with _progress() as watch:
        made = reproduce(
            experiments, options.output, seed=options.seed, n_jobs=options.jobs, watch=watch
        )
    if options.docs is not None:
        write_docs(made, options.docs)
    terminal.note(f"results written to {options.output}")
    rows = json_rows(row for result in made.results for row in result.rows)
    answer(options, lambda: _print_summary(made), lambda: {"results": rows})
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.repeats is not None and options.repeats < 1:
        raise ValueError(f"--repeats {options.repeats}: at least 1 is needed")
    if options.jobs == 0:
        raise ValueError("--jobs 0: give a number of processes, or -1 for one on each core")
    if options.seed < 0:
        raise ValueError(f"--seed {options.seed}: a seed is 0 or larger")


def _chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments named; with ``all`` those whose data are there."""
    from redac.cli import terminal
    from redac.experiments import EXPERIMENTS

    unknown = [name for name in names if name not in EXPERIMENTS and name != _ALL]
    if unknown:
        known = ", ".join([*EXPERIMENTS, _ALL])
        raise ValueError(f"unknown experiment {unknown[0]!r}; choose from {known}")
    if names and _ALL not in names:
        chosen = [EXPERIMENTS[name] for name in dict.fromkeys(names)]
        for experiment in chosen:
            experiment.check_data()
        return chosen
    ready = []
    for experiment in EXPERIMENTS.values():
        try:
            experiment.check_data()
        except FileNotFoundError as error:
            terminal.note(f"{experiment.name} left out: {str(error).splitlines()[0]}")
        else:
            ready.append(experiment)
    return ready


def _sized(experiment: Experiment, options: argparse.Namespace) -> Experiment:
    if options.quick:
        experiment = experiment.quick()
    return experiment if options.repeats is None else experiment.repeated(options.repeats)


@contextmanager
def _progress() -> Iterator[Watch]:
    """A bar for each experiment, when somebody is watching."""
    if not session().is_watched:
        yield lambda name, done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=Console(stderr=True)) as bar:

        def watch(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield watch


def _print_summary(made: Reproduction) -> None:
    """ReDaC beside the printed figures and beside the best other method."""
    from rich import box
    from rich.table import Table

    from redac.cli import terminal
    from redac.experiments.page import number
    from redac.experiments.summary import against_the_paper, against_the_rivals

    table = Table(box=box.SIMPLE_HEAD)
    for title in ("experiment", "setting", "measure"):
        table.add_column(title, no_wrap=True)
    for title in ("ReDaC", "other", "ahead by"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("than", no_wrap=True)
    for result in made.results:
        verdicts = [
            *against_the_paper(result.experiment, result.rows),
            *against_the_rivals(result.experiment, result.rows),
        ]
        for verdict in verdicts:
            table.add_row(
                result.experiment.name,
                verdict.setting,
                verdict.measure,
                number(verdict.measure, verdict.ours),
                number(verdict.measure, verdict.other),
                number(verdict.measure, verdict.margin, sign=True),
                verdict.rival,
                style=None if verdict.holds or verdict.open else "bold",
            )
    with terminal.printing() as console:
        console.print(table, width=140)
