"""Iterated local search: what one start misses, many small changes of the best may find.

A round takes one to three components out, puts new ones in where most is left to explain, and runs
the algorithm from there. The next round goes on from the result if it is better or, now and then, a
little worse, and after many rounds in vain half of the components are drawn anew; the best of all
stays known. Rounds follow each other in a chain, and several chains, each with a seed of its own,
can run side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from redac.attempts import Attempt
from redac.iterate import NOISE
from redac.run import Problem, Run, promising
from redac.search import Search
from redac.solver import Solution, Status, directions
from redac.sources.base import Array
from redac.threads import one_thread

_MOST_REDRAWN = 3
_POWER_STEPS = 4
# A round that is behind by more than this share once its sweeps gain little is given up.
_BEHIND = 4e-3
# How much worse a result may be and still be taken: on average a share between these powers of ten.
_COLDEST, _WARMEST = -3.5, -2.5
# Rounds in vain after which a chain leaves its place.
_PATIENCE = 150
_EQUAL = 1e-7
# Rounds look at all features up to this number, and at this many of the most promising ones beyond.
_POOL = 2000
_POOL_SCOPE = 8
# Rounds between two reports of chains that run side by side.
_STRETCH = 25


def perturb(
    search: Search, rounds: int, rng: np.random.RandomState, n_chains: int
) -> list[Attempt]:
    """Let chains look for something better than what a search has found; what they came to."""
    rounds = 0 if search.is_over else rounds
    if rounds == 0:
        return []
    pool = Pool(search.problem, search.found.V)
    start, value = pool.inside(search.found), search.value
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_chains)
    first = [Chain(pool.problem, start, value, int(seed)) for seed in seeds]
    attempts: list[Attempt] = []
    try:
        for chains in _stretches(first, rounds):
            attempts += [attempt for chain in chains for attempt in chain.told()]
            best = max(chains, key=lambda chain: chain.value)
            search.adopt(pool.outside(best.solution), best.value)
            search.monitor.begin("perturbation")
            search.monitor.end()
            if search.is_over:
                break
    except KeyboardInterrupt:
        search.interrupt()
    if not (pool.is_whole or search.is_over):
        search.try_starts([(search.found.V, 0.0)])
    return [pool.seen_outside(attempt) for attempt in attempts]


class Chain:
    """Rounds that follow each other, and the best that they have found."""

    def __init__(self, problem: Problem, solution: Solution, value: float, seed: int) -> None:
        self.problem = problem
        self.solution, self.value = solution, value
        self._attempts: list[Attempt] = []
        # Where the chain stands, and the best since it left its last place.
        self._V, self._height, self._peak = solution.V, value, value
        self._in_vain = 0
        self._rng = np.random.RandomState(seed)

    @property
    def is_interrupted(self) -> bool:
        return self.solution.status is Status.INTERRUPTED

    def advance(self, rounds: int) -> Chain:
        """Some rounds more; Ctrl-C keeps what was found."""
        try:
            with one_thread(2 * self._V.size):
                for _ in range(rounds):
                    if not self.is_interrupted:
                        self._round()
        except KeyboardInterrupt:
            self.solution = replace(self.solution, status=Status.INTERRUPTED)
        return self

    def told(self) -> list[Attempt]:
        """What the rounds since the last time came to."""
        attempts, self._attempts = self._attempts, []
        return attempts

    def _round(self) -> None:
        leaves = self._in_vain >= _PATIENCE
        run = Run(self.problem, self._redrawn(leaves), 0.0)
        run.settle()
        if leaves or run.appraise() >= self._height - _BEHIND * self.problem.total:
            run.finish()
            run.appraise()
        self._judge(run, leaves)

    def _judge(self, run: Run, leaves: bool) -> None:
        total = self.problem.total
        V, value = run.solution.V, run.value
        self._attempts.append(Attempt.of(V, value, total))
        if leaves:
            self._peak = -np.inf
        self._in_vain = 0 if value > self._peak + _EQUAL * total else self._in_vain + 1
        self._peak = max(self._peak, value)
        warmth = 10.0 ** self._rng.uniform(_COLDEST, _WARMEST)
        if leaves or value > self._height - warmth * self._rng.exponential() * total:
            self._V, self._height = V, value
        if value > self.value + NOISE * total:
            self.solution, self.value = run.solution, value
        if run.solution.status is Status.INTERRUPTED:
            self.solution = replace(self.solution, status=Status.INTERRUPTED)

    def _redrawn(self, leaves: bool) -> Array:
        """The loadings with some components, or half, drawn anew on what the others leave."""
        source, V = self.problem.source, self._V.copy()
        r = V.shape[1]
        count = self._rng.randint(1, min(_MOST_REDRAWN, r) + 1)
        count = max(count, (r + 1) // 2) if leaves else count
        chosen = self._rng.choice(r, size=count, replace=False)
        V[:, chosen] = 0.0
        for i in chosen:
            basis = np.linalg.qr(V[:, V.any(axis=0)])[0]
            w = source.dot(_outside(self._rng.standard_normal((len(V), 1)), basis))[:, 0]
            for _ in range(_POWER_STEPS):
                v = self.problem.constraints[i].maximize(_outside(w, basis))
                w = source.dot(_outside(v, basis)[:, None])[:, 0]
            V[:, i] = self.problem.constraints[i].maximize(_outside(w, basis))
        return V


def _outside(w: Array, basis: Array) -> Array:
    """The part of w outside the span of the basis."""
    return w - basis @ (basis.T @ w)


class Pool:
    """The problem on the features that a search looks at: all, or the most promising ones.

    Rounds on a pool do not touch the data, however large they are.
    """

    def __init__(self, problem: Problem, V: Array) -> None:
        d = problem.source.n_features
        self._d = d
        self._features = np.arange(d)
        self.problem = problem
        if d > _POOL:
            W = directions(problem.source, V, problem.ridge)
            chosen = promising(W, problem.constraints, _POOL_SCOPE)
            self._features = np.union1d(chosen, np.flatnonzero(V.any(axis=1)))
        if self._features.size < d:
            source = problem.source.restricted(self._features)
            self.problem = replace(problem, source=source, total=problem.total)

    @property
    def is_whole(self) -> bool:
        """Whether no feature was left out."""
        return self._features.size == self._d

    def inside(self, solution: Solution) -> Solution:
        """A solution on all features, on those of the pool."""
        return replace(solution, V=solution.V[self._features])

    def outside(self, solution: Solution) -> Solution:
        """A solution on the features of the pool, on all."""
        V = np.zeros((self._d, solution.V.shape[1]))
        V[self._features] = solution.V
        return replace(solution, V=V)

    def seen_outside(self, attempt: Attempt) -> Attempt:
        """An attempt with the numbers that its features have among all."""
        return replace(attempt, features=self._features[attempt.features])


def _stretches(chains: list[Chain], rounds: int) -> Iterator[list[Chain]]:
    """Let chains advance, some rounds at a time; several in processes of their own."""
    if len(chains) == 1:
        for _ in range(rounds):
            yield [chains[0].advance(1)]
        return
    with Parallel(n_jobs=len(chains)) as parallel:
        for done in range(0, rounds, _STRETCH):
            count = min(_STRETCH, rounds - done)
            chains = parallel(delayed(chain.advance)(count) for chain in chains)
            yield chains
