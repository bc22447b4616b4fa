"""Settings shared by all tests."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

# scikit-learn's checks of array API input are silently skipped unless scipy is told to support it,
# and scipy reads this when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Older versions of polars warn of every fork; those of the tests go on to another program at once.
os.environ.setdefault("POLARS_ALLOW_FORKING_THREAD", "1")

import pytest

from commands import Outcome, Run
from redac.cli import main
from terminals import Watched

# A shell starts what runs in the background with Ctrl-C ignored, and tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine changes what is printed."""
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """An empty folder that every user may look into; those of pytest are for its user alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command in this process."""

    def call(*arguments: object) -> Outcome:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ending:
            status = int(ending.code or 0)
        printed = capsys.readouterr()
        return Outcome(status, printed.out, printed.err)

    return call


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
