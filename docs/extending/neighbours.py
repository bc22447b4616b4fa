"""A rival that looks once: the features that go along most with the one that varies most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.methods.deflation import one_by_one
from redac.methods.method_data import MethodData
from redac.sources.base import Array


def neighbours(
    data: MethodData, cardinalities: Sequence[int], *, by_correlation: bool = False
) -> Array:
    """The leading component of a feature and of those whose covariance with it is largest.

    The feature is the one of largest variance. Later components are sought on the data projected on
    the complement of the earlier ones. Choose it as a baseline that costs next to nothing.

    Parameters
    ----------
    by_correlation : bool, default=False
        Whether features are near by their correlations, not by their covariances.
    """

    def component(A: Array, k: int) -> Array:
        variances = np.einsum("ij,ij->j", A, A)
        largest = int(np.argmax(variances))
        closeness = np.abs(A.T @ A[:, largest])
        if by_correlation:
            closeness /= np.sqrt(np.where(variances > 0, variances, np.inf))
        closeness[largest] = np.inf
        support = np.sort(np.argsort(-closeness, kind="stable")[:k])
        v = np.zeros(A.shape[1])
        v[support] = np.linalg.svd(A[:, support], full_matrices=False)[2][0]
        return v

    return one_by_one(data.A, cardinalities, component)
