"""What must hold after every fit. Each function looks at one thing and yields what does not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.containers import plain
from benchmarks.fuzz.reference import DEPENDS, MAY_DEPEND, Reference
from benchmarks.fuzz.violations import Violation
from redac import SparsePCA, metrics
from redac.constraints import L1, Nonnegative
from redac.parameters import build_constraints, is_shared, least_separation


@dataclass(frozen=True)
class Data:
    """The data of a case.

    Attributes
    ----------
    given : what ``fit`` or ``fit_covariance`` was given.
    truth : what is known about them without redac.
    """

    given: Any
    truth: Reference


Invariant = Callable[[Case, SparsePCA, Data], Iterator[Violation]]


def finite(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """All attributes are numbers, but for variances beyond the range of numbers."""
    numbers = {name: value for name, value in vars(model).items() if name.endswith("_")}
    numbers |= {f"search_history_[{k!r}]": v for k, v in numbers.pop("search_history_").items()}
    for name, value in numbers.items():
        array = np.asarray(value) if value is not None else np.zeros(0)
        if array.dtype.kind != "f" or np.isfinite(array).all():
            continue
        if name == "explained_variance_" and not np.isnan(array).any() and _may_overflow(data):
            continue
        yield case.violation(f"not finite: {name}", f"{name} = {array}")


def _may_overflow(data: Data) -> bool:
    truth = data.truth
    return math.log2(truth.total or 1.0) + 2 * truth.exponent - math.log2(truth.degrees) > 1020


def unit_rows(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """Components are unit vectors or zero."""
    lengths = np.linalg.norm(_components(model), axis=1)
    away = np.where(lengths > 0, np.abs(lengths - 1.0), 0.0).max()
    if away > (1e-6 if case.is_single else 1e-9):
        yield case.violation("not a unit vector", f"lengths {lengths}", away)


def feasible(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """Every component obeys its bound, and is nonnegative where it must be."""
    slack = 1e-5 if case.is_single else 1e-9
    inner: Any
    for i, (v, constraint) in enumerate(
        zip(_components(model), _constraints(case, model), strict=True)
    ):
        inner = constraint.inner if isinstance(constraint, Nonnegative) else constraint
        if isinstance(constraint, Nonnegative) and v.min() < 0.0:
            yield case.violation("negative loading", f"component {i}: {v.min():.3g}", -v.min())
        if isinstance(inner, L1):
            excess = float(np.abs(v).sum()) - inner.bound
            if excess > slack * max(1.0, inner.bound):
                yield case.violation("l1 bound", f"component {i}: {excess:.3g} beyond", excess)
        elif (excess := np.count_nonzero(v) - inner.cardinality) > 0:
            yield case.violation("cardinality", f"component {i}: {excess} too many", excess)


def constants_left_alone(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """Columns that do not vary get no loading."""
    found = np.abs(_components(model)[:, ~data.truth.centred.any(axis=0)]).max(initial=0.0)
    if found > 0.0:
        yield case.violation("loading on a constant column", f"{found:.3g}", found)


def separated(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """``separation_`` is right, and no less than was asked for."""
    slack = 1e-5 if case.is_single else 1e-9
    V = _components(model)
    live = V[V.any(axis=1)]
    true = float(np.linalg.svd(live, compute_uv=False)[-1] ** 2) if len(live) else 0.0
    if (away := abs(model.separation_ - true)) > slack:
        yield case.violation("separation_ is wrong", f"{model.separation_} for {true}", away)
    least, rounding = asked_separation(case, model), 1e-6 if case.is_single else 1e-9
    if len(live) and least > 0.0 and (missing := least - model.separation_) > rounding:
        yield case.violation("too close", f"{model.separation_} for {least}", missing)


def signs(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """The entry of largest magnitude is positive; of several that are equal one may be."""
    if _begins_with_components(case):
        return
    V = _components(model)
    missing = (np.abs(V).max(axis=1) - V.max(axis=1)).max()
    if missing > 1e-6:
        yield case.violation("sign", "the largest entry of a component is negative", missing)


def ordered(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """Where one bound serves all, no component adds more than one that stands before it."""
    names = ("cardinality", "l1_bound", "nonnegative")
    if _begins_with_components(case) or not all(
        is_shared(case.settings.get(name)) for name in names
    ):
        return
    excess = data.truth.disorder(_components(model))
    if excess > _tolerance(case, model, 1e-8):
        yield case.violation("order", f"a later component adds {excess:.3g} more", excess)


def identity(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """Components point along those that a fit began with, and stand in their places."""
    if not _begins_with_components(case):
        return
    given = np.asarray(case.settings["init"], dtype=np.float64)
    V, rounding = _components(model), 1e-5 * np.linalg.norm(given, axis=1).max()
    products, shared = given @ V.T, ("cardinality", "l1_bound", "nonnegative")
    turns = ~np.broadcast_to(case.settings["nonnegative"], len(V))
    if turns.any() and (away := -products.diagonal()[turns].min()) > rounding:
        yield case.violation("sign", f"a component points away from its start by {away:.3g}", away)
    if all(is_shared(case.settings.get(name)) for name in shared):
        best = np.abs(products)[linear_sum_assignment(-np.abs(products))].sum()
        missing = best - np.abs(products.diagonal()).sum()
        if not case.settings["nonnegative"] and missing > rounding:
            yield case.violation(
                "place", "components are not in the places of their starts", missing
            )


def shares(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """Shares of the variance are between 0 and 1, and what the attributes say of them agrees."""
    ratio = model.explained_variance_ratio_
    pev = float(ratio.sum())
    if (outside := max(-float(ratio.min()), pev - 1.0)) > 1e-12:
        yield case.violation("share outside 0 to 1", f"{ratio}", outside)
    if data.truth.total == 0.0:
        return
    if (away := abs(model.reconstruction_error_**2 - max(1.0 - pev, 0.0))) > 1e-9:
        yield case.violation("reconstruction_error_", f"{model.reconstruction_error_}", away)
    if (excess := pev - float(model.variance_limits_.min())) > 1e-9:
        yield case.violation("variance_limits_", f"{pev} > {model.variance_limits_}", excess)


def variances(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """``explained_variance_`` is the share times the variance of the data."""
    truth = data.truth
    found = model.explained_variance_
    if not np.isfinite(found).all():
        return  # that is for ``finite`` to judge
    total = truth.total / truth.degrees
    unit = np.ldexp(1.0, truth.exponent)
    expected = model.explained_variance_ratio_ * total
    # Variances below the range of numbers are zero or have few digits.
    lost = np.ldexp(1.0, max(-1060 - 2 * truth.exponent, -1074))
    away = float(np.abs(found / unit / unit - expected).max())
    if away > 1e-9 * total + lost:
        yield case.violation("explained_variance_", f"{found}", away / total if total else np.inf)


def truly_explained(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """The shares are those of the components that are reported."""
    V, pev = _components(model), float(model.explained_variance_ratio_.sum())
    least = float(data.truth.increments(V, MAY_DEPEND).sum())
    most = float(data.truth.increments(V, DEPENDS).sum())
    away = max(least - pev, pev - most)
    if away > _tolerance(case, model, 1e-8):
        yield case.violation("PEV is wrong", f"{pev}, truly {least} to {most}", away)


def centre(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """``mean_`` and ``scale_`` are right, measured by the spread of each column."""
    if case.is_covariance:
        return
    truth = data.truth
    rounding = 1e-14 * np.abs(truth.mean)
    spread = np.sqrt((truth.centred**2).sum(axis=0) / truth.degrees) * truth.scale
    spread = spread * np.longdouble(2.0) ** truth.exponent
    away = np.abs(model.mean_ - truth.mean) - rounding
    worst = float((away / np.where(spread > 0, spread, 1)).max())
    if worst > 1e-9:
        yield case.violation("mean_", f"{worst:.3g} deviations off", worst)
    worst = float(np.abs(model.scale_ / truth.scale - 1).max())
    if worst > 1e-9 * _mean_by_spread(truth) + 1e-9:
        yield case.violation("scale_", f"relative error {worst:.3g}", worst)


def history(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """The objective never rises, and ends no lower than the components allow.

    A last sweep that has gained no more than ``tol`` may have been taken back.
    """
    past = model.objective_history_
    if past.size != model.n_iter_ or model.n_iter_ > model.max_iter:
        yield case.violation(
            "n_iter_", f"{model.n_iter_} of at most {model.max_iter}, {past.size} in history"
        )
    if past.size > 1 and (rise := float(np.diff(past).max())) > 1e-10:
        yield case.violation("objective rises", f"by {rise:.3g}", rise)
    if past.size and data.truth.total > 0:
        value = data.truth.value(_components(model), case.settings["ridge"])
        if (away := 1.0 - value - past[-1]) > model.tol + _tolerance(case, model, 1e-8):
            yield case.violation(
                "objective too low", f"{past[-1]} for components at {1.0 - value}", away
            )


def scored(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """``score`` and the metrics agree with the attributes."""
    if case.weights is not None or data.truth.total == 0.0:
        return
    pev = float(model.explained_variance_ratio_.sum())
    # The numbers themselves have no more digits where means are large against the spread.
    slack = _tolerance(case, model, 1e-9) + 1e-15 * _mean_by_spread(data.truth)
    if not case.is_covariance and (away := abs(model.score(data.given) - pev)) > slack:
        yield case.violation("score", f"{model.score(data.given)} for {pev}", away)
    if not case.settings["standardize"]:
        given = data.given if case.is_covariance else plain(data.given)
        found = metrics.pev(given, model.components_, covariance=case.is_covariance) / 100
        if (away := abs(found - pev)) > slack:
            yield case.violation("metrics.pev", f"{found} for {pev}", away)


def reconstructed(case: Case, model: SparsePCA, data: Data) -> Iterator[Violation]:
    """What comes back from scores is as far from the data as ``reconstruction_error_`` says."""
    if case.is_covariance or data.truth.total == 0.0:
        return
    restored = model.inverse_transform(np.asarray(model.transform(data.given)))
    truth = data.truth
    unit = np.longdouble(2.0) ** -truth.exponent
    missed = (case.X.astype(np.longdouble) - restored) / truth.scale * unit
    error = float(truth.weights @ (missed**2).sum(axis=1)) / truth.total
    # Data with means far beyond their spread come back with the digits that such numbers leave.
    eps = np.finfo(np.float32 if case.is_single else np.float64).eps
    digits = eps * (_mean_by_spread(truth) + 1.0 / math.sqrt(max(model.separation_, 1e-12)))
    away = abs(error - model.reconstruction_error_**2)
    if away > 1e-7 + 10 * digits * (1.0 + digits):
        yield case.violation(
            "reconstruction", f"squared {error} for {model.reconstruction_error_**2}", away
        )


def _mean_by_spread(truth: Reference) -> float:
    """How far the means lie from zero, measured by the spread, in the norm of the whole matrix."""
    varies = truth.centred.any(axis=0)  # a column that does not comes back as it is
    means = (truth.mean / truth.scale)[varies] * np.longdouble(2.0) ** -truth.exponent
    return float(np.sqrt((means**2).sum() * float(truth.weights.sum()) / (truth.total or 1.0)))


def _components(model: SparsePCA) -> NDArray[np.float64]:
    return np.asarray(model.components_, dtype=np.float64)


def _constraints(case: Case, model: SparsePCA) -> list[Any]:
    bounds = {name: case.settings.get(name) for name in ("cardinality", "l1_bound")}
    return build_constraints(
        model.n_components_,
        model.n_features_in_,
        **bounds,
        nonnegative=case.settings["nonnegative"],
    )


def _begins_with_components(case: Case) -> bool:
    return not isinstance(case.settings["init"], str)


def asked_separation(case: Case, model: SparsePCA) -> float:
    """How far apart components must be."""
    asked = case.settings["min_separation"]
    return least_separation(asked, _constraints(case, model), case.settings["ridge"])


def _tolerance(case: Case, model: SparsePCA, double: float) -> float:
    """How far results may be off: components rounded to single precision explain a bit less."""
    if not case.is_single:
        return double
    return 1e-5 + 1e-6 / math.sqrt(max(model.separation_, 1e-12))


INVARIANTS: tuple[Invariant, ...] = (
    finite,
    unit_rows,
    feasible,
    constants_left_alone,
    separated,
    signs,
    ordered,
    identity,
    shares,
    variances,
    truly_explained,
    centre,
    history,
    scored,
    reconstructed,
)
