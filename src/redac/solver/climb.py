"""The way from one start to a solution, in three parts.

First sweeps find a place (``settle``), then sweeps and exchanges find supports (``explore``), then
sweeps and polish find exact loadings (``converge``). All look at promising features only, on their
small part of S. At the end one look at all features says whether another one would enter; if so, it
is let in and the run explores again, if not, a sweep over all features would do what the last one
did. The objective never rises: a smaller ridge, better scores, polished and exchanged loadings all
lower it.

The three are generators: they stand still after every sweep, and whoever drives them decides
whether to go on.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle, islice

import numpy as np

from redac.constraints import largest, oriented, usable
from redac.solver.exchange import exchange
from redac.solver.polish import polish
from redac.solver.problem import Part, Problem
from redac.solver.swap import swap
from redac.solver.sweep import Solution, Status, directions, sweeps
from redac.solver.transfer import transfer
from redac.sources.base import Array, Indices

# A sweep gains about as much as the one before it, or a little more: a run ends when one has gained
# this share of what the next one may.
_CALM = 0.8
# Digits of loadings that are compared where supports alone do not say where a run will end.
_SAME = 6


@dataclass(frozen=True)
class Start:
    """Where to set out from, and η of the first sweeps from there."""

    V: Array
    first_ridge: float = 0.0


@dataclass(frozen=True)
class Step:
    """A solution on a part of the features."""

    part: Part
    solution: Solution

    @property
    def whole(self) -> Solution:
        """The solution on all features."""
        return replace(self.solution, V=self.part.embed(self.solution.V))

    @cached_property
    def value(self) -> float:
        """What it explains."""
        return self.part.problem.value(self.solution.V)

    @cached_property
    def place(self) -> tuple[tuple[int, bytes], ...]:
        """What two runs have in common that will come to the same end.

        That is the supports of their components, whatever the order of those with equal sets; and
        the loadings of components that polish leaves alone.
        """
        V, problem = self.part.embed(self.solution.V), self.part.problem
        marks = np.packbits(V != 0, axis=0).T
        described = (
            mark.tobytes() if is_free else v.round(_SAME).tobytes()
            for mark, v, is_free in zip(marks, V.T, problem.is_free, strict=True)
        )
        return tuple(sorted(zip(problem.kinds, described, strict=True)))

    def moved(self, V: Array) -> Step:
        """With other loadings on the same part."""
        return replace(self, solution=replace(self.solution, V=V))


def settle(problem: Problem, start: Start) -> Iterator[Step]:
    """Sweeps from a start until they gain little: first with a ridge, then with the problem's."""
    V = oriented(start.V, problem.constraints)
    V[problem.source.diagonal == 0.0] = 0.0  # features that do not vary get no loading
    part = problem.look_at(promising(problem, V))
    step = Step(part, Solution(part.inside(V)))
    tol = max(problem.strategy.rough, _CALM * problem.tol)
    first = part.problem.dealt(step.solution.V)
    ridges = {max(start.first_ridge, problem.ridge), problem.ridge}
    for ridge in sorted(ridges, reverse=True):
        for solution in sweeps(first, step.solution, ridge=ridge, tol=tol):
            step = Step(part, replace(solution, status=Status.STOPPED))
            yield step


def explore(problem: Problem, step: Step) -> Generator[Step, None, Step]:
    """Sweeps until they gain little, and exchanges, in turn, as long as one explains more.

    That is how supports are found; loadings need not be exact for it.
    """
    tol = max(problem.strategy.calm, _CALM * problem.tol)
    new: Step | None = _looked_around(problem, step) or step
    while new is not None:
        step = yield from _some_sweeps(new, tol)
        is_over = step.solution.n_sweeps_in_all >= problem.max_sweeps
        new = None if is_over else _exchanged(step)
    return step


