"""``redac choose``: recommends numbers of components and features, and writes their model."""

from __future__ import annotations

import argparse
from typing import Any

from redac.cli import fitting
from redac.cli.choosing import (
    RULES,
    add_grid_options,
    add_stability,
    check_numbers,
    chooser,
    recommendation,
)
from redac.cli.fit import RESULT, conclude
from redac.cli.inputs import read_data
from redac.cli.results import add_force, answer, check_folder
from redac.cli.signals import INTERRUPTED


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "choose",
        help="recommend numbers of components and features",
        description="Recommend how many components there are and how many features each uses, by "
        "how well cells of held-out rows are predicted from their other cells.",
    )
    add_grid_options(parser)
    parser.add_argument(
        "--rule",
        choices=RULES,
        help="one_se: fewest loadings within one standard error of the best; best: best "
        "prediction; share: fewest that keep --share of it; ebic: smallest EBIC (default: one_se, "
        "and ebic for a covariance matrix)",
    )
    parser.add_argument(
        "--share", type=float, default=0.9, metavar="S", help="for that rule (default: 0.9)"
    )
    add_stability(parser)
    parser.add_argument(
        "--output", metavar="DIR", help="write the chosen model as redac fit does to this folder"
    )
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, choose, say why, write, print."""
    from redac.cli import terminal
    from redac.exceptions import NoComponentsWarning

    check_folder(options, RESULT)
    table, is_covariance = read_data(options)
    check_numbers(options, table, is_covariance)
    if is_covariance and fitting.sample_count(options) is None:
        raise ValueError("--samples N is missing: the number of samples behind the matrix")
    rule = options.rule or ("ebic" if is_covariance else "one_se")
    model = chooser(options, rule)
    caught = fitting.fit_table(model, options, table, is_covariance)
    terminal.about_data(table)
    terminal.gaps_and_outliers(model)
    terminal.notes([each for each in caught if each.category is not NoComponentsWarning])
    choice = {
        "n_components": model.n_components_,
        "cardinality": model.cardinality_,
        "rule": rule,
        "reason": model.reason_,
    }
    is_whole = not model.interrupted_
    if model.n_components_ == 0:
        terminal.note("to have components all the same, give one number of them to --components")
        said = recommendation(model)
        answer(options, lambda: terminal.sentences(said), lambda: {"choice": choice})
    else:
        if not options.json:
            terminal.sentences(recommendation(model))
        is_whole &= conclude(options, model.as_sparse_pca(), table, is_covariance, choice=choice)
    return 0 if is_whole else INTERRUPTED
