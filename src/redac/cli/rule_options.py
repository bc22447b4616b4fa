"""Rules for features, as options of a command."""

from __future__ import annotations

import argparse
import os
from typing import Any

from redac.disk import DataFileError, decoding
from redac.files.lines import Record, all_records, likely_encoding
from redac.files.sniffing import sniff

# With these a component cannot use all features, whatever its cardinality.
_BOUNDING = ("groups", "max_per_group", "max_groups", "disjoint", "total_cardinality")


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
        help="a text table with a header, the names of features in its first column and their "
        "groups in the second one, or in the one of this name",
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
    rules = rules_of(options)
    return any(rules[name] not in (None, False) for name in _BOUNDING)


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _labels(where: str | None) -> dict[str, str] | None:
    """The group of each feature in a file; an empty field means that it has none."""
    if where is None:
        return None
    path, column = where, ""
    if not os.path.exists(where) and ":" in where:
        path, column = where.rsplit(":", 1)
    header, rows = _rows(path)
    if len(header) < 2 or (column and column not in header[1:]):
        known = ", ".join(header[1:]) or "none"
        raise DataFileError(
            f"{path}: has no column {column or 'of groups'!r} behind that of the features; it has "
            f"{known}"
        )
    place = header.index(column, 1) if column else 1
    labels: dict[str, str] = {}
    for line, cells in rows:
        if len(cells) <= place:
            raise DataFileError(f"{path}: row {line} has no field in column {place + 1}")
        feature, label = cells[0].strip(), cells[place].strip()
        if labels.setdefault(feature, label) != label:
            raise DataFileError(
                f"{path}: row {line} has the group {label!r} for {feature!r}, an earlier one has "
                f"{labels[feature]!r}"
            )
    if header[place] in labels.values():
        raise DataFileError(
            f"{path}: the first row must be a header, but {header[place]!r} is a group below, too"
        )
    return {feature: label for feature, label in labels.items() if label}


def _rows(path: str) -> tuple[list[str], list[Record]]:
    """The header and the rows of a text table, whatever stands between its fields."""
    if not os.path.exists(path):
        raise DataFileError(f"{path}: no such file; --groups takes a table, FILE or FILE:COLUMN")
    with decoding(path, "a table of groups"):
        encoding = likely_encoding(path)
        layout = sniff(path, encoding)
        (_, header), *rows = all_records(path, encoding, layout.delimiter)
    return [name.strip() for name in header], rows
