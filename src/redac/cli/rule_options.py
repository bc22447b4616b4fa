"""Rules for features, as options of a command."""

from __future__ import annotations

import argparse
import csv
import os
from typing import Any

from redac.disk import DataFileError


def add_rules(parser: argparse.ArgumentParser) -> None:
    """What features may do together."""
    rules = parser.add_argument_group("rules for features")
    rules.add_argument("--exclude", metavar="A,B", type=_names, help="features that are never used")
    rules.add_argument(
        "--require", metavar="A,B", type=_names, help="features with a place in each component"
    )
    rules.add_argument(
        "--groups",
        metavar="FILE[:COLUMN]",
        help="a CSV file with a header, the names of features in its first column and their groups "
        "in the second one, or in the one of this name",
    )
    rules.add_argument(
        "--max-per-group",
        type=int,
        metavar="N",
        help="at most N features of each group",
    )
    rules.add_argument(
        "--max-groups", type=int, metavar="N", help="whole groups only, at most N in a component"
    )
    rules.add_argument("--disjoint", action="store_true", help="no feature in two components")
    rules.add_argument(
        "--total",
        type=int,
        metavar="N",
        help="at most N non-zero loadings in all components together, dealt out as explains most",
    )


def rules_of(options: argparse.Namespace) -> dict[str, Any]:
    """The parameters of ``SparsePCA`` that these options stand for."""
    return {
        "exclude": getattr(options, "exclude", None),
        "require": getattr(options, "require", None),
        "groups": _labels(getattr(options, "groups", None)),
        "max_per_group": getattr(options, "max_per_group", None),
        "max_groups": getattr(options, "max_groups", None),
        "disjoint": getattr(options, "disjoint", False),
        "total_cardinality": getattr(options, "total", None),
    }


def bound_by_rules(options: argparse.Namespace) -> bool:
    """Whether rules alone say how many features components use, so that nothing is to be chosen."""
    return any(value not in (None, False) for value in rules_of(options).values())


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _labels(where: str | None) -> dict[str, str] | None:
    """The group of each feature in a file; an empty field means that it has none."""
    if where is None:
        return None
    path, column = where, ""
    if not os.path.exists(where) and ":" in where:
        path, column = where.rsplit(":", 1)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataFileError(f"{path}: cannot be read as a CSV file of groups ({error})") from None
    header = rows[0] if rows else []
    if len(header) < 2 or (column and column not in header[1:]):
        known = ", ".join(header[1:]) or "none"
        raise DataFileError(
            f"{path}: has no column {column or 'of groups'!r} behind that of the features; it has "
            f"{known}"
        )
    place = header.index(column, 1) if column else 1
    short = [number for number, row in enumerate(rows, start=1) if len(row) <= place]
    if short:
        raise DataFileError(f"{path}: row {short[0]} has no field in column {place + 1}")
    return {row[0]: row[place] for row in rows[1:] if row[place]}
