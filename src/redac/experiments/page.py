"""results.md: ours and theirs in one table, and what the comparison says."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files

import redac
from redac.experiments import measures, printed
from redac.experiments.experiment import Experiment
from redac.experiments.store import LIBRARIES
from redac.experiments.summary import (
    BETTER_REDAC,
    Row,
    Verdict,
    against_the_paper,
    against_the_rivals,
    is_dense,
)

_DIGITS = {
    measures.RRE: 4,
    measures.PEV: 2,
    measures.FACES: 2,
    measures.OTHERS: 2,
    measures.TOTAL: 2,
}
_ERRORS = {measures.RRE}


@dataclass(frozen=True)
class Result:
    """All there is to say about an experiment that was run.

    ``elapsed`` is the time in seconds that its parts took, one after the other.
    """

    experiment: Experiment
    rows: list[Row]
    elapsed: float


def run_facts(seed: int, results: Sequence[Result]) -> dict[str, str]:
    """When, with what, from which seed, how often and how long."""
    experiments = [result.experiment for result in results]
    repeats = [f"{each.name} {each.repeats}" for each in experiments if each.repeats > 1]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "seed": str(seed),
        "redac": redac.__version__,
        "Python": platform.python_version(),
        **{library: version(library) for library in LIBRARIES},
        "repeats": ", ".join(repeats) or "none",
        "run time on one core": _duration(sum(result.elapsed for result in results)),
    }


def page(
    results: Sequence[Result], facts: dict[str, str], drawn: dict[str, list[str]], folder: str
) -> str:
    """The whole page.

    Parameters
    ----------
    results, facts : what was found, and how.
    drawn : the names of the figures of each experiment.
    folder : where they are, as seen from the page.
    """
    parts = [
        "# The paper's experiments, repeated",
        "Q. Zhao, D. Meng and Z. Xu, *A recursive divide-and-conquer approach for sparse principal "
        "component analysis*, section 3, run with `redac reproduce`. “Paper” is what is printed "
        "there; the difference is ours minus theirs. **Bold** marks the best of each column; "
        "methods that use every feature in every component do not compete for it in explained "
        "variance. ± is one standard error over the repeats. PEV and accuracies are in percent, "
        "RRE is better the smaller it is. Seconds are means for one fit, with several running "
        "side by side.",
        _table(["run", ""], [[name, value] for name, value in facts.items()]),
        "## Summary",
        *_summary(results),
    ]
    for result in results:
        parts += _section(result)
        parts += [
            f"![{name.replace('_', ' ')}]({folder}/{name}.svg)"
            for name in drawn.get(result.experiment.name, ())
        ]
    parts += ["## Where the paper cannot be matched, and why", *_remarks(results)]
    return "\n\n".join(parts) + "\n"


def _summary(results: Sequence[Result]) -> list[str]:
    paper, rivals = [], []
    for result in results:
        paper += [
            (result, verdict) for verdict in against_the_paper(result.experiment, result.rows)
        ]
        rivals += [
            (result, verdict) for verdict in against_the_rivals(result.experiment, result.rows)
        ]
    return [
        "ReDaC is the better one of p = 0 and p = 1 with default settings, as in the paper. "
        f"Compared with the figures printed for it, within 0.02 PEV: {_count(paper)}.",
        _verdicts(paper, "printed"),
        "Compared with the best other method at the same cardinalities, and with each method that "
        "deals out a total itself at the cardinalities which that one chose (ReDaC with "
        f"perturbations, a row of its own): {_count(rivals)}.",
        _verdicts(rivals, "best other method"),
    ]


def _count(verdicts: Sequence[tuple[Result, Verdict]]) -> str:
    ahead = sum(verdict.holds for _, verdict in verdicts)
    undecided = sum(verdict.open for _, verdict in verdicts)
    behind = len(verdicts) - ahead - undecided
    return (
        f"at least equal in {ahead} of {len(verdicts)} comparisons, behind by less than two "
        f"standard errors in {undecided}, behind in {behind}"
    )


def _verdicts(verdicts: Iterable[tuple[Result, Verdict]], other: str) -> str:
    lines = []
    for result, verdict in verdicts:
        measure = verdict.measure
        rival = "" if verdict.rival == "paper" else f" ({verdict.rival})"
        lines.append(
            [
                result.experiment.name,
                verdict.setting,
                measure,
                number(measure, verdict.ours),
                number(measure, verdict.other) + rival,
                number(measure, verdict.margin, sign=True),
                "yes" if verdict.holds else "within chance" if verdict.open else "**no**",
            ]
        )
    header = ["experiment", "setting", "measure", "ReDaC", other, "ahead by", "at least equal"]
    return _table(header, lines)


def _section(result: Result) -> list[str]:
    experiment = result.experiment
    parts = [f"## {experiment.title}", f"Run time on one core: {_duration(result.elapsed)}."]
    for setting in experiment.settings:
        rows = [row for row in result.rows if row.setting == setting]
        repeats = f", {rows[0].repeats} repeats" if rows[0].repeats > 1 else ""
        parts += [f"### {setting}{repeats}", _setting_table(experiment, rows)]
    return parts


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _setting_table(experiment: Experiment, rows: Sequence[Row]) -> str:
    names = list(rows[0].cells)
    competing = [row for row in rows if not is_dense(row.method, experiment)]
    best_ours = {name: _best(name, [row.cells[name].ours for row in competing]) for name in names}
    best_paper = {name: _best(name, [row.cells[name].paper for row in competing]) for name in names}
    header = ["method"]
    for name in names:
        header += [name] if best_paper[name] is None else [name, "paper", "difference"]
    header += ["non-zeros", "seconds"]
    lines = []
    for row in rows:
        line = [f"**{row.label}**" if row.method == BETTER_REDAC else row.label]
        for name in names:
            cell = row.cells[name]
            error = f" ± {number(name, cell.error)}" if row.repeats > 1 else ""
            difference = cell.difference
            mark = best_ours[name] if row in competing else None
            line.append(_bold(name, cell.ours, mark) + error)
            if best_paper[name] is not None:
                line += [
                    "" if cell.paper is None else _bold(name, cell.paper, best_paper[name]),
                    "" if difference is None else number(name, difference, sign=True),
                ]
        lines.append([*line, f"{row.non_zeros:.0f}", _seconds(row.seconds)])
    return _table(header, lines)


def _seconds(value: float) -> str:
    if value < 0.001:
        return "< 0.001"
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _best(measure: str, values: Sequence[float | None]) -> float | None:
    known = [round(value, _digits(measure)) for value in values if value is not None]
    if not known:
        return None
    return min(known) if measure in _ERRORS else max(known)


def _bold(measure: str, value: float, best: float | None) -> str:
    text = number(measure, value)
    is_best = best is not None and round(value, _digits(measure)) == best
    return f"**{text}**" if is_best else text


def number(measure: str, value: float, *, sign: bool = False) -> str:
    """A figure with as many digits as the paper prints for the measure."""
    return f"{value:{'+' if sign else ''}z.{_digits(measure)}f}"


def _digits(measure: str) -> int:
    return _DIGITS.get(measure, 0)


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *("--:" for _ in header[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])


def _remarks(results: Sequence[Result]) -> list[str]:
    """What the printed figures say about themselves, then what is known about each experiment."""
    lines = [
        [
            wrong.experiment,
            wrong.setting,
            wrong.method,
            f"{wrong.rre:.4f}",
            f"{wrong.pev:.2f}",
            f"{wrong.pev_of_rre:.2f}",
            f"{wrong.rre_of_pev:.4f}",
        ]
        for result in results
        for wrong in printed.contradictions(result.experiment.name)
    ]
    parts = [(files(__package__) / "remarks.md").read_text(encoding="utf-8").strip()]
    if lines:
        header = [
            "experiment",
            "setting",
            "method",
            "RRE",
            "PEV",
            "PEV of the RRE",
            "RRE of the PEV",
        ]
        parts += [
            "PEV = 100 (1 − RRE²) holds by definition. It fails by more than the rounding of both "
            "figures in these printed cells:",
            _table(header, lines),
        ]
    return parts
