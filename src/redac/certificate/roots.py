"""Where a search starts: regions that together cover every feasible choice of loadings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from redac.certificate.flags import FlagNode, Subproblem
from redac.certificate.ownership import Guess, OwnershipNode, count_of_sharings, sharings
from redac.certificate.single import SingleNode
from redac.certificate.tree import Node
from redac.certificate.unions import Matrix
from redac.sources.base import Array

# Beyond these a search would not get anywhere in minutes. Where components must share variables,
# regions by the number of these are worth while if they are few.
FLAG_ORDER = 150
BLOCK_ORDER = 1500
_MOST_REGIONS, _FEW_REGIONS = 3000, 1000
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
    ks = tuple(sorted(cardinalities))
    is_sparse = sum(several) - len(several) + 1 < left
    most = _MOST_REGIONS if is_sparse else _FEW_REGIONS
    if (is_sparse or (ones == 0 and ks[-1] <= d - r)) and count_of_sharings(ks) <= most:
        if d > BLOCK_ORDER:
            return []
        begin = partial(OwnershipNode.root, Matrix(S), Guess(), ks)
        return _in_time((partial(begin, *kind) for kind in sharings(ks, d)), deadline)
    if d > FLAG_ORDER or is_sparse:
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
    problem = Subproblem.of(S[np.ix_(kept, kept)], several, offset)
    if len(problem.cardinalities) == len(several):
        alone = tuple((j,) for j in J)
        problem = replace(problem, variables=tuple(kept.tolist()), others=alone)
    return FlagNode.root(problem)
