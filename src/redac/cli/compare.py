"""``redac compare``: several methods on one data set, scored by one measure."""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redac.cli.inputs import add_data_options, component_count, numbers, read_data, whole_or_share

if TYPE_CHECKING:
    from redac.files import Table


@dataclass(frozen=True)
class Row:
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
        help="non-zero loadings, one number for all components or a list such as 8,5,6; "
        "block methods reach the sum",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed (default: 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, run every method, print the table."""
    from redac.cli import show

    table, is_covariance = read_data(options)
    names = _chosen(options.methods)
    rows = []
    with show.steps(len(names)) as step:
        for name in names:
            step(name)
            rows.append(_measured(name, options, table, is_covariance))
    show.comparison(rows)
    for row in rows:
        if row.failure is not None:
            show.note(f"{row.method}: {row.failure}")
    return 0 if any(row.failure is None for row in rows) else 1


def _chosen(methods: str | None) -> list[str]:
    from redac.methods.registry import METHODS, find_method

    if methods is None:
        return [name for name, method in METHODS.items() if not method.nonnegative]
    return [find_method(name.strip()).name for name in methods.split(",")]


def _measured(name: str, options: argparse.Namespace, table: Table, is_covariance: bool) -> Row:
    """Run one method; the score is computed by ``redac.metrics``, never by the method."""
    import numpy as np

    from redac import metrics
    from redac.cli import show
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
        return Row(name, np.nan, np.nan, [], time.perf_counter() - began, failure=str(error))
    seconds = time.perf_counter() - began
    show.notes(caught)
    X = table.values
    if options.standardize:
        X = X / (np.outer(model.scale_, model.scale_) if is_covariance else model.scale_)
    pev = metrics.pev(X, model.components_, covariance=is_covariance)
    rre = metrics.rre(X, model.components_, covariance=is_covariance)
    counts = np.count_nonzero(model.components_, axis=1).tolist()
    return Row(name, pev, rre, counts, seconds, sparse=METHODS[name].sparse)
