"""``redac compare``: several methods on one data set, scored by one measure."""

from __future__ import annotations

import argparse
import math
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redac.cli.inputs import add_data_options, component_count, numbers, read_data, whole_or_share
from redac.cli.signals import INTERRUPTED

if TYPE_CHECKING:
    from redac.files import Table


@dataclass(frozen=True)
class ComparedMethod:
    """What one method did."""

    method: str
    pev: float
    rre: float
    non_zeros: list[int]
    seconds: float
    sparse: bool = True
    failure: str | None = None


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compare",
        help="run several methods on one data set",
        description="Run several sparse PCA methods on one data set and compare them.",
    )
    add_data_options(parser)
    parser.add_argument(
        "--methods",
        metavar="A,B,C",
        help="names with commas between them; a wrong name gets the list of right ones "
        "(default: all methods without a sign constraint)",
    )
    parser.add_argument(
        "--cardinality",
        type=numbers(whole_or_share),
        required=True,
        metavar="K",
        help="non-zero loadings, one number for all components or a list such as 8,5,6; 0.1 means "
        "a tenth of the features; block methods reach the sum",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed (default: 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, run every method, print the table."""
    from redac.cli import terminal

    table, is_covariance = read_data(options)
    names = _chosen(options.methods)
    rows: list[ComparedMethod] = []
    with terminal.steps(len(names)) as step, suppress(KeyboardInterrupt):
        for name in names:
            step(name)
            rows.append(_measured(name, options, table, is_covariance))
    missing = names[len(rows) :]
    if not rows:
        raise KeyboardInterrupt
    terminal.comparison(rows)
    for row in rows:
        if row.failure is not None:
            terminal.note(f"{row.method}: {row.failure}")
    if missing:
        terminal.note(f"interrupted; not compared: {', '.join(missing)}")
        return INTERRUPTED
    return 0 if any(row.failure is None for row in rows) else 1


def _chosen(methods: str | None) -> list[str]:
    from redac.methods.registry import METHODS, find_method

    if methods is None:
        return [name for name, method in METHODS.items() if not method.nonnegative]
    return [find_method(name.strip()).name for name in methods.split(",")]


def _measured(
    name: str, options: argparse.Namespace, table: Table, is_covariance: bool
) -> ComparedMethod:
    """Run one method.

    What its components explain is measured by the code that is common to all methods, on what the
    fit has read: large files are neither copied nor read once more.
    """
    from redac.cli import terminal
    from redac.methods import MethodPCA
    from redac.methods.registry import METHODS

    model = MethodPCA(
        component_count(options, table.values.shape[1], options.cardinality),
        method=name,
        cardinality=options.cardinality,
        standardize=options.standardize,
        random_state=options.seed,
    )
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit = model.fit_covariance if is_covariance else model.fit
            fit(table.values)
    except (ValueError, MemoryError) as error:
        return ComparedMethod(
            name, math.nan, math.nan, [], time.perf_counter() - began, failure=str(error)
        )
    seconds = time.perf_counter() - began
    terminal.notes(caught)
    pev = 100 * float(model.explained_variance_ratio_.sum())
    rre = model.reconstruction_error_
    counts = model.loadings_table().count().tolist()
    return ComparedMethod(name, pev, rre, counts, seconds, sparse=METHODS[name].sparse)
