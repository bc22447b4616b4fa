"""Results: for people, or with --json as one document; and files that take no other's place."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from redac._version import __version__
from redac.disk import DataFileError
from redac.files.together import refuse_unusable_folder

# To be raised when a reader of the documents of the version before could be misled.
SCHEMA = "redac/1"


def answer(
    options: argparse.Namespace, show: Callable[[], None], document: Callable[[], dict[str, Any]]
) -> None:
    """Print a result as people read it, or as a document of docs/json.md."""
    if not options.json:
        show()
        return
    from redac.cli import terminal
    from redac.cli.session import session
    from redac.show.documents import plain

    content = {
        "schema": SCHEMA,
        "redac": __version__,
        "command": options.command,
        "data": getattr(options, "data", None),
        **document(),
        "notes": session().notes,
    }
    text = json.dumps(plain(content), allow_nan=False, indent=2)
    with terminal.printing():
        sys.stdout.write(f"{text}\n")


def add_force(parser: argparse.ArgumentParser) -> None:
    """For commands that write."""
    parser.add_argument(
        "--force", action="store_true", help="replace what --output finds in its place"
    )


def check_folder(options: argparse.Namespace, names: Collection[str]) -> None:
    """Refuse an output folder that cannot be used, or that holds a result already."""
    if options.output is None:
        return
    refuse_unusable_folder(options.output, names)
    found = [name for name in names if os.path.lexists(Path(options.output) / name)]
    if found and not options.force:
        raise DataFileError(
            f"{options.output}: holds a result already ({', '.join(found)}); replace it with "
            "--force, or choose another --output"
        )


def check_file(options: argparse.Namespace) -> None:
    """The same for a single file."""
    if options.output is None:
        return
    place = Path(options.output)
    if not place.name:
        raise DataFileError("the output file has no name (''); give it one")
    refuse_unusable_folder(place.parent, [])
    if not place.parent.is_dir():
        raise DataFileError(f"{options.output}: the folder {place.parent} is not there; create it")
    if place.is_dir():
        raise DataFileError(f"{options.output}: is a folder, and should become a file")
    if os.path.lexists(place) and not options.force:
        raise DataFileError(
            f"{options.output}: is there already; replace it with --force, or choose another "
            "--output"
        )
