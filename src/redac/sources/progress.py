"""Progress of a pass over data that are on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from mmap import mmap
from typing import Any

import numpy as np

# Told how many rows of a pass have been read, and of how many.
OnRows = Callable[[int, int], None]

_watcher: ContextVar[OnRows | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(on_rows: OnRows) -> Iterator[None]:
    """Within this context every pass over a file calls ``on_rows(rows read, rows)`` block by block.

    A memory-mapped array and anything else that is read from a disk of this machine reports; data
    in memory and Dask collections do not.
    """
    token = _watcher.set(on_rows)
    try:
        yield
    finally:
        _watcher.reset(token)


def is_mapped(X: Any) -> bool:
    """Whether an array is a view of a file."""
    while X is not None and not isinstance(X, (np.memmap, mmap)):
        X = getattr(X, "base", None)
    return X is not None


def report(done: int, total: int) -> None:
    """Tell the watcher, if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(done, total)
