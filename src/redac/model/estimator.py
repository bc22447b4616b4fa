"""``SparsePCA``: the scikit-learn skin. This is the border between two vocabularies.

Inside are the paper's letters, with components as columns of V; outside scikit-learn's words, with
components as rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from redac import parameters
from redac.certificate import Certificate
from redac.model import proof
from redac.model.advice import warn_of
from redac.model.callbacks import CallbackSupportMixin, FitMonitor, with_callbacks
from redac.model.component_model import ComponentModel
from redac.solver.attempts import spread
from redac.solver.perturbation import perturb
from redac.solver.problem import Problem
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.solver.sweep import Solution, Status
from redac.sources import Source, as_source


class SparsePCA(CallbackSupportMixin, ComponentModel):  # type: ignore[misc]
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
    standardize : bool, default=False
        Divide the columns by their standard deviation first. Constant columns are left alone.
    init : {"pca", "varimax", "random"} or array of shape (n_components, n_features), default="pca"
        The first starting point: principal axes, principal axes rotated to a simple structure,
        random directions, or components of your own.
    n_init : int or "auto", default="auto"
        Number of starting points; the best result wins. "auto" follows "varimax" beside "pca",
        unless one of them falls far behind, and then draws components anew, the more often the less
        work that is; for any other ``init`` it begins with that alone. A number goes on from
        ``init`` to the other of the two, then to random rotations of the principal axes, and draws
        nothing anew. More starts never end lower.
    n_perturbations : int, default=0
        Rounds of iterated local search after the best start: redraw up to three components, solve
        again, keep what is better.
    n_jobs : int or None, default=None
        Chains of ``n_perturbations`` rounds that run side by side, each in a process of its own;
        None is one chain, -1 one for each processor. The same seed gives the same answer for the
        same number of chains.
    ridge : float, default=0.0
        Adds ridge·‖U‖² to the objective, which keeps components from becoming parallel.
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
    objective_history_ : ndarray of shape (n_iter_,)
        Objective after each sweep of the winning run, as a share of the total variance. It never
        rises.
    separation_ : float
        Smallest eigenvalue of the Gram matrix of the components: 1 when they are orthogonal, 0 when
        they collapse.
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
        How often the rows of X were read from the first to the last; after ``fit`` only.
    scaled_covariance_ : ndarray of shape (n_features, n_features) or None
        The covariance matrix divided by its trace, for ``certificate``; None beyond 200 features.
    variance_limits_ : ndarray of shape (2,)
        Shares of the variance that no components can exceed, by the leading eigenvalues and by the
        largest variances; 1 where not known.
    n_components_, n_features_in_ : int
    n_samples_ : int or None
    feature_names_in_ : ndarray of shape (n_features_in_,)
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

    def __init__(
        self,
        n_components: int = 2,
        *,
        cardinality: Any = None,
        l1_bound: Any = None,
        nonnegative: Any = False,
        constraint: Any = None,
        standardize: bool = False,
        init: Any = "pca",
        n_init: Any = "auto",
        n_perturbations: int = 0,
        ridge: float = 0.0,
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
        self.standardize = standardize
        self.init = init
        self.n_init = n_init
        self.n_perturbations = n_perturbations
        self.ridge = ridge
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
            At least two rows of finite numbers. Neither copied nor changed. Dask arrays and frames,
            and anything with ``shape`` and ``dtype`` that gives out rows by slicing, are read in
            blocks.
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
        given, data = self._read(
            X,
            standardize=self.standardize,
            sample_weight=sample_weight,
            feature_names=feature_names,
        )
        self._fit_source(as_source(data), given.values, dtype=given.float_dtype)
        self.n_passes_ = data.n_passes
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

    def certificate(
        self,
        time_limit: float = 60,
        on_progress: Callable[[float, float, float], None] | None = None,
    ) -> Certificate:
        """How far these components can be from the best of their kind: a proved upper bound.

        Parameters and result as in :func:`redac.certificate.certificate`. Up to 200 features a
        model keeps its covariance matrix and the bound is searched for; beyond, it is that of the
        leading eigenvalues or the largest variances.
        """
        check_is_fitted(self)
        return proof.certify(self, time_limit, on_progress)

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
            constraint=self.constraint,
        )
        ridge = parameters.amount("ridge", self.ridge)
        problem = Problem(
            source,
            constraints,
            ridge=ridge,
            max_sweeps=parameters.count("max_iter", self.max_iter, least=1),
            tol=parameters.amount("tol", self.tol),
            least_separation=parameters.least_separation(self.min_separation, constraints, ridge),
        )
        init = parameters.start(self.init, r, d)
        rounds = parameters.count("n_perturbations", self.n_perturbations, least=0)
        rng = check_random_state(self.random_state)
        start_points = Starts(problem, rng)
        starts = parameters.start_count(self.n_init, start_points.usual_count(init))
        n_chains = parameters.jobs(self.n_jobs)
        monitor = FitMonitor.watching(
            self,
            X,
            max_sweeps=problem.max_sweeps,
            attributes=lambda V: {"components_": V.T.copy(), "n_components_": r},
        )
        search = Search(problem, monitor)
        automatic = isinstance(self.n_init, str) and isinstance(init, str)
        search.try_starts(start_points.sequence(init, starts), automatic=automatic)
        perturbed = perturb(search, rounds, rng, n_chains)
        monitor.close()
        self.search_history_ = spread([*search.attempts, *perturbed], search.found.V)
        self._keep(search.found, source, dtype)
        proof.remember(self, source, start_points)
        warn_of(self, search.found, problem)
        return self

    def _keep(self, solution: Solution, source: Source, dtype: np.dtype[Any]) -> None:
        """Set the fitted attributes."""
        bounds = (self.cardinality, self.l1_bound, self.nonnegative, self.constraint)
        shared = all(parameters.is_shared(bound) for bound in bounds)
        self._keep_components(solution.V, source, dtype, sort=shared)
        self.objective_history_ = np.array(solution.history)
        self.n_iter_ = solution.n_sweeps
        self.converged_ = solution.status is Status.CONVERGED
        self.interrupted_ = solution.status is Status.INTERRUPTED
