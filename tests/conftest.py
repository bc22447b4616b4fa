"""Settings shared by all tests."""

import os

# scikit-learn's checks of array API input are silently skipped unless scipy is told to support it,
# and scipy reads this when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest

from commands import Outcome, Run
from redac.cli import main


@pytest.fixture
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine changes what is printed."""
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command in this process."""

    def call(*arguments: object) -> Outcome:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ending:
            status = ending.code or 0
        printed = capsys.readouterr()
        return Outcome(status, printed.out, printed.err)

    return call
