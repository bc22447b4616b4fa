"""``redac fit``: sparse components of a file, printed and, if wanted, written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from redac.cli import choosing, fitting
from redac.cli.choosing import add_stability, stability_of
from redac.cli.inputs import (
    about_rows,
    add_data_options,
    command_line,
    component_count,
    numbers,
    read_data,
    whole_or_share,
)
from redac.cli.results import add_force, answer, check_folder
from redac.cli.rule_options import add_rules, bound_by_rules, rules_of
from redac.cli.signals import INTERRUPTED
from redac.disk import write_atomically, write_text
from redac.files.together import written_together

if TYPE_CHECKING:
    import pandas as pd

    from redac import SparsePCA, Stability
    from redac.files import Table

_LOADINGS, _SCORES, _MODEL, _REPORT = "loadings.csv", "scores.csv", "model.npz", "report.html"
_STABILITY = "stability.csv"
RESULT = (_LOADINGS, _SCORES, _MODEL, _REPORT, _STABILITY)


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "fit",
        help="find sparse components of a data set",
        description="Find sparse components of a data set, print them, write them with --output.",
    )
    add_settings(parser)
    add_stability(parser)
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="write loadings.csv, scores.csv (not from a covariance matrix), model.npz, "
        "report.html and with --stability stability.csv to this folder, all of them or none",
    )
    add_force(parser)
    parser.set_defaults(run=run)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The data, and how they are fitted."""
    add_data_options(parser, gaps=True)
    parser.add_argument(
        "--robust",
        choices=("cells", "rows", "both"),
        help="wild cells, wild rows or both lose their weight",
    )
    _add_bounds(parser)
    add_rules(parser)
    _add_search(parser)
    parser.add_argument(
        "--samples",
        type=int,
        metavar="N",
        help="the number of samples behind a covariance matrix, to choose a cardinality by",
    )


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    """What the loadings may be."""
    bounds = parser.add_mutually_exclusive_group()
    bounds.add_argument(
        "--cardinality",
        type=numbers(whole_or_share),
        metavar="K",
        help="at most K non-zero loadings; one number for all components or a list such as 8,5,6; "
        "0.1 means a tenth of the features (default: chosen by cross-validation where that takes "
        "seconds, as redac choose does, else a third of the features, but at most 10)",
    )
    bounds.add_argument(
        "--l1-bound",
        type=numbers(float),
        metavar="T",
        help="bound on the sum of magnitudes of the loadings instead, one number or a list",
    )
    parser.add_argument("--nonnegative", action="store_true", help="allow no negative loading")


def _add_search(parser: argparse.ArgumentParser) -> None:
    """How they are looked for."""
    parser.add_argument(
        "--init-count",
        type=int,
        metavar="N",
        help="number of starting points (default: several, none of them random)",
    )
    parser.add_argument(
        "--ridge",
        type=float,
        metavar="R",
        help="keeps components from becoming parallel (default: 0, or what the data suggest where "
        "cells are missing)",
    )
    parser.add_argument(
        "--min-separation",
        type=float,
        metavar="S",
        help="keep components at least so far apart, from 0 to 1 (default: 0.5 with --l1-bound and "
        "no ridge, else 0)",
    )
    _add_perturbations(parser)
    parser.add_argument(
        "--max-iter",
        type=int,
        default=1000,
        metavar="N",
        help="sweeps for each start at most (default: 1000)",
    )
    parser.add_argument(
        "--tol",
        type=float,
        default=1e-7,
        metavar="T",
        help="a run ends when a sweep lowers the objective by no more than this share of the "
        "variance (default: 1e-7)",
    )


def _add_perturbations(parser: argparse.ArgumentParser) -> None:
    """The search for something better after the best start."""
    parser.add_argument(
        "--perturbations",
        type=int,
        default=0,
        metavar="N",
        help="rounds of search for something better after the best start (default: 0)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="chains of such rounds, each in a process of its own (default: 1)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="S",
        help="seed of random starting points and of --perturbations (default: another each time)",
    )


