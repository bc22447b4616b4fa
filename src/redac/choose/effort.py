"""How much less effort than a fit the many searches of a choice make."""

from __future__ import annotations

from dataclasses import replace

from redac.solver.problem import Problem

# The tolerance of paths and of fits to some of the rows, unless somebody says: supports have
# settled before, and a neighbour or other rows would change what is explained by far more.
ROUGH = 1e-4
# Shares of the redraws and exchanges of a fit, chosen by ``python -m benchmarks.choosing --only
# quality``: a third of the time for the same PEV, up to 0.1 points on average.
_FEWER_REDRAWS = 0.05
_FEWER_EXCHANGES = 0.03


def lighter(problem: Problem, *, redraws: bool = False) -> Problem:
    """The problem with less effort: starts are given up as soon as they are behind, features are
    exchanged where that is little work, and components drawn anew only where it is asked for."""
    usual = problem.strategy
    light = replace(
        usual,
        redraws=usual.redraws * _FEWER_REDRAWS if redraws else 0.0,
        patience=0.0,
        exchanges=usual.exchanges * _FEWER_EXCHANGES,
    )
    return replace(problem, strategy=light)


def is_little_work(problem: Problem) -> bool:
    """Whether sweeps are so little work that another start is no matter."""
    return problem.strategy.redraws * _FEWER_REDRAWS >= problem.work
