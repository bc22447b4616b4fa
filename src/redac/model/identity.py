"""Components that keep their identity in a fit that begins with others: order and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from redac import parameters
from redac.signs import largest_entry_positive
from redac.sources.base import Array

if TYPE_CHECKING:
    from redac.model.estimator import SparsePCA


def reference_of(model: SparsePCA) -> Array | None:
    """The components, by rows, that a fit begins with, if a user gave some or wants the last."""
    if parameters.flag("warm_start", model.warm_start) and hasattr(model, "components_"):
        shape = (model.n_components, model.n_features_in_)
        if model.components_.shape != shape:
            raise ValueError(
                f"warm_start=True: the last components have the shape {model.components_.shape}, "
                f"and now {shape} is asked for. Set warm_start=False for one fit."
            )
        return np.asarray(model.components_, dtype=np.float64)[:, _places_before(model)]
    return None if isinstance(model.init, str) else np.asarray(model.init, dtype=np.float64)


def _places_before(model: SparsePCA) -> NDArray[np.intp]:
    """For each feature its place in the last components, by name where all have names."""
    before, now = model._names_before, getattr(model, "feature_names_in_", None)
    if before is None or now is None:
        return np.arange(model.n_features_in_)
    places = {name: place for place, name in enumerate(before)}
    new = [name for name in now if name not in places]
    if new:
        raise ValueError(
            f"warm_start=True: the last components are of other features, without {new[0]!r}. Set "
            "warm_start=False for one fit."
        )
    return np.array([places[name] for name in now], dtype=np.intp)


def init_of(model: SparsePCA) -> Any:
    """Where a fit begins: the last components, or what ``init`` says."""
    last = reference_of(model)
    return model.init if last is None else last


def reference_signs(model: SparsePCA) -> Array | None:
    """The same as what fitted components should point along; loadings that may not be negative do
    not turn."""
    rows = reference_of(model)
    if rows is None:
        return None
    signs = model.nonnegative if model.constraint is None else model.constraint
    for_each = signs if isinstance(signs, (list, tuple, np.ndarray)) else [signs] * len(rows)
    fixed = [getattr(each, "free_range", each) in (True, (0.0, np.inf)) for each in for_each]
    return np.where(np.array(fixed, dtype=bool)[:, None], np.abs(rows), rows)


def order_like(V: Array, like: Array) -> NDArray[np.intp]:
    """The order in which loadings, as columns, are closest to components, each to one of them."""
    closeness = np.abs(like @ V)
    return np.asarray(linear_sum_assignment(-closeness)[1], dtype=np.intp)


def signed(components: Array, like: Array | None) -> Array:
    """Components, by rows, that point as others do, or with a positive largest entry."""
    usual = largest_entry_positive(components)
    if like is None:
        return usual
    return np.where((usual * like).sum(axis=1)[:, None] < 0.0, -usual, usual)
