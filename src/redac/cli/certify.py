"""``redac certify``: fit, then bound how far the components can be from the best of their kind."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.inputs import add_data_options, component_count, numbers, read_data, whole_or_share
from redac.cli.results import answer
from redac.cli.session import session
from redac.cli.signals import INTERRUPTED

if TYPE_CHECKING:
    from redac import SparsePCA
    from redac.certificate import Certificate
    from redac.files import Table


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "certify",
        help="bound the distance of sparse components to the best possible ones",
        description="Search for sparse components, then prove how much better any others with "
        "the same numbers of non-zeros can be.",
    )
    add_data_options(parser)
    parser.add_argument(
        "--cardinality",
        type=numbers(whole_or_share),
        required=True,
        metavar="K",
        help="at most K non-zero loadings; one number for all components or a list such as 8,5,6; "
        "0.1 means a tenth of the features",
    )
    parser.add_argument(
        "--perturbations",
        type=int,
        default=1000,
        metavar="N",
        help="rounds of search for better components first, in each chain (default: 1000)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=2,
        metavar="N",
        help="chains of search, each in a process of its own (default: 2)",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds for the proof; the best bound by then is printed (default: 60)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed (default: 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, prove, print."""
    from redac.cli import terminal
    from redac.model.proof import certificate_from_data
    from redac.model.rules import rule_sentence
    from redac.parameters import amount
    from redac.show.documents import certificate_document, model_document

    amount("--time-limit", options.time_limit)
    table, is_covariance = read_data(options)
    model = _fitted(options, table, is_covariance)
    terminal.about_data(table)
    # Who has interrupted the search does not want to wait for the proof.
    limit = 0.0 if model.interrupted_ else options.time_limit
    with gap_line() as on_progress:
        found = certificate_from_data(
            model,
            table.values,
            covariance=is_covariance,
            time_limit=limit,
            on_progress=on_progress,
        )

    def show() -> None:
        terminal.components(model)
        with terminal.printing():
            sys.stdout.write(f"\n{sentences(found)}\n")

    answer(
        options,
        show,
        lambda: {
            "model": model_document(model, [rule_sentence(model)]),
            "certificate": certificate_document(found),
        },
    )
    return INTERRUPTED if model.interrupted_ or found.interrupted else 0


def sentences(found: Certificate) -> str:
    """The certificate for a person who has not read the manual."""
    text = str(found).replace("These components explain", "Your components explain", 1)
    if found.better_value is not None:
        text += "\nMore rounds of search may find them: raise --perturbations, or change --seed."
    return text


@contextmanager
def gap_line() -> Iterator[Callable[[float, float, float], None] | None]:
    """A line that shows the gap closing when somebody is watching."""
    if not session().is_watched:
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def tell(bound: float, value: float, seconds: float) -> None:
            line = f"{value:.3f} % explained, at most {bound:.3f} % possible, "
            live.update(Text(f"{line}gap {bound - value:.3f}, {seconds:.0f} s"), refresh=True)

        yield tell


def _fitted(options: argparse.Namespace, table: Table, is_covariance: bool) -> SparsePCA:
    """Components from a search, with its warnings as notes."""
    from redac import SparsePCA
    from redac.cli import terminal

    model = SparsePCA(
        component_count(options, table.values.shape[1], options.cardinality),
        cardinality=options.cardinality,
        standardize=options.standardize,
        n_perturbations=options.perturbations,
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    caught = fitting.fit_table(model, options, table, is_covariance)
    terminal.notes(caught)
    return model
