"""``SparsePCACV``: sparse components whose numbers are chosen by cross-validation of cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from redac import parameters
from redac.certificate import Certificate
from redac.choose.criteria import RULES, Candidate, Choice, choose
from redac.choose.held_out import CompleteSheet, Sheet
from redac.choose.path import SparsityPath
from redac.choose.sparsity import read_sheet
from redac.choose.tracing import OPTIONS, Request, refined, trace
from redac.exceptions import FitInterruptedWarning, NoComponentsWarning
from redac.model import fitted
from redac.model.component_model import ComponentModel
from redac.model.estimator import SparsePCA
from redac.model.rules import Rules
from redac.solver.attempts import spread
from redac.sources import Source
from redac.user_line import warn_user

__all__ = ["SparsePCACV"]

# The grid where nobody says: up to so many components, and so many cardinalities from two to all
# features, but no more than a person can look through, each larger than the one before by the same
# factor.
_MOST_COMPONENTS = 10
_N_CARDINALITIES = 10
_MOST_FEATURES = 200
# A feature with so much of the variance leaves nothing for others to be seen by.
_NEARLY_ALL = 0.9


class SparsePCACV(ComponentModel):
    """``SparsePCA`` that chooses how many components there are, and how many features each uses.

    Rows are held out in folds. Loadings that were found without a row predict each of its cells
    from its other cells; Q² is the share of the squared error of the mean that this saves. Leaving
    out rows alone cannot tell how many components there are: more always reconstruct a row better.

    Parameters
    ----------
    n_components : int, sequence of ints or None, default=None
        The numbers to choose from, and always 0: no component predicts better than the mean. A
        single number is not a matter of choice. None: from 1 to half of the features, at most 10.
    cardinality : int, float, sequence of those or None, default=None
        The numbers of non-zero loadings of each component to choose from, or shares of the
        features. None: ten numbers from 2, or from as many as are required, to all features, but
        at most 200, each larger than the one before by the same factor.
    rule : {"one_se", "best", "share", "ebic"}, default="one_se"
        "best": the largest Q². "one_se": the fewest loadings whose Q² is behind the best by no more
        than one standard error of the difference over the folds. "share": the fewest that keep
        ``share`` of the best Q². "ebic": the smallest EBIC, for which nothing is held out.
    share : float, default=0.9
        For that rule.
    cv : int or splitter of scikit-learn, default=5
        Folds of rows. Each row must be held out once. Where cells are missing (NaN) a number of
        parts into which all other cells are dealt, to be hidden in turn.
    nonnegative, standardize, ridge, min_separation, max_iter, tol, exclude, require, groups, \
    max_per_group, max_groups, disjoint
        As in ``SparsePCA``.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows before they are dealt into folds. None: they are dealt in turn.

    Attributes
    ----------
    n_components_, cardinality_ : int
        What was chosen; both 0 where no component predicts better than the mean. ``components_``
        then has no rows and ``transform`` gives no columns.
    reason_ : str
        Why, in a sentence.
    cv_results_ : dict of ndarrays
        For each place of the grid "param_n_components", "param_cardinality", Q² of each fold as
        "split0_test_score", …, their mean, standard deviation and rank as "mean_test_score",
        "std_test_score" and "rank_test_score", and "ebic".
    path_ : SparsityPath
        All solutions on all rows, with their table, found with a ``tol`` of at least 1e-4 and less
        effort than ``components_``. ``save`` leaves it out; it has its own.
    components_, explained_variance_ratio_, … : all that a fitted ``SparsePCA`` has

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from redac import SparsePCACV
    >>> model = SparsePCACV((3, 4), (3, 5, 9), standardize=True).fit(load_wine().data)
    >>> model.n_components_, model.cardinality_
    (4, 5)
    """

    _takes_gaps = True

    def __init__(
        self,
        n_components: Any = None,
        cardinality: Any = None,
        *,
        rule: str = "one_se",
        share: float = 0.9,
        cv: Any = 5,
        nonnegative: Any = False,
        standardize: bool = False,
        ridge: Any = "auto",
        min_separation: Any = "auto",
        exclude: Any = None,
        require: Any = None,
        groups: Any = None,
        max_per_group: Any = None,
        max_groups: int | None = None,
        disjoint: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.cardinality = cardinality
        self.rule = rule
        self.share = share
        self.cv = cv
        self.nonnegative = nonnegative
        self.standardize = standardize
        self.ridge = ridge
        self.min_separation = min_separation
        self.exclude = exclude
        self.require = require
        self.groups = groups
        self.max_per_group = max_per_group
        self.max_groups = max_groups
        self.disjoint = disjoint
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, feature_names: Any = None) -> Self:
        """Choose the numbers of components and features for X, and find them.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)
            All that ``SparsePCA.fit`` takes. With no more than 2,000 features and at least as many
            rows it is read once.
        y : ignored
            For the conventions of scikit-learn.
        feature_names : sequence of str or None, default=None
            Names for the columns of data that have none.

        Returns
        -------
        self
        """
        self._check_rule()
        given = self._given_to_fit(X, feature_names)
        request = self._request(given.n_features)
        cv = None if self.rule == "ebic" else self.cv
        if cv is None and self.rule != "ebic":
            raise ValueError(f"cv=None holds nothing out, which rule={self.rule!r} needs.")
        sheet = read_sheet(self, given, request.options, cv, self.random_state)
        return self._take(request, sheet)

    def fit_covariance(
        self, S: Any, n_samples: int | None = None, feature_names: Any = None
    ) -> Self:
        """Choose from a covariance or correlation matrix, by EBIC: there are no rows to hold out.

        Parameters
        ----------
        S : array or frame of shape (n_features, n_features)
        n_samples : int
            The number of samples behind the matrix.
        feature_names : sequence of str or None, default=None
            Names for the features of a matrix that is no frame.

        Returns
        -------
        self
        """
        self._check_rule()
        if self.rule != "ebic":
            raise ValueError(
                f"rule={self.rule!r} holds rows out, and a covariance matrix has none; use "
                "rule='ebic'."
            )
        if n_samples is None:
            raise ValueError("n_samples=None: EBIC needs the number of samples behind the matrix.")
        source = self._read_covariance(
            S, n_samples, standardize=self.standardize, feature_names=feature_names
        )
        request = self._request(source.n_features)
        return self._take(request, CompleteSheet(self, source, np.dtype(np.float64)))

    def certificate(
        self,
        time_limit: float = 60,
        on_progress: Callable[[float, float, float], None] | None = None,
    ) -> Certificate:
        """A proved bound for the chosen numbers, as ``SparsePCA.certificate`` gives it."""
        return self.as_sparse_pca().certificate(time_limit, on_progress)

    def as_sparse_pca(self) -> SparsePCA:
        """The fitted ``SparsePCA`` with the numbers that were chosen."""
        if self.n_components_ == 0:
            raise ValueError("No component was chosen, so there is no SparsePCA to speak of.")
        options = {name: getattr(self, name) for name in OPTIONS}
        model = SparsePCA(self.n_components_, cardinality=self.cardinality_, **options)
        for name in fitted.rules_for(SparsePCA):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def _check_rule(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule={self.rule!r} is not one of {', '.join(RULES)}.")
        parameters.share("share", self.share)

    def _request(self, n_features: int) -> Request:
        self.n_features_in_ = n_features  # the command line asks before any fit
        counts, ks = self.n_components, self.cardinality
        if counts is None:
            counts = range(1, max(1, min(_MOST_COMPONENTS, n_features // 2)) + 1)
        elif np.ndim(counts) == 1:
            counts = [r for r in counts if r != 0] or counts  # that is a candidate without a fit
        options = {name: getattr(self, name) for name in OPTIONS}
        if ks is None:
            least = max(min(2, n_features), self._n_required(counts))
            most = max(min(n_features, _MOST_FEATURES), least)
            ks = np.geomspace(least, most, _N_CARDINALITIES).round().astype(int).tolist()
        return Request.of(counts, ks, options, self)

    def _n_required(self, counts: Any) -> int:
        """How many features a component must use."""
        if self.require is None:
            return 0
        r = int(np.max(counts))
        model = SparsePCA(r, require=self.require)
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return max(map(len, Rules.of(model, r, self.n_features_in_).required))

    def _take(self, request: Request, sheet: Sheet) -> Self:
        """Solve the grid, choose from the path, and take over what was chosen."""
        path = trace(request.roughly(), sheet)
        if sheet.n_passes is not None:
            self.n_passes_ = sheet.n_passes
        choice = self._choice(path)
        place = choice.candidate.n_components, choice.candidate.cardinality
        self.path_, self.reason_ = path, choice.reason
        self.cv_results_ = _results(path)
        self.cardinality_ = place[1]
        if place[0] == 0:
            self._take_nothing(sheet.source, sheet.dtype)
        else:
            is_over = path.interrupted  # whoever has asked for an end is not to wait for a fit
            model = path.model(*place) if is_over else refined(request, place, path, sheet)
            for name in fitted.rules_for(SparsePCA):
                if hasattr(model, name):
                    setattr(self, name, getattr(model, name))
        if path.interrupted:
            self.interrupted_ = True
            warn_user(
                "The choice was interrupted; it was made from what was done by then.",
                FitInterruptedWarning,
            )
        return self

    def _choice(self, path: SparsityPath) -> Choice:
        candidates = path.candidates()
        if isinstance(self.n_components, (int, np.integer)):  # no matter of choice
            candidates = [each for each in candidates if each.n_components]
        rule = self.rule if path.fold_scores is not None else "ebic"
        choice = choose(candidates, rule, self.share)
        edges = _edges(choice, candidates, self.n_features_in_)
        return replace(choice, reason=f"{choice.reason}{edges}")

    def _take_nothing(self, source: Source, dtype: np.dtype[Any]) -> None:
        """Set the attributes of a model without components, and say so."""
        d = source.n_features
        self._keep_components(np.zeros((d, 0)), source, dtype, sort=False)
        self.objective_history_ = np.ones(1)
        self.n_iter_ = 1
        self.converged_, self.interrupted_ = True, False
        self.search_history_ = spread([], np.zeros((d, 0)))
        self.scaled_covariance_, self.variance_limits_ = None, np.ones(2)
        warn_user(
            f"{self.reason_}{self._scale_hint(source)} To have some all the same, give "
            "n_components as a number.",
            NoComponentsWarning,
        )

    def _scale_hint(self, source: Source) -> str:
        """Where one feature has nearly all of the variance, no other one can speak for it."""
        share = float(source.diagonal.max()) / source.total if source.total > 0 else 0.0
        if share < _NEARLY_ALL or source.n_features == 1:
            return ""
        name = self._feature_names()[int(source.diagonal.argmax())]
        return (
            f" {name!r} alone has nearly all of the variance; with standardize=True all "
            "features count alike."
        )


def _edges(choice: Choice, candidates: list[Candidate], n_features: int) -> str:
    """A warning where the best may lie beyond the numbers that were tried."""
    chosen = choice.candidate
    tried = {
        "components": (chosen.n_components, {each.n_components for each in candidates}),
        "features": (chosen.cardinality, {each.cardinality for each in candidates}),
    }
    at_the_edge = [
        what
        for what, (number, numbers) in tried.items()
        if len(numbers - {0}) > 1 and number == max(numbers) < n_features
    ]
    if not at_the_edge:
        return ""
    return f" No more {' or '.join(at_the_edge)} were tried; more may be better."


def _results(path: SparsityPath) -> dict[str, np.ndarray]:
    """The table of a path in the words of scikit-learn's searches."""
    table = path.table
    found = {
        "param_n_components": table["n_components"].to_numpy(dtype=float),
        "param_cardinality": table["cardinality"].to_numpy(dtype=float),
    }
    if path.fold_scores is not None:
        scores = path.fold_scores.to_numpy()
        found |= {f"split{f}_test_score": scores[:, f] for f in range(scores.shape[1])}
        mean = scores.mean(axis=1)
        found["mean_test_score"] = mean
        found["std_test_score"] = scores.std(axis=1)
        found["rank_test_score"] = 1.0 + (mean[:, None] < mean).sum(axis=1)
    if "ebic" in table:
        found["ebic"] = table["ebic"].to_numpy(dtype=float)
    return found
