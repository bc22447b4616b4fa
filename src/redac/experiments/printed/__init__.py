"""The figures that the paper prints, one file for each experiment, and what they say about itself.

Zhao, Meng and Xu, "A recursive divide-and-conquer approach for sparse principal component
analysis", section 3.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# Setting → method → measure → figure.
Cells = dict[str, dict[str, dict[str, float]]]

_HALF_RRE_DIGIT = 0.00005
_HALF_PEV_DIGIT = 0.005


@cache
def figures(experiment: str) -> Cells:
    """What the paper prints for an experiment."""
    file = files(__package__) / f"{experiment}.json"
    cells: Cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return cells


def figure(experiment: str, setting: str, method: str, measure: str) -> float | None:
    """One printed figure, or None where the paper prints nothing."""
    return figures(experiment).get(setting, {}).get(method, {}).get(measure)


@dataclass(frozen=True)
class Contradiction:
    """A printed RRE and a printed PEV that cannot both be right."""

    experiment: str
    setting: str
    method: str
    rre: float
    pev: float

    @property
    def pev_of_rre(self) -> float:
        return 100 * (1 - self.rre**2)

    @property
    def rre_of_pev(self) -> float:
        return float((1 - self.pev / 100) ** 0.5)


def contradictions(experiment: str) -> list[Contradiction]:
    """The cells in which PEV = 100(1 − RRE²) fails by more than both roundings allow."""
    found = []
    for setting, rows in figures(experiment).items():
        for method, cell in rows.items():
            if "RRE" not in cell:
                continue
            rre, pev = cell["RRE"], cell["PEV"]
            least = 100 * (1 - (rre + _HALF_RRE_DIGIT) ** 2) - _HALF_PEV_DIGIT
            most = 100 * (1 - (rre - _HALF_RRE_DIGIT) ** 2) + _HALF_PEV_DIGIT
            if not least <= pev <= most:
                found.append(Contradiction(experiment, setting, method, rre, pev))
    return found


def possible_counts(percentage: float, total: int, digits: int = 2) -> list[int]:
    """The whole numbers out of ``total`` that round to a printed percentage."""
    near = round(percentage * total / 100)
    return [
        count
        for count in range(near - 2, near + 3)
        if round(100 * count / total, digits) == percentage
    ]
