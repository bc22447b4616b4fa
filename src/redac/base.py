"""What every model of sparse components can do once its components are known."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from redac import parameters, persistence, variance
from redac.signs import largest_entry_positive
from redac.sources import (
    Data,
    Gram,
    NonFiniteError,
    Source,
    as_data,
    covariance_source,
    raw_data,
)
from redac.sources.base import Array
from redac.sources.cluster import is_dask
from redac.sources.streams import checked_stream, is_streamed, lazy_scores, stream_dtype
from redac.tables import loadings_table


class ComponentModel(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Scores, reconstruction and tables from components; a subclass finds the components."""

    components_: NDArray[Any]
    mean_: Array
    scale_: Array

    def transform(self, X: Any) -> Any:
        """Least-squares scores of X: (X − mean)/scale · V(VᵀV)⁻¹.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            For a Dask array or frame a Dask array, not computed yet.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        V = self.components_.astype(np.float64).T
        W = V @ np.linalg.pinv(V.T @ V, hermitian=True)
        if is_dask(X):
            return lazy_scores(X, self.mean_, self.scale_, W, float_dtype(X))
        data = raw_data(X, mean=self.mean_, scale=self.scale_)
        scores: NDArray[Any] = self._named(lambda: data.scores(W))
        return scores.astype(float_dtype(X), copy=False)

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
        validation can use it.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        V = self.components_.astype(np.float64).T
        data = raw_data(X, mean=self.mean_, scale=self.scale_)
        found = data.plain_products(V)
        if found is None:  # numbers of extreme size, or no numbers: that takes a closer look
            data = self._named(data.checked).with_scatter()
            found = float(data.diagonal.sum()), data.quadratic(V)
        total, M = found
        return variance.explained(M, V.T @ V) / total if total > 0 else 0.0

    def loadings_table(self) -> Any:
        """The non-zero loadings as a DataFrame of features × components.

        Features without any loading are left out, entries that are zero are missing values, and the
        features of a component stand together, the largest loading first.
        """
        check_is_fitted(self)
        return loadings_table(
            self.components_, self._feature_names(), list(self.get_feature_names_out())
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a .npz file that holds numbers and text only, no pickled objects."""
        check_is_fitted(self)
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` or ``redac fit --output`` has written."""
        return persistence.load(cls, path)

    def _keep_components(
        self, V: Array, source: Source, dtype: np.dtype[Any], *, sort: bool
    ) -> None:
        """Set the fitted attributes that follow from loadings V (d × r)."""
        M, G = source.quadratic(V), V.T @ V
        if sort:
            order = variance.greedy_order(M, G)
            V, M, G = V[:, order], M[np.ix_(order, order)], G[np.ix_(order, order)]
        added = variance.increments(M, G)
        share = added / source.total if source.total > 0 else np.zeros(len(added))
        self.components_ = largest_entry_positive(V.T).astype(dtype)
        self.explained_variance_ = added * source.variance_unit
        self.explained_variance_ratio_ = share
        unexplained = 1.0 - share.sum() if source.total > 0 else 0.0
        self.reconstruction_error_ = float(np.sqrt(max(unexplained, 0.0)))
        self.separation_ = variance.separation(G)
        self.n_components_ = V.shape[1]

    def _read(self, X: Any, *, standardize: Any, sample_weight: Any = None) -> tuple[Any, Data]:
        """X checked, and as data about its own mean; sets the attributes that describe them."""
        wanted = parameters.flag("standardize", standardize)
        X = self._validated(X, reset=True)
        data = self._named(lambda: as_data(X, standardize=wanted, sample_weight=sample_weight))
        self.mean_, self.scale_ = data.moments.mean, data.moments.scale
        self.n_samples_: int | None = data.shape[0]
        return X, data

    def _read_covariance(self, S: Any, n_samples: int | None, *, standardize: Any) -> Gram:
        """S checked, as a source; sets the attributes that describe it."""
        source = covariance_source(S)
        validate_data(self, S, reset=True, skip_check_array=True)
        if n_samples is not None:
            parameters.count("n_samples", n_samples, least=2)
        self.n_samples_ = n_samples
        self.mean_ = np.zeros(source.n_features)
        self.scale_ = np.ones(source.n_features)
        if parameters.flag("standardize", standardize):
            source, self.scale_ = source.standardized()
        return source

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """X with its shape, names and type checked; reading it will show whether it is finite."""
        if is_streamed(X):
            X = checked_stream(X, least=2 if reset else 1)
            # The empty frame behind a Dask frame has its columns and their names.
            shape = X._meta if hasattr(X, "dtypes") else X
            validate_data(self, shape, reset=reset, skip_check_array=True)
            return X
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )

    def _named(self, read: Any) -> Any:
        """Read data; a complaint about an entry names its column where the columns have names."""
        try:
            return read()
        except NonFiniteError as error:
            names = getattr(self, "feature_names_in_", None)
            raise (error if names is None else error.named(names)) from None

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def float_dtype(X: Any) -> np.dtype[Any]:
    """The type of results: single precision stays single, all else becomes double."""
    return np.dtype(np.float32 if stream_dtype(X) == np.float32 else np.float64)
