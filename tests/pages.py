"""The Markdown of the documentation, and the code that it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# What `make docs` writes there is no page that a person has written.
_MADE = (DOCS / "examples", DOCS / "reference" / "generated")
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in DOCS.rglob("*.md") if not set(_MADE) & set(page.parents)),
]

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMANDS = ("redac ", "pip ", "make ", "git ")


@dataclass(frozen=True)
class Block:
    """What stands between two fences.

    ``kind`` is "python", "doctest" (with prompts), "console" (a session in a shell), "shell"
    (commands without what they print), another language, or "" for what nothing says of.
    ``output`` is what code of Python prints, if the page says that.
    """

    kind: str
    text: str
    line: int
    output: str | None = None


def name_of(page: Path) -> str:
    """How tests name a page."""
    return page.relative_to(ROOT).as_posix()


def _kind(language: str, text: str) -> str:
    if language == "" and text.startswith(">>> "):
        return "doctest"
    if language == "" and text.startswith(_COMMANDS):
        return "shell"
    return language


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page; a bare one right below code of Python is its output."""
    code: Block | None = None
    ended = 0
    for fence in _FENCE.finditer(page):
        if fence[1].startswith("{"):  # a directive of Sphinx
            continue
        found = Block(_kind(fence[1], fence[2]), fence[2], page.count("\n", 0, fence.start()) + 1)
        if code is not None and found.kind == "" and not page[ended : fence.start()].strip():
            yield Block(code.kind, code.text, code.line, found.text)
            code = None
            continue
        if code is not None:
            yield code
        code = found if found.kind == "python" else None
        if code is None:
            yield found
        ended = fence.end()
    if code is not None:
        yield code
