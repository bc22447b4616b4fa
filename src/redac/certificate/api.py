"""``certificate``: from a covariance matrix and components to a proved bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from redac import parameters
from redac.certificate import cheap
from redac.certificate.improve import improve
from redac.certificate.power import best_of_power
from redac.certificate.result import Certificate
from redac.certificate.roots import roots
from redac.certificate.rounding import eigenvalue_margin
from redac.certificate.tree import Incumbent, Tree
from redac.constraints import L0
from redac.solver import variance
from redac.sources import Gram, checked_covariance
from redac.sources.base import Array
from redac.sources.covariance import INDEFINITENESS, require_semidefinite
from redac.sources.spectrum import EXACT_ORDER

# Called with the bound and the best value known, in percent, and the seconds used.
OnProgress = Callable[[float, float, float], None]

# A region that cannot explain this share of the variance more than the best solution is left alone.
_TOLERANCE = 5e-5
_TOLERANCE_OF_ONE = 1e-9
# Before the search for bounds, a short search for better components: the better they are the more
# of the tree falls away. It has a tenth of the time, and where that is little a few seconds or a
# third.
_POLISH_ROUNDS = 400
_POLISH_SWEEPS = 100
_POLISH_SHARE = 0.1
_POLISH_SECONDS, _POLISH_MOST = 3.0, 0.33
_BETTER = 1e-6
# The order up to which one thread decomposes a matrix as fast as two: at 1200 it needs a third of
# their processor time, and much less of the clock where other programs are at work.
_ONE_THREAD_ORDER = 1500
# Seconds that a decomposition of a matrix of order 1000 may take; they grow with the cube of the
# order. Measured: 0.13 on a processor of its own, 0.3 on one shared with others. What has begun
# cannot be stopped.
_DECOMPOSITION_SECONDS = 0.4
# A mixture needs a factor of S, then several decompositions until it is of use.
_DECOMPOSITIONS_OF_MIXTURE = 4


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

    Beyond 500 features the eigenvalues of S are computed if there is time for that. If not, the
    bound comes from the largest variances, or from the trace and the norm of S, and S is trusted to
    have no negative eigenvalue beyond what ``fit_covariance`` accepts.

    Parameters
    ----------
    S : array of shape (n_features, n_features)
        A covariance or correlation matrix.
    components : array of shape (n_components, n_features)
    cardinality : int, float, sequence of those, or None, default=None
        What each component may use, as for ``SparsePCA``; None: what each of them does use.
    time_limit : float, default=60
        Seconds for all of it. The best bound proved by then is returned; Ctrl-C has the same effect
        at once.
    on_progress : callable or None, default=None
        Called now and then with the bound, the best value known and the seconds used.

    Returns
    -------
    Certificate
        ``value``, ``upper_bound``, ``gap``, ``method``, ``proved``; printing it gives sentences.

    Examples
    --------
    >>> from redac.certificate import certificate
    >>> S = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> result = certificate(S, [[1.0, 0.0, 0.0]])
    >>> print(f"{result.value:.1f} % explained, proved to be the most: {result.proved}")
    50.0 % explained, proved to be the most: True
    """
    began = time.monotonic()
    limit = parameters.amount("time_limit", time_limit)
    matrix, unit = checked_covariance(S, eigenvalues=False)
    source = Gram(matrix, variance_unit=unit)
    V = _checked_loadings(components, source.n_features)
    allowed = _checked_cardinalities(V, cardinality)
    if source.total == 0.0:
        return Certificate(0.0, 0.0, "variances", allowed)
    total = source.total
    unit *= total
    work = _Work(source.S / total, unit, V, allowed, began, began + limit, on_progress)
    # Threads would spend most of their time waiting for each other.
    with threadpool_limits(limits=1 if len(V) <= _ONE_THREAD_ORDER else None):
        work.run()
    value = variance.Explained.of(V, source.quadratic).together() / total
    return work.certificate(value)


