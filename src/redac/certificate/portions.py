"""The variables that one component has for itself, or those that are shared, known in part."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np

from redac.certificate.power import binding_supports
from redac.certificate.single import SingleNode, lowered, sifted, sparse_bound
from redac.certificate.splits import Priced
from redac.certificate.tree import Incumbent, Tree
from redac.certificate.unions import Matrix, union_bound
from redac.sources.base import Indices

# Up to this many supports a part is written out, and its bound is exact.
LISTED = 1500
# So many of them are looked at when N is chosen.
_BINDING = 60
# Regions that may be looked at to bound a part that is not written out.
_MOST_NODES = 150
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Portion:
    """``size`` variables with ``inside`` among them, the others from ``free``."""

    size: int
    inside: tuple[int, ...]
    free: tuple[int, ...]
    shared: bool = False
    sets: Indices | None = field(default=None, compare=False, repr=False)

    @property
    def missing(self) -> int:
        return self.size - len(self.inside)

    @property
    def is_empty(self) -> bool:
        """No set of this size is left."""
        if self.sets is not None:
            return len(self.sets) == 0
        return self.missing > len(self.free) and not self.shared

    @property
    def is_settled(self) -> bool:
        if self.sets is not None:
            return len(self.sets) == 1
        return self.missing == 0 or len(self.free) <= self.missing

    @property
    def all(self) -> tuple[int, ...]:
        return self.inside if self.missing == 0 else self.inside + self.free

    def listed(self) -> Portion:
        """The same, written out where there are few sets."""
        n = len(self.free)
        if self.sets is not None or self.shared or self.size == 0 or self.missing > n:
            return self
        if comb(n, self.missing) > LISTED:
            return self
        rows = [sorted(self.inside + more) for more in combinations(self.free, self.missing)]
        return replace(self, sets=np.array(rows, dtype=np.intp))

    def _with_sets(self, sets: Indices) -> Portion:
        """Some of the listed sets, and what they have in common."""
        used, count = np.unique(sets, return_counts=True)
        inside = tuple(used[count == len(sets)].tolist()) if len(sets) else self.inside
        free = tuple(used[count < len(sets)].tolist()) if len(sets) else ()
        return replace(self, inside=inside, free=free, sets=sets)

    def without(self, x: int) -> Portion:
        """The sets that do not have a variable."""
        if x in self.inside:  # there are none
            return replace(self, sets=np.zeros((0, self.size), dtype=np.intp))
        if x not in self.free:
            return self
        if self.sets is not None:
            return self._with_sets(self.sets[~(self.sets == x).any(axis=1)])
        return replace(self, free=tuple(j for j in self.free if j != x)).listed()

    def having(self, x: int) -> Portion:
        """The sets that have it."""
        if self.sets is not None:
            return self._with_sets(self.sets[(self.sets == x).any(axis=1)])
        free = tuple(j for j in self.free if j != x)
        return replace(self, inside=(*self.inside, x), free=free).listed()

    def bound(self, priced: Priced) -> float:
        """What it explains of N at most, less what it pays, if nothing is known of the others."""
        inside, free = indices(self.inside), indices(self.free)
        if self.shared:
            worth = np.sort(np.maximum(priced.diagonal(free), 0.0))[::-1]
            return float(priced.diagonal(inside).sum() + worth[: self.missing].sum())
        if self.size == 0:
            return 0.0
        if self.sets is not None:
            return float(priced.largest(self.sets).max())
        paid = priced.least_paid(inside, free, self.missing)
        if inside.size and not self.is_settled:
            return union_bound(Matrix(priced.N), 1, self.size, inside, free) - paid
        chosen = indices(self.all)
        return sparse_bound(priced.N[np.ix_(chosen, chosen)], self.size) - paid

    def searched_bound(self, priced: Priced, deadline: float) -> float:
        """The same by a search of its own."""
        if self.shared or self.sets is not None or self.is_settled:
            return self.bound(priced)
        N, inside, free = priced.N, indices(self.inside), indices(self.free)
        V = np.zeros((len(N), 1))
        support = self.binding(priced)[0]
        V[support, 0] = np.linalg.eigh(N[np.ix_(support, support)])[1][:, -1]
        root = SingleNode(float(np.linalg.norm(N)), N, self.size, inside, free)
        tolerance = _TOLERANCE * float(np.trace(N))
        tree = Tree([root], Incumbent(N, V, tolerance, deadline))
        found = tree.run(most_nodes=_MOST_NODES).bound
        paid = priced.least_paid(inside, free, self.missing)
        return min(found - paid, self.bound(priced))

    def narrowed(self, priced: Priced, limit: float, above: float) -> tuple[Portion, float]:
        """Without sets that lead nowhere, and with a bound, if the others leave it ``limit``."""
        if self.sets is not None:
            values = priced.largest(self.sets)
            keep = values > limit
            if not keep.any():
                return self, min(above, float(values.max()))
            part = self if keep.all() else self._with_sets(self.sets[keep])
            return part, min(above, float(values.max()))
        if self.is_settled or self.size == 0:
            return self, above
        inside, free = indices(self.inside), indices(self.free)
        if self.shared:
            worth = priced.diagonal(free)
            last = float(np.sort(np.maximum(worth, 0.0))[-self.missing])
            spare = limit - (self.bound(priced) - last)
            return replace(self, free=tuple(free[worth >= spare].tolist())), above
        # Every set pays so much: what is left of N must be that much more.
        paid = priced.least_paid(inside, free, self.missing)
        N, limit, above = priced.N, limit + paid, above + paid
        kept, lifted = sifted(N, inside, free, self.size, limit)
        part = replace(self, free=tuple(kept.tolist())).listed()
        if lifted is None:
            return part, above - paid
        if kept.size < self.missing or sparse_bound(lifted, self.missing) <= limit:
            return part, min(above, limit) - paid
        if inside.size == 0:
            return part, above - paid
        return part, lowered(N, inside, kept, self.size, limit, above) - paid

    def binding(self, priced: Priced) -> Indices:
        """Sets that bind: on which N has large eigenvalues beside the prices, the largest first."""
        if self.sets is None and not self.is_settled:
            inside, free = indices(self.inside), indices(self.free)
            found = binding_supports(priced.N, self.size, inside, free)
        else:
            found = self.sets if self.sets is not None else indices([sorted(self.all)])
        order = np.argsort(-priced.largest(found), kind="stable")
        return found[order[:_BINDING]]


def indices(chosen: object) -> Indices:
    return np.array(chosen, dtype=np.intp)
