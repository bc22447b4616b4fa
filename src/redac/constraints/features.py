"""Features that are never used, and features that always are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from redac.constraints.sets import (
    Constraint,
    Indices,
    Mask,
    Vector,
    limited,
    may_enter,
    may_join,
    required,
    usable,
)
from redac.constraints.supports import Supports


@dataclass(frozen=True)
class Excluding:
    """The vectors of another constraint that leave some features alone.

    Zero entries add nothing to ⟨w, v⟩, so the best of these vectors is the best one of the other
    constraint on the other features alone.

    Parameters
    ----------
    inner : the other constraint.
    features : the positions of the features that get no loading.

    Examples
    --------
    >>> import numpy as np
    >>> from redac.constraints import L0, Excluding
    >>> Excluding(L0(2), (0,)).maximize(np.array([9.0, 3.0, 4.0]))
    array([0. , 0.6, 0.8])
    """

    inner: Constraint
    features: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _positions(self.features))

    def maximize(self, w: Vector) -> Vector:
        kept = self._others(w.size)
        v = np.zeros(w.size)
        v[kept] = self.inner.restricted(kept).maximize(w[kept])
        return v

    def _others(self, size: int) -> Indices:
        is_other = np.ones(size, dtype=bool)
        is_other[list(self.features)] = False
        return np.flatnonzero(is_other)

    def contains(self, v: Vector, *, atol: float = 1e-9) -> bool:
        return not v[list(self.features)].any() and self.inner.contains(v, atol=atol)

    @property
    def free_range(self) -> tuple[float, float] | None:
        return self.inner.free_range

    def restricted(self, features: Indices) -> Excluding:
        here = np.flatnonzero(np.isin(features, self.features))
        return Excluding(self.inner.restricted(features), tuple(here.tolist()))

    def may_enter(self, support: Indices, size: int) -> Mask | None:
        told = may_enter(self.inner, support, size)
        mask = np.ones((support.size, size), dtype=bool) if told is None else told.copy()
        mask[:, list(self.features)] = False
        return mask

    def may_join(self, support: Indices, size: int) -> Mask:
        mask = may_join(self.inner, support, size).copy()
        mask[list(self.features)] = False
        return mask

    def usable(self, size: int) -> Mask:
        mask = usable(self.inner, size).copy()
        mask[list(self.features)] = False
        return mask

    def required(self) -> list[int]:
        return required(self.inner)

    def at_most(self, count: int) -> Excluding:
        return replace(self, inner=limited(self.inner, count))


@dataclass(frozen=True)
class Requiring(Supports):
    """The vectors of another set in which some features have their places in any case.

    Others may only use what these leave of the bound. The features come first and the best of those
    that may stand beside them follow: of the supports that hold them all none has a larger Σ w_j²,
    and one with fewer of them has no more. A required feature has the loading that is best, which
    is zero only where nothing speaks for another one, or where loadings may not be negative.

    Parameters
    ----------
    inner : the other set: ``L0``, ``MaxPerGroup``, ``WholeGroups`` or ``Budget``.
    features : the positions of the features that are required.
    elsewhere : how many required features a part of the features does not have; they stand behind
        the others in the inner set, and are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from redac.constraints import L0, Requiring
    >>> Requiring(L0(2), (1,)).maximize(np.array([1.0, 3.0, 4.0]))
    array([0. , 0.6, 0.8])
    """

    inner: Supports
    features: tuple[int, ...]
    elsewhere: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Supports):
            raise TypeError(
                f"Requiring({self.inner!r}): only L0, MaxPerGroup, WholeGroups and Budget have an "
                "exact step with required features. Put Nonnegative and Excluding around it."
            )
        object.__setattr__(self, "features", _positions(self.features))
        if not self.inner.allows(np.array(self.features, dtype=np.intp)):
            raise ValueError(
                f"The {len(self.features)} required features (positions {list(self.features)}) are "
                f"more than {self.inner!r} allows together."
            )

    def chosen(self, magnitudes: Vector, first: Indices) -> Indices:
        longer = np.concatenate([magnitudes, np.zeros(self.elsewhere)])
        chosen = self.inner.chosen(longer, self._with_required(first))
        return chosen[chosen < magnitudes.size]

    def _with_required(self, support: Indices) -> Indices:
        return np.union1d(support, np.array(self.features, dtype=np.intp))

    def required(self) -> list[int]:
        return list(self.features[: len(self.features) - self.elsewhere])

    def allows(self, support: Indices) -> bool:
        return self.inner.allows(self._with_required(support))

    def may_join(self, support: Indices, size: int) -> Mask:
        mask = self.inner.may_join(self._with_required(support), size + self.elsewhere)
        mask = mask.copy()
        mask[list(self.features)] = True
        return mask[:size]

    def at_most(self, count: int) -> Requiring:
        fewer = limited(self.inner, max(count, len(self.features)))
        return replace(self, inner=cast(Supports, fewer))  # a set of the same kind

    def restricted(self, features: Indices) -> Requiring:
        required = np.array(self.features, dtype=np.intp)
        missing = required[~np.isin(required, features)]
        kept = np.concatenate([features, missing])
        here = np.flatnonzero(np.isin(kept, required))
        return Requiring(self.inner.restricted(kept), tuple(here.tolist()), missing.size)


def _positions(features: object) -> tuple[int, ...]:
    found = np.unique(np.asarray(features, dtype=np.intp))
    if found.size and found[0] < 0:
        raise ValueError(f"A feature has the position {found[0]}; positions begin with 0.")
    return tuple(found.tolist())
