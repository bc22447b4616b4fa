"""Many files of numbers, one below the other, as one table that is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np


class StackedFiles:
    """The rows of several .npy files.

    Parameters
    ----------
    paths : the files, in the order of their rows; all have the same columns.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = list(paths)
        parts = [np.load(path, mmap_mode="r") for path in self._paths]
        widths = {part.shape[1] for part in parts}
        if len(widths) != 1:
            raise ValueError(f"The files have {sorted(widths)} columns; they must have as many.")
        self.shape = (sum(len(part) for part in parts), widths.pop())
        self.dtype = np.result_type(*(part.dtype for part in parts))

    def row_blocks(self, height: int) -> Iterator[np.ndarray]:
        """All rows in their order, in blocks of at most so many; called once for each pass."""
        for path in self._paths:
            part = np.load(path, mmap_mode="r")
            for start in range(0, len(part), height):
                yield np.array(part[start : start + height])
