"""Certificates of fitted models, with the data that they were fitted to or without."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from redac import parameters
from redac.certificate import Certificate, certificate
from redac.certificate.api import OnProgress
from redac.certificate.cheap import trace_bound
from redac.certificate.rounding import rounding_margin
from redac.model.rules import Rules, any_rules
from redac.solver.starts import Starts
from redac.sources import Gram
from redac.sources.base import Array, Source
from redac.sources.reading import read_covariance
from redac.sources.spectrum import EXACT_ORDER

if TYPE_CHECKING:
    from redac.model.estimator import SparsePCA

# Up to this many features a model keeps its covariance matrix (320 kB); beyond, two numbers.
_KEPT_ORDER = 200
# Up to this many features the covariance matrix of the data is formed for the proof.
_WIDEST = 3000
# A product of three numbers is rounded by less.
_ROUNDING = 1e-14
_METHODS = ("eigenvalues", "variances")


def remember(model: SparsePCA, source: Source, starts: Starts) -> None:
    """Set the attributes of a fitted model that a certificate will need."""
    d = source.n_features
    used = model.total_cardinality or sum(_cardinalities_of(model, d))
    # Axes and eigenvalues, if a start has needed them; computing them for this would cost too much.
    limits = np.ones(2)
    if source.total > 0 and starts.principal is not None:
        limits[0] = _leading_share(source, *starts.principal, model.n_samples_)
    if source.total > 0 and used < d:
        diagonal = source.diagonal / source.total
        diagonal[list(_left_out(model))] = 0.0
        limits[1] = trace_bound(diagonal, used)
    model.scaled_covariance_ = _scaled_covariance(source) if d <= _KEPT_ORDER else None
    model.variance_limits_ = np.minimum(limits, 1.0)


def _scaled_covariance(source: Source) -> Array:
    S = source.dot(np.eye(source.n_features))
    scaled: Array = (S + S.T) / (2.0 * source.total if source.total > 0 else 1.0)
    return scaled


def _leading_share(source: Source, axes: Array, values: Array, n_samples: int | None) -> float:
    """At least the share of the leading eigenvalues; 1 where they are only known from below."""
    d, r = axes.shape
    order = d if isinstance(source, Gram) or n_samples is None else n_samples
    if order > EXACT_ORDER:
        return 1.0
    total = float(values.sum())
    # The trace is no smaller than the norm that a margin is made of.
    return float(total / source.total + rounding_margin(d, r, norm=1.0))


def _cardinalities_of(model: SparsePCA, n_features: int) -> tuple[int, ...]:
    """What each component of a model may use; everything where there is no cardinality."""
    r = int(model.n_components)
    if model.total_cardinality is not None:
        most = min(model.total_cardinality - (r - 1), n_features)
        ks = [n_features] * r
        if model.cardinality is not None:
            ks = parameters.cardinalities(model.cardinality, r, n_features)
        return tuple(min(k, most) for k in ks)
    if model.cardinality is None:
        return (n_features,) * r
    return tuple(parameters.cardinalities(model.cardinality, r, n_features))


def certify(
    model: SparsePCA, time_limit: float, on_progress: OnProgress | None = None
) -> Certificate:
    """The certificate of a fitted ``SparsePCA``."""
    if model.robust is not None:
        raise ValueError(
            f"This model was fitted with robust={model.robust!r}; certificates cover least squares "
            "on complete data only."
        )
    if getattr(model, "n_missing_", 0):
        raise ValueError(
            f"{model.n_missing_} cells of the data of this model are missing; certificates cover "
            "complete data only. That of model.impute(X) is about the completed data, which are "
            "partly the model's own."
        )
    allowed = _cardinalities_of(model, model.n_features_in_)
    remark = _remark(model)
    S = model.scaled_covariance_
    if S is None:
        return _from_limits(model, allowed, remark)
    kept = np.delete(np.arange(len(S)), _left_out(model))
    part = S[np.ix_(kept, kept)]
    result = certificate(
        part,
        model.components_[:, kept],
        cardinality=[min(k, kept.size) for k in allowed],
        time_limit=0 if model.l1_bound is not None else time_limit,
        on_progress=on_progress,
    )
    if kept.size < len(S):
        result = _of_all(result, float(np.trace(part) / (np.trace(S) or 1.0)), allowed)
    if not remark:
        return result
    # What was found to be better need not meet the other constraints of the model.
    return replace(result, better_components=None, better_value=None, remark=remark)


def _left_out(model: SparsePCA) -> list[int]:
    """The features that no component may use."""
    if not any_rules(model):
        return []
    return list(Rules.of(model, int(model.n_components), model.n_features_in_).out)


def _of_all(result: Certificate, share: float, allowed: tuple[int, ...]) -> Certificate:
    """A certificate for some features, which have a share of the variance, in percent of all."""
    value = result.value * share
    bound = max(result.upper_bound * share * (1.0 + _ROUNDING), value)
    return replace(
        result,
        value=value,
        upper_bound=bound,
        cardinality=allowed,
        better_components=None,
        better_value=None,
    )


def _from_limits(model: SparsePCA, allowed: tuple[int, ...], remark: str) -> Certificate:
    best = int(np.argmin(model.variance_limits_))
    value = 100.0 * float(model.explained_variance_ratio_.sum())
    wide = (
        f"A model of more than {_KEPT_ORDER} features keeps no covariance matrix; "
        "redac.certificate.certificate(S, components) can prove more."
    )
    return Certificate(
        value,
        max(100.0 * float(model.variance_limits_[best]), value),
        _METHODS[best],
        allowed,
        remark=f"{wide} {remark}".strip(),
    )


def _remark(model: SparsePCA) -> str:
    if model.l1_bound is not None:
        return "A bound on the l1 norm leaves only the bound of ordinary PCA."
    remarks = []
    if np.any(model.nonnegative):
        remarks.append("The bound allows negative loadings; without them the best may be lower.")
    if any_rules(model):
        rules = Rules.of(model, int(model.n_components), model.n_features_in_)
        if rules.out:
            names = rules.names.list(rules.out)
            remarks.append(f"It is about components without the excluded features: {names}.")
        others = rules.sentences()
        if others != [each for each in others if each.startswith("never used")] or not rules.out:
            remarks.append(
                "The bound does not know the other rules (required features, groups, disjoint, a "
                "total); with them the best may be lower."
            )
    return " ".join(remarks)


def certificate_from_data(
    model: SparsePCA,
    X: Any,
    *,
    covariance: bool = False,
    time_limit: float = 60,
    on_progress: OnProgress | None = None,
) -> Certificate:
    """Bound what any loadings can explain, from more than the model alone has kept.

    A model of many features keeps no covariance matrix, and ``model.certificate()`` then proves
    little. With the data at hand the matrix is computed once more, up to 3000 features.

    Parameters
    ----------
    model : SparsePCA
        Fitted to X.
    X : the data of the fit, of any kind that ``fit`` takes
        With ``covariance=True`` the covariance matrix that ``fit_covariance`` was given.
    covariance : bool, default=False
    time_limit, on_progress
        As in :func:`redac.certificate.certificate`. Computing the matrix is not counted.

    Returns
    -------
    Certificate
    """
    constrained = model.l1_bound is not None or bool(np.any(model.nonnegative)) or any_rules(model)
    kept = model.scaled_covariance_ is not None
    if kept or constrained or model.n_features_in_ > _WIDEST:
        return model.certificate(time_limit, on_progress)
    return certificate(
        _covariance(model, X, covariance),
        model.components_,
        cardinality=1.0 if model.cardinality is None else model.cardinality,
        time_limit=time_limit,
        on_progress=on_progress,
    )


def _covariance(model: SparsePCA, X: Any, covariance: bool) -> Array:
    """The covariance matrix, or with ``standardize`` the correlation matrix, in some unit."""
    if not covariance:
        return model._given(X).about_own_mean(standardize=model.standardize).gram()
    source = read_covariance(X)
    return source.standardized()[0].S if model.standardize else source.S
