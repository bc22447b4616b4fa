"""How stable components are: the same fit to half of the rows, many times.

Components of each half are matched with those of all rows, as well as all can be at once, and what
is counted is how often each uses each feature.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from redac import parameters
from redac.choose.effort import ROUGH
from redac.choose.labels import Labelled
from redac.exceptions import FitInterruptedWarning
from redac.model.callbacks import watched
from redac.model.estimator import SparsePCA
from redac.show.tables import component_names
from redac.sources import Data, as_data, as_source
from redac.sources.base import Array, Indices
from redac.sources.progress import is_mapped
from redac.user_line import warn_user

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Stability", "stability"]

# A feature that more than this share of the halves use is one that a component keeps.
_KEPT = 0.8
# A fit needs so many rows.
_LEAST_ROWS = 2


@dataclass(frozen=True, repr=False)
class Stability:
    """How often half of the rows lead to the same features.

    Attributes
    ----------
    frequencies : DataFrame, features × components
        The share of the half-samples in which the component that matches PC1, PC2, … uses the
        feature.
    indices : Series
        For each component the index of Nogueira, Sechidis and Brown (2018): 1 − mean_j s_j² /
        ((k/d)(1 − k/d)), with s_j² the variance of whether feature j is used and k the mean number
        of features. 1: always the same features; 0: no more alike than features drawn at random.
    index : float
        The mean of those.
    n_resamples : int
        The number of half-samples.
    model : SparsePCA
        The components of all rows.
    """

    frequencies: pd.DataFrame
    indices: pd.Series
    index: float
    n_resamples: int
    model: SparsePCA

    def __repr__(self) -> str:
        return self.summary()

    def kept(self) -> pd.Series:
        """How many of its features each component keeps in more than 80 % of the half-samples."""
        import pandas as pd

        used = self.model.components_.T != 0
        kept = used & (self.frequencies.to_numpy() > _KEPT)
        return pd.Series(kept.sum(axis=0), index=self.frequencies.columns)

    def summary(self) -> str:
        """A sentence for each component, and one for all."""
        counts = np.count_nonzero(self.model.components_, axis=1)
        lines = [
            f"{name} keeps {kept} of its {count} features in more than {_KEPT:.0%} of "
            f"{self.n_resamples} half-samples."
            for (name, kept), count in zip(self.kept().items(), counts, strict=True)
        ]
        lines.append(
            f"Stability of all: {self.index:.2f} (1: always the same features, 0: as if drawn at "
            "random)."
        )
        return "\n".join(lines)


def stability(
    X: Any,
    n_components: int,
    cardinality: Any,
    *,
    n_resamples: int = 50,
    random_state: Any = None,
    feature_names: Any = None,
    **options: Any,
) -> Stability:
    """Fit components to half of the rows again and again, and count which features they use.

    Parameters
    ----------
    X : data of any kind that ``SparsePCA.fit`` takes
    n_components, cardinality : as in ``SparsePCA``
    n_resamples : int, default=50
        Half-samples, drawn in pairs: each pair shares no row.
    random_state : int, RandomState instance or None, default=None
        Seed of the half-samples.
    feature_names : sequence of str or None, default=None
        Names for the columns of data that have none.
    **options
        Further parameters of ``SparsePCA``.

    Returns
    -------
    Stability
        With ``frequencies``, ``index``, ``indices`` and ``summary()``.

    Examples
    --------
    >>> import numpy as np
    >>> from redac import stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 6))
    >>> X[:, :3] += 2.0 * rng.standard_normal((100, 1))
    >>> print(stability(X, 1, cardinality=3, n_resamples=10, random_state=0).summary())
    PC1 keeps 3 of its 3 features in more than 80% of 10 half-samples.
    Stability of all: 1.00 (1: always the same features, 0: as if drawn at random).
    """
    count = parameters.count("n_resamples", n_resamples, least=2)
    model = SparsePCA(n_components, cardinality=cardinality, **options)
    model.fit(X, feature_names=feature_names)
    supports: list[Array] = []
    try:
        for support in _supports(model, model._given(X).values, count, random_state):
            supports += [support]  # those of an interrupted work are kept
    except KeyboardInterrupt:
        if len(supports) < 2:
            raise
        warn_user(
            f"Interrupted after {len(supports)} of {count} half-samples, which are kept.",
            FitInterruptedWarning,
        )
    return _counted(model, supports)


def index_of(model: SparsePCA, X: Any, count: int, random_state: Any) -> float:
    """The index of a fitted model, from so many half-samples of the values of its data."""
    place = f"r = {model.n_components_}, k = {model.cardinality}, "
    return _counted(model, list(_supports(model, X, count, random_state, place))).index


def check_halves(n_rows: int) -> None:
    """Whether there are rows enough to draw halves of."""
    if n_rows < 2 * _LEAST_ROWS:
        raise ValueError(f"X has n_samples={n_rows} rows; halves need at least {_LEAST_ROWS} each.")


def _supports(
    model: SparsePCA, X: Any, count: int, random_state: Any, label: str = ""
) -> Iterator[Array]:
    """Which features the components of each half use, in the order of those of all rows.

    The label says what whoever watches progress is told before the number of the half.
    """
    n = int(model.n_samples_ or 0)
    check_halves(n)
    rng = check_random_state(random_state)
    for first in range(0, 0 if model.interrupted_ else count, 2):
        for number, rows in enumerate(_halves(n, rng)[: count - first], first + 1):
            found = _fitted(model, X, rows, f"{label}half-sample {number} of {count}:")
            yield _matched(model.components_, found.components_)


def _halves(n: int, rng: np.random.RandomState) -> tuple[Indices, Indices]:
    """Two halves of the rows that have none in common."""
    order = rng.permutation(n).astype(np.intp)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 : 2 * (n // 2)])


def _of_rows(X: Any, rows: Indices, standardize: bool) -> Data:
    """Some rows about their own mean; what is not in memory is read with weights of zero."""
    if (isinstance(X, np.ndarray) and not is_mapped(X)) or issparse(X):
        return as_data(X[rows], standardize=standardize)
    is_in = np.zeros(X.shape[0])
    is_in[rows] = 1.0
    return as_data(X, standardize=standardize, sample_weight=is_in)


def _fitted(model: SparsePCA, X: Any, rows: Indices, label: str) -> SparsePCA:
    """The same model fitted to some rows, to the end."""
    other = SparsePCA(**model.get_params(deep=False))
    other.set_params(tol=max(model.tol, ROUGH))
    watcher = Labelled.of(label)
    with (
        watched(watcher) if watcher is not None else nullcontext(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # a half may have less to explain than all
        if model.n_missing_ or model.robust is not None:
            names = getattr(model, "feature_names_in_", None)
            other.fit(np.asarray(X[:])[rows], feature_names=names)
        else:
            data = _of_rows(X, rows, model.standardize)
            other.n_features_in_, other.n_samples_ = model.n_features_in_, data.shape[0]
            if hasattr(model, "feature_names_in_"):
                other.feature_names_in_ = model.feature_names_in_
            other._fit_source(as_source(data), None, np.dtype(np.float64))
    if other.interrupted_ or (watcher is not None and watcher.stopped):
        raise KeyboardInterrupt
    return other


def _matched(components: Array, others: Array) -> Array:
    """Which features the components use that match given ones best, in the order of those."""
    overlap = np.abs(components @ others.T)
    return np.asarray(others[linear_sum_assignment(overlap, maximize=True)[1]] != 0, dtype=float)


def _counted(model: SparsePCA, supports: list[Array]) -> Stability:
    import pandas as pd

    names = component_names(model.n_components_)
    frequencies = np.mean(supports, axis=0)
    indices = np.array([nogueira(each, len(supports)) for each in frequencies])
    return Stability(
        pd.DataFrame(frequencies.T, index=model._feature_names(), columns=names),
        pd.Series(indices, index=names),
        float(indices.mean()),
        len(supports),
        model,
    )


def nogueira(frequencies: Array, n_resamples: int) -> float:
    """The index of selections that used each feature that often."""
    share = float(frequencies.mean())
    expected = share * (1.0 - share)
    if expected == 0.0:  # all features or none, always the same
        return 1.0
    variances = frequencies * (1.0 - frequencies) * n_resamples / (n_resamples - 1)
    return float(1.0 - variances.mean() / expected)
