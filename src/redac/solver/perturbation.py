"""Iterated local search: what one start misses, many small changes of the best may find.

A round takes one component out, or a few, puts new ones in where much is left to explain, and runs
the algorithm from there. The next round goes on from the result if it is better or, now and then, a
little worse; the best of all stays known. Rounds follow each other in a chain, and several chains,
each with a seed of its own, can run side by side.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from dataclasses import replace

import numpy as np
from joblib import Parallel

from redac.solver.attempts import Attempt
from redac.solver.climb import Start, Step, around, converge, explore, settle
from redac.solver.problem import Problem
from redac.solver.redraw import redraw_at_random
from redac.solver.search import Search
from redac.solver.sweep import Solution
from redac.sources.base import Array
from redac.workers import delayed, signals_wait

# Seconds between two reports of chains that run side by side, and until they heed Ctrl-C.
_STRETCH = 0.5


def perturb(
    search: Search, rounds: int, rng: np.random.RandomState, n_chains: int
) -> list[Attempt]:
    """Let chains look for something better than what a search has found; what they came to."""
    # Where nothing was found to be explained, nothing can be redrawn either.
    if search.is_over or not search.found.V.any() or rounds == 0:
        return []
    # Rounds draw from all over the features that they look at, so these are more.
    pool = around(search.problem, search.found.V, widened=search.problem.strategy.scope)
    start = replace(search.found, V=pool.inside(search.found.V))
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_chains)
    chains = [Chain(pool.problem, start, search.value, int(seed), rounds) for seed in seeds]
    search.run(_stretches(search, chains))
    # Once, at the end: what is found must not depend on how far each chain was at which report.
    best = max(chains, key=lambda chain: chain.value)
    search.adopt(replace(best.solution, V=pool.embed(best.solution.V)), best.value)
    search.interrupted |= any(chain.is_interrupted for chain in chains)
    attempts = [attempt for chain in chains for attempt in chain.attempts]
    if pool.features is None:
        return attempts
    search.try_starts([Start(search.found.V)])
    # Their features are numbered as in the pool.
    return [replace(each, features=pool.features[each.features]) for each in attempts]


class Chain:
    """Rounds that follow each other, and the best that they have found."""

    def __init__(
        self, problem: Problem, solution: Solution, value: float, seed: int, rounds: int
    ) -> None:
        self.problem = problem
        self.attempts: list[Attempt] = []
        self._search = Search(problem)
        self._search.adopt(solution, value)
        self._rounds_left = rounds
        self._V, self._height = solution.V, value  # where the chain stands
        self._converged: set[Hashable] = set()
        self._rng = np.random.RandomState(seed)

    @property
    def solution(self) -> Solution:
        return self._search.found

    @property
    def value(self) -> float:
        return self._search.value

    @property
    def is_interrupted(self) -> bool:
        return self._search.interrupted

    @property
    def is_over(self) -> bool:
        return self._rounds_left == 0 or self.is_interrupted

    def advance(self, seconds: float) -> Chain:
        """One round, and more for so many seconds."""
        self._search.run(self._rounds(time.monotonic() + seconds))
        return self

    def _rounds(self, until: float) -> Iterator[None]:
        while self._rounds_left:
            self._rounds_left -= 1
            yield from self._round()
            if time.monotonic() >= until:
                break

    def _round(self) -> Iterator[None]:
        search, problem = self._search, self.problem
        V = self._redrawn()
        search.runs[0] = Step(problem.whole, Solution(V))
        yield from search.follow("round", 0, settle(problem, Start(V)))
        yield from search.follow("round", 0, explore(problem, search.runs[0]))
        step = search.runs[0]
        is_known = step.place in self._converged and not problem.is_better(step.value, self.value)
        if search.may_win(step) and not is_known:
            self._converged.add(step.place)
            yield from search.follow("round", 0, converge(problem, step))
        self._judge(search.runs.pop(0))

    def _judge(self, step: Step) -> None:
        """Keep what a round came to if it is the best, and go on from there if it is good."""
        problem, solution = self.problem, step.whole
        self.attempts.append(Attempt.of(solution.V, step.value, problem.total))
        self._search.adopt(solution, step.value)
        warmth = problem.strategy.warmth * self._rng.exponential() * problem.total
        if step.value > self._height - warmth:
            self._V, self._height = solution.V, step.value

    def _redrawn(self) -> Array:
        """The loadings with some components drawn anew on what the others leave."""
        V = self._V.copy()
        r = V.shape[1]
        # One, and for every head of a coin another one.
        count = min(self._rng.geometric(0.5), r)
        chosen = self._rng.choice(r, size=count, replace=False)
        V[:, chosen] = 0.0
        for i in chosen:
            V = redraw_at_random(self.problem, V, i, self._rng)
        return V


def _stretches(search: Search, chains: list[Chain]) -> Iterator[None]:
    """Let all chains of a list advance, for some time at once; several in their own processes.

    Signals wait until such a stretch has ended: what it has found would be lost, and joblib would
    print the errors of a thread of its own if one came while it hands out work.
    """
    with Parallel(n_jobs=len(chains)) as parallel:
        while not all(chain.is_over for chain in chains):
            if len(chains) == 1:
                chains[0].advance(0.0)
            else:
                with signals_wait():
                    chains[:] = parallel(delayed(chain.advance)(_STRETCH) for chain in chains)
            search.report("perturbation")
            if any(chain.is_interrupted for chain in chains):
                return
            yield
