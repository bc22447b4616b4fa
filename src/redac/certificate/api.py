"""``certificate``: from a covariance matrix and components to a proved bound."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from redac import parameters, variance
from redac.certificate import cheap
from redac.certificate.result import Certificate
from redac.certificate.roots import roots
from redac.certificate.rounding import eigenvalue_margin
from redac.certificate.tree import Incumbent, Tree
from redac.exceptions import FitInterruptedWarning
from redac.sources import covariance_source
from redac.sources.base import Array

# Called with the bound and the best value known, in percent, and the seconds used.
OnProgress = Callable[[float, float, float], None]

# A region that cannot explain this share of the variance more than the best solution is left alone.
_TOLERANCE = 1e-4
_TOLERANCE_OF_ONE = 1e-9
# Before the search for bounds, a short search for better components: the better they are the more
# of the tree falls away.
_POLISH_ORDER = 60
_POLISH_ROUNDS = 20
_POLISH_SWEEPS = 100
_POLISH_LEAST_TIME = 5.0
_BETTER = 1e-6
_ONE_THREAD_ORDER = 300


def certificate(
    S: Any,
    components: Any,
    *,
    cardinality: Any = None,
    time_limit: float = 60,
    on_progress: OnProgress | None = None,
) -> Certificate:
    """Bound what any loadings with the same cardinalities can explain.

    The value is computed from S and the components; the bound holds for all unit vectors with these
    cardinalities, orthogonal or not, and includes the rounding errors of its computation.

    Parameters
    ----------
    S : array of shape (n_features, n_features)
        A covariance or correlation matrix.
    components : array of shape (n_components, n_features)
    cardinality : int, float, sequence of those, or None, default=None
        What each component may use, as for ``SparsePCA``; None: what each of them does use.
    time_limit : float, default=60
        Seconds. The best bound proved by then is returned; Ctrl-C has the same effect at once.
    on_progress : callable or None, default=None
        Called now and then with the bound, the best value known and the seconds used.

    Returns
    -------
    Certificate
        ``value``, ``upper_bound``, ``gap``, ``method``, ``proved``; printing it gives sentences.
    """
    began = time.monotonic()
    limit = parameters.amount("time_limit", time_limit)
    source = covariance_source(S)
    V = _checked_loadings(components, source.n_features)
    allowed = _checked_cardinalities(V, cardinality)
    if source.total == 0.0:
        return Certificate(0.0, 0.0, "variances", allowed)
    total = source.total
    work = _Work(source.S / total, V, allowed, began, began + limit, on_progress)
    # Thousands of small decompositions: threads would spend their time waiting for each other.
    with threadpool_limits(limits=1 if len(V) <= _ONE_THREAD_ORDER else None):
        work.run()
    value = variance.explained(source.quadratic(V), V.T @ V) / total
    return work.certificate(value)


@dataclass
class _Work:
    """One certificate in the making; all values are shares of the total variance."""

    S: Array
    V: Array
    cardinality: tuple[int, ...]
    began: float
    deadline: float
    on_progress: OnProgress | None
    bound: float = np.inf
    method: str = ""
    nodes: int = 0
    interrupted: bool = False
    incumbent: Incumbent = field(init=False)

    def __post_init__(self) -> None:
        eigenvalues, vectors = np.linalg.eigh(self.S)
        self.eigenvalues = np.maximum(eigenvalues, 0.0)
        if eigenvalues[0] < 0.0:
            # Tr(SP) ≤ Tr(S₊P) for every projector, and the proofs need S₊.
            lifted = (vectors * self.eigenvalues) @ vectors.T
            self.S = (lifted + lifted.T) / 2
        tolerance = _TOLERANCE_OF_ONE if len(self.cardinality) == 1 else _TOLERANCE
        self.incumbent = Incumbent(self.S, self.V, tolerance, self.deadline)

    def run(self) -> None:
        """All bounds, the cheap ones first, until one meets the value or time is up."""
        try:
            for step in (self._look_at_spectrum, self._mix, self._improve, self._search):
                step()
                if self._is_over:
                    break
        except KeyboardInterrupt:
            self.interrupted = True

    def certificate(self, value: float) -> Certificate:
        """What was found, for components that explain ``value``."""
        best = self.incumbent
        is_better = best.value > value + _BETTER
        bound = max(self.bound, value, best.value)
        return Certificate(
            100.0 * value,
            100.0 * bound,
            self.method,
            self.cardinality,
            nodes=self.nodes,
            seconds=time.monotonic() - self.began,
            interrupted=self.interrupted,
            better_components=best.V.T.copy() if is_better else None,
            better_value=100.0 * best.value if is_better else None,
        )

    @property
    def _is_over(self) -> bool:
        settled = self.bound <= self.incumbent.threshold
        return settled or self.interrupted or time.monotonic() > self.deadline

    def _look_at_spectrum(self) -> None:
        """The largest eigenvalues, the largest variances."""
        r, count = len(self.cardinality), sum(self.cardinality)
        self._accept(cheap.eigenvalue_bound(self.eigenvalues, r), "eigenvalues")
        if count < len(self.S):
            self._accept(cheap.trace_bound(self.S.diagonal(), count), "variances")

    def _mix(self) -> None:
        """Where not all variables can be used, a mixture of both; a search on few does better."""
        r, count = len(self.cardinality), sum(self.cardinality)
        if r > 1 and count < len(self.S):
            self._accept(cheap.mixed_bound(self.S, r, count, self.deadline), "mixture")

    def _improve(self) -> None:
        """Look for better components, briefly."""
        in_reach = len(self.S) <= _POLISH_ORDER and len(self.cardinality) > 1
        if not in_reach or self.deadline - time.monotonic() < _POLISH_LEAST_TIME:
            return
        from redac.estimator import SparsePCA

        model = SparsePCA(
            len(self.cardinality),
            cardinality=list(self.cardinality),
            init=self.V.T,
            n_init=1,
            n_perturbations=_POLISH_ROUNDS,
            max_iter=_POLISH_SWEEPS,
            random_state=0,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit_covariance(self.S)
        self.incumbent.offer(model.components_.T)
        if any(issubclass(warning.category, FitInterruptedWarning) for warning in caught):
            raise KeyboardInterrupt

    def _search(self) -> None:
        """Branch and bound."""
        tree = Tree(roots(self.S, self.cardinality), self.incumbent)
        if tree.nodes == 0:
            return
        margin = 4.0 * eigenvalue_margin(self.S, len(self.cardinality))
        # What is told on the way has its margin for rounding too, or the end would lie above it.
        outcome = tree.run(lambda bound, *rest: self._report(bound + margin, *rest))
        self.nodes = outcome.nodes
        self.interrupted |= outcome.interrupted
        self._accept(outcome.bound + margin, outcome.method)

    def _accept(self, bound: float, method: str) -> None:
        if bound < self.bound:
            self.bound, self.method = bound, method
        self._report(self.bound, self.incumbent.value, time.monotonic() - self.began)

    def _report(self, bound: float, value: float, _: float) -> None:
        if self.on_progress is not None:
            seconds = time.monotonic() - self.began
            self.on_progress(100.0 * min(bound, self.bound), 100.0 * value, seconds)


def _checked_loadings(components: Any, n_features: int) -> Array:
    """The components as columns."""
    rows = np.atleast_2d(np.asarray(components, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != n_features or not 1 <= rows.shape[0] <= n_features:
        raise ValueError(
            f"components has shape {np.shape(components)}; the covariance matrix has {n_features} "
            f"features, so it must be (n_components, {n_features}) with at most {n_features} rows."
        )
    if not np.isfinite(rows).all():
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise ValueError(f"components contains NaN or infinity: row {bad}, counted from 0.")
    return rows.T


def _checked_cardinalities(V: Array, cardinality: Any) -> tuple[int, ...]:
    """What each component may use, which must be no less than what it does use."""
    d, r = V.shape
    used = [int(count) for count in np.count_nonzero(V, axis=0)]
    if cardinality is None:
        return tuple(max(count, 1) for count in used)
    allowed = tuple(parameters.cardinalities(cardinality, r, d))
    for i, (count, most) in enumerate(zip(used, allowed, strict=True)):
        if count > most:
            raise ValueError(
                f"Component {i}, counted from 0, has {count} non-zeros, but cardinality={most} "
                "allows no more than that; a bound would say nothing about it."
            )
    return allowed
