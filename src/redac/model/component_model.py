"""What every model of sparse components can do once its components are known."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from redac import parameters
from redac.exceptions import NonFiniteError, ScaleWarning
from redac.model import incomplete, persistence
from redac.model.exports import Exports
from redac.model.identity import order_like, signed
from redac.model.showing import ShownModel
from redac.show.tables import loadings_table, top_features
from redac.solver import variance
from redac.sources import Data, Gram, Source
from redac.sources.base import Array
from redac.sources.gaps import may_have_gaps
from redac.sources.reading import Given, read_covariance
from redac.sources.streams import lazy_scores
from redac.user_line import warn_user


class ComponentModel(
    ShownModel,
    Exports,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Scores, reconstruction and tables from components; a subclass finds the components."""

    components_: NDArray[Any]
    mean_: Array
    scale_: Array
    score_ridge_: Array
    # Whether NaN is a missing cell, in fits and everywhere else.
    _takes_gaps = False

    def transform(self, X: Any) -> Any:
        """Least-squares scores of X: (X − mean)/scale · V(VᵀV)⁻¹.

        A row with missing cells (NaN) has the scores that fit its other cells best, with the ridge
        ``score_ridge_``, which draws scores that few cells determine towards zero.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            For a Dask array or frame a Dask array, not computed yet.
        """
        check_is_fitted(self)
        given = self._given(X)
        V = self.components_.astype(np.float64).T
        W = variance.Basis.of(V).duals()
        if given.is_lazy:
            return lazy_scores(given.values, self.mean_, self.scale_, W, given.float_dtype)
        try:
            with given.naming_columns():
                scores = given.about(self.mean_, self.scale_).scores(W)
        except NonFiniteError as error:
            if not incomplete.is_gap(self, error, given):
                raise
            scores = incomplete.scores(self, given)
        return scores.astype(given.float_dtype, copy=False)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The data that belong to scores; for scores from ``transform`` the best reconstruction.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        scores = np.asarray(X)
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            raise ValueError(
                f"The scores have shape {scores.shape}; {self.n_components_} columns are expected, "
                "one for each component."
            )
        restored: NDArray[Any] = (scores @ self.components_) * self.scale_ + self.mean_
        return restored.astype(np.result_type(scores.dtype, self.components_.dtype), copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the variance of X about the fitted mean that the components explain.

        On the data of the fit this is PEV / 100. Larger is better, so grid search and cross-
        validation can use it. Of data with missing cells (NaN) it is that of the other cells.

        Parameters
        ----------
        X : data of any kind that ``fit`` takes
        y : ignored

        Returns
        -------
        float
            At most 1; below 0 where the fitted mean alone is a better guess.
        """
        check_is_fitted(self)
        given = self._given(X)
        Q = variance.Basis.of(self.components_.astype(np.float64).T).Q
        try:
            return given.share_about(self.mean_, self.scale_, Q)
        except NonFiniteError as error:
            if not incomplete.is_gap(self, error, given):
                raise
            return incomplete.share(self, given)

    def impute(self, X: Any) -> Any:
        """X with its missing cells (NaN) filled by what the components say of the other cells.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            A row without any value is filled with the means.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or a frame for a pandas frame
        """
        check_is_fitted(self)
        given = self._given(X)
        if not may_have_gaps(given.values):
            raise TypeError(
                f"impute takes an array or a frame in memory, not {type(X).__name__}: only in "
                "those is NaN a missing cell."
            )
        values = incomplete.imputed(self, given)
        if hasattr(X, "iloc"):
            return type(X)(values, index=X.index, columns=X.columns)
        return values

    @property
    def loading_overlaps_(self) -> NDArray[np.intp]:
        """How many features each two components share; on the diagonal how many each uses."""
        used = (self.components_ != 0).astype(np.intp)
        return np.asarray(used @ used.T)

    def loadings_table(self, feature_names: Any = None) -> Any:
        """The non-zero loadings as a DataFrame of features × components PC1, PC2, ….

        Features without any loading are left out, entries that are zero are missing values, which
        it shows as blanks, and the features of a component stand together, the largest loading
        first. Its ``to_markdown`` and ``to_latex`` need no other package.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            Names for the features in place of those that the model knows.

        Returns
        -------
        DataFrame
        """
        check_is_fitted(self)
        return loadings_table(self.components_, self._named(feature_names))

    def top_features(self, n: int = 10, feature_names: Any = None) -> list[list[str]]:
        """The names of at most ``n`` features of each component, the largest loading first.

        Parameters
        ----------
        n : int, default=10
        feature_names : sequence of str or None, default=None
            Names for the features in place of those that the model knows, such as the words of a
            vectorizer.

        Returns
        -------
        list of lists of str
            One for each component; shorter where it has fewer loadings.
        """
        check_is_fitted(self)
        parameters.count("n", n, least=1)
        return top_features(self.components_, self._named(feature_names), n)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a .npz file that holds numbers and text only, no pickled objects."""
        check_is_fitted(self)
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` or ``redac fit --output`` has written."""
        return persistence.load(cls, path)

    def _keep_components(
        self,
        V: Array,
        source: Source,
        dtype: np.dtype[Any],
        *,
        sort: bool,
        like: Array | None = None,
    ) -> None:
        """Set the fitted attributes that follow from loadings V (d × r).

        ``like``: components, by rows, whose order and signs are kept.
        """
        V = V.astype(dtype).astype(np.float64)  # what is measured is what is kept
        explained = variance.Explained.of(V, source.quadratic)
        if sort:
            order = explained.greedy_order() if like is None else order_like(V, like)
            V, explained = V[:, order], explained.in_order(order)
        added = explained.increments()
        share = added / source.total if source.total > 0 else np.zeros(len(added))
        self.components_ = signed(V.T, like).astype(dtype)
        self.score_ridge_ = explained.noise_by_signal(source.total)
        self._keep_shares(V, share, added, source.variance_unit)
        self._keep_relations(V, explained, source)
        if source.total == 0.0:
            self.reconstruction_error_ = 0.0

    def _keep_shares(self, V: Array, share: Array, added: Array, unit: float) -> None:
        """Set the attributes that tell what loadings explain: shares, and variances in a unit."""
        self.explained_variance_ = _variances(added, unit)
        self.explained_variance_ratio_ = share
        self.reconstruction_error_ = float(np.sqrt(max(1.0 - share.sum(), 0.0)))
        self.separation_ = variance.separation(V)
        self.n_components_ = V.shape[1]

    def _keep_relations(self, V: Array, explained: variance.Explained, source: Source) -> None:
        """Set the attributes that tell how scores go together, and what all features owe them."""
        kept = self.components_.T
        signs = np.where((kept * V).sum(axis=0) < 0.0, -1.0, 1.0)
        self.score_correlations_ = explained.score_correlations() * signs * signs[:, None]
        along = explained.regressed(source.dot(explained.basis.Q))
        self.regressed_variance_ratio_ = min(along / source.total, 1.0) if source.total > 0 else 0.0

    def _read(
        self, X: Any, *, standardize: Any, sample_weight: Any = None, feature_names: Any = None
    ) -> tuple[Given, Data]:
        """X checked, and as data about its own mean; sets the attributes that describe them."""
        wanted = parameters.flag("standardize", standardize)
        given = self._given_to_fit(X, feature_names)
        data = given.about_own_mean(standardize=wanted, sample_weight=sample_weight)
        self._keep_moments(data)
        return given, data

    def _given_to_fit(self, X: Any, feature_names: Any) -> Given:
        """X checked; sets the number and the names of the features."""
        self._names_before = getattr(self, "feature_names_in_", None)
        given = Given.of(X, model=self)
        self._keep_names(feature_names)
        return replace(given, names=getattr(self, "feature_names_in_", None))

    def _keep_moments(self, data: Data) -> None:
        """Set the attributes that describe the data as a whole."""
        self.mean_, self.scale_ = data.moments.mean, data.moments.scale
        self.n_samples_: int | None = data.shape[0]

    def _read_covariance(
        self, S: Any, n_samples: int | None, *, standardize: Any, feature_names: Any = None
    ) -> Gram:
        """S checked, as a source; sets the attributes that describe it."""
        self._names_before = getattr(self, "feature_names_in_", None)
        source = read_covariance(S, model=self)
        self._keep_names(feature_names)
        if n_samples is not None:
            parameters.count("n_samples", n_samples, least=2)
        self.n_samples_ = n_samples
        self.mean_ = np.zeros(source.n_features)
        self.scale_ = np.ones(source.n_features)
        if parameters.flag("standardize", standardize):
            source, self.scale_ = source.standardized()
        # An earlier fit to data may have counted how often it read them; here nothing was read.
        for name in ("n_passes_", "n_missing_"):
            self.__dict__.pop(name, None)
        return source

    def _keep_names(self, feature_names: Any) -> None:
        """Take the names that the caller of ``fit`` gave for data that have none."""
        self._names_were_given = feature_names is not None
        if feature_names is None:
            return
        if hasattr(self, "feature_names_in_"):
            raise ValueError(
                "feature_names was given, but the data have names of their own; leave it out, or "
                "rename the columns."
            )
        names = parameters.names("feature_names", feature_names, self.n_features_in_)
        self.feature_names_in_ = np.array(names, dtype=object)

    def _given(self, X: Any) -> Given:
        """Other data than those of the fit, checked: their columns must be the same."""
        if not getattr(self, "_names_were_given", False):
            return Given.of(X, model=self, reset=False)
        with warnings.catch_warnings():  # the data of the fit had no names either
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return Given.of(X, model=self, reset=False)

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)

    def _named(self, feature_names: Any) -> list[str]:
        """The names that were given for the features, or those that the model knows."""
        if feature_names is None:
            return self._feature_names()
        return parameters.names("feature_names", feature_names, self.n_features_in_)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_gaps
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _variances(added: Array, unit: float) -> Array:
    """Variances in the user's units; a warning where float64 has no such numbers."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        variances = np.where(added > 0.0, added * unit, 0.0)
    lost = (added > 0.0) & ~((variances >= np.finfo(np.float64).tiny) & np.isfinite(variances))
    if lost.any():
        what = "infinite" if np.isinf(variances).any() else "zero, or has lost digits"
        warn_user(
            f"explained_variance_ is {what}: the variances of these data are beyond the range of "
            "float64. explained_variance_ratio_ is right. Multiply the data with a power of ten "
            "that brings them near 1 to have both.",
            ScaleWarning,
        )
    return variances
