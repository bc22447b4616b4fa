"""Rules for groups of features: a few of each, or all of a few."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.constraints.knapsack import best_choice
from redac.constraints.sets import Indices, Mask, Vector, largest
from redac.constraints.supports import Supports, fewer, others_than, require_cardinality


@dataclass(frozen=True, eq=False)
class Groups:
    """Which features belong together.

    Attributes
    ----------
    names : the labels of the groups.
    codes : for each feature the number of its group; −1 for a feature without one.
    """

    names: tuple[Hashable, ...]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, labels: Iterable[Any]) -> Groups:
        """From a label for each feature; None and NaN mean that it has no group."""
        numbers: dict[Any, int] = {}
        codes = [
            -1 if label is None or label != label else numbers.setdefault(label, len(numbers))
            for label in labels
        ]
        return cls(tuple(numbers), np.array(codes, dtype=np.intp))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Groups):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.names, self.codes.tobytes()))

    def __repr__(self) -> str:
        return f"<{len(self.names)} groups of {self.codes.size} features>"

    def of_features(self, features: Indices) -> Groups:
        """The same for some of the features."""
        return Groups(self.names, self.codes[features])

    def counts(self, features: Indices) -> Indices:
        """How many of these features each group has."""
        codes = self.codes[features]
        return np.bincount(codes[codes >= 0], minlength=len(self.names))


@dataclass(frozen=True)
class MaxPerGroup(Supports):
    """At most so many features of each group, and so many in all.

    Within each group the largest entries of w are taken, then of those the largest of all, which is
    to take the largest entry for which there is room, again and again. That is exact: if the i-th
    largest entry of another allowed support were larger than the i-th one taken, one of its i
    largest would have had room beside the i − 1 taken before, and would have been taken. For of two
    allowed supports the larger one has more features of some group, or without one, than the
    smaller: one of those may join the smaller. Such families are matroids.

    Parameters
    ----------
    groups : a label for each feature; None or NaN: the feature has no group and no limit.
    most : a number for all groups, or a dict with the label of each group that has a limit.
    cardinality : the most features in all; None: no limit.
    """

    groups: Groups
    limits: tuple[int, ...]  # one for each group
    cardinality: int | None = None

    def __init__(self, groups: Any, most: Any, cardinality: int | None = None) -> None:
        require_cardinality(cardinality)
        groups = groups if isinstance(groups, Groups) else Groups.of(groups)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "limits", _limits(groups, most))
        object.__setattr__(self, "cardinality", cardinality)

    @cached_property
    def _limits(self) -> Indices:
        """The limits of all groups, and at the end one for features without a group."""
        return np.array([*self.limits, self.groups.codes.size + 1], dtype=np.intp)

    def chosen(self, magnitudes: Vector, first: Indices) -> Indices:
        codes = self.groups.codes
        room = self._limits.copy()
        room[:-1] -= self.groups.counts(first)
        others = others_than(magnitudes.size, first)
        order = others[np.lexsort((-magnitudes[others], codes[others]))]
        ordered = codes[order]
        begins = np.searchsorted(ordered, ordered, side="left")
        eligible = np.sort(order[np.arange(order.size) - begins < room[ordered]])
        if self.cardinality is not None:
            eligible = eligible[largest(magnitudes[eligible], self.cardinality - first.size)]
        return np.concatenate([first, eligible])

    def allows(self, support: Indices) -> bool:
        within = (self.groups.counts(support) <= self._limits[:-1]).all()
        return bool(within) and (self.cardinality is None or support.size <= self.cardinality)

    def may_join(self, support: Indices, size: int) -> Mask:
        has_room = np.append(self.groups.counts(support) < self._limits[:-1], True)
        mask: Mask = has_room[self.groups.codes]
        if self.cardinality is not None and support.size >= self.cardinality:
            mask = np.zeros(size, dtype=bool)
        return mask

    def at_most(self, count: int) -> MaxPerGroup:
        return MaxPerGroup(self.groups, self.limits, fewer(self.cardinality, count))

    def restricted(self, features: Indices) -> MaxPerGroup:
        return MaxPerGroup(self.groups.of_features(features), self.limits, self.cardinality)


@dataclass(frozen=True)
class WholeGroups(Supports):
    """Whole groups: at most so many of them, with at most so many features in all.

    A group brings Σ w_j² over its features. Without a bound on the features the groups that bring
    most are the best, with one they are those of a 0/1 knapsack with the sizes of the groups as
    costs, which dynamic programming solves exactly. A feature without a group is one of its own.

    Parameters
    ----------
    groups : a label for each feature; None or NaN: the feature has no group.
    max_groups : the most groups; None: no limit.
    cardinality : the most features in all; None: no limit.
    sizes : how many features each group has, if that is more than there are here.
    """

    groups: Groups
    max_groups: int | None = None
    cardinality: int | None = None
    sizes: tuple[int, ...] = ()

    def __init__(
        self,
        groups: Any,
        max_groups: int | None = None,
        cardinality: int | None = None,
        sizes: tuple[int, ...] = (),
    ) -> None:
        require_cardinality(cardinality)
        if max_groups is not None and max_groups < 1:
            raise ValueError(f"max_groups={max_groups!r} must be at least 1.")
        groups = _with_own_groups(groups if isinstance(groups, Groups) else Groups.of(groups))
        sizes = sizes or tuple(groups.counts(np.arange(groups.codes.size)).tolist())
        if cardinality is not None and min(sizes) > cardinality:
            raise ValueError(
                f"cardinality={cardinality}: the smallest group has {min(sizes)} features, so that "
                "no whole group fits."
            )
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "max_groups", max_groups)
        object.__setattr__(self, "cardinality", cardinality)
        object.__setattr__(self, "sizes", sizes)

    @cached_property
    def _sizes(self) -> Vector:
        return np.array(self.sizes, dtype=np.float64)

    def _used(self, support: Indices) -> Mask:
        return self.groups.counts(support) > 0

    def chosen(self, magnitudes: Vector, first: Indices) -> Indices:
        codes, taken = self.groups.codes, self._used(first)
        brought = np.bincount(codes, magnitudes**2, minlength=taken.size).astype(np.float64)
        brought[taken] = 0.0
        n_taken = int(np.count_nonzero(taken))
        most = taken.size if self.max_groups is None else self.max_groups - n_taken
        if self.cardinality is None:
            best = largest(brought, most)
        else:
            budget = self.cardinality - self._sizes[taken].sum()
            best = best_choice(brought, self._sizes, float(budget), most)
        taken[best] = True
        return np.flatnonzero(taken[codes])

    def allows(self, support: Indices) -> bool:
        used = self._used(support)
        too_many = self.max_groups is not None and np.count_nonzero(used) > self.max_groups
        return not too_many and bool(self._sizes[used].sum() <= (self.cardinality or np.inf))

    def may_join(self, support: Indices, size: int) -> Mask:
        used = self._used(support)
        may = used.copy()
        if self.max_groups is None or np.count_nonzero(used) < self.max_groups:
            left = (self.cardinality or np.inf) - self._sizes[used].sum()
            may |= self._sizes <= left
        mask: Mask = may[self.groups.codes]
        return mask

    def restricted(self, features: Indices) -> WholeGroups:
        return WholeGroups(
            self.groups.of_features(features), self.max_groups, self.cardinality, self.sizes
        )


def _limits(groups: Groups, most: Any) -> tuple[int, ...]:
    """The most features of each group."""
    if isinstance(most, tuple):
        return most
    if not isinstance(most, Mapping):
        most = dict.fromkeys(groups.names, most)
    for name, limit in most.items():
        if name not in groups.names:
            raise ValueError(f"most has a limit for {name!r}, but no feature has this group.")
        if limit < 0:
            raise ValueError(f"most={limit!r} for the group {name!r} must be 0 or more.")
    return tuple(min(most.get(name, sys.maxsize), sys.maxsize) for name in groups.names)


def _with_own_groups(groups: Groups) -> Groups:
    """The groups, with one of its own for each feature that has none."""
    alone = np.flatnonzero(groups.codes < 0)
    if not alone.size:
        return groups
    codes = groups.codes.copy()
    codes[alone] = len(groups.names) + np.arange(alone.size)
    return replace(groups, names=(*groups.names, *[None] * alone.size), codes=codes)
