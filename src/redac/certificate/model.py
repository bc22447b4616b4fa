"""Certificates of fitted models, which no longer have their data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from redac import parameters
from redac.certificate.api import OnProgress, certificate
from redac.certificate.cheap import trace_bound
from redac.certificate.result import Certificate
from redac.certificate.rounding import rounding_margin
from redac.sources import Gram
from redac.sources.base import Array, Source
from redac.sources.spectrum import EXACT_ORDER
from redac.starts import Starts

# Up to this many features a model keeps its covariance matrix (320 kB); beyond, two numbers.
KEPT_ORDER = 200
_METHODS = ("eigenvalues", "variances")


def remember(model: Any, source: Source, starts: Starts) -> None:
    """Set the attributes of a fitted model that a certificate will need."""
    d = source.n_features
    used = sum(cardinalities_of(model, d))
    # Axes and eigenvalues, if a start has needed them; computing them for this would cost too much.
    limits = np.ones(2)
    if source.total > 0 and starts.principal is not None:
        limits[0] = _leading_share(source, *starts.principal, model.n_samples_)
    if source.total > 0 and used < d:
        limits[1] = trace_bound(source.diagonal / source.total, used)
    model.scaled_covariance_ = _scaled_covariance(source) if d <= KEPT_ORDER else None
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


def cardinalities_of(model: Any, n_features: int) -> tuple[int, ...]:
    """What each component of a model may use; everything where there is no cardinality."""
    r = int(model.n_components)
    if model.cardinality is None:
        return (n_features,) * r
    return tuple(parameters.cardinalities(model.cardinality, r, n_features))


def certify(model: Any, time_limit: float, on_progress: OnProgress | None = None) -> Certificate:
    """The certificate of a fitted ``SparsePCA``."""
    allowed = cardinalities_of(model, model.n_features_in_)
    remark = _remark(model)
    S = model.scaled_covariance_
    if S is None:
        return _from_limits(model, allowed, remark)
    result = certificate(
        S,
        model.components_,
        cardinality=list(allowed),
        time_limit=0 if model.l1_bound is not None else time_limit,
        on_progress=on_progress,
    )
    if not remark:
        return result
    # What was found to be better need not meet the other constraints of the model.
    return replace(result, better_components=None, better_value=None, remark=remark)


def _from_limits(model: Any, allowed: tuple[int, ...], remark: str) -> Certificate:
    best = int(np.argmin(model.variance_limits_))
    value = 100.0 * float(model.explained_variance_ratio_.sum())
    wide = (
        f"A model of more than {KEPT_ORDER} features keeps no covariance matrix; "
        "redac.certificate.certificate(S, components) can prove more."
    )
    return Certificate(
        value,
        max(100.0 * float(model.variance_limits_[best]), value),
        _METHODS[best],
        allowed,
        remark=f"{wide} {remark}".strip(),
    )


def _remark(model: Any) -> str:
    if model.l1_bound is not None:
        return "A bound on the l1 norm leaves only the bound of ordinary PCA."
    if np.any(model.nonnegative):
        return "The bound allows negative loadings; without them the best may be lower."
    return ""
