"""The rows of the paper's tables: ways to find components, as data that can be written down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from redac import SparsePCA
from redac.experiments.problems import ExperimentProblem
from redac.methods import sparse_pca
from redac.methods.registry import METHODS
from redac.sources.base import Array

# The names under which the paper prints its results.
LABELS = {
    "pca": "PCA",
    "spca": "SPCA",
    "dspca": "DSPCA",
    "pathspca": "PathSPCA",
    "rsvd_l0": "sPCA-rSVD l0",
    "rsvd_l1": "sPCA-rSVD l1",
    "rsvd_scad": "sPCA-rSVD SCAD",
    "empca": "EMPCA",
    "gpower_l0": "GPower l0",
    "gpower_l1": "GPower l1",
    "gpower_l0_block": "GPower l0,m",
    "gpower_l1_block": "GPower l1,m",
    "alspca": "ALSPCA",
    "redac_l0": "ReDaC, p = 0",
    "redac_l1": "ReDaC, p = 1",
    "redac_l0_nonnegative": "ReDaC, p = 0",
    "redac_l1_nonnegative": "ReDaC, p = 1",
    "nspca": "NSPCA",
    "empca_nonnegative": "N-EMPCA",
}
# Methods that find all components together: with fewer components the first ones change.
_JOINT = {"spca", *(name for name in METHODS if name.startswith("redac"))}


@dataclass(frozen=True, kw_only=True)
class Contender(ABC):
    """A way to find components.

    Attributes
    ----------
    name : the method in results.json.
    cardinality_of : another contender whose cardinalities this one is given; by default those of
        the problem.
    """

    name: str
    cardinality_of: str | None = None

    @property
    @abstractmethod
    def label(self) -> str:
        """The name in a table."""

    @property
    def joint(self) -> bool:
        """Whether a smaller number of components needs a run of its own."""
        return True

    @property
    def has_curve(self) -> bool:
        """Whether PEV against the number of components is drawn."""
        return False

    @abstractmethod
    def components(
        self, problem: ExperimentProblem, cardinality: Sequence[int], seed: int
    ) -> Array:
        """Unit rows."""

    def quick(self) -> Self:
        """The same at less expense."""
        return self

    def specification(self) -> dict[str, Any]:
        """Everything that can change the components, as plain data."""
        return {"kind": type(self).__name__, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class MethodContender(Contender):
    """A method of ``redac.methods``."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return LABELS[self.method]

    @property
    def joint(self) -> bool:
        return self.method in _JOINT

    @property
    def has_curve(self) -> bool:
        # A block method has no first components to speak of. NSPCA sorts its own.
        return self.method == "nspca" or not METHODS[self.method].total

    def components(
        self, problem: ExperimentProblem, cardinality: Sequence[int], seed: int
    ) -> Array:
        return sparse_pca(
            problem.matrix,
            self.method,
            len(cardinality),
            cardinality=list(cardinality),
            covariance=problem.covariance,
            random_state=seed,
            **self.options,
        )


@dataclass(frozen=True, kw_only=True)
class SearchContender(Contender):
    """ReDaC with p = 0 followed by an iterated local search."""

    rounds: int
    quick_rounds: int
    nonnegative: bool = False

    @property
    def label(self) -> str:
        own = f"ReDaC, p = 0, {self.rounds} perturbation{'s' * (self.rounds > 1)}"
        if self.cardinality_of is None:
            return own
        return f"{own}, cardinalities of {LABELS[self.cardinality_of]}"

    def components(
        self, problem: ExperimentProblem, cardinality: Sequence[int], seed: int
    ) -> Array:
        model = SparsePCA(
            len(cardinality),
            cardinality=list(cardinality),
            nonnegative=self.nonnegative,
            n_perturbations=self.rounds,
            random_state=seed,
        )
        fit = model.fit_covariance if problem.covariance else model.fit
        components: Array = fit(problem.matrix).components_
        if model.interrupted_:  # half a search must not be taken for this contender
            raise KeyboardInterrupt
        return components

    def quick(self) -> Self:
        return replace(self, rounds=self.quick_rounds)


@dataclass(frozen=True, kw_only=True)
class AllFeatures(Contender):
    """No components at all: every feature is its own."""

    name: str = "all_features"

    @property
    def label(self) -> str:
        return "all features"

    def components(
        self, problem: ExperimentProblem, cardinality: Sequence[int], seed: int
    ) -> Array:
        return np.eye(problem.matrix.shape[1])


def methods(*names: str, **common: Any) -> tuple[MethodContender, ...]:
    """Methods by their names in ``redac.methods``."""
    return tuple(MethodContender(name=name, method=name, **common) for name in names)


def with_cardinalities_of(
    *names: str, rounds: int, quick_rounds: int
) -> tuple[SearchContender, ...]:
    """ReDaC with the cardinalities that methods with a total of their own have chosen."""
    return tuple(
        SearchContender(
            name=f"redac_search_as_{name}",
            cardinality_of=name,
            rounds=rounds,
            quick_rounds=quick_rounds,
        )
        for name in names
    )
