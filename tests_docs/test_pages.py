"""Every piece of code on every page does what the page says, in the order of the page."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import transcript
from pages import PAGES, Block, blocks, name_of
from redac.cli import main, parse
from stand_ins import write_stand_ins

# Languages that nothing runs: they are looked at by other tests, or are no code.
_NOT_RUN = ("bibtex", "json", "html")


@pytest.fixture(scope="module", autouse=True)
def pictures_without_a_screen() -> Iterator[None]:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = mpl.get_backend()
    mpl.use("Agg")
    yield
    plt.close("all")
    mpl.use(before)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def alike(found: str, expected: str) -> bool:
    """The same words, and numbers that differ by one in the last decimal that is shown at most.

    Other libraries of linear algebra round in other ways; whole numbers must be the same.
    """
    if NUMBER.sub("#", found).split() != NUMBER.sub("#", expected).split():
        return False
    pairs = zip(NUMBER.findall(found), NUMBER.findall(expected), strict=True)
    return all(
        one == other
        or ("." in other and abs(float(one) - float(other)) < 1.5 * 0.1 ** len(other.split(".")[1]))
        for one, other in pairs
    )


class AlikeChecker(doctest.OutputChecker):
    """Doctests with these eyes."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return alike(got, want)


def run_python(block: Block, names: dict[str, Any], page: str) -> None:
    printed = io.StringIO()
    # As many empty lines as the page has above, so that errors name the line of the page.
    code = compile("\n" * block.line + block.text, page, "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)  # noqa: S102
    if block.output is not None:
        text = printed.getvalue()
        assert alike(text, block.output), f"{page}:{block.line} prints:\n{text}"


def run_doctest(block: Block, names: dict[str, Any], page: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line)
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(AlikeChecker()).run(
        test, out=report.append, clear_globs=False
    )
    assert failed == 0, "".join(report)


def run_session(block: Block, folder: Path, page: str) -> None:
    for command in transcript.commands_in(f"```console\n{block.text}```"):
        wrong = transcript.differences(transcript.run(command.line, folder), command.printed)
        assert wrong == [], f"{page}:{block.line}: {command.line}"


def run_commands(block: Block, page: str) -> None:
    """Commands of redac; those of pip and make are run by those who build this."""
    text = block.text.replace("\\\n", " ")
    for line in text.splitlines():
        command = line.split(" | ")[0]  # what it is piped into is another program
        words = shlex.split(command, comments=True)
        if words[:2] == ["redac", "explore"]:
            parse(words[1:])  # a server that would wait
        elif words[:1] == ["redac"]:
            with contextlib.redirect_stdout(io.StringIO()):
                assert main(words[1:]) == 0, f"{page}:{block.line}: {command}"


# docs/shell.md is a session that tests/test_transcript.py runs, with all versions.
@pytest.mark.parametrize("page", [each for each in PAGES if each.name != "shell.md"], ids=name_of)
def test_code_does_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_terminal: None
) -> None:
    found = list(blocks(page.read_text(encoding="utf-8")))
    if not found:
        return
    monkeypatch.chdir(tmp_path)
    write_stand_ins(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in found:
        if "fetch_" in block.text and not os.environ.get("REDAC_DATA"):
            continue
        if block.kind == "python":
            run_python(block, names, page.name)
        elif block.kind == "doctest":
            run_doctest(block, names, page.name)
        elif block.kind == "console":
            run_session(block, tmp_path, page.name)
        elif block.kind == "shell":
            run_commands(block, page.name)
        else:
            assert block.kind in _NOT_RUN, f"{page.name}:{block.line}: nothing runs this block"


def test_blocks_are_told_apart() -> None:
    fences = (
        ("python", "print(1)"),
        ("", "1"),
        ("python", "x = 2"),
        ("", ">>> x\n2"),
        ("console", "$ ls"),
        ("", "redac fit data.csv"),
        ("", "unclear"),
        ("{toctree}", "tutorial"),
    )
    page = "\n".join(f"```{language}\n{text}\n```\n" for language, text in fences)
    assert [(block.kind, block.output) for block in blocks(page)] == [
        ("python", "1\n"),
        ("python", None),
        ("doctest", None),
        ("console", None),
        ("shell", None),
        ("", None),
    ]


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        ("PC1  0.63\n", "PC1 0.62", True),
        ("PC1  0.64\n", "PC1 0.62", False),
        ("4 of 5", "4 of 4", False),
        ("alcohol 0.5", "ash 0.5", False),
        ("a -0.5", "a 0.5", False),
        ("-0.0", "0.0", True),
    ],
)
def test_what_counts_as_the_same(found: str, expected: str, same: bool) -> None:
    assert alike(found, expected) == same


def test_wrong_output_is_noticed() -> None:
    with pytest.raises(AssertionError, match=r"page\.md:1 prints"):
        run_python(Block("python", "print(2)\n", 1, "3\n"), {}, "page.md")
    with pytest.raises(AssertionError, match="Expected"):
        run_doctest(Block("doctest", ">>> 1 + 1\n3\n", 1), {}, "page.md")
    with pytest.raises(AssertionError, match="redac fit nowhere"):
        run_commands(Block("shell", "redac fit nowhere.csv\n", 1), "page.md")
