"""One thread for linear algebra on small matrices: sharing them out costs more than it gains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

# Entries of the matrices in the inner loop up to which one thread is faster.
_SMALL = 200_000
_limited = False


@contextmanager
def one_thread(entries: int) -> Iterator[None]:
    """Within it, products of matrices with so many entries use one thread if that is faster."""
    global _limited
    if _limited or entries > _SMALL:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        _limited = True
        try:
            yield
        finally:
            _limited = False


@cache
def _controller() -> ThreadpoolController:
    """Looks for the libraries once; that takes some milliseconds."""
    return ThreadpoolController()
