"""Solutions for a grid of numbers of components and of features, each started from its neighbours.

For each number of components r the smallest cardinality is solved from the usual starts, and each
larger one from the solution of the next smaller one, which it may use as it is. Each is also
started from the solution with fewer components and the same cardinality, with new components put
where something is left. As sweeps never explain less than what they begin with, what is explained
never falls along either axis. Now and then rotated principal axes are started from, too, lest a
whole path follows a wrong turn of its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from redac.choose.effort import is_little_work, lighter
from redac.solver.climb import Start
from redac.solver.problem import Problem
from redac.solver.redraw import redraw
from redac.solver.search import Monitor, Search
from redac.solver.starts import Starts
from redac.sources.base import Array, Source

# Every so many places of a path, counted from the smallest cardinality, rotated principal axes are
# started from, too; chosen by ``python -m benchmarks.choosing --only quality``.
_AXES_EVERY = 4

Place = tuple[int, int]
Watch = Callable[[Place], Monitor | None]


@dataclass(frozen=True)
class Solved:
    """One place of the grid, solved."""

    search: Search
    starts: Starts

    @property
    def V(self) -> Array:
        return self.search.found.V

    @property
    def ridge(self) -> float:
        return self.search.problem.ridge

    @property
    def value(self) -> float:
        """What it explains, in units of S."""
        return self.search.value


class Grid:
    """Problems on one source that differ in their numbers of components and of features.

    Parameters
    ----------
    source : the data.
    problem_of : the problem for a number of components and a cardinality.
    counts, cardinalities : the numbers, ascending.
    is_thorough : whether what is explained must never fall along either axis. Without, each number
        of components begins from fewer of them at its first place only, unless that is little work.
    """

    def __init__(
        self,
        source: Source,
        problem_of: Callable[[int, int], Problem],
        counts: Sequence[int],
        cardinalities: Sequence[int],
        *,
        is_thorough: bool = True,
    ) -> None:
        self._source = source
        self._problem_of = problem_of
        self._counts = counts
        self._cardinalities = cardinalities
        self._is_thorough = is_thorough
        self.points: dict[Place, Solved] = {}
        # The principal axes and their eigenvalues, for all places at once.
        self.principal = source.principal_axes(max(counts))

    def solve(self, watch: Watch = lambda place: None) -> bool:
        """Solve all places; False if somebody pressed Ctrl-C or wished to stop before the end.

        What was solved until then is in ``points``.
        """
        try:
            for fewer, r in pairwise((0, *self._counts)):
                self._ascend(fewer, r, watch)
        except KeyboardInterrupt:
            return False
        return True

    def _ascend(self, fewer: int, r: int, watch: Watch) -> None:
        """From the smallest cardinality to the largest."""
        axes: list[Start] = []
        smaller: Array | None = None
        for number, k in enumerate(self._cardinalities):
            problem = self._problem_of(r, k)
            is_thorough = self._is_thorough or is_little_work(problem)
            problem = lighter(problem, redraws=smaller is None)
            points = Starts(problem, np.random.RandomState(0))
            points.principal = self.principal[0][:, :r], self.principal[1][:r]
            if smaller is None:
                starts = list(points.sequence("pca", points.usual_count("pca")))
                axes = starts[1:2]  # the rotated ones; they serve all cardinalities
            else:
                also = is_thorough and number % _AXES_EVERY == 0
                starts = [*(axes if also else ()), Start(smaller)]
            if fewer and (is_thorough or smaller is None):
                starts.append(Start(_extended(problem, self.points[fewer, k].V)))
            smaller = self._solved((r, k), problem, starts, points, watch).V

    def _solved(
        self, place: Place, problem: Problem, starts: list[Start], points: Starts, watch: Watch
    ) -> Solved:
        search = Search(problem, watch(place))
        search.try_starts(starts, automatic=True)
        if search.is_over:
            raise KeyboardInterrupt
        point = self.points[place] = Solved(search, points)
        return point


def _extended(problem: Problem, V: Array) -> Array:
    """Loadings with new components, drawn on what the others leave.

    Where features are many, drawing costs more than a whole run. There the new ones are zero, and
    the first sweep finds a place for them.
    """
    old, r = V.shape[1], len(problem.constraints)
    new = np.column_stack([V, np.zeros((len(V), r - old))])
    if problem.n_varying <= problem.strategy.least_features:
        for i in range(old, r):
            new = redraw(problem, new, i)
    return new
