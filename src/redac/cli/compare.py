"""``redac compare``: several methods on one data set, scored by one measure."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redac.cli.inputs import add_data_options, component_count, numbers, read_data, whole_or_share
from redac.cli.results import add_force, answer, check_file
from redac.cli.session import session
from redac.cli.signals import INTERRUPTED
from redac.disk import DataFileError, write_atomically

if TYPE_CHECKING:
    import pandas as pd

    from redac.methods.comparison import ComparedMethod

_ENDINGS = (".csv", ".md", ".tex", ".json")


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
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write the table to this file, as its ending says: .csv, .md, .tex or .json",
    )
    add_force(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed (default: 0)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, run every method, print the table, write it."""
    from redac.cli import terminal
    from redac.methods.comparison import comparison_table, measured, methods_to_compare

    write = _writer(options)
    check_file(options)
    table, is_covariance = read_data(options)
    asked = None if options.methods is None else options.methods.split(",")
    names = methods_to_compare(asked, covariance=is_covariance)
    settings = {
        "n_components": component_count(options, table.values.shape[1], options.cardinality),
        "cardinality": options.cardinality,
        "standardize": options.standardize,
        "random_state": options.seed,
    }
    rows: list[ComparedMethod] = []
    with terminal.steps(len(names)) as step, suppress(KeyboardInterrupt):
        for name in names:
            step(name)
            rows += measured(table.values, [name], covariance=is_covariance, **settings)
    missing = names[len(rows) :]
    if not rows:
        raise KeyboardInterrupt
    terminal.about_data(table)
    _tell(rows, missing)
    found = comparison_table(rows)
    try:
        if options.output is not None:
            text = write(found).encode()
            write_atomically(options.output, lambda file: file.writelines([text]))
            terminal.note(f"results written to {options.output}")
    finally:
        answer(options, lambda: terminal.comparison(rows), lambda: _document(found, missing))
    if missing:
        return INTERRUPTED
    return 0 if any(row.failure is None for row in rows) else 1


def _tell(rows: list[ComparedMethod], missing: list[str]) -> None:
    """What methods warned of, why some have no figures, and which were not run."""
    for text in dict.fromkeys(text for row in rows for text in row.warned):
        session().note(text, "warning")
    for row in rows:
        if row.failure is not None:
            session().note(f"{row.method}: {row.failure}", "warning")
    if missing:
        session().note(f"interrupted; not compared: {', '.join(missing)}", "warning")


def _document(found: pd.DataFrame, missing: list[str]) -> dict[str, Any]:
    from redac.show.documents import rows_document

    return {"comparison": rows_document(found), "interrupted": bool(missing)}


def _writer(options: argparse.Namespace) -> Callable[[pd.DataFrame], str]:
    """What turns the table into text, by how the name of its file ends."""
    from redac.show.documents import plain, rows_document
    from redac.show.markup import as_latex, as_markdown

    ending = "" if options.output is None else Path(options.output).suffix.lower()
    if options.output is not None and ending not in _ENDINGS:
        raise DataFileError(
            f"{options.output}: a comparison is written as {', '.join(_ENDINGS)}, by the extension"
        )
    if ending == ".md":
        return lambda table: as_markdown(table, index=False)
    if ending == ".tex":
        return lambda table: as_latex(table, index=False)
    if ending == ".json":
        return lambda table: json.dumps(plain(rows_document(table)), indent=2) + "\n"
    return lambda table: str(table.to_csv(index=False))
