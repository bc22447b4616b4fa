"""``redac choose``: recommends numbers of components and features, and writes their model."""

from __future__ import annotations

import argparse
from typing import Any

from redac.cli import fitting
from redac.cli.choosing import RULES, add_grid_options, add_stability, chooser
from redac.cli.fit import RESULT, conclude
from redac.cli.inputs import read_data
from redac.cli.signals import INTERRUPTED
from redac.files.together import refuse_unusable_folder


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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, choose, say why, write, print."""
    from redac.cli import terminal

    if options.output is not None:
        refuse_unusable_folder(options.output, RESULT)
    table, is_covariance = read_data(options)
    rule = options.rule or ("ebic" if is_covariance else "one_se")
    model = chooser(options, rule)
    caught = fitting.fit_table(model, options, table, is_covariance)
    terminal.left_out_columns(table)
    terminal.notes(caught)
    if model.n_components_ == 0:
        terminal.sentences(["Take no component. No component predicts better than the mean."])
    else:
        terminal.sentences(
            [f"Take {model.n_components_} × {model.cardinality_} loadings. {model.reason_}"]
        )
        conclude(options, model.as_sparse_pca(), table, is_covariance)
    return INTERRUPTED if model.interrupted_ else 0
