"""From loadings of filled data to those that fit the cells which are there.

Sweeps over weighted cells (``redac.solver.weighted``) and, on the data completed by the model, all
that a search does to complete data, in turn, until neither gains. What the second finds is taken if
the first, going on from there, comes lower. So the objective on the cells never rises.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import cast

import numpy as np

from redac.solver.ahead import Trail
from redac.solver.climb import Start, Step
from redac.solver.polish import polish
from redac.solver.problem import Problem
from redac.solver.robust import Weighing, clipped, halves, withdrawn
from redac.solver.search import Monitor, Search
from redac.solver.starts import Starts
from redac.solver.sweep import Solution, Status, sweeps_of
from redac.solver.weighted import Weighted
from redac.sources.base import Array
from redac.sources.cells import CellModel, Cells

# Rounds in which a ridge settles, and the ridge of the first of them. On planted data with half of
# the cells missing sixteen rounds fill gaps no better than eight; two or four do worse.
_RIDGE_ROUNDS = 8
_FIRST_RIDGE = 1.0
# Where cells may be wild: so many halves of the samples are started from, with so many rounds of
# weights from each. Then the scale of columns and the rows that count are settled, twice: of rows
# first nearly all come back, for among clean ones the nearest may be those of another model. Where
# rows and cells may be wild a second time let in more bad rows on ten of Hubert's sets.
_HALVES = 4
_WEIGHINGS = 10


@dataclass(frozen=True, kw_only=True)
class CellSolution(Solution):
    """A solution with the rest of its model: scores, means, and the ridge of each component."""

    U: Array
    mean: Array
    ridge: Array

    @property
    def model(self) -> CellModel:
        return CellModel(self.V, self.U, self.mean)


@dataclass(frozen=True)
class CellStep(Step):
    """Where a run over weighted cells is."""

    solution: CellSolution
    cells: Cells

    @cached_property
    def value(self) -> float:
        return (1.0 - self.objective) * self.cells.total

    @property
    def objective(self) -> float:
        """The objective on the cells, as a share of their total."""
        if self.solution.history:
            return self.solution.history[-1]
        return self.measured()

    def measured(self) -> float:
        """The same with the cells and loadings of now, which the history may not know of yet."""
        return Weighted(self.cells, self.solution.model, self.solution.ridge).objective()

    def following(self, tol: float) -> Generator[CellStep, None, None]:
        """The step after each sweep, until one gains no more than ``tol``."""
        problem, solution = self.part.problem, self.solution
        iterate = Weighted(self.cells, solution.model, solution.ridge)
        with closing(sweeps_of(iterate, problem, solution, tol)) as plain:
            for each in plain:
                model = iterate.model
                yield replace(
                    self,
                    solution=CellSolution(
                        **(vars(each) | {"status": Status.STOPPED}),
                        U=model.U,
                        mean=model.mean,
                        ridge=solution.ridge,
                    ),
                )

    def weighed(self, weighing: Weighing) -> CellStep:
        """The same place with the weights that belong to it."""
        return replace(self, cells=weighing.weighed(self.solution.model))

    def with_ridge(self, ridge: Array) -> CellStep:
        """The same place with another ridge, and a history that begins there."""
        solution = replace(self.solution, history=(), ridge=ridge)
        return replace(self, solution=solution)


class Refinement:
    """A search that goes on from loadings to those that fit cells best.

    Parameters
    ----------
    problem : the problem on filled data; it has the constraints.
    cells : the data.
    ridge : η of all components; None: for each what the cells themselves suggest.
    monitor : who watches.
    weighing : how wild cells and rows lose their weights; None: all that are there count.
    """

    def __init__(
        self,
        problem: Problem,
        cells: Cells,
        ridge: float | None,
        monitor: Monitor | None = None,
        weighing: Weighing | None = None,
    ) -> None:
        total = cells.total if weighing is None else weighing.unit
        self.search = Search(replace(problem, total_of_all=total), monitor)
        self.cells = cells
        self.ridge = ridge
        self.weighing = weighing

    def run(self, V: Array) -> CellSolution:
        """Go on from feasible loadings, as those of filled data."""
        self._step = self._begun(V, self.cells, self.cells.means)
        first = self._step.solution
        if self.search.is_over:
            status = Status.INTERRUPTED if self.search.interrupted else Status.STOPPED
            return replace(first, status=status)
        self.search.runs[0] = self._step
        self.search.run(self._work())
        return cast(CellSolution, self.search.found)  # it has been given no other kind

    @property
    def weighed_cells(self) -> Cells:
        """The cells with the weights that they have where the run is."""
        return self._step.cells

    def _begun(self, V: Array, cells: Cells, mean: Array) -> CellStep:
        """The step that begins with loadings and means, and the scores for both on some cells."""
        eta = np.full(V.shape[1], _FIRST_RIDGE if self.ridge is None else self.ridge)
        first = CellSolution(V, U=cells.scores(V, mean, eta), mean=mean.copy(), ridge=eta)
        return CellStep(self.search.problem.whole, first, self.cells)

    def _work(self) -> Iterator[None]:
        if self.weighing is None:
            yield from self._fitted()
            return
        yield from self._typical(self.weighing)
        free = self.weighing
        for strict in (True,) if free.kind == "both" else (False, True):
            self.weighing = free.settled(self._step.solution.model, strict=strict)
            self._put(self._step.with_ridge(self._step.solution.ridge).weighed(self.weighing))
            yield from self._fitted()

    def _typical(self, weighing: Weighing) -> Iterator[None]:
        """From several starts to the model that leaves least of typical cells or rows."""
        tame, found = clipped(self.cells), []
        for V, mean in self._starts(weighing.kind, tame):
            step = self._begun(V, tame, mean)
            for _ in range(_WEIGHINGS):
                step = next(step.weighed(weighing).following(self._calm), step)
                yield
            found.append(step.with_ridge(step.solution.ridge))
        self._put(min(found, key=lambda step: weighing.loss(step.solution.model)))

    def _starts(self, kind: str, tame: Cells) -> Iterator[tuple[Array, Array]]:
        """Loadings and means to begin with, from cells none of which is wild."""
        if kind == "cells":
            yield self._step.solution.V, tame.means
        if kind == "both":
            yield self._sought(withdrawn(self.cells))
            return
        # Bad rows that lie near each other can be fitted well. The middle is to be trusted alone.
        for half in halves(self.cells, kind, _HALVES if kind == "cells" else 1):
            yield self._sought(tame.of_samples(half))

    def _sought(self, cells: Cells) -> tuple[Array, Array]:
        """The loadings that a search on filled cells finds, and the means."""
        problem = replace(self.search.problem, source=cells.filled(), total_of_all=None)
        starts = Starts(problem, np.random.RandomState(0))
        V = self._found(problem, starts.sequence("pca", starts.usual_count("pca")))
        return V, cells.means

    def _put(self, step: CellStep) -> None:
        self._step = self.search.runs[0] = step

    def _fitted(self) -> Iterator[None]:
        """First the ridge, then the rest."""
        for _ in range(_RIDGE_ROUNDS if self.ridge is None else 0):
            yield from self._followed("start", self._step.following(self._calm))
            self._put(self._step.with_ridge(suggested_ridge(self._step)))
        yield from self._followed("converge", self._converging())

    def _followed(self, task: str, steps: Iterator[CellStep]) -> Iterator[None]:
        return self.search.follow(task, 0, self._noted(steps))

    def _noted(self, steps: Iterator[CellStep]) -> Iterator[CellStep]:
        for step in steps:
            self._step = step
            yield step

    @property
    def _calm(self) -> float:
        return max(self.search.problem.strategy.calm, self.search.problem.tol)

    def _converging(self) -> Iterator[CellStep]:
        """Sweeps and polish, new weights, and moves on the completed data, until none gains."""
        problem, step, trail = self.search.problem, self._step, Trail()
        while step.solution.n_sweeps_in_all < problem.max_sweeps:
            before = step.objective
            with closing(step.following(problem.tol)) as following:
                for after in islice(following, problem.strategy.sweeps_between):
                    step = after
                    yield step
            is_calm = step.solution.gain <= problem.tol
            if self.weighing is not None:
                step = step.weighed(self.weighing)
            if not is_calm:
                step = self._polished(step)
            trail = trail.on(step.solution.model)
            guess = trail.guess(problem)
            far = None if guess is None else self._at(step, guess)
            if far is not None:
                step, trail = far, trail.led_to(far.solution.model)
                continue
            if guess is not None:
                trail = trail.misled()
            if is_calm and step.objective >= before - problem.tol:
                moved = self._moved(step)
                if moved is None:
                    yield replace(step, solution=replace(step.solution, status=Status.CONVERGED))
                    return
                step = moved

    def _at(self, step: CellStep, guess: CellModel) -> CellStep | None:
        """The step at a guess, with the scores and weights that belong there, if it is lower."""
        problem, ridge = self.search.problem, step.solution.ridge
        U = step.cells.scores(guess.V, guess.mean, ridge)
        solution = replace(step.solution, V=guess.V, U=U, mean=guess.mean)
        far = replace(step, solution=solution)
        if self.weighing is not None:
            far = far.weighed(self.weighing)
        iterate = Weighted(far.cells, solution.model, ridge)
        if not iterate.keep_apart(problem.least_separation, problem.allowed):
            return None
        return far if iterate.objective() < step.measured() - problem.tol else None

    def _polished(self, step: CellStep) -> CellStep:
        """The step with loadings polished on the completed data, if they are lower on the cells."""
        problem, solution = self.search.problem, step.solution
        used = np.flatnonzero(solution.V.any(axis=1))
        part = replace(
            problem,
            source=step.cells.of_features(used).completed(solution.model.of_features(used)),
            constraints=[each.restricted(used) for each in problem.constraints],
            ridge=float(solution.ridge.mean()),
        )
        V = np.zeros_like(solution.V)
        V[used] = polish(part, solution.V[used])
        U = step.cells.scores(V, solution.mean, solution.ridge)
        polished = replace(step, solution=replace(solution, V=V, U=U))
        return polished if polished.measured() < step.measured() - problem.tol else step

    def _moved(self, step: CellStep) -> CellStep | None:
        """The step from where a search on the completed data leads, if it is lower on the cells."""
        problem, solution = self.search.problem, step.solution
        complete = replace(
            problem,
            source=step.cells.completed(solution.model),
            ridge=float(solution.ridge.mean()),
            total_of_all=None,
        )
        V = self._found(complete, [Start(solution.V)])
        if np.array_equal(V != 0, solution.V != 0):
            return None  # on the same supports the sweeps over the cells are at their end
        U = step.cells.scores(V, solution.mean, solution.ridge)
        tried = replace(step, solution=replace(solution, V=V, U=U, history=()))
        for after in tried.following(self._calm):
            tried = after
        if tried.objective >= step.measured() - problem.tol:
            return None
        history = (*solution.history, tried.objective)
        return replace(tried, solution=replace(tried.solution, history=history))

    def _found(self, problem: Problem, starts: Iterable[Start]) -> Array:
        """The loadings that a search on complete data finds."""
        inner = Search(problem)
        inner.try_starts(starts, automatic=True)
        if inner.interrupted:
            raise KeyboardInterrupt  # it was heeded there; it is to be heeded here, too
        return inner.found.V


def suggested_ridge(step: CellStep) -> Array:
    """η_i = s²/τ_i, the variance of the noise by that of the scores: what the cells suggest.

    s² is the sum of squares that is left, by the cells that are there less what was fitted to them;
    τ_i has the variance of the scores themselves and that of their errors.
    """
    cells, solution = step.cells, step.solution
    weights = cells.roots**2
    known = cells.known(solution.V)
    shifted = known + solution.ridge
    safe = np.where(shifted > 0.0, shifted, 1.0)
    fitted = float((weights @ (known / safe)).sum())
    fitted += cells.n_features + np.count_nonzero(solution.V) - solution.V.shape[1]
    left = Weighted(cells, solution.model, solution.ridge).squares_left()
    count = float(cells.counts.sum())
    noise = left / max(count - fitted, 1.0)
    spread = (solution.U**2 + weights[:, None] * noise / safe).sum(axis=0) / weights.sum()
    return np.where(spread > 0.0, noise / np.where(spread > 0.0, spread, 1.0), solution.ridge)
