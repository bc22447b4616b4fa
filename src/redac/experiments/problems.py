"""What the contenders of an experiment are given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redac.sources.base import Array


@dataclass(frozen=True)
class ExperimentProblem:
    """Data, or a covariance matrix, and the cardinalities of the components to be found."""

    matrix: Array
    cardinality: tuple[int, ...]
    covariance: bool = False

    @property
    def n_components(self) -> int:
        return len(self.cardinality)


@dataclass(frozen=True)
class RecoveryProblem(ExperimentProblem):
    """A problem whose answer is known: ``truth`` has the components as rows."""

    truth: Array | None = None


@dataclass(frozen=True)
class ClassificationProblem(ExperimentProblem):
    """A problem whose components are judged by a classifier of their scores.

    ``matrix`` is the training data.
    """

    train_labels: NDArray[np.int64] | None = None
    test: Array | None = None
    test_labels: NDArray[np.int64] | None = None
