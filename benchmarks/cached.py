"""How much of S a fit of redac remembered: the target for memory allows for it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

from redac.sources import Columns, Factor, Gram


class CachedColumns:
    """Watches, while it is open, the columns of S that sources of data remember.

    The parts of S that belong to some features alone count as well, with the bytes that they take.
    """

    def __init__(self) -> None:
        self._sources: list[Columns] = []
        self._noted: weakref.WeakSet[Gram] = weakref.WeakSet()
        self._copied = 0
        self._most_copied = 0
        make = Columns.__init__

        def make_and_note(columns: Columns, *arguments: Any, **options: Any) -> None:
            make(columns, *arguments, **options)
            self._sources.append(columns)

        self._patches = (
            patch.object(Columns, "__init__", make_and_note),
            patch.object(Columns, "restricted", self._noting(Columns.restricted)),
            patch.object(Gram, "restricted", self._noting(Gram.restricted)),
        )

    def __enter__(self) -> Self:
        for each in self._patches:
            each.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for each in self._patches:
            each.stop()

    def forget(self) -> None:
        """Let go of what was seen so far."""
        self._sources.clear()
        self._most_copied = self._copied

    @property
    def count(self) -> int:
        """The whole columns remembered at the end, which are the most there were."""
        return sum(columns.known.n_columns for columns in self._sources)

    @property
    def n_bytes(self) -> int:
        """What whole columns and the copies that existed at one time take at most."""
        whole = sum(8 * columns.n_features * columns.known.n_columns for columns in self._sources)
        return whole + self._most_copied

    def _noting(self, restricted: Callable[..., Gram | Factor]) -> Callable[..., Gram | Factor]:
        def restricted_and_noted(source: Any, *arguments: Any, **options: Any) -> Gram | Factor:
            copy = restricted(source, *arguments, **options)
            self._note(copy)
            return copy

        return restricted_and_noted

    def _note(self, copy: Gram | Factor) -> None:
        # A part may be handed out twice, and shared; columns of X are no columns of S.
        if copy in self._noted or isinstance(copy, Factor):
            return
        self._noted.add(copy)
        size = int(copy.S.nbytes)
        self._copied += size
        self._most_copied = max(self._most_copied, self._copied)
        weakref.finalize(copy, self._let_go, size).atexit = False

    def _let_go(self, size: int) -> None:
        self._copied -= size
