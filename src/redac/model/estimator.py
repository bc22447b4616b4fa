"""``SparsePCA``: the scikit-learn skin. This is the border between two vocabularies.

Inside are the paper's letters, with components as columns of V; outside scikit-learn's words, with
components as rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from redac import parameters
from redac.certificate import Certificate
from redac.model import incomplete, outliers, proof
from redac.model.callbacks import with_callbacks
from redac.model.searched import SearchedModel
from redac.sources import as_source


class SparsePCA(SearchedModel):
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
    constraint : constraint object, sequence of those, or None, default=None
        A set of one's own for the loadings, in place of ``cardinality``, ``l1_bound`` and
        ``nonnegative``: an object of :mod:`redac.constraints`, or any with the methods of
        :class:`redac.constraints.Constraint`; one for all components or one for each.
    exclude, require : list of names or positions of features, or None, default=None
        Features without any loading, and features that have a place in each component whatever
        they explain; a list of lists, one for each component, is for these.
    groups : sequence, Series or dict of labels, or None, default=None
        The group of each feature; None or NaN: it has none. For one of the next two.
    max_per_group : int, dict or None, default=None
        At most so many features of a group in a component: one number, or one for each group.
    max_groups : int or None, default=None
        Whole groups only, at most so many in a component, and no more features than its
        ``cardinality`` if that is given.
    disjoint : bool, default=False
        No feature in two components.
    total_cardinality : int or None, default=None
        At most this many non-zero loadings in all components together, dealt out as explains most.
    standardize : bool, default=False
        Divide the columns by their standard deviation first. Constant columns are left alone.
    init : {"pca", "varimax", "random"} or array of shape (n_components, n_features), default="pca"
        The first starting point: principal axes, principal axes rotated to a simple structure,
        random directions, or components of your own, whose order and signs are kept.
    warm_start : bool, default=False
        Begin with the components of the last fit and keep their order and signs: each new component
        has the place of the old one that it is closest to.
    n_init : int or "auto", default="auto"
        Number of starting points; the best result wins. "auto" follows "varimax", and components
        drawn one after the other, beside "pca", and then draws components anew, the more often the
        less work that is; for any other ``init`` it begins with that alone. A number goes on from
        ``init`` to the others of these, then to random rotations of the principal axes, and draws
        nothing anew. A run that is far behind and gains little is given up. A larger number never
        ends lower, and "auto" hardly ever below 1.
    n_perturbations : int, default=0
        Rounds of iterated local search after the best start: redraw up to three components, solve
        again, keep what is better.
    n_jobs : int or None, default=None
        Chains of ``n_perturbations`` rounds that run side by side, each in a process of its own;
        None is one chain, -1 one for each processor. The same seed gives the same answer for the
        same number of chains.
    ridge : float or "auto", default="auto"
        Adds ridge·‖U‖² to the objective, which keeps components from becoming parallel. "auto" is
        0, but where cells are missing each component has a ridge that the data suggest, the
        variance of the noise by that of its scores: without it scores of rows with few cells run
        away.
    robust : {"cells", "rows", "both"} or None, default=None
        What may be wild and then loses its weight: single cells, whole rows, or both. The rest is
        fitted by least squares. The table is read into memory.
    min_separation : float or "auto", default="auto"
        The least ``separation_`` that is allowed, from 0 to 1: updates that would bring components
        closer together are not made. l1 bounds alone let components collapse, so with them and
        without a ridge "auto" is 0.5. Otherwise it is 0. Components are never closer than 1e-5,
        where their scores would be rounding.
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
    objective_history_ : ndarray of shape (n_iter,)
        Objective after each sweep of the winning run, as a share of the total variance. It never
        rises.
    separation_ : float
        Smallest eigenvalue of the Gram matrix of the components: 1 when they are orthogonal, 0 when
        they collapse.
    score_correlations_ : ndarray of shape (n_components, n_components)
        Correlations of the scores: near 1 or −1 where two components tell the same story.
    loading_overlaps_ : ndarray of shape (n_components, n_components)
        How many features each two components share.
    regressed_variance_ratio_ : float
        The share of the variance that the scores explain when every feature is regressed on them,
        also those without a loading; at least PEV / 100.
    search_history_ : dict of ndarrays
        What every start and every round of the search came to: "explained_variance_ratio", as far
        as it was followed, and "agreement", the mean overlap of the supports with those of the
        result (shared features by features of either, components matched as well as possible).
    mean_, scale_ : ndarrays of shape (n_features,)
        What is subtracted from the columns, and what they are divided by.
    n_iter_ : int
        Number of sweeps of the winning run.
    converged_ : bool
        Whether that run ended by ``tol``.
    interrupted_ : bool
        Whether Ctrl-C ended the fit; the components are the best found until then.
    n_passes_ : int
        How often the rows of X were read from the first to the last; after a ``fit`` to data
        without gaps only.
    n_missing_ : int
        How many cells of X were missing; after ``fit`` only.
    score_ridge_ : ndarray of shape (n_components,)
        η of the scores of rows with missing cells, for ``transform``.
    scaled_covariance_ : ndarray of shape (n_features, n_features) or None
        The covariance matrix divided by its trace, for ``certificate``; None beyond 200 features.
    variance_limits_ : ndarray of shape (2,)
        Shares of the variance that no components can exceed, by the leading eigenvalues and by the
        largest variances; 1 where not known.
    row_weights_ : ndarray of shape (n_samples,)
        With ``robust``: 0 for rows that did not count, 1 for all others.
    cell_weights_ : sparse array of shape (n_samples, n_features)
        With ``robust``: the weights of cells below one, zeros included. What is not stored has the
        weight one, or is missing.
    orthogonal_distances_, score_distances_ : ndarrays of shape (n_samples,)
        With ``robust``: how far each row is from the span of the components, and within it from the
        mean in units of typical rows: the two axes of an outlier map.
    distance_cutoffs_ : ndarray of shape (2,)
        Beyond which of these distances a row is an outlier.
    n_components_, n_features_in_ : int
        Number of components and of features.
    n_samples_ : int or None
        Number of rows, where known.
    feature_names_in_ : ndarray of shape (n_features,)
        Only when the data have names, all of them strings, or ``feature_names`` was given.

    Examples
    --------
    >>> from redac import SparsePCA
    >>> from redac.datasets import load_pitprops
    >>> pitprops = load_pitprops()
    >>> model = SparsePCA(n_components=3, cardinality=4).fit_covariance(pitprops.correlation)
    >>> [int(row.astype(bool).sum()) for row in model.components_]
    [4, 4, 4]
    """

    _takes_gaps = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        cardinality: Any = None,
        l1_bound: Any = None,
        nonnegative: Any = False,
        constraint: Any = None,
        exclude: Any = None,
        require: Any = None,
        groups: Any = None,
        max_per_group: Any = None,
        max_groups: int | None = None,
        disjoint: bool = False,
        total_cardinality: int | None = None,
        standardize: bool = False,
        init: Any = "pca",
        warm_start: bool = False,
        n_init: Any = "auto",
        n_perturbations: int = 0,
        ridge: Any = "auto",
        robust: str | None = None,
        min_separation: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.cardinality = cardinality
        self.l1_bound = l1_bound
        self.nonnegative = nonnegative
        self.constraint = constraint
        self.exclude = exclude
        self.require = require
        self.groups = groups
        self.max_per_group = max_per_group
        self.max_groups = max_groups
        self.disjoint = disjoint
        self.total_cardinality = total_cardinality
        self.standardize = standardize
        self.init = init
        self.warm_start = warm_start
        self.n_init = n_init
        self.n_perturbations = n_perturbations
        self.ridge = ridge
        self.robust = robust
        self.min_separation = min_separation
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, feature_names: Any = None
    ) -> Self:
        """Find sparse components of X.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_samples, n_features)
            At least two rows of finite numbers, or NaN where a cell is missing: then the components
            fit the cells that are there, which are read into memory (not so in sparse matrices and
            Dask collections, where NaN is an error). Neither copied otherwise nor changed. Dask
            arrays and frames, and anything with ``shape`` and ``dtype`` that gives out rows by
            slicing, are read in blocks.
        y : ignored
            For the conventions of scikit-learn.
        sample_weight : array of shape (n_samples,) or None, default=None
            Whole numbers count how often a row is there; other weights are relative, and a common
            factor changes nothing. A row of weight zero is as good as absent.
        feature_names : sequence of str or None, default=None
            Names for the columns of data that have none, such as a sparse matrix. The columns of a
            frame name themselves.

        Returns
        -------
        self
        """
        given = self._given_to_fit(X, feature_names)
        outliers.forget(self)
        data = None if parameters.robust(self.robust) else self._complete(given, sample_weight)
        if data is None:
            wanted = parameters.flag("standardize", self.standardize)
            table = given.cells(standardize=wanted, sample_weight=sample_weight)
            incomplete.fit(self, given, table)
            return self
        self._keep_moments(data)
        self._fit_source(as_source(data), given.values, dtype=given.float_dtype)
        self.n_passes_, self.n_missing_ = data.n_passes, 0
        return self

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_covariance(
        self, S: Any, n_samples: int | None = None, feature_names: Any = None
    ) -> Self:
        """Find sparse components from a covariance or correlation matrix instead of data.

        Parameters
        ----------
        S : array or frame of shape (n_features, n_features)
            Symmetric and positive semi-definite but for rounding. The names of a frame are kept.
        n_samples : int or None, default=None
            The number of samples behind the matrix, kept as ``n_samples_``.
        feature_names : sequence of str or None, default=None
            Names for the features of a matrix that is no frame.

        Returns
        -------
        self
        """
        source = self._read_covariance(
            S, n_samples, standardize=self.standardize, feature_names=feature_names
        )
        return self._fit_source(source, S, dtype=np.dtype(np.float64))

    def outliers_table(self, sample_names: Any = None) -> Any:
        """The rows and cells that lost their weight, as a DataFrame; after a robust fit.

        Parameters
        ----------
        sample_names : sequence or None, default=None
            Names for the rows, in place of numbers from 0.

        Returns
        -------
        DataFrame
            One row for each: ``row``, ``feature`` (missing where the whole row is meant) and
            ``weight``. Cells with half their weight or more are left out.
        """
        check_is_fitted(self)
        return outliers.table(self, sample_names)

    def certificate(
        self,
        time_limit: float = 60,
        on_progress: Callable[[float, float, float], None] | None = None,
    ) -> Certificate:
        """How far these components can be from the best of their kind: a proved upper bound.

        Up to 200 features a model keeps its covariance matrix and the bound is searched for;
        beyond, it is that of the leading eigenvalues or the largest variances.

        Parameters
        ----------
        time_limit, on_progress
            As in :func:`redac.certificate.certificate`.

        Returns
        -------
        Certificate
            ``value``, ``upper_bound``, ``gap`` and ``proved``; printing it gives sentences.
        """
        check_is_fitted(self)
        return proof.certify(self, time_limit, on_progress)
