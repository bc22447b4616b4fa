"""What a call says beside its result, how much of it, and what it borrows until its end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar

from redac.show.escaping import printable

# From what is always said to what only interests those who look for a fault.
LEVELS = ("error", "warning", "info", "debug")


class Session:
    """The notes of one call of the command."""

    def __init__(self, level: str = "info") -> None:
        self.notes: list[str] = []
        self.borrowed = ExitStack()  # what has to be given back when the command ends
        self._level = LEVELS.index(level)

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at progress."""
        return self._level >= LEVELS.index("info") and sys.stderr.isatty()

    def note(self, text: str, level: str = "info") -> None:
        """One line beside the results; kept for those who read them as data."""
        if level != "debug":
            self.notes.append(text)
        if LEVELS.index(level) <= self._level:
            kind = "debug" if level == "debug" else "note"
            with suppress(OSError):  # nobody reads it
                sys.stderr.write(f"{kind}: {printable(text)}\n")


_session: ContextVar[Session | None] = ContextVar("session", default=None)


def session() -> Session:
    """That of the call that runs."""
    found = _session.get()
    if found is None:
        found = Session()
        _session.set(found)
    return found


@contextmanager
def opened_session(options: argparse.Namespace) -> Iterator[Session]:
    """The session that the options of a call ask for."""
    new = Session("error" if options.quiet else options.log_level)
    token = _session.set(new)
    try:
        with new.borrowed:
            yield new
    finally:
        _session.reset(token)


def add_session_options(parser: argparse.ArgumentParser) -> None:
    """What all commands have."""
    group = parser.add_argument_group("what is printed")
    group.add_argument(
        "--json",
        action="store_true",
        help="print the result as one JSON document (docs/json.md says what is in it)",
    )
    group.add_argument(
        "--quiet", action="store_true", help="neither notes nor progress: results and errors only"
    )
    group.add_argument(
        "--log-level",
        choices=LEVELS,
        default="info",
        metavar="LEVEL",
        help="what is said on standard error: error (as --quiet), warning (what to know before "
        "trusting a result), info (all notes), or debug (also how long things take; default: info)",
    )
