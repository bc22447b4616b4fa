"""What the commands have in common: the data, which columns of them, and lists of numbers."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from redac.cli.session import session
from redac.disk import DataFileError
from redac.files import Table, read_table
from redac.files.formats import SUFFIXES
from redac.files.suspicions import suspicions

_DEFAULT_COMPONENTS = 5
# DATA that are no file.
_BUILT_IN = "pitprops"
_STREAM, _STREAM_NAME = "-", "standard input"


class WorkFailedError(Exception):
    """Neither the call nor the input is to blame; the message says what is."""


def add_data_options(
    parser: argparse.ArgumentParser, *, components: bool = True, gaps: bool = False
) -> None:
    """The data, how they are to be taken, and the number of components if that is one number.

    ``gaps``: whether the command can do with missing cells.
    """
    add_reading_options(parser, gaps=gaps, built_in=True)
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


def add_reading_options(
    parser: argparse.ArgumentParser, *, gaps: bool, built_in: bool = False
) -> None:
    """The data, and how their file is to be read: what all commands have that read data."""
    kinds = f"{', '.join(SUFFIXES)} (text, JSON lines and .mtx also as .gz, .bz2, .xz or .zip)"
    instead = f", '{_BUILT_IN}'" if built_in else ""
    parser.add_argument(
        "data", metavar="DATA", help=f"a file: {kinds}{instead}, or - for standard input"
    )
    group = parser.add_argument_group("how the file is read")
    group.add_argument(
        "--input-format",
        metavar="FORMAT",
        help="what DATA is, such as csv or csv.gz, where its name does not say so",
    )
    group.add_argument(
        "--missing",
        choices=("model", "error"),
        default="model" if gaps else "error",
        help="use the cells that are there, or refuse data with missing ones (default: "
        f"{'model' if gaps else 'error; this command needs complete data'})",
    )
    group.add_argument(
        "--na",
        metavar="MARKS",
        help="further marks of missing cells in text files, such as '?,-'",
    )
    _add_column_options(group)


def _add_column_options(group: argparse._ArgumentGroup) -> None:
    """What the columns of the file are."""
    for name, means in (
        ("--drop", "leave these columns out"),
        ("--only", "use these columns and no others"),
    ):
        group.add_argument(
            name,
            action="append",
            metavar="COLUMNS",
            help=f"{means}: names with commas between them, or numbers from 1 where columns have "
            "no names; may be repeated",
        )
    group.add_argument(
        "--transpose",
        action="store_true",
        help="the features are the rows of the file, and its columns the samples",
    )
    group.add_argument("--index", metavar="COLUMN", help="the column that names the rows")
    group.add_argument(
        "--label",
        metavar="COLUMN",
        help="a column that says of what kind rows are: no feature, but kept beside the scores",
    )
    group.add_argument(
        "--names",
        metavar="FILE",
        help="names for the columns of an array or a sparse matrix, one in each line",
    )


def data_name(options: argparse.Namespace) -> str:
    """What messages call the data."""
    return _STREAM_NAME if options.data == _STREAM else str(options.data)


def read_data(options: argparse.Namespace) -> tuple[Table, bool]:
    """The table behind DATA, and whether it is a covariance matrix."""
    is_covariance = options.covariance or options.data == _BUILT_IN
    if getattr(options, "samples", None) is not None and not is_covariance:
        raise ValueError("--samples goes with --covariance: the rows of data are their samples")
    # Of a column without a value a fit can learn nothing; other rows of it have scores.
    table = read_options(options, square=options.covariance, keep_empty=False)
    name = data_name(options)
    said = suspicions(table, name, covariance=is_covariance, standardize=options.standardize)
    return replace(table, notes=(*table.notes, *said)), is_covariance


def read_options(
    options: argparse.Namespace, *, square: bool = False, keep_empty: bool = True
) -> Table:
    """The table that the reading options of a command ask for."""
    began = time.perf_counter()
    marks = [mark.strip() for mark in (options.na or "").split(",")]
    columns = {
        "drop": options.drop or (),
        "only": options.only,
        "index": options.index,
        "label": options.label,
        "names": options.names,
    }
    if options.data == _BUILT_IN and options.input_format is None:
        table = _pitprops(columns)
    else:
        path = _spooled(options) if options.data == _STREAM else options.data
        try:
            table = read_table(
                path,
                square=square,
                missing="keep" if options.missing == "model" else "error",
                na_marks=marks,
                input_format=options.input_format,
                keep_empty=keep_empty,
                transpose=options.transpose,
                **columns,
            )
        except DataFileError as error:
            if path is options.data:
                raise
            raise DataFileError(str(error).replace(str(path), _STREAM_NAME)) from error
    n, d = table.values.shape
    session().note(f"read {n} × {d} in {time.perf_counter() - began:.2f} s", "debug")
    return table


def _pitprops(columns: dict[str, Any]) -> Table:
    from redac.datasets import load_pitprops
    from redac.files.column_choice import ColumnChoice, square_selection

    pitprops = load_pitprops()
    names = list(pitprops.feature_names)
    table = Table(pitprops.correlation, names, names)
    return square_selection(table, ColumnChoice.of(_BUILT_IN, **columns), _BUILT_IN)


def _spooled(options: argparse.Namespace) -> Path:
    """Standard input as a file that is there until the command ends; readers go back in it."""
    if options.input_format is None:
        raise DataFileError(
            f"{_STREAM_NAME}: say what it is with --input-format, for instance --input-format csv"
        )
    if sys.stdin is None:
        raise DataFileError(f"{_STREAM_NAME}: is closed")
    folder = session().borrowed.enter_context(
        tempfile.TemporaryDirectory(prefix="redac-", ignore_cleanup_errors=True)
    )
    path = Path(folder) / "data"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


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
