"""Warnings that a fit may give. Each names the components concerned and what can be done."""

from __future__ import annotations

__all__ = ["CardinalityWarning", "ExhaustedWarning", "FitInterruptedWarning", "SeparationWarning"]


class ExhaustedWarning(UserWarning):
    """Some components found nothing left to explain; their loadings are zero."""


class SeparationWarning(UserWarning):
    """Some components are almost linear combinations of the others."""


class FitInterruptedWarning(UserWarning):
    """The fit was interrupted; the best components found so far are kept."""


class CardinalityWarning(UserWarning):
    """A method could not reach the cardinality asked for, and says what it settled for."""
