"""The ``redac`` command in a process of its own, watched through a terminal, and told to end."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commands import Outcome

# The test run may have been started in the background, where Ctrl-C is ignored, or by nohup.
_INTERRUPTIBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    "from redac.cli import main; sys.exit(main())"
)
# Long enough for the busiest machine; what is waited for comes within seconds.
_PATIENCE = 120


class Watched:
    """The command with a terminal as its standard error and a file as its standard output."""

    def __init__(self, out: Path, *arguments: object, before: str = "") -> None:
        pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
        self.seen = b""
        self._out = out
        self._mark = f"REDAC_TEST_MARK={uuid.uuid4()}"
        name, _, value = self._mark.partition("=")
        self._terminal, end = pty.openpty()
        with out.open("wb") as stdout:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", before + _INTERRUPTIBLE, *map(str, arguments)],
                stdout=stdout,
                stderr=end,
                env=os.environ
                | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30", name: value},
                start_new_session=True,
            )
        os.close(end)

    def send(self, number: signal.Signals) -> None:
        """A signal for the command alone."""
        self._process.send_signal(number)

    def send_all(self, number: signal.Signals) -> None:
        """A signal for the command and its workers, as Ctrl-C is."""
        os.killpg(self._process.pid, number)

    def chunks(self) -> Iterator[bytes]:
        """Everything the terminal receives, piece by piece, until the process ends."""
        end = time.monotonic() + _PATIENCE
        while True:
            left = end - time.monotonic()
            if left <= 0.0 or not select.select([self._terminal], [], [], left)[0]:
                raise AssertionError(f"still there after {_PATIENCE} s: {self.seen[-1000:]!r}")
            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:  # the other end is closed
                chunk = b""
            if not chunk:
                return
            self.seen += chunk
            yield self.seen

    def until(self, sign: bytes) -> None:
        """Wait until the terminal has shown something."""
        for seen in self.chunks():
            if re.search(sign, seen):
                return
        raise AssertionError(f"ended before {sign!r}: {self.seen!r}")

    def outcome(self) -> Outcome:
        """Read to the end; the standard error is what remains visible on the terminal."""
        for _ in self.chunks():
            pass
        status = self._process.wait(timeout=_PATIENCE)
        screen = visible(self.seen.decode())
        return Outcome(status, self._out.read_text(), "".join(f"{line}\n" for line in screen))

    def living(self) -> list[str]:
        """The processes that the command has started and that are still there, itself included."""
        if sys.platform != "linux":
            pytest.skip("processes are listed on Linux only")
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark.encode() in (place / "environ").read_bytes():
                    found.append((place / "cmdline").read_bytes().decode())
            except OSError:  # it has just ended
                continue
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true in good time."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


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
