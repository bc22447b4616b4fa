"""What components have in common, in sentences: what a table of loadings does not show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from redac.show.escaping import printable
from redac.show.tables import component_names

# Two components whose scores are correlated more than this tell the same story: they share half of
# their variance.
SAME_STORY = 0.7
# Of features that two components share, so many are named.
_NAMED = 3
# A component that adds more than the one before it by less than this share adds as much: tables
# show two decimals of percent.
_EQUAL = 1e-4


class ComparedModel(Protocol):
    """What is read from a fitted model."""

    components_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    n_components_: int

    def _feature_names(self) -> list[str]: ...


def stories(model: ComparedModel) -> list[str]:
    """Sentences on components that tell the same story, and on features that they share."""
    return [*_same(model), *_shared(model)]


def variance_sentence(model: Any) -> str:
    """PEV beside what PCA explains, and what the scores explain of all features; may be empty."""
    said = []
    limits = getattr(model, "variance_limits_", np.ones(2))
    if limits[0] < 1.0:
        said.append(f"PCA explains {100 * limits[0]:.2f} % with as many components")
    if hasattr(model, "regressed_variance_ratio_"):
        share = 100 * model.regressed_variance_ratio_
        said.append(f"all features regressed on these scores: {share:.2f} %")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _same(model: ComparedModel) -> list[str]:
    """Groups of components whose scores are highly correlated."""
    correlations = getattr(model, "score_correlations_", np.eye(model.n_components_))
    sizes = np.abs(correlations)
    is_same = sizes > SAME_STORY
    groups = connected_components(is_same, directed=False)[1]
    names = np.array(component_names(model.n_components_))
    said = []
    for group in dict.fromkeys(groups.tolist()):
        members = np.flatnonzero(groups == group)
        pairs = [sizes[i, j] for i, j in combinations(members, 2) if is_same[i, j]]
        if pairs:
            low, high = f"{min(pairs):.2f}", f"{max(pairs):.2f}"
            at = high if low == high else f"{low} to {high}"
            said.append(
                f"{_listed(names[members].tolist())} tell the same story: their scores are "
                f"correlated at {at}."
            )
    return said


def is_descending(model: ComparedModel) -> bool:
    """Whether each component adds no more than the one before it."""
    return bool((np.diff(model.explained_variance_ratio_) <= _EQUAL).all())


def _shared(model: ComparedModel) -> list[str]:
    """Where a component adds more than the one before it: which features it shares with which."""
    shares, used = model.explained_variance_ratio_, model.components_ != 0
    names, features = component_names(model.n_components_), model._feature_names()
    said = []
    for i in (np.flatnonzero(np.diff(shares) > _EQUAL) + 1).tolist():
        with_others = [j for j in range(i) if (used[i] & used[j]).any()]
        if not with_others:
            continue
        parts = []
        for j in with_others:
            both = np.flatnonzero(used[i] & used[j])
            weights = np.abs(model.components_[[j, i]]).min(axis=0)
            largest = both[np.argsort(-weights[both], kind="stable")][:_NAMED]
            shown = [
                f"{printable(features[f])} ({model.components_[j, f]:.2f} and "
                f"{model.components_[i, f]:.2f})"
                for f in largest.tolist()
            ]
            more = f" and {both.size - largest.size} more" if both.size > largest.size else ""
            parts.append(f"{', '.join(shown)}{more} with {names[j]}")
        said.append(
            f"{names[i]} adds more ({100 * shares[i]:.2f} %) than {names[i - 1]} "
            f"({100 * shares[i - 1]:.2f} %): it shares {'; '.join(parts)}."
        )
    return said


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
