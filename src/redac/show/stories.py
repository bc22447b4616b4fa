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
# So many are named of features that two components share, of components that a component shares
# features with, and of components that add more than the one before; nobody reads on.
_NAMED, _OTHERS, _TOLD = 3, 2, 3
# Of more components in a row only the first and the last are named.
_IN_A_ROW = 3
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
    said = []
    for group in dict.fromkeys(groups.tolist()):
        members = np.flatnonzero(groups == group)
        pairs = [sizes[i, j] for i, j in combinations(members, 2) if is_same[i, j]]
        if pairs:
            low, high = f"{min(pairs):.2f}", f"{max(pairs):.2f}"
            at = high if low == high else f"{low} to {high}"
            said.append(
                f"{_listed(members.tolist())} tell the same story: their scores are "
                f"correlated at {at}."
            )
    return said


def is_descending(model: ComparedModel) -> bool:
    """Whether each component adds no more than the one before it."""
    return bool((np.diff(model.explained_variance_ratio_) <= _EQUAL).all())


def _shared(model: ComparedModel) -> list[str]:
    """Where a component adds more than the one before it: which features it shares with which."""
    shares, used = model.explained_variance_ratio_, model.components_ != 0
    rises = np.diff(shares)
    rising = [
        i
        for i in (np.flatnonzero(rises > _EQUAL) + 1).tolist()
        if (used[i] & used[:i]).any()  # else there is nothing to tell of
    ]
    told = sorted(rising, key=lambda i: -rises[i - 1])[:_TOLD]
    names = component_names(model.n_components_)
    said = [
        f"{names[i]} adds more ({100 * shares[i]:.2f} %) than {names[i - 1]} "
        f"({100 * shares[i - 1]:.2f} %): it shares {_shared_by(model, i)}."
        for i in sorted(told)
    ]
    others = [i for i in rising if i not in told]
    if others:
        adds, them = ("adds", "it") if len(others) == 1 else ("add", "them")
        said.append(f"{_listed(others)} also {adds} more than the one before {them}.")
    return said


def _shared_by(model: ComparedModel, i: int) -> str:
    """The features that a component shares with earlier ones, and with which, the most first."""
    names, features = component_names(model.n_components_), model._feature_names()
    common = np.minimum(np.abs(model.components_[:i]), np.abs(model.components_[i]))
    amounts = common.sum(axis=1)
    others = [j for j in np.argsort(-amounts, kind="stable").tolist() if amounts[j] > 0]
    parts = []
    for j in sorted(others[:_OTHERS]):
        both = np.flatnonzero(common[j])
        largest = both[np.argsort(-common[j, both], kind="stable")][:_NAMED]
        shown = [
            f"{printable(features[f])} ({model.components_[j, f]:.2f} and "
            f"{model.components_[i, f]:.2f})"
            for f in largest.tolist()
        ]
        more = f" and {both.size - largest.size} more" if both.size > largest.size else ""
        parts.append(f"{', '.join(shown)}{more} with {names[j]}")
    further = len(others) - _OTHERS
    if further > 0:
        parts.append(f"others with {further} more component{'s' if further > 1 else ''}")
    return "; ".join(parts)


def _listed(members: Sequence[int]) -> str:
    """Names of components; of more than two in a row the first and the last."""
    runs: list[list[int]] = []
    for i in members:
        if runs and i == runs[-1][-1] + 1:
            runs[-1].append(i)
        else:
            runs.append([i])
    parts: list[str] = []
    for run in runs:
        said = [f"PC{i + 1}" for i in run]
        parts += [f"{said[0]} to {said[-1]}"] if len(run) > _IN_A_ROW else said
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
