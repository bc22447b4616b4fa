"""``redac fit``: sparse components of a file, printed and, if wanted, written."""

from __future__ import annotations

import argparse
import math
from typing import IO, TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.inputs import (
    add_data_options,
    component_count,
    numbers,
    read_data,
    whole_or_share,
)
from redac.cli.signals import INTERRUPTED
from redac.disk import write_atomically
from redac.files.together import refuse_unusable_folder, written_together

if TYPE_CHECKING:
    from redac import SparsePCA
    from redac.files import Table

_DEFAULT_CARDINALITY = 10
_LOADINGS, _SCORES, _MODEL, _REPORT = "loadings.csv", "scores.csv", "model.npz", "report.html"
_RESULT = (_LOADINGS, _SCORES, _MODEL, _REPORT)


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "fit",
        help="find sparse components of a data set",
        description="Find sparse components of a data set, print them, write them with --output.",
    )
    add_data_options(parser)
    _add_bounds(parser)
    _add_search(parser)
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="write loadings.csv, scores.csv (not from a covariance matrix), model.npz and "
        "report.html to this folder, all of them or none",
    )
    parser.set_defaults(run=run)


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    """What the loadings may be."""
    bounds = parser.add_mutually_exclusive_group()
    bounds.add_argument(
        "--cardinality",
        type=numbers(whole_or_share),
        metavar="K",
        help="at most K non-zero loadings; one number for all components or a list such as 8,5,6; "
        "0.1 means a tenth of the features (default: a third of them, but at most 10)",
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
        default=0.0,
        metavar="R",
        help="keeps components from becoming parallel (default: 0)",
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
    """Read, fit, write, print."""
    from redac.cli import terminal

    if options.output is not None:
        refuse_unusable_folder(options.output, _RESULT)
    table, is_covariance = read_data(options)
    model = _model(options, table.values.shape[1])
    caught = fitting.fit_table(model, options, table, is_covariance)
    # After the fit: a call that fails says so in one line, and says nothing else.
    terminal.left_out_columns(table)
    if options.cardinality is None and options.l1_bound is None:
        terminal.note(
            f"at most {model.cardinality} non-zero loadings for each component; "
            "choose with --cardinality or --l1-bound"
        )
    terminal.notes(caught)
    try:
        if options.output is not None:
            _write(options, model, table, is_covariance)
    finally:  # a result that could not be written can be read all the same
        terminal.components(model)
    return INTERRUPTED if model.interrupted_ else 0


def _model(options: argparse.Namespace, n_features: int) -> SparsePCA:
    from redac import SparsePCA

    components = component_count(options, n_features, options.cardinality, options.l1_bound)
    cardinality = options.cardinality
    if cardinality is None and options.l1_bound is None:
        cardinality = min(_DEFAULT_CARDINALITY, max(1, math.ceil(n_features / 3)))
    return SparsePCA(
        components,
        cardinality=cardinality,
        l1_bound=options.l1_bound,
        nonnegative=options.nonnegative,
        standardize=options.standardize,
        n_init="auto" if options.init_count is None else options.init_count,
        n_perturbations=options.perturbations,
        n_jobs=options.jobs,
        ridge=options.ridge,
        min_separation="auto" if options.min_separation is None else options.min_separation,
        max_iter=options.max_iter,
        tol=options.tol,
        random_state=options.seed,
    )


def _write(
    options: argparse.Namespace, model: SparsePCA, table: Table, is_covariance: bool
) -> None:
    """All results into the output folder, or none."""
    from redac.cli import terminal
    from redac.show.report import html_report
    from redac.show.tables import scores_table, write_csv

    loadings = model.loadings_table().fillna(0.0)
    report = html_report(model, title=options.data)
    scores = None
    if not is_covariance:
        with terminal.progress():  # a file that does not fit into memory is read once more
            scores = scores_table(model.transform(table.values), table.sample_names)
    with written_together(options.output, _RESULT) as folder:
        write_atomically(folder / _LOADINGS, lambda file: write_csv(loadings, file))
        if scores is not None:
            write_atomically(folder / _SCORES, lambda file: write_csv(scores, file))
        model.save(folder / _MODEL)
        write_atomically(folder / _REPORT, lambda file: _write_text(file, report))
    terminal.note(f"results written to {options.output}")


def _write_text(file: IO[bytes], text: str) -> None:
    file.write(text.encode(errors="replace"))  # file names need not be text
