"""docs/shell.md shows what the commands print."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from transcript import commands_in, differences, run

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = commands_in((DOCS / "shell.md").read_text(encoding="utf-8"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.usefixtures("plain_terminal")
def test_the_session_prints_what_the_page_says(tmp_path: Path) -> None:
    for file in (DOCS / "data").glob("*.csv"):
        shutil.copy(file, tmp_path)
    for command in COMMANDS:
        wrong = differences(run(command.line, tmp_path), command.printed)
        assert wrong == [], command.line


def test_the_session_is_there() -> None:
    lines = " ".join(command.line for command in COMMANDS)
    for word in ("fit", "transform", "impute", "show", "--json", "python", "report.html", "--na"):
        assert word in lines


@pytest.mark.parametrize(
    ("found", "expected", "alike"),
    [
        ("PC1  12.34 %\n", "PC1 12.35 %", True),
        ("PC1  12.34 %\n", "PC1 14.35 %", False),
        ("a\n\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\n", False),
        ("PC1 -0.5", "PC1 0.5", False),
        ("alcohol 0.5", "ash 0.5", False),
    ],
)
def test_what_counts_as_the_same(found: str, expected: str, alike: bool) -> None:
    assert (differences(found, expected) == []) == alike


def test_commands_are_found() -> None:
    page = "```console\n$ redac fit a.csv \\\n    --json\nout\n$ ls\n```\n```\n$ not this\n```\n"
    first, second = commands_in(page)
    assert (first.line, first.printed) == ("redac fit a.csv \\\n    --json", "out\n")
    assert (second.line, second.printed) == ("ls", "")
