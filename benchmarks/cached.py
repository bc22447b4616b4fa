"""How many columns of S a fit of redac remembered: the target for memory allows for them."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

from redac.sources import Columns


class CachedColumns:
    """Watches the sources that are made while it is open."""

    def __init__(self) -> None:
        self._seen: list[Columns] = []
        make = Columns.__init__

        def make_and_note(columns: Columns, *arguments: Any, **options: Any) -> None:
            make(columns, *arguments, **options)
            self._seen.append(columns)

        self._patch = patch.object(Columns, "__init__", make_and_note)

    def __enter__(self) -> Self:
        self._patch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._patch.stop()

    def forget(self) -> None:
        """Let go of the sources seen so far."""
        self._seen.clear()

    @property
    def count(self) -> int:
        """The columns remembered at the end, which are the most there were."""
        return sum(columns.n_known for columns in self._seen)
