"""Iterated local search: what one start misses, many small changes of the best may find.

A round takes one to three components out, puts new ones in where much is left to explain, and runs
the algorithm from there. The next round goes on from the result if it is better or, now and then, a
little worse, and after many rounds in vain half of the components are drawn anew; the best of all
stays known. Rounds follow each other in a chain, and several chains, each with a seed of its own,
can run side by side.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from joblib import Parallel

from redac.solver.attempts import Attempt
from redac.solver.climb import Step, around, close, finish, settle
from redac.solver.problem import Problem
from redac.solver.redraw import redraw_at_random
from redac.solver.search import Search
from redac.solver.starts import Start
from redac.solver.sweep import OnSweep, Solution
from redac.sources.base import Array
from redac.workers import delayed, signals_wait

# Rounds redraw up to so many components, as the search of docs/search.md always has.
_MOST_REDRAWN = 3
# Rounds look at so many times as many features as a run, because they draw from all over them.
_WIDENED = 4
# A round that is behind by so many times the usual warmth once its sweeps gain little is given up.
_BEHIND = 4.0
# Seconds between two reports of chains that run side by side, and until they heed Ctrl-C.
_STRETCH = 0.5


def perturb(
    search: Search, rounds: int, rng: np.random.RandomState, n_chains: int
) -> list[Attempt]:
    """Let chains look for something better than what a search has found; what they came to."""
    # Where nothing was found to be explained, nothing can be redrawn either.
    if search.is_over or not search.found.V.any() or rounds == 0:
        return []
    pool = around(search.problem, search.found.V, widened=_WIDENED)
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
        self._search = Search(problem, _Nobody())
        self._search.adopt(solution, value)
        self._rounds_left = rounds
        # Where the chain stands, and the best since it left its last place.
        self._V, self._height, self._peak = solution.V, value, value
        self._in_vain = 0
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
        leaves = self._in_vain >= problem.strategy.patience
        V = self._redrawn(leaves)
        search.runs[0] = Step(problem.whole, Solution(V))
        yield from search.follow("round", 0, settle(problem, Start(V)))
        behind = _BEHIND * problem.strategy.warmth * problem.total
        if leaves or search.runs[0].value >= self._height - behind:
            yield from search.follow("round", 0, finish(problem, search.runs[0]))
        if problem.is_better(search.runs[0].value, self.value):
            yield from search.follow("round", 0, close(problem, search.runs[0]))
        step = search.runs.pop(0)
        self._judge(step.whole, step.value, leaves)

    def _judge(self, solution: Solution, value: float, leaves: bool) -> None:
        total = self.problem.total
        self.attempts.append(Attempt.of(solution.V, value, total))
        if leaves:
            self._peak = -np.inf
        gained = value > self._peak + self.problem.tol * total
        self._in_vain = 0 if gained else self._in_vain + 1
        self._peak = max(self._peak, value)
        warmth = self.problem.strategy.warmth * self._rng.exponential() * total
        if leaves or value > self._height - warmth:
            self._V, self._height = solution.V, value
        self._search.adopt(solution, value)

    def _redrawn(self, leaves: bool) -> Array:
        """The loadings with some components, or half, drawn anew on what the others leave."""
        V = self._V.copy()
        r = V.shape[1]
        count = self._rng.randint(1, min(_MOST_REDRAWN, r) + 1)
        count = max(count, (r + 1) // 2) if leaves else count
        chosen = self._rng.choice(r, size=count, replace=False)
        V[:, chosen] = 0.0
        for i in chosen:
            V = redraw_at_random(self.problem, V, i, self._rng)
        return V


class _Nobody:
    """Nobody watches a chain; its search reports for it."""

    stopped = False

    def begin(self, task: str) -> OnSweep | None:
        return None

    def end(self) -> None:
        return None


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
            search.monitor.begin("perturbation")
            search.monitor.end()
            if any(chain.is_interrupted for chain in chains):
                return
            yield
