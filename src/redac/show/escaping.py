"""Text from files and people, made safe for the place where it is shown."""

from __future__ import annotations

import re
import unicodedata

# What spreadsheets take for the beginning of a formula, also in the full-width form that some of
# them accept, and the guard itself, so that taking one apostrophe away gives every name back.
_GUARDED = tuple("=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def printable(text: object) -> str:
    r"""Text as it may stand in a terminal or a page: one line, control characters as ``\x1b``.

    Characters that are not seen but change what is seen, such as those that turn the direction of
    writing, count as control characters; spaces of any width do not.
    """
    return "".join(c if _is_seen(c) else _escaped(c) for c in str(text))


def _is_seen(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def spreadsheet_text(name: object) -> str:
    """A name as a cell that no spreadsheet runs as a formula: an apostrophe in front if need be.

    Numbers are left as they are.
    """
    text = str(name)
    if text.startswith(_GUARDED) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
