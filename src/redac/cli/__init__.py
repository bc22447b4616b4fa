"""The ``redac`` command: parsing and printing, no mathematics.

Exit status: 0 done, 1 the work failed, 2 the call or the input was wrong, with one line on standard
error that says what and where.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from numpy.linalg import LinAlgError

from redac._version import __version__
from redac.cli import certify, compare, fit, reproduce
from redac.cli.inputs import WorkFailedError

__all__ = ["main"]


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see '{self.prog} --help')\n")


def build_parser() -> argparse.ArgumentParser:
    """The command line as a whole; each command adds its own part."""
    parser = _Parser(
        prog="redac",
        description="Principal components with few non-zero loadings, for people to read.",
    )
    parser.add_argument("--version", action="version", version=f"redac {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (fit, compare, certify, reproduce):
        command.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = build_parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except BrokenPipeError:  # the reader of our output has seen enough, for instance `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _complain("interrupted", 1)
    except (LinAlgError, WorkFailedError) as error:
        return _complain(error, 1)
    except (ValueError, TypeError, FileNotFoundError) as error:
        return _complain(error, 2)
    except Exception as error:
        return _complain(f"{type(error).__name__}: {error}".removesuffix(": "), 1)


def _complain(problem: object, status: int) -> int:
    line = " ".join(str(problem).split())
    sys.stderr.write(f"redac: {line}\n")
    return status
