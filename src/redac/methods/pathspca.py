"""PathSPCA: supports that grow by one feature at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from redac.constraints import normalized
from redac.methods.deflation import one_by_one
from redac.methods.method_data import MethodData
from redac.sources.base import Array, Indices

# Values this close, relative to the largest, are equal: what is left is rounding. Correlation
# matrices have a diagonal of ones, and rounding must not choose among them.
_TIE = 1e-9


def pathspca(data: MethodData, cardinalities: Sequence[int]) -> Array:
    """Maximise vᵀSv with ‖v‖ = 1 and ‖v‖₀ ≤ k along a greedy path (d'Aspremont, Bach and El Ghaoui
    2008).

    The support I starts with the feature of largest variance. As long as it is smaller than k, it
    takes in the feature with the largest (a_iᵀx)², where a_i are the columns of a factor A of S and
    x = A_I z/‖A_I z‖ for the leading eigenvector z of S_II: the feature that raises a lower bound
    of the variance most. The loadings are that z for the final support. Equal candidates: the first
    one is taken. Later components are sought on the data projected on the complement of the earlier
    ones.

    The cardinality is the length of the path, so it is met as it is. Choose it as a fast,
    deterministic method, or when the supports for all cardinalities up to k are wanted, since each
    contains the one before.
    """
    return one_by_one(
        data.A, cardinalities, lambda A, k: leading_on_support(A, greedy_support(A, k))
    )


def greedy_support(A: Array, k: int) -> Indices:
    """The k columns of A that the greedy path takes, in the order in which it takes them."""
    support = np.empty(min(k, A.shape[1]), dtype=np.intp)
    support[0] = first_largest(np.einsum("ij,ij->j", A, A))
    for size in range(1, support.size):
        x = _leading_score(A[:, support[:size]])
        gains = np.square(A.T @ x)
        gains[support[:size]] = -1.0
        support[size] = first_largest(gains)
    return support


def leading_on_support(A: Array, support: Indices) -> Array:
    """The unit vector v that is zero outside the support and has the largest ‖Av‖."""
    v = np.zeros(A.shape[1])
    if support.size == 0:
        return v
    columns = A[:, support]
    if columns.shape[0] < columns.shape[1]:
        v[support] = normalized(columns.T @ _leading_score(columns))
    else:
        v[support] = _leading_eigenvector(columns.T @ columns)
    return v


def first_largest(values: Array) -> int:
    """Index of the largest value; of several that are equal but for rounding, the first."""
    top = values.max()
    return int(np.argmax(values >= top - _TIE * abs(top)))


def _leading_score(columns: Array) -> Array:
    """The leading left singular vector, from whichever Gram matrix is smaller."""
    if columns.shape[0] < columns.shape[1]:
        return _leading_eigenvector(columns @ columns.T)
    return normalized(columns @ _leading_eigenvector(columns.T @ columns))


def _leading_eigenvector(S: Array) -> Array:
    last = len(S) - 1
    vector: Array = eigh(S, subset_by_index=[last, last])[1][:, 0]
    return vector
