"""Bounds for components whose supports fall into blocks that do not overlap.

Join two components when their supports share a variable. The connected groups that arise have
disjoint unions of supports, so their subspaces are orthogonal and what they explain adds up. A
group of m components that hang together covers at most K = Σk − (m − 1) variables, and explains at
most KyFan_m(S_UU) on the union U; a group of one explains exactly the largest eigenvalue. A branch
and bound over the unions U_g therefore bounds the problem, and solves it where all groups are
single.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from redac.certificate.flags import FlagNode, Subproblem
from redac.certificate.single import moment_bound
from redac.certificate.tree import Incumbent, Node
from redac.sources.base import Array, Indices

# Beyond this order an eigenvalue bound at every node costs more than the branching it saves.
_EIGENVALUE_ORDER = 300


@dataclass(frozen=True)
class Group:
    """Components, by their cardinalities, whose supports together cover ``size`` variables."""

    cardinalities: tuple[int, ...]
    size: int

    @classmethod
    def single(cls, k: int) -> Group:
        """One component; a smaller support is part of one of size k."""
        return cls((k,), k)

    @property
    def rank(self) -> int:
        return len(self.cardinalities)


def largest_union(cardinalities: tuple[int, ...]) -> int:
    """The most variables that supports which hang together can cover."""
    return sum(cardinalities) - len(cardinalities) + 1


@dataclass(frozen=True)
class Matrix:
    """A covariance matrix with the squares of its entries."""

    S: Array

    @cached_property
    def diagonal(self) -> Array:
        return self.S.diagonal().copy()

    @cached_property
    def squares(self) -> Array:
        squares = self.S * self.S
        np.fill_diagonal(squares, 0.0)
        return squares

    def ky_fan(self, chosen: Indices, rank: int) -> float:
        """The sum of the largest eigenvalues of a principal submatrix."""
        if chosen.size == 0:
            return 0.0
        return float(np.linalg.eigvalsh(self.S[np.ix_(chosen, chosen)])[-rank:].sum())


def union_bound(matrix: Matrix, rank: int, size: int, inside: Indices, free: Indices) -> float:
    """At least KyFan_rank(S_UU) for every U with inside ⊆ U ⊆ inside ∪ free and |U| ≤ size.

    The smallest of three: the eigenvalues of all of it, the largest trace, and the largest sum that
    eigenvalues with such a trace and such a Frobenius norm can have.
    """
    missing = size - inside.size
    allowed = np.concatenate([inside, free])
    if missing <= 0 or allowed.size <= size:
        return matrix.ky_fan(inside if missing <= 0 else allowed, rank)
    variances = np.sort(matrix.diagonal[free])
    base = float(matrix.diagonal[inside].sum())
    high = base + float(variances[-missing:].sum())
    low = base + float(variances[:missing].sum())
    squares = _largest_square_sum(matrix, missing, inside, free)
    bound = min(high, moment_bound(rank, size, low, high, squares))
    if allowed.size <= _EIGENVALUE_ORDER:
        bound = min(bound, matrix.ky_fan(allowed, rank))
    return bound


def _largest_square_sum(matrix: Matrix, missing: int, inside: Indices, free: Indices) -> float:
    """At least ‖S_UU‖² in the Frobenius norm: each row takes its own largest entries."""
    allowed = np.concatenate([inside, free])
    rows = matrix.squares[allowed]
    from_free = rows[:, free]
    sums = matrix.diagonal[allowed] ** 2 + rows[:, inside].sum(axis=1)
    count = inside.size
    split = free.size - missing
    sums[:count] += np.partition(from_free[:count], split, axis=1)[:, split:].sum(axis=1)
    # A free row has its own diagonal entry among those it takes.
    if missing > 1:
        tail = np.partition(from_free[count:], split + 1, axis=1)[:, split + 1 :]
        sums[count:] += tail.sum(axis=1)
    return float(sums[:count].sum() + np.partition(sums[count:], split)[split:].sum())


@dataclass(frozen=True)
class BlockNode(Node):
    """Unions of supports, one for each group, known in part."""

    matrix: Matrix
    groups: tuple[Group, ...]
    inside: tuple[tuple[int, ...], ...]
    free: tuple[int, ...]

    method = "blocks"

    @classmethod
    def root(cls, matrix: Matrix, groups: tuple[Group, ...]) -> BlockNode:
        """Nothing decided yet."""
        everything = tuple(range(len(matrix.S)))
        return cls.bounded(np.inf, matrix, groups, ((),) * len(groups), everything)

    @classmethod
    def bounded(
        cls,
        above: float,
        matrix: Matrix,
        groups: tuple[Group, ...],
        inside: tuple[tuple[int, ...], ...],
        free: tuple[int, ...],
    ) -> BlockNode:
        """The node with its bound, never above that of its parent."""
        rest = _indices(free)
        bound = sum(
            union_bound(matrix, group.rank, group.size, _indices(chosen), rest)
            for group, chosen in zip(groups, inside, strict=True)
        )
        return cls(min(above, bound), matrix, groups, inside, free)

    def branch(self, incumbent: Incumbent) -> list[Node]:
        """One child for each group that a variable can join, and one without the variable."""
        if not self.open_groups:
            return self._leaf(incumbent)
        x = self._branching_variable(incumbent)
        free = tuple(j for j in self.free if j != x)
        arrangements = [self.inside, *self._joined(x)]
        return [
            BlockNode.bounded(self.bound, self.matrix, self.groups, inside, free)
            for inside in arrangements
        ]

    @cached_property
    def open_groups(self) -> list[int]:
        """The groups that can still grow; none when the unions are settled."""
        room = [g.size - len(chosen) for g, chosen in zip(self.groups, self.inside, strict=True)]
        growing = [i for i, left in enumerate(room) if left > 0]
        settled = len(growing) == 1 and len(self.free) <= room[growing[0]]
        return growing if self.free and not settled else []

    def _joined(self, x: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        """The unions with x added to one of them; of empty groups alike only the first counts."""
        seen = set()
        for i in self.open_groups:
            kind = (self.groups[i], self.inside[i])
            if kind in seen:
                continue
            if not self.inside[i]:
                seen.add(kind)
            yield (*self.inside[:i], (*self.inside[i], x), *self.inside[i + 1 :])

    def _branching_variable(self, incumbent: Incumbent) -> int:
        """The free variable with the largest part in the leading eigenvectors of some group."""
        scores = np.zeros(len(self.free))
        for i in self.open_groups:
            allowed = _indices(self.inside[i] + self.free)
            rank = self.groups[i].rank
            values, vectors = np.linalg.eigh(self.matrix.S[np.ix_(allowed, allowed)])
            part = (vectors[:, -rank:] ** 2) @ values[-rank:]
            scores = np.maximum(scores, part[len(self.inside[i]) :])
            if len(self.groups) == 1:
                self._try_rounding(part, incumbent)
        return self.free[int(np.argmax(scores))]

    def _try_rounding(self, part: Array, incumbent: Incumbent) -> None:
        """The support nearest to the eigenvector of a single component may be a better one."""
        (group,), (chosen,) = self.groups, self.inside
        if group.rank == 1:
            order = np.argsort(-part[len(chosen) :])[: group.size - len(chosen)]
            self._offer(incumbent, [(*chosen, *(self.free[j] for j in order))])

    def _offer(self, incumbent: Incumbent, supports: list[tuple[int, ...]]) -> None:
        V = np.zeros((len(self.matrix.S), len(supports)))
        for i, support in enumerate(supports):
            if support:
                chosen = _indices(support)
                V[chosen, i] = np.linalg.eigh(self.matrix.S[np.ix_(chosen, chosen)])[1][:, -1]
        incumbent.offer(V)

    def _leaf(self, incumbent: Incumbent) -> list[Node]:
        """All unions are settled: single groups are solved, others go on with the lifted dual."""
        room = [g.size - len(chosen) for g, chosen in zip(self.groups, self.inside, strict=True)]
        unions = [
            chosen + self.free if left > 0 else chosen
            for chosen, left in zip(self.inside, room, strict=True)
        ]
        if any(len(union) < g.rank for g, union in zip(self.groups, unions, strict=True)):
            return []  # no independent vectors live there, and dependent ones explain no more
        joint = [i for i, group in enumerate(self.groups) if group.rank > 1]
        if not joint:
            self._offer(incumbent, unions)
            return []
        # With several joint groups the largest is refined, the others keep their eigenvalues.
        refined = max(joint, key=lambda i: self.groups[i].size)
        offset = sum(
            self.matrix.ky_fan(_indices(unions[i]), self.groups[i].rank)
            for i in range(len(unions))
            if i != refined
        )
        kept = _indices(tuple(sorted(unions[refined])))
        part = Subproblem.of(
            self.matrix.S[np.ix_(kept, kept)],
            self.groups[refined].cardinalities,
            offset,
            covers=kept.size == self.groups[refined].size,
        )
        return [FlagNode.root(part, above=self.bound)]


def _indices(chosen: tuple[int, ...]) -> Indices:
    return np.array(chosen, dtype=np.intp)
