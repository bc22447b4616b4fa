"""Work for processes beside this one, which do not outlive it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import FrameType
from typing import Any

import joblib

# What ends a group of processes. The one that started the workers ends them in good order.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_ENDING = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
# Seconds between two looks at whether the process that asked for the work is still there.
_PATIENCE = 1.0


@contextmanager
def signals_wait() -> Iterator[None]:
    """Within it signals that end the process wait for its end; a second Ctrl-C does not."""
    waiting: list[int] = []
    handlers: dict[int, Callable[..., Any]] = {}

    def hold(number: int, frame: FrameType | None) -> None:
        if number in waiting:
            handlers[number](number, frame)
        waiting.append(number)

    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            if callable(handler := signal.getsignal(number)):
                handlers[number] = handler
                signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) is hold:
                signal.signal(number, handler)
    for number in waiting:
        handlers[number](number, None)


def delayed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like joblib's; a worker process ends when this one has been killed.

    joblib ends its workers when the process that started them ends in good order. One that is
    killed cannot, and they would go on to the end of their work.
    """
    later: Callable[..., Any] = joblib.delayed(partial(_in_worker, os.getpid(), function))
    return later


def _in_worker(parent: int, function: Callable[..., Any], *arguments: Any) -> Any:
    if os.getppid() == parent:  # not so in a thread, or on another machine
        _end_with(parent)
    return function(*arguments)


@cache
def _end_with(parent: int) -> None:
    """Live as long as the parent does, and no longer; once for each worker."""
    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PATIENCE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
