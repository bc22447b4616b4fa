"""RSPCA: sparse components by the sum of magnitudes of the scores, which outliers move less."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.constraints import L0, normalized
from redac.methods.method_data import MethodData
from redac.methods.thresholds import soft, threshold_to
from redac.parameters import count
from redac.sources.base import Array
from redac.sources.data import Data

_RULES = ("hard", "soft")
# Variances that differ by less than this share of the largest are equal but for rounding.
_TIE = 1e-9
# Scores this small against those of the strongest feature are what rounding left of nothing.
_EXHAUSTED = 1e-10


def rspca(
    data: MethodData,
    cardinalities: Sequence[int],
    *,
    threshold: str = "hard",
    n_starts: int = 10,
    max_iter: int = 200,
) -> Array:
    """Maximise Σ|x_jᵀv| over the samples x_j with ‖v‖ = 1 and ‖v‖₀ ≤ k (Meng, Zhao and Xu 2012).

    Given the signs s_j of the scores, the best v is Σ s_j x_j cut to the k entries of largest
    magnitude; given v, the signs follow. This is repeated until no sign changes; no step lowers the
    objective. A score counts by its magnitude, not by its square, so a few outliers do not turn a
    component towards themselves as easily. Later components are sought on the samples projected on
    the complement of the earlier ones. Starts are the leading axis and single features; the largest
    objective wins.

    The cardinality is met as it is. It needs the samples: a covariance matrix does not determine
    the signs. Samples are centred at their mean. Choose it for data with gross outliers.

    Parameters
    ----------
    threshold : {"hard", "soft"}, default="hard"
        Whether the loadings that stay are left alone, or shrunk by the largest that must vanish;
        with "soft" the objective may fall.
    n_starts : int, default=10
        Starts for each component: the leading axis, then the features of largest variance.
    max_iter : int, default=200
        Steps from one start at most.
    """
    if threshold not in _RULES:
        raise ValueError(f"threshold={threshold!r} is unknown; choose one of hard, soft.")
    samples = data.samples
    if samples is None:
        raise ValueError(
            "rspca needs the samples, and a covariance matrix does not have them: "
            "give the data, or choose a method that works on a covariance matrix."
        )
    starts = _starts(data, count("n_starts", n_starts, least=1))
    peak = float(np.abs(samples.left(starts)).sum(axis=0).max(initial=0.0))
    deflated = DeflatedSamples(samples, np.zeros((data.n_features, 0)))
    for k in cardinalities:
        W, values = sign_steps(deflated, k, starts, threshold=threshold, max_iter=max_iter)
        best = int(np.argmax(values >= values.max() * (1 - _TIE)))
        found = W[:, best] if values[best] > _EXHAUSTED * peak else np.zeros(data.n_features)
        deflated = DeflatedSamples(samples, np.column_stack([deflated.found, found]))
    return deflated.found


class DeflatedSamples:
    """X(I − v₁v₁ᵀ)(I − v₂v₂ᵀ)…, which is never formed."""

    def __init__(self, samples: Data, found: Array) -> None:
        self._samples = samples
        self.found = found

    def scores(self, W: Array) -> Array:
        for v in self.found.T[::-1]:
            W = W - np.multiply.outer(v, v @ W)
        return self._samples.left(W)

    def sums(self, signs: Array) -> Array:
        """For each column of signs, the sum of the samples with these signs."""
        sums = self._samples.right(signs)
        for v in self.found.T:
            sums = sums - np.multiply.outer(v, v @ sums)
        return sums


def sign_steps(
    samples: DeflatedSamples, k: int, W: Array, *, threshold: str = "hard", max_iter: int = 200
) -> tuple[Array, Array]:
    """Where the steps lead from each column of W, and the sums of the magnitudes of the scores."""
    scores = samples.scores(W)
    signs = np.where(scores < 0, -1.0, 1.0)
    for _ in range(max_iter):
        W = np.column_stack([_cut(w, k, threshold) for w in samples.sums(signs).T])
        scores = samples.scores(W)
        before, signs = signs, np.where(scores < 0, -1.0, 1.0)
        if (signs == before).all():
            break
    return W, np.abs(scores).sum(axis=0)


def _cut(w: Array, k: int, threshold: str) -> Array:
    if threshold == "hard":
        return L0(k).maximize(w)
    return normalized(threshold_to(w, k, soft))


def _starts(data: MethodData, n_starts: int) -> Array:
    """The leading axis, and the features of largest variance, equal ones by their index."""
    axis = data.source.principal_axes(1)[0]
    variances = data.source.diagonal
    rounded = np.round(variances / (_TIE * (variances.max() or 1.0)))
    chosen = np.argsort(-rounded, kind="stable")[: n_starts - 1]
    features = np.zeros((data.n_features, chosen.size))
    features[chosen, np.arange(chosen.size)] = 1.0
    return np.column_stack([axis, features])