def run(options: argparse.Namespace) -> int:
    """Read, choose what was not given, fit, write, print."""
    from redac.cli import terminal

    check_folder(options, RESULT)
    table, is_covariance = read_data(options)
    choosing.check_numbers(options, table, is_covariance)
    settled = None
    is_bound = options.l1_bound is not None or bound_by_rules(options)
    if options.cardinality is None and not is_bound:
        settled = choosing.settle_numbers(options, table, is_covariance)
    model, caught = settled.found if settled else None, []
    if model is None:
        model = model_of(options, table.values.shape[1])
        caught = fitting.fit_table(model, options, table, is_covariance)
    # After the fit: a call that fails says so in one line, and says nothing else.
    terminal.about_data(table)
    if settled is not None:
        terminal.note(settled.why, "warning" if settled.is_doubtful else "info")
    terminal.gaps_and_outliers(model)
    terminal.notes(caught)
    is_whole = conclude(options, model, table, is_covariance)
    return 0 if is_whole else INTERRUPTED


def conclude(
    options: argparse.Namespace,
    model: SparsePCA,
    table: Table,
    is_covariance: bool,
    **said: Any,
) -> bool:
    """Write and print a fitted model, and how stable it is if that was asked for.

    False if the fit, or what says how stable it is, was interrupted.
    """
    from redac.cli import terminal
    from redac.model.rules import rule_sentence
    from redac.show.documents import model_document, stability_document

    steady = stability_of(options, model, table, is_covariance)

    def show() -> None:
        terminal.components(model)
        if steady is not None:
            terminal.sentences(steady.summary().splitlines())

    def document() -> dict[str, Any]:
        parts = {} if steady is None else {"stability": stability_document(steady)}
        return {**said, "model": model_document(model, [rule_sentence(model)]), **parts}

    try:
        if options.output is not None:
            _write(options, model, table, is_covariance, steady)
    finally:  # a result that could not be written can be read all the same
        answer(options, show, document)
    is_steady = steady is None or steady.n_resamples == options.stability
    return is_steady and not model.interrupted_


def model_of(options: argparse.Namespace, n_features: int) -> SparsePCA:
    """The model that options ask for."""
    from redac import SparsePCA

    components = component_count(options, n_features, options.cardinality, options.l1_bound)
    return SparsePCA(
        components,
        cardinality=options.cardinality,
        l1_bound=options.l1_bound,
        nonnegative=options.nonnegative,
        standardize=options.standardize,
        n_init="auto" if options.init_count is None else options.init_count,
        n_perturbations=options.perturbations,
        n_jobs=options.jobs,
        ridge="auto" if options.ridge is None else options.ridge,
        robust=options.robust,
        min_separation="auto" if options.min_separation is None else options.min_separation,
        max_iter=options.max_iter,
        tol=options.tol,
        random_state=options.seed,
        **rules_of(options),
    )


def _write(
    options: argparse.Namespace,
    model: SparsePCA,
    table: Table,
    is_covariance: bool,
    steady: Stability | None,
) -> None:
    """All results into the output folder, or none."""
    from redac.cli import terminal
    from redac.model.apart import separation_sentence
    from redac.model.rules import rule_sentence
    from redac.show.report import html_report
    from redac.show.tables import write_csv

    loadings = model.loadings_table().fillna(0.0)
    remarks = [rule_sentence(model), separation_sentence(model) or ""]
    remarks += [] if steady is None else steady.summary().splitlines()
    report = html_report(
        model,
        title=options.data,
        remarks=remarks,
        **about_rows(table, is_covariance),
        command=command_line(options),
        stability=steady,
    )
    scores = None
    if not is_covariance:
        with terminal.progress():  # a file that does not fit into memory is read once more
            scores = scores_of(model, table)
    with written_together(options.output, RESULT) as folder:
        write_atomically(folder / _LOADINGS, lambda file: write_csv(loadings, file))
        if scores is not None:
            write_atomically(folder / _SCORES, lambda file: write_csv(scores, file))
        model.save(folder / _MODEL)
        if steady is not None:
            counts = steady.frequencies
            write_atomically(folder / _STABILITY, lambda file: write_csv(counts, file))
        write_atomically(folder / _REPORT, lambda file: write_text(file, report))
    terminal.note(f"results written to {options.output}")


def scores_of(model: SparsePCA, table: Table) -> pd.DataFrame:
    """The scores of a table, with the names and labels of its rows."""
    from redac.show.tables import scores_table

    labels = None if table.labels is None else (table.label_name or "label", table.labels)
    return scores_table(model.transform(table.values), table.sample_names, labels)
