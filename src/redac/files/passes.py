"""How far a pass over a file has come, for those who wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def watching(on_rows: Callable[[int, int], None]) -> Iterator[None]:
    """Within this context every pass over a file calls ``on_rows`` after each block of rows.

    Memory-mapped arrays, and anything else that is read in blocks from a disk of this machine, are
    reported. Data in memory and Dask collections are not.

    Parameters
    ----------
    on_rows : callable
        Called with the number of rows that this pass has read, and the number of all rows.
    """
    from redac.sources import progress  # brings scipy with it, which reading a file does not need

    with progress.watching(on_rows):
        yield
