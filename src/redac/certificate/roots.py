"""Where a search starts: regions that together cover every feasible choice of loadings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from math import comb

import numpy as np

from redac.certificate.flags import FlagNode, Subproblem
from redac.certificate.groups import BlockNode, Group, Matrix, largest_union
from redac.certificate.single import SingleNode
from redac.certificate.tree import Node
from redac.sources.base import Array

# Beyond these a search would not get anywhere in minutes.
FLAG_ORDER = 150
BLOCK_ORDER = 1500
_MOST_PARTITIONED = 8
_MOST_SPLIT = 5000


def roots(S: Array, cardinalities: Sequence[int], deadline: float = np.inf) -> list[Node]:
    """The regions of the whole problem; none where a search is out of reach.

    None, too, if they have not all been bounded by the deadline: some of them prove nothing.

    Components of cardinality one split off: span{e_j, v} does not change when v is made zero at j,
    so they explain Tr S_JJ for some J, and the others what they can without J.
    """
    d, r = len(S), len(cardinalities)
    several = tuple(k for k in cardinalities if k > 1)
    ones = r - len(several)
    left = d - ones
    if r == 1:
        return [SingleNode.root(S, cardinalities[0])] if d <= BLOCK_ORDER else []
    if largest_union(several) < left:
        if d > BLOCK_ORDER or len(several) > _MOST_PARTITIONED:
            return []
        matrix = Matrix(S)
        partitions = _partitions(cardinalities)
        return _in_time(
            (partial(BlockNode.root, matrix, groups) for groups in partitions), deadline
        )
    if d > FLAG_ORDER:
        return []
    if comb(d, ones) > _MOST_SPLIT:
        return [FlagNode.root(Subproblem.of(S, tuple(cardinalities), 0.0))]
    chosen = combinations(range(d), ones)
    return _in_time((partial(_without, S, several, J) for J in chosen), deadline)


def _in_time(regions: Iterable[Callable[[], Node]], deadline: float) -> list[Node]:
    bounded: list[Node] = []
    for region in regions:
        if time.monotonic() > deadline:
            return []
        bounded.append(region())
    return bounded


def _without(S: Array, several: tuple[int, ...], J: tuple[int, ...]) -> Node:
    kept = np.setdiff1d(np.arange(len(S)), J)
    offset = float(S.diagonal()[list(J)].sum())
    return FlagNode.root(Subproblem.of(S[np.ix_(kept, kept)], several, offset))


def _partitions(cardinalities: Sequence[int]) -> Iterator[tuple[Group, ...]]:
    """The ways in which components can hang together and the sizes of their unions, each once.

    All apart comes first, with the components in their own order.
    """
    yield tuple(Group.single(k) for k in cardinalities)
    several = [k for k in cardinalities if k > 1]
    ones = tuple(Group.single(1) for k in cardinalities if k == 1)
    seen: set[tuple[tuple[int, ...], ...]] = {tuple((k,) for k in sorted(several))}
    for parts in _set_partitions(several):
        key = tuple(sorted(tuple(sorted(part)) for part in parts))
        if key not in seen:
            seen.add(key)
            for groups in product(*(_sizes(part) for part in key)):
                yield groups + ones


def _sizes(part: tuple[int, ...]) -> list[Group]:
    """A smaller union is part of one of the least size; independent vectors need their number."""
    least = max(*part, len(part))
    return [Group(part, size) for size in range(least, largest_union(part) + 1)]


def _set_partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for parts in _set_partitions(rest):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]
