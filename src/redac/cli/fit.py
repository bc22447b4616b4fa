"""``redac fit``: sparse components of a file, printed and, if wanted, written."""

from __future__ import annotations

import argparse
import math
from typing import IO, TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.inputs import (
    WorkFailedError,
    add_data_options,
    component_count,
    numbers,
    read_data,
    whole_or_share,
)
from redac.files import DataFileError, output_folder, refuse_unusable_folder, write_atomically

if TYPE_CHECKING:
    from redac import SparsePCA
    from redac.files import Table

_DEFAULT_CARDINALITY = 10


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
        help="write loadings.csv, scores.csv, model.npz and report.html to this folder",
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
        "0.1 means a tenth of the features",
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
        "--init-count", type=int, metavar="N", help="number of starting points (default: 2)"
    )
    parser.add_argument(
        "--ridge", type=float, default=0.0, help="keeps components from becoming parallel"
    )
    parser.add_argument(
        "--min-separation",
        type=float,
        metavar="S",
        help="keep components at least so far apart, from 0 to 1 (default: 0.1 with --l1-bound and "
        "no ridge, else 0)",
    )
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
        "--max-iter", type=int, default=1000, metavar="N", help="sweeps for each start at most"
    )
    parser.add_argument(
        "--tol", type=float, default=1e-7, help="a run ends when a sweep improves by less"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="seed of random starting points")


def run(options: argparse.Namespace) -> int:
    """Read, fit, print, write."""
    from redac.cli import show

    if options.output is not None:
        refuse_unusable_folder(options.output)
    table, is_covariance = read_data(options)
    model = _model(options, table.values.shape[1])
    caught = fitting.fit(model, options, table, is_covariance)
    # After the fit: a call that fails says so in one line, and says nothing else.
    show.left_out_columns(table)
    if options.cardinality is None and options.l1_bound is None:
        show.note(
            f"at most {model.cardinality} non-zero loadings for each component; "
            "choose with --cardinality or --l1-bound"
        )
    show.notes(caught)
    show.components(model)
    if options.output is not None:
        _write(options, model, table, is_covariance)
    return 0


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
    """All results into the output folder, each file whole or not at all."""
    from redac.cli import show
    from redac.report import html_report
    from redac.tables import scores_table, short_names

    folder = output_folder(options.output)
    loadings = model.loadings_table().fillna(0.0)
    loadings.columns = short_names(model.n_components_)
    report = html_report(model, title=options.data)
    try:
        write_atomically(folder / "loadings.csv", lambda file: loadings.to_csv(file))
        if not is_covariance:
            with show.progress():  # a file that does not fit into memory is read once more
                scores = scores_table(model, table.values, table.sample_names)
            write_atomically(folder / "scores.csv", lambda file: scores.to_csv(file))
        model.save(folder / "model.npz")
        write_atomically(folder / "report.html", lambda file: _write_text(file, report))
    except DataFileError as error:  # the folder was fine; the disk is full, or gone
        raise WorkFailedError(error) from error
    show.note(f"results written to {folder}")


def _write_text(file: IO[bytes], text: str) -> None:
    file.write(text.encode(errors="replace"))  # file names need not be text
