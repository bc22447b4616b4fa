"""``SparsePCA``: the scikit-learn skin. This is the border between two vocabularies.

Inside are the paper's letters, with components as columns of V; outside scikit-learn's words, with
components as rows.
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from redac import parameters, persistence, variance
from redac.callbacks import CallbackSupportMixin, FitMonitor, with_callbacks
from redac.exceptions import ExhaustedWarning, FitInterruptedWarning, SeparationWarning
from redac.search import Problem, Search
from redac.signs import largest_entry_positive
from redac.solver import Solution, Status
from redac.sources import NonFiniteError, Source, as_data, as_source, covariance_source
from redac.starts import Starts
from redac.tables import loadings_table

_NEARLY_PARALLEL = 0.01


class SparsePCA(
    CallbackSupportMixin,  # type: ignore[misc]
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Principal components with few non-zero loadings, by recursive divide-and-conquer (ReDaC).

    Finds unit vectors v_1, …, v_r, each with at most a given number of non-zero entries or a given
    l1 norm, and scores U that minimise the reconstruction error ‖X − UVᵀ‖² of the centred data. The
    components need not be orthogonal.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most the number of features.
    cardinality : int, float, sequence of those, or None, default=None
        At most this many non-zero loadings: a whole number, or a share of the features in (0, 1];
        one for all components or one for each.
    l1_bound : float, sequence of floats, or None, default=None
        Bound on the sum of magnitudes of the loadings, from 1 (one feature) to √n_features (no
        bound); one for all components or one for each. Excludes ``cardinality``. With neither, the
        components are not sparse.
    nonnegative : bool or sequence of bools, default=False
        Allow no negative loading; for all components or for each.
    standardize : bool, default=False
        Divide the columns by their standard deviation first. Constant columns are left alone.
    init : {"pca", "varimax", "random"} or array of shape (n_components, n_features), default="pca"
        The first starting point: principal axes, principal axes rotated to a simple structure,
        random directions, or components of your own.
    n_init : int or "auto", default="auto"
        Number of starting points; the best result wins. "auto" tries "varimax" beside "pca", and
        one start for any other ``init``. A number goes on from ``init`` to the other of the two,
        then to random rotations of the principal axes.
    n_perturbations : int, default=0
        Rounds of iterated local search after the best start: redraw up to three components, solve
        again, keep what is better.
    ridge : float, default=0.0
        Adds ridge·‖U‖² to the objective, which keeps components from becoming parallel.
    max_iter : int, default=1000
        Maximum number of sweeps over the components, for each start.
    tol : float, default=1e-7
        A run ends when a sweep lowers the objective by no more than this share of the total
        variance.
    random_state : int, RandomState instance or None, default=None
        Seed of random starts and perturbations. The default settings use no randomness.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit rows; the entry of largest magnitude is positive. Sorted by explained variance when one
        bound serves all components, and in the order of the bounds when each has its own. A row is
        zero when nothing was left for it to explain (a warning says so).
    explained_variance_ : ndarray of shape (n_components,)
        Variance that each component adds to what those before it explain. Its sum is the variance
        of the reconstruction.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as shares of the total variance; 100 times the sum is the PEV.
    reconstruction_error_ : float
        Relative reconstruction error RRE = ‖X − X̂‖/‖X‖.
    objective_history_ : ndarray of shape (n_iter_,)
        Objective after each sweep of the winning run, as a share of the total variance. It never
        rises.
    separation_ : float
        Smallest eigenvalue of the Gram matrix of the components: 1 when they are orthogonal, 0 when
        they collapse.
    mean_, scale_ : ndarrays of shape (n_features,)
        What is subtracted from the columns, and what they are divided by.
    n_iter_ : int
        Number of sweeps of the winning run.
    converged_ : bool
        Whether that run ended by ``tol``.
    n_components_, n_features_in_ : int
    n_samples_ : int or None
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when all names of the features are strings.

    Examples
    --------
    >>> from redac import SparsePCA
    >>> from redac.datasets import load_pitprops
    >>> pitprops = load_pitprops()
    >>> model = SparsePCA(n_components=3, cardinality=4).fit_covariance(pitprops.correlation)
    >>> [int(row.astype(bool).sum()) for row in model.components_]
    [4, 4, 4]
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        cardinality: Any = None,
        l1_bound: Any = None,
        nonnegative: Any = False,
        standardize: bool = False,
        init: Any = "pca",
        n_init: Any = "auto",
        n_perturbations: int = 0,
        ridge: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.cardinality = cardinality
        self.l1_bound = l1_bound
        self.nonnegative = nonnegative
        self.standardize = standardize
        self.init = init
        self.n_init = n_init
        self.n_perturbations = n_perturbations
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find sparse components of X.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)
            At least two rows of finite numbers. Neither copied nor changed.
        y : ignored
            For the conventions of scikit-learn.

        Returns
        -------
        self
        """
        X = self._validated(X, reset=True)
        standardize = parameters.flag("standardize", self.standardize)
        data = self._named(lambda: as_data(X, standardize=standardize))
        self.mean_, self.scale_ = data.moments.mean, data.moments.scale
        self.n_samples_: int | None = data.shape[0]
        return self._fit_source(as_source(data), X, dtype=_float_dtype(X))

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_covariance(self, S: Any, n_samples: int | None = None) -> Self:
        """Find sparse components from a covariance or correlation matrix instead of data.

        Parameters
        ----------
        S : array or frame of shape (n_features, n_features)
            Symmetric and positive semi-definite but for rounding. The names of a frame are kept.
        n_samples : int or None, default=None
            The number of samples behind the matrix, kept as ``n_samples_``.

        Returns
        -------
        self
        """
        source = covariance_source(S)
        d = source.n_features
        validate_data(self, S, reset=True, skip_check_array=True)
        if n_samples is not None:
            parameters.count("n_samples", n_samples, least=2)
        self.n_samples_ = n_samples
        self.mean_ = np.zeros(d)
        self.scale_ = np.ones(d)
        if parameters.flag("standardize", self.standardize):
            source, self.scale_ = source.standardized()
        return self._fit_source(source, S, dtype=np.dtype(np.float64))

    def transform(self, X: Any) -> NDArray[Any]:
        """Least-squares scores of X: (X − mean)/scale · V(VᵀV)⁻¹.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        data = self._named(lambda: as_data(X, mean=self.mean_, scale=self.scale_))
        V = self.components_.astype(np.float64).T
        scores = data.left(V @ np.linalg.pinv(V.T @ V, hermitian=True)) * data.unit
        result: NDArray[Any] = scores.astype(_float_dtype(X), copy=False)
        return result

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The data that belong to scores: their best reconstruction when the scores come from
        ``transform``.

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
        data = self._named(lambda: as_data(X, mean=self.mean_, scale=self.scale_)).with_scatter()
        total = float(data.diagonal.sum())
        V = self.components_.astype(np.float64).T
        U = data.left(V)
        return variance.explained(U.T @ U, V.T @ V) / total if total > 0 else 0.0

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

    def _fit_source(self, source: Source, X: Any, dtype: np.dtype[Any]) -> Self:
        d = source.n_features
        r = parameters.count(
            "n_components", self.n_components, least=1, most=d, why=f": there are {d} features"
        )
        constraints = parameters.build_constraints(
            r,
            d,
            cardinality=self.cardinality,
            l1_bound=self.l1_bound,
            nonnegative=self.nonnegative,
        )
        problem = Problem(
            source,
            constraints,
            ridge=parameters.amount("ridge", self.ridge),
            max_sweeps=parameters.count("max_iter", self.max_iter, least=1),
            tol=parameters.amount("tol", self.tol),
        )
        init = parameters.start(self.init, r, d)
        starts = parameters.start_count(self.n_init, init)
        rounds = parameters.count("n_perturbations", self.n_perturbations, least=0)
        rng = check_random_state(self.random_state)
        monitor = FitMonitor.watching(
            self,
            X,
            runs=starts + rounds,
            max_sweeps=problem.max_sweeps,
            attributes=lambda V: {"components_": np.ascontiguousarray(V.T), "n_components_": r},
        )
        search = Search(problem, monitor)
        search.try_starts(Starts(source, r, rng).sequence(init, starts))
        search.perturb(rounds, rng)
        monitor.close()
        self._keep(search.found, source, dtype)
        self._warn(search.found)
        return self

    def _keep(self, solution: Solution, source: Source, dtype: np.dtype[Any]) -> None:
        """Set the fitted attributes."""
        V = solution.V
        M, G = source.quadratic(V), V.T @ V
        shared = (self.cardinality, self.l1_bound, self.nonnegative)
        if all(parameters.is_shared(value) for value in shared):
            order = variance.greedy_order(M, G)
            V, M, G = V[:, order], M[np.ix_(order, order)], G[np.ix_(order, order)]
        added = variance.increments(M, G)
        share = added / source.total if source.total > 0 else np.zeros(len(added))
        self.components_ = largest_entry_positive(V.T).astype(dtype)
        self.explained_variance_ = added * source.variance_unit
        self.explained_variance_ratio_ = share
        unexplained = 1.0 - share.sum() if source.total > 0 else 0.0
        self.reconstruction_error_ = float(np.sqrt(max(unexplained, 0.0)))
        self.objective_history_ = np.array(solution.history)
        self.separation_ = variance.separation(G)
        self.n_iter_ = solution.n_sweeps
        self.converged_ = solution.status is Status.CONVERGED
        self.n_components_ = V.shape[1]

    def _warn(self, solution: Solution) -> None:
        """Say what a user should know before trusting the components."""
        exhausted = np.flatnonzero(~self.components_.any(axis=1)).tolist()
        if exhausted:
            warnings.warn(
                f"Nothing is left to explain for component(s) {exhausted}, counted from 0: their "
                f"loadings are zero. "
                f"Ask for n_components={self.n_components_ - len(exhausted)} or fewer.",
                ExhaustedWarning,
                stacklevel=4,
            )
        elif self.separation_ < _NEARLY_PARALLEL:
            warnings.warn(
                f"Some components are nearly parallel (separation_={self.separation_:.2g}); their "
                "scores are hard to read. A small ridge, such as ridge=0.01, keeps them apart.",
                SeparationWarning,
                stacklevel=4,
            )
        if solution.status is Status.INTERRUPTED:
            warnings.warn(
                "The fit was interrupted; the best components found so far are kept.",
                FitInterruptedWarning,
                stacklevel=4,
            )
        elif solution.status is Status.STOPPED and solution.n_sweeps >= self.max_iter:
            warnings.warn(
                f"No convergence to tol={self.tol:g} within max_iter={self.max_iter} sweeps; the "
                "components are feasible and may still improve. Raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """X with its shape, names and type checked;

        whether it is finite is found out while reading it.
        """
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


def _float_dtype(X: Any) -> np.dtype[Any]:
    """The type of results: single precision stays single, all else becomes double."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
