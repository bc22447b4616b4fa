"""Iterated local search: what one start misses, many small changes of the best may find.

A round takes one to three components out, puts new ones in where most is left to explain, and runs
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
from redac.solver.iterate import NOISE
from redac.solver.problem import Part, Problem
from redac.solver.run import Run, promising
from redac.solver.search import Search
from redac.solver.sweep import Solution, Status, directions
from redac.sources.base import Array
from redac.threads import one_thread
from redac.workers import delayed, signals_wait

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
# Seconds between two reports of chains that run side by side, and until they heed Ctrl-C.
_STRETCH = 0.5


def perturb(
    search: Search, rounds: int, rng: np.random.RandomState, n_chains: int
) -> list[Attempt]:
    """Let chains look for something better than what a search has found; what they came to."""
    # Where nothing was found to be explained, nothing can be redrawn either.
    rounds = 0 if search.is_over or not search.found.V.any() else rounds
    if rounds == 0:
        return []
    pool = _pool(search.problem, search.found.V)
    start, value = replace(search.found, V=pool.inside(search.found.V)), search.value
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_chains)
    chains = [Chain(pool.problem, start, value, int(seed), rounds) for seed in seeds]
    interrupted = False
    try:
        for _ in _stretches(chains):
            search.monitor.begin("perturbation")
            search.monitor.end()
            if search.monitor.stopped or any(chain.is_interrupted for chain in chains):
                break
    except KeyboardInterrupt:
        interrupted = True
    # Once, at the end: what is found must not depend on how far each chain was at which report.
    best = max(chains, key=lambda chain: chain.value)
    search.adopt(replace(best.solution, V=pool.embed(best.solution.V)), best.value)
    if interrupted or any(chain.is_interrupted for chain in chains):
        search.interrupt()
    attempts = [attempt for chain in chains for attempt in chain.attempts]
    if pool.features is None:
        return attempts
    if not search.is_over:
        search.try_starts([(search.found.V, 0.0)])
    # Their features are numbered as in the pool.
    return [replace(each, features=pool.features[each.features]) for each in attempts]


class Chain:
    """Rounds that follow each other, and the best that they have found."""

    def __init__(
        self, problem: Problem, solution: Solution, value: float, seed: int, rounds: int
    ) -> None:
        self.problem = problem
        self.solution, self.value = solution, value
        self.attempts: list[Attempt] = []
        self._rounds_left = rounds
        # Where the chain stands, and the best since it left its last place.
        self._V, self._height, self._peak = solution.V, value, value
        self._in_vain = 0
        self._rng = np.random.RandomState(seed)

    @property
    def is_interrupted(self) -> bool:
        return self.solution.status is Status.INTERRUPTED

    @property
    def is_over(self) -> bool:
        return self._rounds_left == 0 or self.is_interrupted

    def advance(self, seconds: float) -> Chain:
        """One round, and more for so many seconds; Ctrl-C keeps what was found."""
        until = time.monotonic() + seconds
        try:
            with one_thread(2 * self._V.size):
                while not self.is_over:
                    self._rounds_left -= 1
                    self._round()
                    if time.monotonic() >= until:
                        break
        except KeyboardInterrupt:
            self.solution = replace(self.solution, status=Status.INTERRUPTED)
        return self

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
        self.attempts.append(Attempt.of(V, value, total))
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


def _pool(problem: Problem, V: Array) -> Part:
    """The problem on the features that rounds look at: all, or the most promising ones.

    Rounds on a part do not touch the data, however large they are.
    """
    d = problem.source.n_features
    if d <= _POOL:
        return problem.whole
    W = directions(problem.source, V, problem.ridge)
    features = np.union1d(promising(W, problem, _POOL_SCOPE), np.flatnonzero(V.any(axis=1)))
    return problem.restricted(features) if features.size < d else problem.whole


def _stretches(chains: list[Chain]) -> Iterator[None]:
    """Let all chains of a list advance, for some time at once; several in their own processes.

    Signals wait until such a stretch has ended: what it has found would be lost, and joblib would
    print the errors of a thread of its own if one came while it hands out work.
    """
    if len(chains) == 1:
        while not chains[0].is_over:
            chains[0].advance(0.0)
            yield
        return
    with Parallel(n_jobs=len(chains)) as parallel:
        while not all(chain.is_over for chain in chains):
            with signals_wait():
                chains[:] = parallel(delayed(chain.advance)(_STRETCH) for chain in chains)
            yield
