"""One tuner for methods whose sparsity is set by a penalty:

find the penalty that gives a wanted cardinality.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from redac.exceptions import CardinalityWarning
from redac.sources.base import Array

Answer = TypeVar("Answer")


def cardinality_of(v: Array) -> int:
    """Number of non-zero entries, of a vector or a whole matrix."""
    return int(np.count_nonzero(v))


def tune_penalty(
    solve: Callable[[float], Answer],
    target: int,
    *,
    low: float,
    high: float,
    count: Callable[[Answer], int],
    what: str,
    prefer: Callable[[Answer], float] | None = None,
    max_solves: int = 60,
) -> Answer:
    """The answer with ``target`` non-zeros, by bisection on a penalty that thins answers out as it
    grows.

    Parameters
    ----------
    solve : the answer for a penalty.
    target : the wanted number of non-zeros. low, high : penalties between which it is sought;
        ``low`` should give too many non-zeros, ``high`` too few.
    count : the number of non-zeros of an answer.
    what : named in the warning, for instance "gpower_l1, component 3".
    prefer : among answers with the right count the one with the largest value wins; without it the
        first is taken.
    max_solves : how many penalties are tried at most.

    Returns ------- The best answer with the wanted count. When none is found, the densest answer
    below it, with a ``CardinalityWarning`` that says so; if there is none below, the sparsest
    above.
    """
    tried: list[tuple[float, int, Answer]] = []
    for _ in range(max_solves):
        penalty = (low + high) / 2
        answer = solve(penalty)
        tried.append((penalty, count(answer), answer))
        if tried[-1][1] == target and prefer is None:
            return answer
        if tried[-1][1] > target:
            low = penalty
        elif tried[-1][1] < target or prefer is not None:
            high = penalty
        if high - low <= 1e-12 * max(abs(high), abs(low)):
            break
    hits = [answer for _, found, answer in tried if found == target]
    if hits and prefer is not None:
        return max(hits, key=prefer)
    return _nearest(tried, target, what)


def _nearest(tried: list[tuple[float, int, Answer]], target: int, what: str) -> Answer:
    below = [row for row in tried if 0 < row[1] < target]
    chosen = (
        max(below, key=lambda row: row[1])
        if below
        else min(tried, key=lambda row: abs(row[1] - target))
    )
    warnings.warn(
        f"{what}: no penalty found that gives {target} non-zero loadings; settled for {chosen[1]}.",
        CardinalityWarning,
        stacklevel=3,
    )
    return chosen[2]
