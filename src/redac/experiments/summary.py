"""From records to the rows of tables, and from rows to what they say."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from redac.experiments import measures, printed
from redac.experiments.experiment import Experiment
from redac.experiments.store import Record

# The paper lists the better one of p = 0 and p = 1.
BETTER_REDAC = "redac"
_VARIANTS = {f"redac_l{p}{suffix}" for p in (0, 1) for suffix in ("", "_nonnegative")}
_ERRORS = {measures.RRE}
# A difference of PEV that the printed digits, or the end of an iteration, can make.
PEV_TOLERANCE = 0.02
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Cell:
    """A figure of ours beside the printed one.

    Attributes
    ----------
    ours : the mean over repeats.
    error : its standard error; zero for a single run.
    paper : None where the paper prints nothing.
    """

    ours: float
    error: float
    paper: float | None

    @property
    def difference(self) -> float | None:
        return None if self.paper is None else self.ours - self.paper


@dataclass(frozen=True)
class Row:
    """What one contender did in one setting."""

    experiment: str
    setting: str
    method: str
    label: str
    cells: dict[str, Cell]
    non_zeros: float
    seconds: float
    repeats: int
    warned: int


def rows_of(experiment: Experiment, records: Sequence[Record]) -> list[Row]:
    """The table of an experiment: a row for each setting and contender, and the better ReDaC."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record["setting"], record["contender"]].append(record)
    rows = []
    for setting in experiment.settings:
        own = [
            _row(experiment, setting, contender.name, groups[setting, contender.name])
            for contender in experiment.contenders
        ]
        rows += [*own, _better_redac(experiment, own)]
    return rows


def _row(experiment: Experiment, setting: str, name: str, records: Sequence[Record]) -> Row:
    cells = {
        measure: _cell(
            [record["measures"][measure] for record in records],
            experiment.per,
            printed.figure(experiment.name, setting, name, measure),
        )
        for measure in records[0]["measures"]
    }
    return Row(
        experiment.name,
        setting,
        name,
        experiment.contender(name).label,
        cells,
        non_zeros=float(np.mean([sum(record["non_zeros"]) for record in records])),
        seconds=float(np.mean([record["seconds"] for record in records])),
        repeats=len(records),
        warned=sum("CardinalityWarning" in record["warnings"] for record in records),
    )


def _cell(values: Sequence[float], per: int, paper: float | None) -> Cell:
    count = len(values)
    error = float(np.std(values, ddof=1)) / count**0.5 if count > 1 else 0.0
    return Cell(per * float(np.mean(values)), per * error, paper)


def _better_redac(experiment: Experiment, rows: Sequence[Row]) -> Row:
    best = max(
        (row for row in rows if row.method in _VARIANTS),
        key=lambda row: row.cells[experiment.headline].ours,
    )
    cells = {
        measure: replace(
            cell,
            paper=printed.figure(experiment.name, best.setting, BETTER_REDAC, measure),
        )
        for measure, cell in best.cells.items()
    }
    return replace(best, method=BETTER_REDAC, label="ReDaC, the better", cells=cells)


def json_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The content of results.json."""
    return [
        {
            "experiment": row.experiment,
            "setting": row.setting,
            "method": row.method,
            "metric": metric,
            "ours": ours,
            "paper": paper,
        }
        for row in rows
        for metric, ours, paper in [
            *((name, cell.ours, cell.paper) for name, cell in row.cells.items()),
            ("non-zeros", row.non_zeros, None),
            ("seconds", row.seconds, None),
        ]
    ]


@dataclass(frozen=True)
class Verdict:
    """A comparison of ReDaC with something else.

    Attributes
    ----------
    margin : positive where ReDaC is ahead.
    tolerance : what rounding can make of the margin.
    chance : what chance can make of it, two standard errors.
    """

    setting: str
    measure: str
    ours: float
    other: float
    rival: str
    margin: float
    tolerance: float
    chance: float

    @property
    def holds(self) -> bool:
        """Whether ReDaC is at least equal."""
        return self.margin >= -self.tolerance

    @property
    def open(self) -> bool:
        """Whether ReDaC is behind by no more than chance may explain."""
        return not self.holds and self.margin >= -self.chance


def against_the_paper(experiment: Experiment, rows: Sequence[Row]) -> list[Verdict]:
    """ReDaC here and ReDaC there, for every printed cell.

    Where chance plays a part the printed figure has an error too: that of the mean over as many
    repeats as the paper has. The larger of the two errors counts.
    """
    return [
        _verdict(row, measure, cell.paper, "paper", cell.error * _inflation(experiment, row))
        for row in rows
        if row.method == BETTER_REDAC
        for measure, cell in row.cells.items()
        if cell.paper is not None
    ]


def _inflation(experiment: Experiment, row: Row) -> float:
    theirs = experiment.paper_repeats or row.repeats
    return max(1.0, math.sqrt(row.repeats / theirs))


def against_the_rivals(experiment: Experiment, rows: Sequence[Row]) -> list[Verdict]:
    """ReDaC and the best other method at the same cardinalities; block methods one by one.

    A block method deals out a total itself. It is compared with ReDaC at the cardinalities that it
    chose, where the experiment has that row, and as any other method elsewhere.
    """
    found = []
    for setting in experiment.settings:
        own = {row.method: row for row in rows if row.setting == setting}
        alike = []
        for name, row in own.items():
            twin = own.get(f"redac_search_as_{name}")
            if twin is not None:
                found.append(_rivalry(twin, row, experiment.headline))
            elif not name.startswith("redac") and not is_dense(name, experiment):
                alike.append(row)
        if alike:
            best = max(alike, key=lambda row: row.cells[experiment.headline].ours)
            found.append(_rivalry(own[BETTER_REDAC], best, experiment.headline))
    return found


def is_dense(name: str, experiment: Experiment) -> bool:
    """Whether a method is no rival: it has all features, or more loadings to explain variance."""
    return name == "all_features" or (experiment.headline == measures.PEV and name == "pca")


def _rivalry(row: Row, rival: Row, measure: str) -> Verdict:
    mine, other = row.cells[measure], rival.cells[measure]
    error = float(np.hypot(mine.error, other.error))
    return _verdict(row, measure, other.ours, rival.label, error)


def _verdict(row: Row, measure: str, other: float, rival: str, error: float) -> Verdict:
    ours = row.cells[measure].ours
    margin = other - ours if measure in _ERRORS else ours - other
    tolerance = _tolerance(measure, other)
    chance = _STANDARD_ERRORS * error
    return Verdict(row.setting, measure, ours, other, rival, margin, tolerance, chance)


def _tolerance(measure: str, value: float) -> float:
    if measure == measures.PEV:
        return PEV_TOLERANCE
    if measure == measures.RRE:  # the same, because PEV = 100(1 − RRE²)
        return PEV_TOLERANCE / (200 * value)
    return 1e-9
