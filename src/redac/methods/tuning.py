"""One tuner for methods whose sparsity is set by a penalty.

It finds the penalty that gives a wanted cardinality.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from redac.exceptions import CardinalityWarning
from redac.sources.base import Array
from redac.user_line import warn_user

Answer = TypeVar("Answer")


def cardinality_of(v: Array) -> int:
    """Number of non-zero entries, of a vector or a whole matrix."""
    return int(np.count_nonzero(v))


def search_penalty(
    solve: Callable[[float], Answer],
    target: int,
    *,
    low: float,
    high: float,
    count: Callable[[Answer], int],
    max_solves: int = 60,
) -> list[Answer]:
    """Answers for penalties on the way to one with ``target`` non-zeros, which comes last if found.

    Parameters
    ----------
    solve : the answer for a penalty; a larger penalty thins answers out.
    target : the wanted number of non-zeros.
    low, high : penalties between which it is sought by bisection; ``low`` should give too many
        non-zeros, ``high`` too few.
    count : the number of non-zeros of an answer.
    max_solves : how many penalties are tried at most.
    """
    tried: list[Answer] = []
    for _ in range(max_solves):
        penalty = (low + high) / 2
        tried.append(solve(penalty))
        found = count(tried[-1])
        if found == target:
            break
        low, high = (penalty, high) if found > target else (low, penalty)
        if high - low <= 1e-12 * max(abs(high), abs(low)):
            break
    return tried


def closest(tried: list[Answer], target: int, count: Callable[[Answer], int]) -> Answer:
    """The answer with the wanted count, else the densest below it, else the sparsest above it."""
    below = [answer for answer in tried if 0 < count(answer) <= target]
    if below:
        return max(below, key=count)
    return min(tried, key=lambda answer: abs(count(answer) - target))


def tune_penalty(
    solve: Callable[[float], Answer],
    target: int,
    *,
    low: float,
    high: float,
    count: Callable[[Answer], int],
    what: str,
    trim: Callable[[Answer], Answer] | None = None,
    max_solves: int = 60,
) -> Answer:
    """The answer with ``target`` non-zeros; parameters as in :func:`search_penalty`.

    Parameters
    ----------
    what : named in the warning, for instance "gpower_l1, component 3".
    trim : cuts an answer that is too dense down to the target. Where no penalty gives it, the
        sparsest denser answer is trimmed; without ``trim`` the closest answer is taken, with a
        ``CardinalityWarning`` that says what was settled for.
    """
    tried = search_penalty(solve, target, low=low, high=high, count=count, max_solves=max_solves)
    denser = [answer for answer in tried if count(answer) > target]
    if count(tried[-1]) != target and trim is not None and denser:
        return trim(min(denser, key=count))
    answer = closest(tried, target, count)
    if count(answer) != target:
        warn_user(
            f"{what}: no penalty found that gives {target} non-zero loadings; "
            f"settled for {count(answer)}.",
            CardinalityWarning,
        )
    return answer
