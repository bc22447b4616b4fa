"""Sessions in a shell that a page shows: run them, and compare what they print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Command:
    """One line behind a prompt, and what stands below it."""

    line: str
    printed: str


def commands_in(page: str) -> list[Command]:
    """All commands of a page, in their order; a backslash continues a line."""
    found = []
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            head = re.match(r"(?:.*\\\n)*.*\n", part)
            assert head is not None
            found.append(Command(head[0].rstrip("\n"), part[head.end() :]))
    return found


def run(line: str, folder: Path) -> str:
    """What a command prints, on both streams."""
    python = shlex.quote(sys.executable)
    functions = f'redac() {{ {python} -m redac "$@"; }}\npython() {{ {python} "$@"; }}\n'
    ended = subprocess.run(  # noqa: S603
        ["/bin/bash", "-c", functions + line],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
    )
    return ended.stdout.decode()


def differences(found: str, expected: str, tolerance: float = 0.02) -> list[str]:
    """Lines that say something else; numbers may differ a little, and blanks do not count."""
    lines = [[line for line in text.splitlines() if line.strip()] for text in (found, expected)]
    if len(lines[0]) != len(lines[1]):
        return [f"{len(lines[0])} lines in place of {len(lines[1])}:", found]
    return [
        f"{one!r} in place of {other!r}"
        for one, other in zip(*lines, strict=True)
        if not _alike(one, other, tolerance)
    ]


def _alike(one: str, other: str, tolerance: float) -> bool:
    texts = [_NUMBER.sub("#", line).split() for line in (one, other)]
    numbers = [[_value(each) for each in _NUMBER.findall(line)] for line in (one, other)]
    return texts[0] == texts[1] and all(
        abs(a - b) <= tolerance * max(1.0, abs(b)) for a, b in zip(*numbers, strict=True)
    )


def _value(text: str) -> float:
    return float(text.replace("−", "-"))
