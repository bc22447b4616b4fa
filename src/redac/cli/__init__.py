"""The ``redac`` command: parsing and printing, no mathematics.

Exit status: 0 done, 1 the work failed, 2 the call or the input was wrong, 130 interrupted, 143
ended by SIGTERM; unless it is 0, one line on standard error says what and where.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from redac._version import __version__
from redac.cli.signals import INTERRUPTED, EndedBySignal, ending_in_order
from redac.show.escaping import printable

__all__ = ["main"]

_STATUSES = """\
exit status:
  0    done
  1    the work failed, for instance because the disk is full
  2    the call or the input was wrong
  130  interrupted (Ctrl-C), what was found is kept
  143  ended by SIGTERM, nothing is written
"""


class _Parser(argparse.ArgumentParser):
    """Complains in one line, and ends its help with the exit statuses."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)
        self.set_defaults(parser=self)  # that of a command takes the place of the whole

    def format_help(self) -> str:
        return f"{super().format_help()}\n{_STATUSES}"

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)} (see '{self.prog} --help')\n")


def build_parser() -> argparse.ArgumentParser:
    """The command line as a whole; each command adds its own part."""
    from redac.cli import (
        apply,
        certify,
        choose_command,
        compare,
        explore_command,
        fit,
        path_command,
        reproduce,
        show_command,
    )
    from redac.cli.session import add_session_options

    parser = _Parser(
        prog="redac",
        description="Principal components with few non-zero loadings, for people to read.",
    )
    parser.add_argument("--version", action="version", version=f"redac {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (
        *(fit, apply, show_command, path_command, choose_command, explore_command),
        *(compare, certify, reproduce),
    ):
        command.add_to(commands)
    for each in commands.choices.values():
        add_session_options(each)
    return parser


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of a call; what is unknown is the business of the command that was named."""
    options, unknown = build_parser().parse_known_args(arguments)
    if unknown:
        hint = _meant(unknown[0], options.parser._option_string_actions)
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return options


def _meant(word: str, known: Iterable[str]) -> str:
    """What a word that nobody knows was perhaps meant to be."""
    near = difflib.get_close_matches(word.split("=")[0], known, n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    for name in ("stdout", "stderr"):  # closed by whoever called, who wants to read nothing
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:  # before anything else is imported: an interrupt may come at any time
        with ending_in_order():
            from redac.cli.session import opened_session

            options = parse(arguments)
            options.words = list(sys.argv[1:] if arguments is None else arguments)
            with opened_session(options):
                return int(options.run(options))
    except EndedBySignal as ending:
        return _complain(ending, ending.status)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except Exception as error:
        return _explained(error)


def _explained(error: Exception) -> int:
    """One line for an error, and whose fault it is as a status."""
    from numpy.linalg import LinAlgError

    from redac.cli.inputs import WorkFailedError
    from redac.disk import WriteError

    if isinstance(error, (LinAlgError, WorkFailedError, WriteError)):
        return _complain(error, 1)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        is_missing = isinstance(error, FileNotFoundError)
        reason = "no such file" if is_missing else error.strerror
        is_of_call = is_missing or isinstance(error, PermissionError)
        return _complain(f"{os.fsdecode(error.filename)}: {reason}", 2 if is_of_call else 1)
    if isinstance(error, (ValueError, TypeError, FileNotFoundError)):
        return _complain(error, 2)
    return _complain(f"{type(error).__name__}: {error}".removesuffix(": "), 1)


def _complain(problem: object, status: int) -> int:
    line = " ".join(str(problem).split())
    with suppress(OSError):  # nobody reads it
        sys.stderr.write(f"redac: {printable(line)}\n")
    return status
