"""What a user should know of a fit before trusting its components, as warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from redac.exceptions import ExhaustedWarning, FitInterruptedWarning, SeparationWarning
from redac.model.rules import any_rules
from redac.solver.problem import Problem
from redac.solver.sweep import Solution, Status
from redac.user_line import warn_user

# Below this separation scores are ten times as large as the data that they stand for.
_NEARLY_PARALLEL = 0.01
# A relative error of reconstruction beyond this is no rounding.
_UNEXPLAINED = 1e-6


def warn_of(model: Any, solution: Solution, problem: Problem) -> None:
    """Warn of components that are zero or nearly parallel, and of a fit that did not end."""
    exhausted = np.flatnonzero(~model.components_.any(axis=1)).tolist()
    if exhausted:
        _warn_of_exhausted(model, exhausted, problem.least_separation)
    elif model.separation_ < _NEARLY_PARALLEL:
        warn_user(
            f"Some components are nearly parallel (separation_={model.separation_:.2g}); their "
            "scores are hard to read. A small ridge, such as ridge=0.01, or min_separation "
            "keeps them apart.",
            SeparationWarning,
        )
    if solution.status is Status.INTERRUPTED:
        warn_user(
            "The fit was interrupted; the best components found so far are kept.",
            FitInterruptedWarning,
        )
    elif solution.status is Status.STOPPED and solution.n_sweeps_in_all >= model.max_iter:
        warn_user(
            f"No convergence to tol={model.tol:g} within max_iter={model.max_iter} sweeps; the "
            "components are feasible and may still improve. Raise max_iter, or tol.",
            ConvergenceWarning,
        )


def _warn_of_exhausted(model: Any, exhausted: list[int], least_separation: float) -> None:
    useful = model.n_components_ - len(exhausted)
    advice = f"Ask for n_components={useful}." if useful else "The data do not vary."
    reason = "Nothing is left to explain"
    some_is_left = model.reconstruction_error_ > _UNEXPLAINED
    if some_is_left and any_rules(model):
        reason = "No feature that could explain more is left by the rules"
    elif some_is_left and least_separation > 0.0:
        reason = f"No place that min_separation={least_separation:g} allows is left"
    warn_user(
        f"{reason} for component(s) {exhausted}, counted from 0: their loadings are zero. {advice}",
        ExhaustedWarning,
    )
