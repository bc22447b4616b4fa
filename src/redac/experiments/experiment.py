"""What an experiment is: data, contenders and a measure. The runner does the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from redac.experiments.contenders import Contender
from redac.experiments.problems import ExperimentProblem
from redac.sources.base import Array

Measure = Callable[[Any, Array], dict[str, float]]


@dataclass(frozen=True)
class Experiment:
    """One table of the paper, with the figures that belong to it.

    Attributes
    ----------
    name, title : for the command line and for the page of results.
    settings : the columns of the paper's table: a name, and what ``make`` needs to know.
    make : the problem for a setting and a seed.
    contenders : the rows.
    measure : what is printed in a cell: names and numbers, from a problem and components.
    headline : the measure that decides which row is best; the larger, the better.
    repeats, quick_repeats : data sets, splits or random starts for each setting; one where nothing
        but the contenders is random.
    paper_repeats : how many the paper averages; as many as here where nothing is said.
    per : factor for means over repeats; 1000 turns shares into successes in 1000.
    curve_at, quick_curve_at : the numbers of components at which PEV is kept for a figure, in the
        first repeat.
    keep_components : whether the loadings of the first repeat are kept for a figure.
    """

    name: str
    title: str
    settings: Mapping[str, Any]
    make: Callable[[Any, int], ExperimentProblem]
    contenders: tuple[Contender, ...]
    measure: Measure
    headline: str
    per: int = 1
    repeats: int = 1
    quick_repeats: int = 1
    paper_repeats: int | None = None
    curve_at: tuple[int, ...] = ()
    quick_curve_at: tuple[int, ...] = ()
    keep_components: bool = False

    def quick(self) -> Experiment:
        """The same in a small size."""
        return replace(
            self,
            repeats=self.quick_repeats,
            curve_at=self.quick_curve_at,
            contenders=tuple(contender.quick() for contender in self.contenders),
        )

    def repeated(self, repeats: int) -> Experiment:
        """The same with another number of repeats, where there is something to repeat."""
        return replace(self, repeats=repeats) if self.repeats > 1 else self

    def check_data(self) -> None:
        """Raise FileNotFoundError if the data are not on this machine."""
        self.make(next(iter(self.settings.values())), 0)

    def contender(self, name: str) -> Contender:
        return next(contender for contender in self.contenders if contender.name == name)
