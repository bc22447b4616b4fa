"""The best choice of things that each bring something and cost something: the 0/1 knapsack.

A multiplier λ for the budget and one, μ, for the number of things bound what any choice brings by

    λ·budget + μ·count + Σ max(0, value_j − λ·cost_j − μ),

and a choice that treats thing j otherwise than the sum does brings |value_j − λ·cost_j − μ| less
than that at least. So most things are decided by a good choice that is known; the few others are
decided by dynamic programming over all choices that are not dominated: cheaper and better ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from redac.constraints.sets import Indices, Mask, Vector, largest

# Budgets are met to rounding.
_ROUNDING = 1e-12
# Steps of bisection for the multiplier; any gives a bound, the best one saves work.
_BISECTIONS = 15
# Choices that are kept at most: a second of work at worst. Costs in whole numbers without a
# limit on their number lead to no more choices than the budget has units; where there are more,
# those with the highest bounds are kept, and the answer is not proved to be the best.
MOST_CHOICES = 5000


class _Price(NamedTuple):
    """λ, μ and the bound that belongs to them."""

    cost: float
    place: float
    bound: float


class _Choices(NamedTuple):
    """Sets of things, each with what it costs and brings, and how many they are."""

    cost: Vector
    value: Vector
    number: Vector
    taken: Mask  # choices × things that are not decided otherwise

    def some(self, chosen: Indices) -> _Choices:
        return _Choices(
            self.cost[chosen], self.value[chosen], self.number[chosen], self.taken[chosen]
        )


def best_choice(values: Vector, costs: Vector, budget: float, most: int | None = None) -> Indices:
    """The things with the largest sum of values within a budget, at most ``most`` of them."""
    limit = budget * (1.0 + _ROUNDING)
    things = np.flatnonzero((values > 0.0) & (costs <= limit))
    v, c = values[things], costs[things]
    count = np.inf if most is None or most >= things.size else most
    if count <= 0 or not things.size:
        return things[:0]
    if count == np.inf and c.sum() <= limit:
        return things
    return things[_exact(v / v.max(), c, limit, count)]


def _exact(v: Vector, c: Vector, limit: float, count: float) -> Mask:
    """The best of all choices: most things are decided by bounds, the others one by one."""
    price = _price(v, c, limit, count)
    reduced = v - price.cost * c - price.place
    known = max(
        (_greedy(c, limit, count, np.argsort(-each, kind="stable")) for each in (reduced, v)),
        key=lambda taken: float(v[taken].sum()),
    )
    is_open = np.abs(reduced) <= price.bound - v[known].sum() + _ROUNDING
    taken: Mask = (reduced > 0.0) & ~is_open
    limit, count = limit - float(c[taken].sum()), count - np.count_nonzero(taken)
    height = float(v[known].sum() - v[taken].sum())
    order = np.flatnonzero(is_open)
    order = order[np.argsort(-np.abs(reduced[order]), kind="stable")]
    to_come = np.append(np.maximum(reduced[order], 0.0)[::-1].cumsum()[::-1], 0.0)
    nothing = np.zeros(1)
    choices = _Choices(nothing, nothing, nothing, np.zeros((1, order.size), dtype=bool))
    for place, j in enumerate(order):
        choices = _grown(choices, place, float(v[j]), float(c[j]), limit, count)
        bounds = choices.value + price.cost * (limit - choices.cost)
        bounds += to_come[place + 1]
        if price.place > 0.0:
            bounds += price.place * (count - choices.number)
        choices = _hopeful(choices, bounds, height - _ROUNDING)
    best = int(np.argmax(choices.value)) if choices.value.size else -1
    if limit < 0.0 or count < 0 or best < 0 or choices.value[best] <= height:
        return known
    taken[order[choices.taken[best]]] = True
    return taken


def _price(v: Vector, c: Vector, limit: float, count: float) -> _Price:
    """The multipliers with the least bound that bisection finds."""
    low, high = 0.0, 2.0 * float(v.sum()) / limit
    found = []
    for step in range(_BISECTIONS):
        cost = low if step == 0 else 0.5 * (low + high)
        reduced = v - cost * c
        chosen = largest(np.maximum(reduced, 0.0), int(min(count, v.size)))
        place = float(reduced[chosen].min()) if chosen.size == count else 0.0
        bound = cost * limit + float(reduced[chosen].sum())
        found.append((bound, cost, place))
        if c[chosen].sum() > limit:
            low = cost
        elif step == 0:
            break  # the budget does not bind
        else:
            high = cost
    bound, cost, place = min(found)
    return _Price(cost, place, bound)


def _greedy(c: Vector, limit: float, count: float, order: Indices) -> Mask:
    """What fits, in an order."""
    taken = np.zeros(c.size, dtype=bool)
    for j in order:
        if c[j] <= limit:
            taken[j] = True
            limit -= c[j]
            count -= 1
            if count == 0:
                break
    return taken


def _grown(
    old: _Choices, place: int, value: float, cost: float, limit: float, count: float
) -> _Choices:
    """All choices with and without one more thing."""
    new = old.some(np.flatnonzero((old.cost + cost <= limit) & (old.number < count)))
    new.taken[:, place] = True
    return _Choices(
        np.concatenate([old.cost, new.cost + cost]),
        np.concatenate([old.value, new.value + value]),
        np.concatenate([old.number, new.number + (count < np.inf)]),
        np.concatenate([old.taken, new.taken]),
    )


def _hopeful(choices: _Choices, bounds: Vector, height: float) -> _Choices:
    """Those that may still win and that no other of as many things is both cheaper and better."""
    hopeful = np.flatnonzero(bounds >= height)
    if hopeful.size > MOST_CHOICES:
        hopeful = hopeful[np.argsort(-bounds[hopeful], kind="stable")[:MOST_CHOICES]]
    choices = choices.some(hopeful)
    choices = choices.some(np.lexsort((-choices.value, choices.cost, choices.number)))
    kept = np.zeros(choices.value.size, dtype=bool)
    for number in np.unique(choices.number):
        same = np.flatnonzero(choices.number == number)
        best = np.maximum.accumulate(choices.value[same])
        kept[same] = np.append(True, best[1:] > best[:-1])
    return choices.some(np.flatnonzero(kept))
