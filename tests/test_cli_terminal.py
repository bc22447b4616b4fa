"""The ``redac`` command on a terminal: progress, interrupts, files that are read in blocks."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import redac
import redac.cli.inputs
import redac.files.parquet
import redac.report
from commands import (
    OUTPUTS,
    Outcome,
    Run,
    check_summary,
    done,
    files_in,
    parse_list,
)
from redac import SparsePCA

pytestmark = pytest.mark.usefixtures("plain_terminal")


# The test run may have been started in the background, where Ctrl-C is ignored.
_INTERRUPTIBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from redac.cli import main; sys.exit(main())"
)


class Watched:
    """The command with a terminal as its standard error and a file as its standard output."""

    def __init__(self, out: Path, *arguments: object, before: str = "") -> None:
        pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
        self.seen = b""
        self._out = out
        self._terminal, end = pty.openpty()
        with out.open("wb") as stdout:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", before + _INTERRUPTIBLE, *map(str, arguments)],
                stdout=stdout,
                stderr=end,
                env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
            )
        os.close(end)

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def chunks(self) -> Iterator[bytes]:
        """Everything the terminal receives, piece by piece, until the process ends."""
        while True:
            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:  # the other end is closed
                chunk = b""
            if not chunk:
                return
            self.seen += chunk
            yield self.seen

    def outcome(self) -> Outcome:
        """Read to the end; the standard error is what remains visible on the terminal."""
        for _ in self.chunks():
            pass
        status = self._process.wait(timeout=120)
        screen = visible(self.seen.decode())
        return Outcome(status, self._out.read_text(), "".join(f"{line}\n" for line in screen))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    """Start the command on a terminal."""
    started: list[Watched] = []

    def start(*arguments: object, before: str = "") -> Watched:
        started.append(Watched(tmp_path / "stdout.txt", *arguments, before=before))
        return started[-1]

    yield start
    for process in started:
        process.close()


def visible(stream: str) -> list[str]:
    """The lines that a terminal still shows after all it was sent."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", stream):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.startswith("\x1b["):
            count = int(part[2:-1]) if part[2:-1].isdigit() else 1
            if part[-1] == "A":
                row = max(row - count, 0)
            elif part[-1] == "K":
                lines[row] = ""
        else:
            lines[row] = lines[row].ljust(column)[:column] + part
            column += len(part)
    return [line for line in lines if line.strip()]


def test_visible_plays_a_terminal() -> None:
    assert visible("note\r\nbar 1\r\x1b[2Kbar 2\r\n\x1b[1A\x1b[2Kend\r\n") == ["note", "end"]


def test_progress_is_drawn_and_cleared(
    watched: Callable[..., Watched], run: Run, tmp_path: Path
) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(1).standard_normal((60, 50)))
    arguments = ("fit", tmp_path / "data.npy", "--cardinality", "5,5,5", "--init-count", 30)
    process = watched(*arguments, "--seed", 1)
    outcome = process.outcome()
    assert outcome.status == 0
    assert b"start 1" in process.seen
    assert b"% explained" in process.seen
    assert outcome.err == ""
    assert process.seen.count(b"\x1b[?25l") == process.seen.count(b"\x1b[?25h")  # the cursor
    assert "\x1b" not in outcome.out
    assert outcome.out == done(run(*arguments, "--seed", 1)).out


_SMALL_IS_LARGE = (
    "import redac.files.parquet, redac.sources.local; "
    "redac.files.parquet.STREAMED_BYTES = 0; redac.sources.local._BLOCK_BYTES = 1 << 17; "
)


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_passes_over_a_file_have_a_progress_bar(
    watched: Callable[..., Watched], tmp_path: Path, suffix: str
) -> None:
    X = np.random.default_rng(1).standard_normal((5000, 30))
    path, folder = tmp_path / f"data.{suffix}", tmp_path / "out"
    if suffix == "npy":
        np.save(path, X)
    else:
        pd.DataFrame(X, columns=[f"f{j}" for j in range(30)]).to_parquet(path, row_group_size=900)
    arguments = ("fit", path, "--cardinality", "5,5,5", "--output", folder)
    process = watched(*arguments, before=_SMALL_IS_LARGE)
    outcome = process.outcome()
    assert outcome.status == 0
    assert b"reading, pass 1" in process.seen
    assert b" of 5,000 rows" in process.seen
    assert process.seen.count(b"\x1b[?25l") == 2  # a bar for the fit and one for the scores
    assert process.seen.rindex(b" of 5,000 rows") > process.seen.rindex(b"% explained")
    assert outcome.err == f"note: results written to {folder}\n"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("damage", ["no end", "no middle", "zeros in the middle"])
def test_a_damaged_parquet_file_is_a_wrong_input(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, streamed: bool
) -> None:
    monkeypatch.setattr(redac.files.parquet, "STREAMED_BYTES", 0 if streamed else 1 << 40)
    path = tmp_path / "data.parquet"
    X = np.random.default_rng(1).standard_normal((3000, 6))
    pd.DataFrame(X, columns=list("abcdef")).to_parquet(path, row_group_size=500)
    content, middle = path.read_bytes(), path.stat().st_size // 2
    path.write_bytes(
        {
            "no end": content[:middle],
            "no middle": content[:1000] + content[middle:],
            "zeros in the middle": content[:middle] + bytes(3000) + content[middle + 3000 :],
        }[damage]
    )
    outcome = run("fit", path, "--components", 2)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"redac: {path}: damaged, or not a Parquet file (")
    assert outcome.err.count("\n") == 1


def test_interrupt_prints_the_best_so_far(watched: Callable[..., Watched], tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((400, 300)))
    folder = tmp_path / "results"
    process = watched(
        *("fit", tmp_path / "data.npy", "--components", 20, "--cardinality", 10),
        *("--init-count", 5000, "--seed", 0, "--output", folder),
    )
    for seen in process.chunks():
        if re.search(rb"start [3-9]", seen):
            break
    process.interrupt()
    outcome = process.outcome()
    assert outcome.status == 0
    assert outcome.notes == [
        "note: The fit was interrupted; the best components found so far are kept.",
        f"note: results written to {folder}",
    ]
    assert parse_list(outcome.out).non_zeros == [10] * 20
    model = SparsePCA.load(folder / "model.npz")
    check_summary(outcome.out, model)
    assert not model.converged_
    assert files_in(folder) == OUTPUTS
