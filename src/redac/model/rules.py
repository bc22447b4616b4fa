"""From a user's rules for features, by name or position, to the objects that the solver takes.

Every complaint names the feature or the group, and what would be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from redac import parameters
from redac.constraints import (
    L0,
    L1,
    Constraint,
    Coupling,
    Disjoint,
    Excluding,
    Groups,
    MaxPerGroup,
    Nonnegative,
    Requiring,
    Supports,
    TotalCardinality,
    WholeGroups,
    usable,
)
from redac.model.naming import Names, did_you_mean

# The parameters of an estimator that are rules, and what each is without one.
NO_RULES: dict[str, Any] = {
    "exclude": None,
    "require": None,
    "groups": None,
    "max_per_group": None,
    "max_groups": None,
    "disjoint": False,
    "total_cardinality": None,
}


def any_rules(model: Any) -> bool:
    """Whether an estimator has any rule."""
    return any(getattr(model, name, none) is not none for name, none in NO_RULES.items())


def have_own(model: Any) -> bool:
    """Whether components have features of their own to exclude or to require."""
    return any(_is_for_each(getattr(model, name, None)) for name in ("exclude", "require"))


@dataclass(frozen=True)
class Rules:
    """Rules with features as positions, one entry for each component where they can differ."""

    names: Names
    excluded: list[tuple[int, ...]]
    required: list[tuple[int, ...]]
    groups: Groups | None
    max_per_group: Any
    max_groups: int | None
    disjoint: bool
    total: int | None

    @classmethod
    def of(cls, model: Any, r: int, d: int) -> Rules:
        """The rules of an estimator for r components of d features."""
        known = getattr(model, "feature_names_in_", None)
        names = Names(None if known is None else list(known), d)
        total = getattr(model, "total_cardinality", None)  # a chooser has none
        if total is not None:
            total = parameters.count(
                "total_cardinality", total, least=r, why=": one for each component"
            )
        max_groups = model.max_groups
        if max_groups is not None:
            max_groups = parameters.count("max_groups", max_groups, least=1)
        rules = cls(
            names,
            _for_each(names, "exclude", model.exclude, r),
            _for_each(names, "require", model.require, r),
            None if model.groups is None else Groups.of(names.labels(model.groups)),
            model.max_per_group,
            max_groups,
            parameters.flag("disjoint", model.disjoint),
            total,
        )
        rules._check(d, r)
        return rules

    def _check(self, d: int, r: int) -> None:
        for out, needed in zip(self.excluded, self.required, strict=True):
            both = sorted(set(out) & set(needed))
            if both:
                raise ValueError(
                    f"{self.names.list(both)} cannot be both excluded and required; take it out of "
                    "exclude or require."
                )
            if len(out) == d:
                raise ValueError("exclude holds all features; leave some for the components.")
        if self.disjoint:
            counts = Counter(j for each in self.required for j in each)
            repeated = [j for j, n in counts.items() if n > 1]
            if repeated:
                raise ValueError(
                    f"{self.names.list(repeated)} is required in several components, which "
                    "disjoint=True forbids; give require as a list of lists, one for each of them."
                )
        self._check_groups()

    def _check_groups(self) -> None:
        limits = {"max_per_group": self.max_per_group, "max_groups": self.max_groups}
        given = [f"{name}={value!r}" for name, value in limits.items() if value is not None]
        if self.groups is None and given:
            raise ValueError(f"{given[0]} needs groups, a label for each feature.")
        if self.groups is not None and not given:
            raise ValueError("groups alone is no rule; give max_per_group or max_groups.")
        if len(given) > 1:
            raise ValueError(
                f"{given[0]} and {given[1]} were both given; a few features of each group and "
                "whole groups exclude each other, choose one."
            )

    def applied(self, base: Sequence[Constraint], *, bounded: bool) -> list[Constraint]:
        """The sets of all components under these rules; ``bounded``: by a cardinality."""
        return [self._applied(i, each, bounded=bounded) for i, each in enumerate(base)]

    def _applied(self, i: int, base: Constraint, *, bounded: bool) -> Constraint:
        is_signed = isinstance(base, Nonnegative)
        inner = base.inner if isinstance(base, Nonnegative) else base
        if self.groups is not None:
            bound = self._choosing("groups", inner)
            inner = self._grouped(bound, self.groups, bounded=bounded)
        required = self.required[i]
        if required:
            inner = self._requiring(self._choosing("require", inner), required)
        constraint: Constraint = Nonnegative(inner) if is_signed else inner
        if self.excluded[i]:
            constraint = Excluding(constraint, self.excluded[i])
        if not usable(constraint, self.names.count).any():
            raise ValueError(
                f"With {self._limiting()} no feature is left that component {i + 1} could use; "
                "allow it some."
            )
        return constraint

    def _limiting(self) -> str:
        """The rules that take features away, as they were given."""
        limits = {"max_per_group": self.max_per_group, "max_groups": self.max_groups}
        given = [f"{name}={value!r}" for name, value in limits.items() if value is not None]
        return " and ".join([*given, "exclude"] if any(self.excluded) else given)

    def _choosing(self, name: str, constraint: Constraint) -> Supports:
        """The constraint, if it only says which features may go together."""
        if isinstance(constraint, Supports):
            return constraint
        bound = f"l1_bound={constraint.bound:g}" if isinstance(constraint, L1) else repr(constraint)
        raise ValueError(
            f"{name} has no exact step beside {bound}; give cardinality instead, or no bound."
        )

    def _grouped(self, bound: Supports, groups: Groups, *, bounded: bool) -> Supports:
        if not isinstance(bound, L0):
            raise ValueError(f"groups takes the place of {bound!r}; give cardinality instead.")
        k = bound.cardinality if bounded else None
        if self.max_groups is not None:
            return WholeGroups(groups, self.max_groups, k)
        return MaxPerGroup(groups, self._most_of_each(groups), k)

    def _most_of_each(self, groups: Groups) -> Any:
        most = self.max_per_group
        given = most if isinstance(most, Mapping) else {None: most}
        for name, limit in given.items():
            what = "max_per_group" if name is None else f"max_per_group[{name!r}]"
            if name is not None and name not in groups.names:
                hint = did_you_mean(str(name), [str(each) for each in groups.names])
                raise ValueError(f"{what}: no feature has this group.{hint}")
            parameters.count(what, limit, least=1 if name is None else 0)
        return most

    def _requiring(self, inner: Supports, required: tuple[int, ...]) -> Requiring:
        try:
            return Requiring(inner, required)
        except ValueError:
            raise ValueError(
                f"The required features {self.names.list(required)} are more than "
                f"{self._bound_on(inner, required)}; require fewer, or raise that."
            ) from None

    def _bound_on(self, inner: Supports, required: tuple[int, ...]) -> str:
        """What required features exceed."""
        if isinstance(inner, MaxPerGroup):
            counts = inner.groups.counts(np.array(required))
            for name, count, limit in zip(inner.groups.names, counts, inner.limits, strict=True):
                if count > limit:
                    return f"max_per_group allows of the group {name!r}, which is {limit}"
        if isinstance(inner, WholeGroups):
            return "max_groups and cardinality allow"
        return f"cardinality={getattr(inner, 'cardinality', None)} allows"

    def couplings(self, constraints: Sequence[Constraint]) -> list[Coupling]:
        """The rules for all components together."""
        found: list[Coupling] = [Disjoint()] if self.disjoint else []
        if self.total is None:
            return found
        least = tuple(max(len(each), 1) for each in self.required)
        if sum(least) > self.total:
            raise ValueError(
                f"total_cardinality={self.total} has no place for {sum(least)} required features."
            )
        if not all(hasattr(each, "at_most") for each in constraints) or self.max_groups is not None:
            raise ValueError(
                f"total_cardinality={self.total} has no exact step beside l1_bound, constraint or "
                "max_groups; leave it out, or give cardinality."
            )
        return [*found, TotalCardinality(self.total, least)]

    def reserved(self, constraints: Sequence[Constraint]) -> list[Constraint]:
        """Without what is required of other components, where no two may share a feature."""
        if not self.disjoint or not any(self.required):
            return list(constraints)
        found = []
        for i, constraint in enumerate(constraints):
            others = [j for m, each in enumerate(self.required) if m != i for j in each]
            found.append(Excluding(constraint, tuple(others)) if others else constraint)
        return found

    @property
    def out(self) -> tuple[int, ...]:
        """The features that no component may use."""
        return tuple(sorted(set.intersection(*map(set, self.excluded))))

    def sentences(self) -> list[str]:
        """The rules in words."""
        lines = [
            *_said("never used", self.excluded, self.names),
            *_said("always used", self.required, self.names),
        ]
        if self.groups is not None:
            lines.append(self._said_of_groups(self.groups))
        if self.disjoint:
            lines.append("no feature in two components")
        if self.total is not None:
            lines.append(f"at most {self.total} loadings in all components together")
        return lines

    def _said_of_groups(self, groups: Groups) -> str:
        if self.max_groups is not None:
            return f"whole groups only, at most {self.max_groups} of {len(groups.names)}"
        if isinstance(self.max_per_group, Mapping):
            limits = ", ".join(f"{name}: {n}" for name, n in self.max_per_group.items())
            return f"at most so many features of a group ({limits})"
        return f"at most {self.max_per_group} of each of {len(groups.names)} groups"


def text_of_groups(model: Any) -> list[str | None]:
    """The group of each feature of a fitted model, as text."""
    known = getattr(model, "feature_names_in_", None)
    names = Names(None if known is None else list(known), model.n_features_in_)
    groups = Groups.of(names.labels(model.groups))
    return [None if code < 0 else str(groups.names[code]) for code in groups.codes]


def rule_sentence(model: Any) -> str:
    """The rules of a fitted model in one sentence, or nothing."""
    if not any_rules(model):
        return ""
    rules = Rules.of(model, int(model.n_components_), model.n_features_in_)
    return f"Rules: {'; '.join(rules.sentences())}."


def _is_for_each(value: Any) -> bool:
    """Whether a list holds a list for each component."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        return False
    return any(each is None or isinstance(each, (list, tuple, np.ndarray)) for each in value)


def _for_each(names: Names, parameter: str, value: Any, r: int) -> list[tuple[int, ...]]:
    """The features of each component."""
    if not _is_for_each(value):
        return [names.places(parameter, value)] * r
    if len(value) != r:
        raise ValueError(
            f"{parameter} has {len(value)} lists for n_components={r}; give one list for all, or "
            "one for each component."
        )
    return [names.places(parameter, each) for each in value]


def _said(what: str, features: list[tuple[int, ...]], names: Names) -> list[str]:
    if not any(features):
        return []
    if len(set(features)) == 1:
        return [f"{what}: {names.list(features[0])}"]
    said: Callable[[int], str] = lambda i: f"{names.list(features[i])} (component {i + 1})"  # noqa: E731
    return [f"{what}: " + "; ".join(said(i) for i, each in enumerate(features) if each)]
