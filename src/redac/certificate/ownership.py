"""Branch and bound over which component uses a variable, for few of many variables.

Call a variable *shared* if several components use it, and *own* if one does. The rows of the
loadings at the own variables of component i are multiples of one another, so the span lies in

    Q = Σ aᵢaᵢᵀ + I_O,

aᵢ a unit vector on the own variables of component i, O the shared ones; these parts do not overlap.
So P ⪯ Q, and for every positive semi-definite N

    Tr(SP) = Tr((S − N)P) + Tr(NP) ≤ KyFan_r(S − N) + Σ aᵢᵀNaᵢ + Σ_O N_jj.

Each of the last terms is bounded as a single component is, with all that is known of its support.
A component that shares nothing is orthogonal to all others, so that S may take the place of N for
it. As no variable belongs to two of the parts, a price for each variable may be subtracted from the
parts that use it, and added once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations_with_replacement, groupby, product
from math import comb, prod

import numpy as np

from redac.certificate.families import Family
from redac.certificate.flags import FlagNode, Subproblem
from redac.certificate.portions import Portion, indices
from redac.certificate.splits import Own, Priced, Shared, Split, best_split
from redac.certificate.tree import Incumbent, Node
from redac.certificate.unions import Matrix, union_bound

# Eigenvalues of N are those of S less a floor, up to a cap: shares of the largest one of S that are
# tried, for each region that is looked at.
_CAPS = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1)
_FLOORS = (0.0, 0.02, 0.05, 0.1, 0.2)
# How often what one part cannot exceed is used to bound the others.
_ROUNDS = 2
# N is improved up to this many features: each step takes the eigenvalues of a matrix of this order.
_LARGEST_ORDER = 400
# So many divisions have the same N.
_INHERITED = 2


@dataclass
class Guess:
    """The latest N of any region, from which others begin."""

    latest: Split | None = None


@dataclass(frozen=True)
class OwnershipNode(Node):
    """Own and shared variables, known in part; the last part is that of the shared ones."""

    matrix: Matrix
    cardinalities: tuple[int, ...]
    parts: tuple[Portion, ...]
    guess: Guess
    split: Split | None = None
    age: int = 0
    pivot: tuple[int, int] | None = None

    method = "blocks"

    @classmethod
    def root(
        cls,
        matrix: Matrix,
        guess: Guess,
        cardinalities: tuple[int, ...],
        shared: tuple[int, ...],
        count: int,
    ) -> OwnershipNode:
        """Component i has so many shared variables, of which there are at most ``count``."""
        everything = tuple(range(len(matrix.S)))
        parts = [
            Portion(k - o, (), everything if k > o else ()).listed()
            for k, o in zip(cardinalities, shared, strict=True)
        ]
        parts.append(Portion(count, (), everything if count else (), shared=True))
        node = cls(np.inf, matrix, cardinalities, tuple(parts), guess)
        return replace(node, bound=node._union())

    def branch(self, incumbent: Incumbent) -> list[Node] | None:
        """A variable belongs to a part, or it does not."""
        if self.split is None:
            start = self.guess.latest
            fresh = start is None
            return [self._resplit(incumbent, start or self._clipped(incumbent), fresh=fresh)]
        if self.pivot is None:
            return self._leaf(incumbent)
        if self.age >= _INHERITED:
            return [self._resplit(incumbent, self.split, fresh=False)]
        at, x = self.pivot
        taken = [part.without(x) for part in self.parts]
        taken[at] = self.parts[at].having(x)
        # Parts about which nothing is known may change places: then x is in none of them.
        left = [
            each.without(x) if self._alike(i, at) else each for i, each in enumerate(self.parts)
        ]
        return [
            replace(self, parts=tuple(parts), age=self.age + 1)._bounded(incumbent)
            for parts in (taken, left)
        ]

    @property
    def _used(self) -> int:
        """How many variables all parts use together, at most."""
        return sum(part.size for part in self.parts)

    @property
    def _alone(self) -> tuple[bool, ...]:
        """Which parts are all that a component has; it is orthogonal to the others."""
        alone = [k == part.size for k, part in zip(self.cardinalities, self.parts, strict=False)]
        return (*alone, False)

    def _priced(self, split: Split) -> list[Priced]:
        """The matrix that bounds each part, with the prices."""
        return [split.alone if alone else split.priced for alone in self._alone]

    def _alike(self, i: int, at: int) -> bool:
        if i == at:
            return True
        part = self.parts[i]
        alike = part == self.parts[at] and not part.inside and not part.shared
        return alike and self.cardinalities[i] == self.cardinalities[at]

    def _resplit(self, incumbent: Incumbent, start: Split, *, fresh: bool) -> OwnershipNode:
        """The region with a matrix N of its own."""
        S, r = self.matrix.S, len(self.cardinalities)
        shared = self.parts[-1]
        kinds: dict[tuple[Portion, bool], int] = {}
        for part, alone in zip(self.parts, self._alone, strict=True):
            if part.size and not part.shared:
                kinds[part, alone] = kinds.get((part, alone), 0) + 1
        own = [Own(part.binding, count, alone) for (part, alone), count in kinds.items()]
        common = Shared(indices(shared.inside), indices(shared.free), shared.missing, self._used)
        split = start
        if len(S) <= _LARGEST_ORDER:
            split = best_split(
                S,
                r,
                own,
                common,
                start,
                fresh=fresh,
                # Where supports are not listed, little is known of what the best of them pay.
                priced=all(part.sets is not None for part, _ in kinds),
                target=incumbent.threshold,
                deadline=incumbent.deadline,
            )
        self.guess.latest = split
        node = replace(self, split=split, age=0)
        bounds = [
            part.searched_bound(priced, incumbent.deadline)
            for part, priced in zip(node.parts, node._priced(split), strict=True)
        ]
        return node._bounded(incumbent, bounds)

    def _bounded(self, incumbent: Incumbent, known: Sequence[float] = ()) -> OwnershipNode:
        """The region with a bound of its own; what it leaves out is below the threshold."""
        limit = incumbent.threshold
        if self.split is None or any(part.is_empty for part in self.parts):
            return replace(self, bound=limit)
        parts, priced = list(self.parts), self._priced(self.split)
        bounds = list(known) or _bounds(parts, priced)
        for _ in range(_ROUNDS):
            allowed = indices(sorted({j for part in parts for j in part.all}))
            rest = self.split.rest + self.split.paid(allowed, self._used)
            if rest + sum(bounds) <= limit:
                return replace(self, bound=limit)
            before = [len(part.free) for part in parts]
            for i, part in enumerate(parts):
                left = limit - rest - (sum(bounds) - bounds[i])
                parts[i], bounds[i] = part.narrowed(priced[i], left, bounds[i])
            if before == [len(part.free) for part in parts]:
                break
            parts = _apart(parts)
            if any(part.is_empty for part in parts):
                return replace(self, bound=limit)
            bounds = [min(pair) for pair in zip(bounds, _bounds(parts, priced), strict=True)]
        node = replace(self, parts=tuple(parts))
        bound = max(min(self.bound, rest + sum(bounds), node._union()), limit)
        return replace(node, bound=bound, pivot=node._next())

    def _union(self) -> float:
        """What the components explain on so many variables: all, or those that share some.

        The others are orthogonal to these and to one another.
        """
        own, common = self.parts[:-1], self.parts[-1]
        bound = self._together(own, common)
        apart = [own[i] for i, k in enumerate(self.cardinalities) if own[i].size == k]
        joint = [own[i] for i, k in enumerate(self.cardinalities) if own[i].size < k]
        if not apart:
            return bound
        alone = sum(part.bound(Priced.free(self.matrix.S)) for part in apart)
        return min(bound, alone + (self._together(joint, common) if joint else 0.0))

    def _together(self, own: Sequence[Portion], common: Portion) -> float:
        """What some components explain on the union of their variables."""
        parts = [*own, common]
        inside = sorted({j for part in parts for j in part.inside})
        free = sorted({j for part in parts if part.missing for j in part.free} - set(inside))
        size = sum(part.size for part in parts)
        return union_bound(self.matrix, len(own), size, indices(inside), indices(free))

    def _next(self) -> tuple[int, int] | None:
        """The part and the variable to divide by: the one that matters most for an open part."""
        best, place = -1.0, self._twice()
        if self.split is None:
            return place
        for i, (part, priced) in enumerate(zip(self.parts, self._priced(self.split), strict=True)):
            if part.is_settled:
                continue
            N = priced.N
            if part.shared:
                merits = N.diagonal()[list(part.free)]
            else:
                chosen = indices(part.all)
                values, vectors = np.linalg.eigh(N[np.ix_(chosen, chosen)])
                merits = (values[-1] * vectors[:, -1] ** 2)[len(part.inside) :]
            x = int(np.argmax(merits))
            if merits[x] > best:
                best, place = float(merits[x]), (i, part.free[x])
        return place

    def _twice(self) -> tuple[int, int] | None:
        """A variable that two parts may still have, though all are settled."""
        seen: set[int] = set()
        for i, part in enumerate(self.parts):
            for x in part.all:
                if x in seen and x in part.free:
                    return i, x
            seen.update(part.all)
        return None

    def _clipped(self, incumbent: Incumbent) -> Split:
        """The best of a few, by what a quick search finds."""
        S, r = self.matrix.S, len(self.cardinalities)
        values, vectors = np.linalg.eigh(S)
        top, shared = values[-1], self.parts[-1]

        def promise(cap: float, floor: float) -> float:
            if time.monotonic() > incumbent.deadline:
                return np.inf
            kept = np.clip(values - floor * top, 0.0, max(cap - floor, 0.0) * top)
            priced = Priced.free((vectors * kept) @ vectors.T)
            total = float(np.sort(values - kept)[-r:].sum()) + shared.bound(priced)
            for part in self.parts[:-1]:
                if part.size:
                    total += float(priced.largest(part.binding(priced)[:1])[0])
            return total

        cap = min(_CAPS, key=lambda cap: promise(cap, 0.0))
        # Without shared variables a floor changes nothing: what it takes from N the rest gets.
        floor = min(_FLOORS, key=lambda floor: promise(cap, floor)) if shared.size else 0.0
        return Split.clipped(S, r, cap * top, floor * top)

    def _leaf(self, incumbent: Incumbent) -> list[Node] | None:
        """All parts are settled: disjoint components are solved, others go on with the dual."""
        sets = [part.all for part in self.parts]
        S, shared = self.matrix.S, self.parts[-1].all
        if not shared:
            supports = [indices(each) for each in sets[:-1]]
            incumbent.offer_on(supports)
            total = sum(self.matrix.ky_fan(support, 1) for support in supports)
            solved = replace(self, bound=min(self.bound, total))
            return [solved] if solved.bound <= incumbent.threshold else None
        kept = sorted({j for each in sets for j in each})
        place = {j: i for i, j in enumerate(kept)}
        free = tuple(place[j] for j in shared)
        families = [
            Family.between(k, tuple(place[j] for j in own), free)
            for k, own in zip(self.cardinalities, sets[:-1], strict=True)
        ]
        problem = Subproblem.of(S[np.ix_(kept, kept)], self.cardinalities, 0.0, alike=False)
        unbounded = [each for each in families if each.k > len(kept) - problem.r]
        if all(each.is_decided for each in unbounded):
            others = tuple(tuple(kept[j] for j in each.hull) for each in unbounded)
            problem = replace(problem, variables=tuple(kept), others=others)
        return [FlagNode.of(problem, families, above=self.bound)]


def _bounds(parts: Sequence[Portion], priced: Sequence[Priced]) -> list[float]:
    return [part.bound(each) for part, each in zip(parts, priced, strict=True)]


def _apart(parts: Sequence[Portion]) -> list[Portion]:
    """What one part is known to have no other has."""
    found = list(parts)
    for i, part in enumerate(parts):
        for x in part.inside:
            found = [each if j == i else each.without(x) for j, each in enumerate(found)]
    return found


def sharings(cardinalities: Sequence[int], d: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """How many shared variables each component has, and how many there are at most, each once.

    ``cardinalities`` are ascending, and so are the numbers for those that are equal. All supports
    are as large as they may be. A shared variable is in two or more of them; none is in the support
    of a component of cardinality one, whose variable the others do without.
    """
    kinds = [
        combinations_with_replacement(range(k + 1 if k > 1 else 1), len(list(alike)))
        for k, alike in groupby(cardinalities)
    ]
    for numbers in product(*kinds):
        shared = tuple(chain(*numbers))
        count = min(sum(shared) // 2, d - sum(cardinalities) + sum(shared))
        if count >= max(shared):
            yield shared, count


def count_of_sharings(cardinalities: Sequence[int]) -> int:
    """At least how many there are."""
    numbers = [(k if k > 1 else 0, len(list(alike))) for k, alike in groupby(cardinalities)]
    return prod(comb(k + count, count) for k, count in numbers)
