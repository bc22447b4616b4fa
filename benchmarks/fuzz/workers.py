"""Cases in processes of their own, so that one that hangs or crashes ends alone."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

# Processes share the processors already; threads of linear algebra would only be in their way.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

# Does the case of a seed and a number, in a process of its own, and returns what it has found.
Check = Callable[[int, int], Any]


@dataclass(frozen=True)
class Outcome:
    """What a case came to: what its check has found, or how it ended instead and the details."""

    number: int
    found: Any = None
    trouble: tuple[str, str] | None = None


@dataclass
class _Worker:
    """A process that takes numbers of cases and gives back what was found."""

    seed: int
    check: Check
    prepare: Callable[[], None] | None
    process: Any = None
    connection: Connection = field(init=False)
    number: int = -1
    deadline: float = 0.0

    def __post_init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        arguments = (theirs, self.seed, self.check, self.prepare)
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def wait_until_ready(self) -> None:
        """Reading redac and its dependencies takes some seconds, which are no part of a case."""
        self.connection.recv()

    def give(self, number: int, limit: float) -> None:
        self.number = number
        self.connection.send(number)
        self.deadline = time.monotonic() + limit

    def take(self) -> Outcome:
        """What came back; a process that has ended instead was ended by the case."""
        try:
            return Outcome(self.number, self.connection.recv())
        except EOFError:
            self.process.join()
            return Outcome(self.number, None, ("crash", f"exit status {self.process.exitcode}"))

    def give_up(self, limit: float) -> Outcome:
        self.stop()
        return Outcome(self.number, None, ("hang", f"not done after {limit:g} seconds"))

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()

    @property
    def is_alive(self) -> bool:
        return bool(self.process.is_alive())


def run_cases(
    check: Check,
    seed: int,
    numbers: Iterable[int],
    limit: Callable[[int], float],
    *,
    jobs: int = 1,
    prepare: Callable[[], None] | None = None,
) -> Iterator[Outcome]:
    """The outcome of each case, in the order in which they end.

    A case may take ``limit(number)`` seconds. Every process calls ``prepare`` before its first.
    """
    for name in _ONE_THREAD:
        os.environ[name] = "1"
    waiting = iter(numbers)
    idle = [_Worker(seed, check, prepare) for _ in range(jobs)]
    busy: list[_Worker] = []
    try:
        for worker in idle:
            worker.wait_until_ready()
        while True:
            while idle and (number := next(waiting, None)) is not None:
                busy.append(idle.pop())
                busy[-1].give(number, limit(number))
            if not busy:
                return
            worker, outcome = _next(busy, limit)
            busy.remove(worker)
            if not worker.is_alive:
                worker = _Worker(seed, check, prepare)
                worker.wait_until_ready()
            idle.append(worker)
            yield outcome
    finally:
        for worker in [*busy, *idle]:
            worker.stop()


def _next(busy: list[_Worker], limit: Callable[[int], float]) -> tuple[_Worker, Outcome]:
    """The next process that is done, or has had its time."""
    while True:
        soonest = min(worker.deadline for worker in busy)
        ready = wait([worker.connection for worker in busy], max(soonest - time.monotonic(), 0.0))
        for worker in busy:
            if worker.connection in ready:
                return worker, worker.take()
        for worker in busy:
            if worker.deadline <= time.monotonic():
                return worker, worker.give_up(limit(worker.number))


def _work(
    connection: Connection, seed: int, check: Check, prepare: Callable[[], None] | None
) -> None:
    """The process: cases until nobody wants any more."""
    if prepare is not None:
        prepare()
    connection.send(None)
    try:
        while True:
            connection.send(check(seed, connection.recv()))
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        return
