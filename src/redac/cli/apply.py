"""``redac transform`` and ``redac impute``: a saved model and other data."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.inputs import add_reading_options, data_name, read_options
from redac.cli.results import add_force, answer, check_file
from redac.cli.saved import add_model, load_model
from redac.disk import DataFileError, write_atomically

if TYPE_CHECKING:
    import pandas as pd

    from redac import SparsePCA
    from redac.files import Table


def add_to(commands: Any) -> None:
    """Add both commands to the parser."""
    _add(
        commands,
        "transform",
        help="scores of other data from a saved model",
        description="Scores of data, in the scale and about the mean of the data that the model "
        "was fitted to. Columns are found by name; further ones are left out.",
        result="the scores",
        run=transform,
    )
    _add(
        commands,
        "impute",
        help="fill missing cells with what a saved model says of them",
        description="Fill the missing cells of data with what the components say of the other "
        "cells of their rows. Columns are found by name; further ones are left out.",
        result="the completed columns",
        run=impute,
    )


def _add(commands: Any, name: str, *, result: str, run: Any, **texts: str) -> None:
    parser = commands.add_parser(name, **texts)
    add_model(parser)
    add_reading_options(parser, gaps=True)
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"write {result} to this .csv file (default: to standard output)",
    )
    add_force(parser)
    parser.set_defaults(run=run)


def transform(options: argparse.Namespace) -> int:
    """Read, find the columns, give scores."""
    from redac.cli.fit import scores_of
    from redac.show.tables import component_names

    def work(model: SparsePCA, table: Table) -> pd.DataFrame:
        return scores_of(model, table)

    def document(table: Table, result: pd.DataFrame) -> dict[str, Any]:
        names = component_names(result.shape[1] - (table.labels is not None))
        return {"components": names, "scores": _rows(table, result)}

    return _apply(options, work, document)


def impute(options: argparse.Namespace) -> int:
    """Read, find the columns, fill the gaps."""
    from redac.show.tables import completed_table

    def work(model: SparsePCA, table: Table) -> pd.DataFrame:
        if hasattr(table.values, "tocsr"):
            raise ValueError("is a sparse matrix; what it does not store is zero, not missing")
        filled = model.impute(table.values)
        return completed_table(filled, model._feature_names(), table.sample_names)

    def document(table: Table, result: pd.DataFrame) -> dict[str, Any]:
        return {"features": list(result.columns), "rows": _rows(table, result)}

    return _apply(options, work, document)


def _apply(
    options: argparse.Namespace,
    work: Callable[[SparsePCA, Table], pd.DataFrame],
    document: Callable[[Table, pd.DataFrame], dict[str, Any]],
) -> int:
    """What both commands do."""
    from redac.cli import terminal
    from redac.files.matching import matched
    from redac.show.tables import write_csv

    check_file(options)
    if options.output is not None and Path(options.output).suffix.lower() != ".csv":
        raise DataFileError(f"{options.output}: is written as .csv; with --json it is printed")
    model = load_model(options.model)
    names = getattr(model, "feature_names_in_", None)
    known = None if names is None else list(names)
    table = matched(read_options(options), known, model.n_features_in_, data_name(options))
    result, caught = fitting.with_progress(options, table, lambda: work(model, table))
    if options.output is not None:
        write_atomically(options.output, lambda file: write_csv(result, file))
    terminal.about_data(table)
    terminal.notes(caught)
    if not hasattr(model, "n_missing_"):
        terminal.note(
            "the model was fitted to a covariance matrix, which has no means: scores are about zero"
        )
    if options.output is not None:
        terminal.note(f"results written to {options.output}")
    if options.output is None or options.json:
        answer(options, lambda: terminal.csv(result), lambda: document(table, result))
    return 0


def _rows(table: Table, result: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row with its name, its label if it has one, and its numbers."""
    labels = table.labels
    first = 0 if labels is None or result.columns[0] != table.label_name else 1
    values = result.iloc[:, first:].to_numpy().tolist()
    return [
        {"sample": name, **({} if labels is None else {"label": labels[i]}), "values": values[i]}
        for i, name in enumerate(result.index.tolist())
    ]
