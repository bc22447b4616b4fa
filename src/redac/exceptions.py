"""Warnings that a fit may give, and errors of data. Each says what it is about and what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = [
    "BlockError",
    "CardinalityWarning",
    "EmptyRowsWarning",
    "ExhaustedWarning",
    "FitInterruptedWarning",
    "NoComponentsWarning",
    "NonFiniteError",
    "ScaleWarning",
    "SeparationWarning",
]


class ExhaustedWarning(UserWarning):
    """Some components found nothing left to explain; their loadings are zero."""


class NoComponentsWarning(UserWarning):
    """No component predicts held-out cells better than the mean does; none was chosen."""


class SeparationWarning(UserWarning):
    """Some components are almost linear combinations of the others."""


class ScaleWarning(UserWarning):
    """The variances of the data are beyond the range of float64; shares of them are not."""


class FitInterruptedWarning(UserWarning):
    """The fit was interrupted; the best components found so far are kept."""


class CardinalityWarning(UserWarning):
    """A method could not reach the cardinality asked for, and says what it settled for."""


class EmptyRowsWarning(UserWarning):
    """Some rows have no value at all; their scores are zero, which stands for the mean."""


class NonFiniteError(ValueError):
    """NaN or infinity in the data, with the place of the first one."""

    def __init__(self, row: int, column: int, value: float, name: str | None = None) -> None:
        self.row, self.column, self.value, self.name = row, column, value, name
        what = "NaN" if math.isnan(value) else "infinity"
        label = "" if name is None else f" ({name!r})"
        advice = (
            "Fill it in or drop such rows first. In dense arrays and frames that fit into memory "
            "SparsePCA takes NaN as a missing cell."
            if math.isnan(value)
            else "Drop such rows or replace it first; NaN stands for a value that is not known."
        )
        super().__init__(
            f"Input X contains {what}: row {row}, column {column}{label}, counted from 0. {advice}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.row, self.column, self.value, self.name)

    def named(self, feature_names: Sequence[str]) -> NonFiniteError:
        """The same error with the name of the column."""
        return NonFiniteError(self.row, self.column, self.value, str(feature_names[self.column]))


class BlockError(RuntimeError):
    """A block of rows could not be read or computed; the message says which one, and why."""

    def __init__(self, number: int, start: int | None, why: str) -> None:
        self.number, self.start, self.why = number, start, " ".join(why.split())
        place = "" if start is None else f", which begins with row {start},"
        super().__init__(f"Block {number} of the data{place} (counted from 0) {self.why}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.number, self.start, self.why)
