"""What it would cost to keep components further apart."""

from __future__ import annotations

import warnings
from typing import Any

from redac.model.estimator import SparsePCA
from redac.show.stories import is_descending


def separation_sentence(model: Any) -> str | None:
    """What a larger ``min_separation`` costs in PEV, where components that share features ask for
    it; None where they do not, where a model of many features keeps no covariance matrix, and after
    an interruption: who has interrupted a fit does not want to wait for another one.

    The value that is tried lies half-way between the present separation and 1.
    """
    overlaps = model.loading_overlaps_
    shares_features = (overlaps.sum(axis=1) > overlaps.diagonal()).any()
    if is_descending(model) or not shares_features or model.interrupted_:
        return None
    if model.scaled_covariance_ is None:
        return None
    value = round((1.0 + model.separation_) / 2, 2)
    other = SparsePCA(**model.get_params(deep=False))
    other.set_params(min_separation=value, standardize=False, n_perturbations=0)
    other.set_params(init="pca", n_init="auto", max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other.fit_covariance(model.scaled_covariance_)
    cost = 100 * (model.explained_variance_ratio_.sum() - other.explained_variance_ratio_.sum())
    return (
        f"Their separation is {model.separation_:.2f}; min_separation={value:g} would keep them "
        f"apart and cost {cost:.2f} points of PEV."
    )
