"""What a fit by search does behind the face of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac import parameters
from redac.exceptions import NonFiniteError
from redac.model import incomplete, proof
from redac.model.advice import warn_of
from redac.model.callbacks import CallbackSupportMixin
from redac.model.component_model import ComponentModel
from redac.model.identity import reference_signs
from redac.model.rules import have_own
from redac.model.running import run_search
from redac.solver.attempts import Attempt, spread
from redac.solver.starts import Starts
from redac.solver.sweep import Solution, Status
from redac.sources import Data, Source
from redac.sources.reading import Given

if TYPE_CHECKING:
    pass


class SearchedModel(CallbackSupportMixin, ComponentModel):  # type: ignore[misc]
    """Components that a search has found."""

    def _complete(self, given: Given, sample_weight: Any) -> Data | None:
        """The data if no cell is missing, about their own mean."""
        wanted = parameters.flag("standardize", self.standardize)
        try:
            return given.about_own_mean(standardize=wanted, sample_weight=sample_weight)
        except NonFiniteError as error:
            if not incomplete.is_gap(self, error, given):
                raise
            return None

    def _fit_source(self, source: Source, X: Any, dtype: np.dtype[Any]) -> Self:
        run = run_search(self, source, X)
        run.watcher.close()
        self._conclude(run.search.found, run.attempts, source, dtype, run.starts)
        warn_of(self, run.search.found, run.problem)
        return self

    def _conclude(
        self,
        solution: Solution,
        attempts: Sequence[Attempt],
        source: Source,
        dtype: np.dtype[Any],
        starts: Starts,
    ) -> None:
        """Set the fitted attributes from what a search has found."""
        self.search_history_ = spread(attempts, solution.V)
        self._keep_components(
            solution.V, source, dtype, sort=self._is_sorted, like=reference_signs(self)
        )
        self._keep_run(solution)
        proof.remember(self, source, starts)

    @property
    def _is_sorted(self) -> bool:
        """Whether components may change places: one bound serves all."""
        bounds = (self.cardinality, self.l1_bound, self.nonnegative, self.constraint)
        return all(parameters.is_shared(bound) for bound in bounds) and not have_own(self)

    def _keep_run(self, solution: Solution) -> None:
        """Set the fitted attributes that tell of the run."""
        self.objective_history_ = np.array(solution.history)
        self.n_iter_ = solution.n_sweeps
        self.converged_ = solution.status is Status.CONVERGED
        self.interrupted_ = solution.status is Status.INTERRUPTED
