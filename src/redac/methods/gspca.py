"""GSPCA: supports that grow and shrink by the feature that is best by exact eigenvalues."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from redac.methods.deflation import one_by_one
from redac.methods.method_data import MethodData
from redac.methods.pathspca import first_largest, leading_on_support
from redac.sources.base import Array, Indices

# The way down from all features takes about d⁴ multiplications: seconds for 200 features.
_MOST_FEATURES_DOWN = 200
# A root is known to a share of 2⁻⁵² of its bracket then, which is rounding.
_BISECTIONS = 52


def gspca(data: MethodData, cardinalities: Sequence[int]) -> Array:
    """Maximise vᵀSv with ‖v‖ = 1 and ‖v‖₀ ≤ k by greedy search both ways (Moghaddam, Weiss and
    Avidan 2006).

    Forward, from no feature on, the support takes in the feature that makes the largest eigenvalue
    of its part of S largest; backward, from all features on, it gives up the feature that leaves it
    largest. Of the two supports of size k the one with the larger eigenvalue is taken, the forward
    one if they are equal. With more than 200 features there is only the way forward. Later
    components are sought on the data projected on the complement of the earlier ones.

    The cardinality is met as it is. Choose it over ``pathspca``, which judges features by a bound,
    where some more time is no matter.
    """

    def component(A: Array, k: int) -> Array:
        support = forward_support(A, k)
        if k < A.shape[1] <= _MOST_FEATURES_DOWN:
            other = backward_support(A.T @ A, k)
            values = [float(np.linalg.norm(A[:, each], ord=2)) for each in (support, other)]
            support = (support, other)[first_largest(np.array(values))]
        return leading_on_support(A, support)

    return one_by_one(data.A, cardinalities, component)


def forward_support(A: Array, k: int) -> Indices:
    """The k columns of A in the order in which the greedy way forward takes them."""
    lengths = np.einsum("ij,ij->j", A, A)
    support = np.empty(min(k, A.shape[1]), dtype=np.intp)
    for size in range(support.size):
        values = lengths.copy() if size == 0 else _with_one_more(A, support[:size], lengths)
        values[support[:size]] = -1.0
        support[size] = first_largest(values)
    return support


def backward_support(S: Array, k: int) -> Indices:
    """The k features that are left when the greedy way down has given up all others."""
    support = np.arange(len(S))
    while support.size > k:
        values = without_one(S[np.ix_(support, support)])
        # Of equally good ones the last goes, as the first is taken on the way forward.
        support = np.delete(support, support.size - 1 - first_largest(values[::-1]))
    return support


def _with_one_more(A: Array, support: Indices, lengths: Array) -> Array:
    """For each feature, the largest eigenvalue of S on the support and this feature.

    The eigenvalues x of a matrix with a further row z and diagonal entry s beyond the largest λ are
    the roots of x − s = Σ z_i²/(x − λ_i), z in the basis of the eigenvectors. The root grows with
    what is added, and is at most λ + s.
    """
    columns = A[:, support]
    values, vectors = np.linalg.eigh(columns.T @ columns)
    squares = np.square(vectors.T @ (columns.T @ A))

    def excess(x: Array, alive: Array) -> Array:
        rest: Array = x - lengths - (squares / alive).sum(axis=0)
        return rest

    top = float(values[-1])
    return _root(excess, values[:, None], np.maximum(top, lengths), top + lengths)


def without_one(S: Array) -> Array:
    """For each feature, the largest eigenvalue of S without it.

    It is the root between the two largest eigenvalues of Σ q_i²/(λ_i − x), q being the row of the
    feature in the matrix of eigenvectors.
    """
    values, vectors = np.linalg.eigh(S)
    squares = np.square(vectors.T)

    def rest(x: Array, alive: Array) -> Array:
        total: Array = -(squares / alive).sum(axis=0)
        return total

    d = len(S)
    return _root(rest, values[:, None], np.full(d, values[-2]), np.full(d, values[-1]))


def _root(rising: Callable[[Array, Array], Array], poles: Array, low: Array, high: Array) -> Array:
    """Roots by bisection of functions that rise between ``low`` and ``high``, one for each column.

    They are given x and its distances x − λ from the poles. A function without a root there has
    the end as its answer where a pole is missing: that eigenvalue stays one.
    """
    tiny = np.finfo(np.float64).tiny
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        distances = middle - poles
        distances = np.where(distances == 0.0, tiny, distances)
        with np.errstate(over="ignore"):
            is_beyond = rising(middle, distances) > 0
        low, high = np.where(is_beyond, low, middle), np.where(is_beyond, middle, high)
    return (low + high) / 2
