"""``redac show``: the table of a saved model again."""

from __future__ import annotations

import argparse
from typing import Any

from redac.cli.results import answer
from redac.cli.saved import add_model, load_model


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "show",
        help="print the components of a saved model",
        description="Print the components of a saved model as redac fit has done.",
    )
    add_model(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load and print."""
    from redac.cli import terminal
    from redac.model.rules import rule_sentence
    from redac.show.documents import model_document

    model = load_model(options.model)
    terminal.gaps_and_outliers(model)
    answer(
        options,
        lambda: terminal.components(model),
        lambda: {"data": options.model, "model": model_document(model, [rule_sentence(model)])},
    )
    return 0
