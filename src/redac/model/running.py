"""One search for the components of a source, as the parameters of an estimator say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

from redac import parameters
from redac.constraints import Coupling
from redac.model.callbacks import FitMonitor, Watcher
from redac.model.identity import init_of
from redac.model.rules import Rules, any_rules
from redac.solver.attempts import Attempt
from redac.solver.perturbation import perturb
from redac.solver.problem import Problem
from redac.solver.refine import CellSolution, Refinement
from redac.solver.robust import Weighing
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.sources import Source
from redac.sources.cells import Cells

if TYPE_CHECKING:
    from redac.model.estimator import SparsePCA


@dataclass(frozen=True)
class Run:
    """What a search has come to. Whoever asked for it closes the watcher."""

    problem: Problem
    starts: Starts
    search: Search
    attempts: list[Attempt]
    watcher: Watcher


def run_search(model: SparsePCA, source: Source, X: Any) -> Run:
    """Search as the parameters of the model say; its callbacks are told of X."""
    problem = problem_of(model, source)
    r, d = len(problem.constraints), source.n_features
    init = parameters.start(init_of(model), r, d)
    rounds = parameters.count("n_perturbations", model.n_perturbations, least=0)
    rng = check_random_state(model.random_state)
    start_points = Starts(problem, rng)
    starts = parameters.start_count(model.n_init, start_points.usual_count(init))
    n_chains = parameters.jobs(model.n_jobs)
    watcher = FitMonitor.watching(
        model,
        X,
        max_sweeps=problem.max_sweeps,
        attributes=lambda V: {"components_": V.T.copy(), "n_components_": r},
    )
    search = Search(problem, watcher)
    automatic = isinstance(model.n_init, str) and isinstance(init, str)
    search.try_starts(start_points.sequence(init, starts), automatic=automatic)
    perturbed = perturb(search, rounds, rng, n_chains)
    return Run(problem, start_points, search, [*search.attempts, *perturbed], watcher)


def refined(
    run: Run, cells: Cells, ridge: float | None, weighing: Weighing | None
) -> tuple[CellSolution, Cells, Weighing | None]:
    """The search goes on from filled data to the cells that are there.

    What it finds, the cells with the weights that they have in the end, and what these follow from.
    """
    refinement = Refinement(run.problem, cells, ridge, run.watcher, weighing)
    refinement.search.interrupted = run.search.interrupted
    found = refinement.run(run.search.found.V)
    return found, refinement.weighed_cells, refinement.weighing


def problem_of(model: SparsePCA, source: Source) -> Problem:
    """What the parameters of the model ask for, on these data."""
    d = source.n_features
    r = parameters.count(
        "n_components", model.n_components, least=1, most=d, why=f": there are {d} features"
    )
    constraints = parameters.build_constraints(
        r,
        d,
        cardinality=model.cardinality,
        l1_bound=model.l1_bound,
        nonnegative=model.nonnegative,
        constraint=model.constraint,
    )
    couplings: Sequence[Coupling] = ()
    if any_rules(model):
        rules = Rules.of(model, r, d)
        constraints = rules.applied(constraints, bounded=model.cardinality is not None)
        couplings = rules.couplings(constraints)
        constraints = rules.reserved(constraints)
    ridge = parameters.ridge(model.ridge) or 0.0
    return Problem(
        source,
        constraints,
        ridge=ridge,
        max_sweeps=parameters.count("max_iter", model.max_iter, least=1),
        tol=parameters.amount("tol", model.tol),
        least_separation=parameters.least_separation(model.min_separation, constraints, ridge),
        couplings=couplings,
    )
