"""Signals that end a command do so in good order: nothing half-written, no process left behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

# The exit status after Ctrl-C, as shells count: 128 and the number of the signal.
INTERRUPTED = 128 + signal.SIGINT
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class EndedBySignal(BaseException):
    """The command was told to end; no handler of errors should stop that."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.status = 128 + number


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Within it, a signal that would end the process raises ``EndedBySignal`` instead.

    Signals that somebody has chosen to ignore, as nohup does, or to handle are left alone.
    """
    caught = []
    if threading.current_thread() is threading.main_thread():
        caught = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in caught:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in caught:
            if signal.getsignal(number) is _end:  # else the end is under way, to the very last
                signal.signal(number, signal.SIG_DFL)


def _end(number: int, _: FrameType | None) -> NoReturn:
    for each in _ENDING:  # the end is under way; another signal must not disturb it
        signal.signal(each, signal.SIG_IGN)
    raise EndedBySignal(number)
