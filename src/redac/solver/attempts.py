"""The spread over the runs of a search: how good each was, and how much like the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from redac.sources.base import Array, Indices


@dataclass(frozen=True)
class Attempt:
    """What a run came to: the share explained, and which features the components use."""

    value: float
    features: Indices
    components: Indices

    @classmethod
    def of(cls, V: Array, value: float, total: float) -> Attempt:
        """The attempt that ended with loadings V."""
        features, components = np.nonzero(V)
        return cls(value / total if total > 0 else 0.0, features, components)


def spread(attempts: Sequence[Attempt], V: Array) -> dict[str, Array]:
    """Shares explained, and agreement of the supports with those of loadings V."""
    best = csr_array(V != 0, dtype=np.float64)
    return {
        "explained_variance_ratio": np.array([attempt.value for attempt in attempts]),
        "agreement": np.array([_agreement(attempt, best) for attempt in attempts]),
    }


def _agreement(attempt: Attempt, best: csr_array) -> float:
    """Mean overlap of supports, shared features by features of either, over matched components."""
    r = best.shape[1]
    shared = np.zeros((r, r))
    np.add.at(shared, attempt.components, best[attempt.features].toarray())
    sizes = np.bincount(attempt.components, minlength=r)
    either = np.add.outer(sizes, best.sum(axis=0)) - shared
    overlap = np.divide(shared, either, out=np.ones_like(shared), where=either > 0)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    return float(overlap[rows, columns].mean())