@dataclass
class _Work:
    """One certificate in the making; all values are shares of the total variance."""

    S: Array
    unit: float
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
        self._begin_with(self.S)

    def _begin_with(self, S: Array) -> None:
        tolerance = _TOLERANCE_OF_ONE if len(self.cardinality) == 1 else _TOLERANCE
        self.S = S
        self.incumbent = Incumbent(S, self.V, tolerance, self.deadline, self.cardinality)

    def run(self) -> None:
        """All bounds, the cheap ones first, until one meets the value or time is up."""
        if not self._affords(1):
            self._look_at_norms()
            return
        try:
            for step in (self._look_at_spectrum, self._mix, self._improve, self._search):
                step()
                if self._is_over:
                    break
        except KeyboardInterrupt:
            if not self.method:
                self._look_at_norms()
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

    def _affords(self, decompositions: int) -> bool:
        """Whether there is time for so many decompositions of S; small ones take none."""
        d = len(self.S)
        seconds = decompositions * _DECOMPOSITION_SECONDS * (d / 1000) ** 3
        return d <= EXACT_ORDER or time.monotonic() + seconds <= self.deadline

    def _look_at_norms(self) -> None:
        """Bounds that need no eigenvalue: the trace and the norm of S, the largest variances.

        Negative eigenvalues of the size that is accepted let components explain more than the trace
        of their variables, by so much for each of these.
        """
        d, r, count = len(self.S), len(self.cardinality), sum(self.cardinality)
        self._accept(cheap.norm_bound(self.S, r), "norms")
        used = min(count, d)
        most_negative = INDEFINITENESS * float(np.linalg.norm(self.S))
        self._accept(cheap.trace_bound(self.S.diagonal(), used) + used * most_negative, "variances")

    def _look_at_spectrum(self) -> None:
        """The largest eigenvalues, the largest variances."""
        eigenvalues, vectors = np.linalg.eigh(self.S)
        require_semidefinite(eigenvalues, self.unit)
        if eigenvalues[0] < 0.0:
            # Tr(SP) ≤ Tr(S₊P) for every projector, and the proofs need S₊.
            eigenvalues = np.maximum(eigenvalues, 0.0)
            lifted = (vectors * eigenvalues) @ vectors.T
            self._begin_with((lifted + lifted.T) / 2)
        r, count = len(self.cardinality), sum(self.cardinality)
        self._accept(cheap.eigenvalue_bound(eigenvalues, r), "eigenvalues")
        if count < len(self.S):
            self._accept(cheap.trace_bound(self.S.diagonal(), count), "variances")

    def _mix(self) -> None:
        """Where not all variables can be used, a mixture of both; a search on few does better."""
        r, count = len(self.cardinality), sum(self.cardinality)
        if r > 1 and count < len(self.S) and self._affords(_DECOMPOSITIONS_OF_MIXTURE):
            self._accept(cheap.mixed_bound(self.S, r, count, self.deadline), "mixture")

    def _improve(self) -> None:
        """Look for better components, briefly."""
        now = time.monotonic()
        left = self.deadline - now
        deadline = now + max(_POLISH_SHARE * left, min(_POLISH_SECONDS, _POLISH_MOST * left))
        if len(self.cardinality) == 1:
            self.incumbent.offer(best_of_power(self.S, self.cardinality[0], deadline))
            return
        found = improve(
            self.S,
            [L0(k) for k in self.cardinality],
            self.V,
            rounds=_POLISH_ROUNDS,
            sweeps=_POLISH_SWEEPS,
            seed=0,
            deadline=deadline,
        )
        self.incumbent.offer(found.V)
        self.interrupted |= found.interrupted

    def _search(self) -> None:
        """Branch and bound."""
        if not self._affords(len(self.cardinality)):  # for one step
            return
        tree = Tree(roots(self.S, self.cardinality, self.deadline), self.incumbent)
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
