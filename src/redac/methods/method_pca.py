"""``MethodPCA``: any of the methods as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from redac.methods.registry import find_components
from redac.model.component_model import ComponentModel
from redac.sources import Data, Source, as_source


class MethodPCA(ComponentModel):
    """Sparse components by a method of the literature, with the attributes of ``SparsePCA``.

    Parameters
    ----------
    n_components : int, default=2
    method : str, default="redac_l0"
        One of ``redac.methods.available_methods()``.
    cardinality : int, float, sequence of those, or None, default=None
        Non-zero loadings of the components, or the share of the features; one for all components or
        one for each. None: all features.
    standardize : bool, default=False
        Divide the columns by their standard deviation first.
    options : dict or None, default=None
        Options of the method itself; ``redac.methods.describe_method`` names them.
    random_state : int, RandomState instance or None, default=None
        For methods with random starts.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit rows in the order in which the method gives them; the entry of largest magnitude is
        positive.
    explained_variance_, explained_variance_ratio_ : ndarrays of shape (n_components,)
        What each component adds to those before it.
    reconstruction_error_, separation_ : float
    mean_, scale_ : ndarrays of shape (n_features,)
    n_components_, n_features_in_ : int
    n_samples_ : int or None
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "redac_l0",
        cardinality: Any = None,
        standardize: bool = False,
        options: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.cardinality = cardinality
        self.standardize = standardize
        self.options = options
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find components of X (n_samples × n_features, dense or sparse); y is ignored."""
        given, data = self._read(X, standardize=self.standardize)
        return self._fit_source(as_source(data), given.float_dtype, data)

    def fit_covariance(self, S: Any, n_samples: int | None = None) -> Self:
        """Find components from a covariance or correlation matrix."""
        source = self._read_covariance(S, n_samples, standardize=self.standardize)
        return self._fit_source(source, np.dtype(np.float64))

    def _fit_source(
        self, source: Source, dtype: np.dtype[Any], samples: Data | None = None
    ) -> Self:
        cardinality = 1.0 if self.cardinality is None else self.cardinality
        components = find_components(
            source,
            self.method,
            self.n_components,
            cardinality=cardinality,
            random_state=self.random_state,
            options=dict(self.options or {}),
            samples=samples,
        )
        self._keep_components(components.T, source, dtype, sort=False)
        return self
