"""What must hold between a fit and another one that differs in something that does not matter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.containers import CONTAINERS, COVARIANCE
from benchmarks.fuzz.invariants import Data, Invariant, asked_separation
from benchmarks.fuzz.reference import Reference, reference
from benchmarks.fuzz.violations import Violation
from redac import SparsePCA

# Rounding differs between two ways to the same answer, and tells in the last sweeps.
_SAME = 1e-6
# Components must be further apart than this, and by this much further than they have to be. The
# closer together, the more they magnify rounding; and where they are as close as they may be,
# rounding decides which updates are refused.
_APART = 0.1
_NEVER_LOWER = 1e-9
# What a run that has ended may still gain, in units of ``tol``.
_TOLS, _TOLS_OF_CREEPERS = 10.0, 100.0
# Separations below which a fit warns, and above which components are orthogonal but for rounding.
_NEARLY_PARALLEL, _ORTHOGONAL = 0.01, 0.999


# Data are changed by this share, so many times, to see whether rounding decides.
_LAST_DIGITS, _TRIALS = 1e-14, 8

Features = NDArray[np.intp]


@dataclass(frozen=True)
class Twin:
    """A case that should come to the same as another one.

    Attributes
    ----------
    case : the case.
    features : where the columns of the other one are among its columns.
    """

    case: Case
    features: Features

    def value(self, truth: Reference) -> float:
        """What its components are worth on the data of the other; NaN where rounding may decide."""
        case = self.case
        if case.is_covariance:
            given = reference(case.X).covariance()
        else:
            given = CONTAINERS[case.container](case.X)
        model = fitted(case, given)
        if not _is_steady(case, model):
            return float("nan")
        return truth.value(model.components_[:, self.features], case.settings["ridge"])


def fitted(case: Case, given: Any, model: SparsePCA | None = None) -> SparsePCA:
    """The model of a case, fitted to what is given."""
    model = case.model() if model is None else model
    if case.is_covariance:
        model.fit_covariance(given)
    else:
        model.fit(given, sample_weight=case.weights)
    return model


def agreement(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """The same data in another form give the same."""
    if not _is_steady(case, model):
        return
    rng = np.random.default_rng([case.seed, case.number, 1])
    names = [name for name in _FORMS if name != case.container]
    name = str(rng.choice(names))
    other = _FORMS[name](case)
    if other is None:
        return
    yield from _same(case, model, data.truth, Twin(other, _all(case)), f"agreement: {name}")


def _as(container: str) -> Callable[[Case], Case | None]:
    return lambda case: replace(case, container=container)


def _as_covariance(case: Case) -> Case | None:
    """As a covariance matrix, which holds half of the digits, so of columns of like size only."""
    n, d = case.X.shape
    spreads = np.ptp(case.X, axis=0)
    least, most = spreads.min(where=spreads > 0, initial=np.inf), spreads.max()
    alike = 1e-100 < 1e-3 * most < least and most < 1e100
    if case.weights is not None or n <= d or not alike or case.settings["standardize"]:
        return None
    return replace(case, container=COVARIANCE)


def _as_repeated_rows(case: Case) -> Case | None:
    weights = case.weights
    if weights is None or case.is_covariance or (weights != np.floor(weights)).any():
        return None
    repeated = np.repeat(case.X, weights.astype(int), axis=0)
    return replace(case, X=repeated, weights=None, container="array") if len(repeated) > 1 else None


def _in_another_unit(case: Case) -> Case | None:
    """Times a power of two; exact unless numbers leave the range."""
    if case.is_covariance or not 1e-30 < np.abs(case.X).max() < 1e30:
        return None
    power = -800 if case.number % 2 else 800
    return replace(case, X=np.ldexp(case.X, power))


_FORMS: dict[str, Callable[[Case], Case | None]] = {
    "array": _as("array"),
    "csr_matrix": _as("csr_matrix"),
    "row blocks": _as("row blocks"),
    COVARIANCE: _as_covariance,
    "repeated rows": _as_repeated_rows,
    "another unit": _in_another_unit,
}


def permutation(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """Columns in another order give the same, if they are not alike because of their scale."""
    if not _is_steady(case, model) or case.settings["standardize"]:
        return
    order = np.random.default_rng([case.seed, case.number, 2]).permutation(case.X.shape[1])
    twin = Twin(_with_columns(case, order), np.argsort(order))
    yield from _same(case, model, data.truth, twin, "permutation")


def useless_column(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """A column of zeros changes nothing."""
    d = case.X.shape[1]
    if not _is_steady(case, model) or d == 500:
        return
    X = np.hstack([case.X, np.zeros((len(case.X), 1), case.X.dtype)])
    settings = dict(case.settings)
    if isinstance(share := settings.get("cardinality"), float):
        settings["cardinality"] = max(1, int(share * d + 1e-9))
    elif settings.get("cardinality") is None and settings.get("l1_bound") is None:
        settings["cardinality"] = d
    if not isinstance(settings["init"], str):
        settings["init"] = np.pad(settings["init"], ((0, 0), (0, 1)))
    twin = Twin(replace(case, X=X, settings=settings), _all(case))
    yield from _same(case, model, data.truth, twin, "useless column")


def more_starts(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """More starting points never end lower."""
    if not isinstance(case.settings["init"], str):
        return
    pairs: tuple[tuple[Any, Any], ...] = ((1, "auto"), (2, 3))
    few, many = pairs[case.number % 2]
    ridge = case.settings["ridge"]
    values = [
        data.truth.value(_fitted_components(case, data, n_init=count, n_perturbations=0), ridge)
        for count in (few, many)
    ]
    # Of runs that come to the same supports one is followed: the others would end within tol of it.
    if (lost := values[0] - values[1]) > (1e-6 if case.is_single else model.tol + _NEVER_LOWER):
        yield case.violation(f"n_init={many} below {few}", f"{values[1]} after {values[0]}", lost)


def not_ended(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """A run that has converged gains next to nothing if it is continued.

    A ridge beyond one makes copies of a component worth more than others beside it, and principal
    axes, where many runs begin, a saddle: all sweeps stay there until rounding leads them away.
    Nearly parallel components, of which a fit warns, creep, and may meet another feature much
    later. Where they must be orthogonal, rounding decides whether an update is.
    """
    ridge, tol = case.settings["ridge"], model.tol
    if not model.converged_ or case.is_single or ridge > 1.0:
        return
    if model.separation_ < _NEARLY_PARALLEL or asked_separation(case, model) > _ORTHOGONAL:
        return
    start = model.components_.copy()
    # With a least separation one sweep gains little, but may make room for updates that were
    # refused; what follows is another run.
    sweeps = 1 if asked_separation(case, model) > 0.0 else 1000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        further = _fitted_components(
            case, data, init=start, n_init=1, n_perturbations=0, max_iter=sweeps
        )
    gain = data.truth.value(further, ridge) - data.truth.value(start, ridge)
    # Components with an l1 bound are not polished: sweeps creep.
    tols = _TOLS if case.settings.get("l1_bound") is None else _TOLS_OF_CREEPERS
    if gain > tols * tol + _NEVER_LOWER:
        yield case.violation("not ended", f"continued, it gains {gain:.3g} at tol={tol:g}", gain)
    if -gain > tol + _NEVER_LOWER:
        yield case.violation("worse than init", f"continued, it loses {-gain:.3g}", -gain)


def _fitted_components(case: Case, data: Data, **changes: Any) -> Any:
    model = fitted(case, data.given, case.model(**changes))
    return np.asarray(model.components_, dtype=np.float64)


def _is_steady(case: Case, model: SparsePCA) -> bool:
    """Whether rounding cannot decide between different answers."""
    live = bool(np.asarray(model.components_).any(axis=1).all())
    least = asked_separation(case, model)
    apart = model.separation_ >= least + _APART and live and model.converged_
    few_numbers = case.weights is not None and np.count_nonzero(case.weights) < 5
    return apart and not _draws(case) and not case.is_tied and not few_numbers


def _draws(case: Case) -> bool:
    """Whether a fit draws at random what depends on the number of columns, or on signs of axes.

    Beyond three, starts are random rotations of axes, whose signs are a matter of rounding.
    """
    init, starts = case.settings["init"], case.settings["n_init"]
    is_random = isinstance(init, str) and init == "random"
    many = not isinstance(starts, str) and starts > 3
    return is_random or many or case.settings["n_perturbations"] > 0


def _with_columns(case: Case, order: Any) -> Case:
    settings = dict(case.settings)
    if not isinstance(settings["init"], str):
        settings["init"] = settings["init"][:, order]
    return replace(case, X=np.ascontiguousarray(case.X[:, order]), settings=settings)


def _all(case: Case) -> Features:
    return np.arange(case.X.shape[1])


def _same(
    case: Case, model: SparsePCA, truth: Reference, twin: Twin, kind: str
) -> Iterator[Violation]:
    """Whether the twin comes to the same; unless either may come to something else by rounding."""
    limit = max(_SAME, _TOLS * model.tol)
    ours, theirs = truth.value(model.components_, case.settings["ridge"]), twin.value(truth)
    if np.isnan(theirs) or abs(ours - theirs) <= limit:
        return
    itself = Twin(case, _all(case))
    if not any(
        _hangs_on_rounding(one, value, truth, limit)
        for one, value in ((itself, ours), (twin, theirs))
    ):
        yield case.violation(kind, f"{theirs} instead of {ours}", abs(ours - theirs))


def _hangs_on_rounding(twin: Twin, value: float, truth: Reference, limit: float) -> bool:
    """Whether a change of the data in the last digits leads elsewhere."""
    rng = np.random.default_rng(twin.case.number)
    X = twin.case.X
    changes = (1.0 + _LAST_DIGITS * rng.standard_normal(X.shape) for _ in range(_TRIALS))
    values = (
        replace(twin, case=replace(twin.case, X=X * change)).value(truth) for change in changes
    )
    return not all(abs(other - value) <= limit for other in values)


COMPARED: dict[str, Invariant] = {
    "agreement": agreement,
    "permutation": permutation,
    "useless column": useless_column,
    "n_init": more_starts,
    "not ended": not_ended,
}
