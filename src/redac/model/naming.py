"""Features as users call them: by name or by position.

Every complaint names the argument and the feature, and what would be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Names:
    """The features by name and position."""

    names: Sequence[str] | None
    count: int

    def __getitem__(self, j: int) -> str:
        return f"feature {j}" if self.names is None else repr(self.names[j])

    def list(self, features: Iterable[int]) -> str:
        return ", ".join(self[j] for j in features)

    @cached_property
    def _positions(self) -> dict[str, int]:
        """The first feature of each name."""
        names = self.names or ()
        return dict(zip(reversed(names), reversed(range(len(names))), strict=True))

    def place(self, parameter: str, feature: Any) -> int:
        """The position of one feature."""
        if isinstance(feature, str):
            return self._named(parameter, feature)
        if isinstance(feature, bool) or not isinstance(feature, (int, np.integer)):
            raise TypeError(f"{parameter} holds {feature!r}; give names or positions of features.")
        if not 0 <= feature < self.count:
            raise ValueError(
                f"{parameter} holds position {feature}; there are {self.count} features, from 0 to "
                f"{self.count - 1}."
            )
        return int(feature)

    def _named(self, parameter: str, name: str) -> int:
        if self.names is None:
            raise ValueError(
                f"{parameter} holds the name {name!r}, but the data have no feature names; give "
                "positions, or feature_names to fit."
            )
        if name not in self._positions:
            hint = did_you_mean(name, self.names)
            raise ValueError(f"{parameter} holds {name!r}, which is no feature of the data.{hint}")
        return self._positions[name]

    def places(self, parameter: str, features: Any) -> tuple[int, ...]:
        """The positions of some features."""
        if features is None:
            return ()
        if isinstance(features, (str, Integral)):
            features = [features]
        if not isinstance(features, Iterable) or isinstance(features, Mapping):
            raise TypeError(f"{parameter}={features!r} must be a list of names or positions.")
        return tuple(sorted({self.place(parameter, each) for each in features}))

    def labels(self, groups: Any) -> Sequence[Any]:
        """A label for each feature, from a sequence, a Series or a dict by name or position."""
        if getattr(groups, "ndim", 1) != 1:
            raise TypeError(
                "groups is a table; give one of its columns: a label for each feature, or a Series "
                "with the features as its index."
            )
        if isinstance(groups, Mapping) or _is_indexed(groups):
            return self._labels_of_named(groups.items())
        if isinstance(groups, str) or not hasattr(groups, "__len__"):
            raise TypeError(f"groups={groups!r} must be a label for each feature, or a dict.")
        for label in groups:
            _refuse_several(label)
        if len(groups) != self.count:
            raise ValueError(
                f"groups has {len(groups)} labels for {self.count} features; give one for each, or "
                "a dict of those that have one."
            )
        return list(groups)

    def _is_stranger(self, feature: Any) -> bool:
        return isinstance(feature, str) and feature not in self._positions

    def _labels_of_named(self, pairs: Iterable[tuple[Any, Any]]) -> Sequence[Any]:
        """The same from features and their labels, in any order.

        Features that the data do not have may be there, too, if all that they have are: a list of
        many serves for data with some of them, and no misspelt name goes unnoticed.
        """
        found: dict[int, Any] = {}
        strangers = []
        for feature, label in pairs:
            _refuse_several(label)
            if self.names is not None and self._is_stranger(feature):
                strangers.append(feature)
                continue
            j = self.place("groups", feature)
            if j in found and found[j] != label:
                raise ValueError(
                    f"groups has two labels for {self[j]}, {found[j]!r} and {label!r}; give one."
                )
            found[j] = label
        if strangers and len(found) < self.count:
            self.place("groups", strangers[0])
        return [found.get(j) for j in range(self.count)]


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """What somebody may have meant, as a sentence behind a complaint."""
    same = [each for each in known if each.casefold() == name.casefold()]
    near = same or get_close_matches(name, list(known), n=3)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def _is_indexed(groups: Any) -> bool:
    """Whether this is a Series that says which feature a label is for."""
    if not (hasattr(groups, "index") and hasattr(groups, "items")):
        return False
    return list(groups.index) != list(range(len(groups)))


def _refuse_several(label: Any) -> None:
    if isinstance(label, (list, tuple, set, dict, np.ndarray)):
        raise TypeError(
            f"groups holds {label!r} as a label; give the group of each feature, as a list or as a "
            "dict from features to groups."
        )
