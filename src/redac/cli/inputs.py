"""What the commands have in common: the data argument and lists of numbers."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import Any

from redac.files import Table, read_table

_DEFAULT_COMPONENTS = 5


class WorkFailedError(Exception):
    """Neither the call nor the input is to blame; the message says what is."""


def add_data_options(parser: argparse.ArgumentParser, *, components: bool = True) -> None:
    """The data, how they are to be taken, and the number of components if that is one number."""
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a .csv, .tsv, .txt, .parquet, .npy, .npz or .mtx file (text also as .gz), or "
        "'pitprops'",
    )
    parser.add_argument(
        "--covariance", action="store_true", help="DATA is a covariance or correlation matrix"
    )
    parser.add_argument(
        "--standardize", action="store_true", help="divide columns by their standard deviation"
    )
    if components:
        parser.add_argument(
            "--components",
            type=int,
            metavar="R",
            help="number of components (default: as many as a list of bounds has, otherwise 5)",
        )


def read_data(options: argparse.Namespace) -> tuple[Table, bool]:
    """The table behind DATA, and whether it is a covariance matrix."""
    if options.data == "pitprops":
        from redac.datasets import load_pitprops

        pitprops = load_pitprops()
        names = list(pitprops.feature_names)
        return Table(pitprops.correlation, names, names, {}), True
    # Commands without these options work on complete data only.
    missing = "keep" if getattr(options, "missing", "error") == "model" else "error"
    marks = [mark.strip() for mark in (getattr(options, "na", None) or "").split(",")]
    table = read_table(options.data, square=options.covariance, missing=missing, na_marks=marks)
    return table, options.covariance


def about_rows(table: Table, is_covariance: bool) -> dict[str, Any]:
    """What a page may draw of the rows: the data, their names and their labels."""
    if is_covariance:
        return {}
    labels = getattr(table, "labels", None)
    named = None if labels is None else {getattr(table, "label_name", None) or "label": labels}
    return {"X": table.values, "sample_names": table.sample_names, "labels": named}


def command_line(options: argparse.Namespace) -> str:
    """The call as a shell takes it."""
    return shlex.join(["redac", *map(str, options.words)])


def component_count(options: argparse.Namespace, n_features: int, *bounds: Any) -> int:
    """The number of components: as asked, or as many as a list of bounds has, or the default."""
    if options.components is not None:
        return int(options.components)
    lists = [bound for bound in bounds if isinstance(bound, list)]
    return len(lists[0]) if lists else min(_DEFAULT_COMPONENTS, n_features)


def numbers(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser of one number, or of several with commas between them."""

    def parse(text: str) -> Any:
        try:
            values = [kind(part) for part in text.split(",")]
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{text!r} is neither a number nor a list such as 8,5,6"
            ) from None
        return values[0] if len(values) == 1 else values

    return parse


def whole_or_share(text: str) -> int | float:
    """A cardinality: 8 means eight features, 0.1 a tenth of them."""
    return float(text) if "." in text else int(text)
