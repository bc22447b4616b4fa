"""``redac path``: what more components and features bring, as a table, a picture and files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.choosing import ABOUT_Q2, add_grid_options, check_numbers, chooser
from redac.cli.inputs import about_rows, command_line, read_data
from redac.cli.results import add_force, answer, check_folder
from redac.cli.signals import INTERRUPTED
from redac.disk import write_atomically, write_text
from redac.files.together import written_together

if TYPE_CHECKING:
    from redac import SparsityPath
    from redac.files import Table

_TABLE, _PATH, _PICTURE, _REPORT = "path.csv", "path.redac", "path.svg", "report.html"
_RESULT = (_TABLE, _PATH, _PICTURE, _REPORT)
# What the columns of the table are, in its order.
_LEGEND = {
    "pev": "PEV: percent of the variance explained",
    "pev_pca": "PCA: by as many principal components",
    "q2": ABOUT_Q2.removesuffix("."),
    "ebic": "EBIC: fit weighed against loadings, smaller is better, 0 without components",
    "index_of_sparseness": "sparseness: PEV × PCA × share of zeros, as shares",
    "stability": "stability: 1 where halves of the rows use the same features, 0 as if by chance",
}


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "path",
        help="show what more components and features bring",
        description="Solve for a grid of numbers of components and features, and judge each.",
    )
    add_grid_options(parser)
    parser.add_argument(
        "--stability",
        type=int,
        metavar="N",
        help="fit each solution to N half-samples, too, and say how alike their features are",
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="write path.csv, path.redac (for SparsityPath.load), path.svg and report.html, a page "
        "that moves over the path, to this folder",
    )
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, solve, print, write."""
    from redac.cli import terminal
    from redac.show.documents import rows_document

    check_folder(options, _RESULT)
    table, is_covariance = read_data(options)
    check_numbers(options, table, is_covariance)
    path, caught = fitting.with_progress(
        options, table, lambda: _path(options, table, is_covariance)
    )
    terminal.about_data(table)
    terminal.notes(caught)
    if is_covariance and fitting.sample_count(options) is None:
        terminal.note("no EBIC: --samples does not say how many samples are behind the matrix")

    def show() -> None:
        terminal.path_table(path.table)
        terminal.sentences(_remarks(path))

    if path.interrupted:
        terminal.note("interrupted; the table has what was done by then")
    try:
        if options.output is not None:
            _write(options, path, table, is_covariance)
    finally:
        answer(
            options,
            show,
            lambda: {"path": rows_document(path.table), "interrupted": path.interrupted},
        )
    return INTERRUPTED if path.interrupted else 0


def _path(options: argparse.Namespace, table: Table, is_covariance: bool) -> SparsityPath:
    from redac import sparsity_path

    grid = chooser(options, "ebic")._request(table.values.shape[1])
    return sparsity_path(
        table.values,
        n_components=grid.counts,
        cardinality=grid.cardinalities,
        covariance=is_covariance,
        n_samples=fitting.sample_count(options) if is_covariance else None,
        cv=options.folds,
        stability=options.stability,
        random_state=options.seed,
        feature_names=table.feature_names,
        nonnegative=options.nonnegative,
        standardize=options.standardize,
    )


def _remarks(path: SparsityPath) -> list[str]:
    """What the columns are, and what the usual rule would take."""
    from redac.choose.criteria import choose

    said = [f"{text}." for name, text in _LEGEND.items() if name in path.table]
    if path.fold_scores is None and "ebic" not in path.table:
        return said
    rule = "one_se" if path.fold_scores is not None else "ebic"
    return [*said, f"By the rule {rule}: {choose(path.candidates(), rule, 1.0).reason}"]


def _write(
    options: argparse.Namespace, path: SparsityPath, table: Table, is_covariance: bool
) -> None:
    from redac.cli import terminal

    try:
        from matplotlib.figure import Figure
    except ImportError:
        figure = None
        terminal.note("no picture: matplotlib is not installed (pip install 'redac[plot]')")
    else:
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        path.plot(figure.subplots())
    page = path.to_html(
        **about_rows(table, is_covariance), title=options.data, command=command_line(options)
    )
    with written_together(options.output, _RESULT) as folder:
        write_atomically(folder / _TABLE, lambda file: path.table.to_csv(file, index=False))
        path.save(folder / _PATH)
        if figure is not None:
            write_atomically(folder / _PICTURE, lambda file: figure.savefig(file, format="svg"))
        write_atomically(folder / _REPORT, lambda file: write_text(file, str(page)))
    terminal.note(f"results written to {options.output}")