def converge(problem: Problem, step: Step) -> Generator[Step, None, None]:
    """Sweeps and polish in turn, until a sweep over all features gains ``tol`` or less.

    A look at all features may read all data; it comes when nothing is left to gain with those at
    hand. What it shows, and exchanges that exact loadings allow, are explored.
    """
    tol, is_polished = _CALM * problem.tol, False
    while step.solution.n_sweeps_in_all < problem.max_sweeps:
        before = step
        step = yield from _some_sweeps(before, tol)
        count = step.solution.n_sweeps - before.solution.n_sweeps
        # A single sweep began with the best scores; later ones with those that others left behind.
        if not is_polished or count > 1 or step.solution.gain > tol:
            polished = _polished(step)
            step, is_polished = polished, polished is step
            continue
        if problem.least_separation > 0.0:
            # The sweep may have made room for an update that it had refused, and the next one may
            # gain more; from where it began, a sweep is known to gain little.
            step = step.moved(before.solution.V)
        new = _looked_around(problem, step) or _exchanged(step)
        if new is None:
            yield replace(step, solution=replace(step.solution, status=Status.CONVERGED))
            return
        step = yield from explore(problem, new)
        is_polished = False


def _exchanged(step: Step) -> Step | None:
    """The step with other features in one component or in two, if that explains more."""
    # Where one costs too much none is made, so that a run that has converged has nothing left.
    for move in (transfer, swap, exchange) if step.part.problem.n_exchanges else ():
        V = move(step.part.problem, step.solution.V)
        if V is not step.solution.V:
            return step.moved(V)
    return None


def _some_sweeps(step: Step, tol: float) -> Generator[Step, None, Step]:
    """Sweeps until one gains no more than ``tol``, or until the next polish."""
    problem = step.part.problem
    # Closed here, not by the collector of garbage: a signal that came then would be lost.
    with closing(sweeps(problem, step.solution, tol=tol)) as following:
        for solution in islice(following, problem.strategy.sweeps_between):
            step = replace(step, solution=replace(solution, status=Status.STOPPED))
            yield step
    return step


def _polished(step: Step) -> Step:
    """The step with polished loadings, if they explain more."""
    problem, V = step.part.problem, step.solution.V
    better = polish(problem, V)
    is_better = better is not V and problem.is_gain(problem.value(better), step.value)
    return step.moved(better) if is_better else step


def _looked_around(problem: Problem, step: Step) -> Step | None:
    """The step on other features, if a sweep over all would use one that was not looked at."""
    part, V = step.part, step.part.embed(step.solution.V)
    if part.features is None:
        return None
    W = directions(problem, V)
    wanted = np.zeros(len(W), dtype=bool)
    for i, w in enumerate(W.T):
        wanted |= problem.allowed(i, V).maximize(np.ascontiguousarray(w)) != 0
    wanted[part.features] = False
    if not wanted.any():
        return None
    part = problem.look_at(np.union1d(promising(problem, W), np.flatnonzero(V.any(axis=1))))
    return Step(part, replace(step.solution, V=part.inside(V)))


def around(problem: Problem, V: Array, also: Indices | None = None, *, widened: int = 1) -> Part:
    """The part of the problem that a run from these loadings will look at, and some features."""
    if problem.strategy.least_features * widened >= problem.n_varying:
        return problem.whole
    chosen = promising(problem, directions(problem, V), widened)
    chosen = np.union1d(chosen, np.flatnonzero(V.any(axis=1)))
    return problem.look_at(chosen if also is None else np.union1d(chosen, also))


def promising(problem: Problem, W: Array, widened: int = 1) -> Indices:
    """Features that sweeps are likely to use.

    For each component those it would use now, and some times as many with the largest entries of
    w; and those that come next for any component, up to the least number of all. Where W has more
    columns than there are components, their constraints serve again.
    """
    strategy = problem.strategy
    least = min(widened * strategy.least_features, problem.n_varying)
    reach = np.zeros(len(W))
    chosen = np.zeros(len(W), dtype=bool)
    for w, constraint in zip(W.T, cycle(problem.usual), strict=False):
        magnitudes = np.where(usable(constraint, w.size), np.abs(w), 0.0)
        support = np.flatnonzero(constraint.maximize(np.ascontiguousarray(w)))
        count = widened * strategy.scope * support.size
        if count >= problem.n_varying:
            return np.arange(w.size)
        if support.size:
            # The largest magnitudes need not be among those that the constraint can use.
            chosen[support] = True
            chosen[largest(magnitudes, count)] = True
            np.maximum(reach, magnitudes / (magnitudes.max() or 1.0), out=reach)
    if np.count_nonzero(chosen) < least:
        chosen[largest(reach, least)] = True
    return np.flatnonzero(chosen)
