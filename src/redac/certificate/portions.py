"""The variables that one component has for itself, or those that are shared, known in part."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np

from redac.certificate.dual import blocks
from redac.certificate.power import binding_supports
from redac.certificate.single import SingleNode, lowered, sifted, sparse_bound
from redac.certificate.tree import Incumbent, Tree
from redac.certificate.unions import Matrix, union_bound
from redac.sources.base import Array, Indices

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

    def bound(self, N: Array) -> float:
        """What it explains of N at most, if nothing is known of the others."""
        if self.shared:
            own = np.sort(N.diagonal()[list(self.free)])[::-1]
            return float(N.diagonal()[list(self.inside)].sum() + own[: self.missing].sum())
        if self.size == 0:
            return 0.0
        if self.sets is not None:
            return float(_largest(N, self.sets).max())
        inside, free = indices(self.inside), indices(self.free)
        if inside.size and not self.is_settled:
            return union_bound(Matrix(N), 1, self.size, inside, free)
        chosen = indices(self.all)
        return sparse_bound(N[np.ix_(chosen, chosen)], self.size)

    def searched_bound(self, N: Array, deadline: float) -> float:
        """The same by a search of its own."""
        if self.shared or self.sets is not None or self.is_settled:
            return self.bound(N)
        V = np.zeros((len(N), 1))
        support = self.binding(N)[0]
        V[support, 0] = np.linalg.eigh(N[np.ix_(support, support)])[1][:, -1]
        root = SingleNode(
            float(np.linalg.norm(N)), N, self.size, indices(self.inside), indices(self.free)
        )
        tolerance = _TOLERANCE * float(np.trace(N))
        tree = Tree([root], Incumbent(N, V, tolerance, deadline))
        return min(tree.run(most_nodes=_MOST_NODES).bound, self.bound(N))

    def narrowed(self, N: Array, limit: float, above: float) -> tuple[Portion, float]:
        """Without sets that lead nowhere, and with a bound, if the others leave it ``limit``."""
        if self.sets is not None:
            values = _largest(N, self.sets)
            keep = values > limit
            if not keep.any():
                return self, min(above, float(values.max()))
            part = self if keep.all() else self._with_sets(self.sets[keep])
            return part, min(above, float(values.max()))
        if self.is_settled or self.size == 0:
            return self, above
        if self.shared:
            own = N.diagonal()
            spare = limit - (above - float(np.sort(own[list(self.free)])[-self.missing]))
            return replace(self, free=tuple(j for j in self.free if own[j] >= spare)), above
        inside, free = indices(self.inside), indices(self.free)
        kept, lifted = sifted(N, inside, free, self.size, limit)
        part = replace(self, free=tuple(kept.tolist())).listed()
        if lifted is None:
            return part, above
        if kept.size < self.missing or sparse_bound(lifted, self.missing) <= limit:
            return part, min(above, limit)
        if inside.size == 0:
            return part, above
        return part, lowered(N, inside, kept, self.size, limit, above)

    def binding(self, N: Array) -> Indices:
        """Sets on which N has large eigenvalues, the largest first."""
        if self.sets is None and not self.is_settled:
            found = binding_supports(N, self.size, indices(self.inside), indices(self.free))
        else:
            found = self.sets if self.sets is not None else indices([sorted(self.all)])
        order = np.argsort(-_largest(N, found), kind="stable")
        return found[order[:_BINDING]]


def _largest(N: Array, sets: Indices) -> Array:
    return np.asarray(np.linalg.eigvalsh(blocks(N, sets))[:, -1], dtype=np.float64)


def indices(chosen: object) -> Indices:
    return np.array(chosen, dtype=np.intp)
