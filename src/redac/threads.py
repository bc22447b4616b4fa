"""One thread for linear algebra on small matrices: sharing them out costs more than it gains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

# Entries of the matrices in the inner loop up to which one thread is faster.
_SMALL = 200_000
# The number of threads belongs to the whole process. Whoever holds this has set it and gives back
# what it was; nobody else touches it meanwhile, be it further inside or in another thread.
_turn = Lock()


@contextmanager
def one_thread(entries: int) -> Iterator[None]:
    """Within it, products of matrices with so many entries use one thread if that is faster."""
    if entries > _SMALL or not _turn.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _turn.release()


@cache
def _controller() -> ThreadpoolController:
    """Looks for the libraries once; that takes some milliseconds."""
    return ThreadpoolController()
