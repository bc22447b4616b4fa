"""``python -m benchmarks.ablation``: what each move and each number of the search is worth.

Every move is switched off, and every number of ``Strategy`` is halved and doubled, on the problems
to tune on. Printed are the points of explained variance that are lost by that, on average and at
worst, and the time it takes as a multiple of the default. ``--write`` puts the table into
docs/the_search.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from unittest import mock

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.problems import TestProblem, tuning
from benchmarks.problems.model import spread
from redac.solver import climb
from redac.solver.strategy import DEFAULT, Strategy, using

PAGE = Path(__file__).parents[1] / "docs" / "the_search.md"
BEGIN, END = "<!-- ablation: begin -->", "<!-- ablation: end -->"
# Fits of one problem; the least time counts.
_ROUNDS = 2


@dataclass(frozen=True)
class Variant:
    """A search that differs from the default in one thing: a number, or a move that is missing."""

    name: str
    strategy: Strategy = DEFAULT
    without: str | None = None

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within it, fits are searched for in this way."""
        with using(self.strategy):
            if self.without is None:
                yield
                return
            with mock.patch.object(climb, self.without, _unchanged):
                yield


def _unchanged(problem: object, V: object, *_: object) -> object:
    """A move that does nothing."""
    return V


@dataclass(frozen=True)
class Outcome:
    """PEV and seconds of a variant, problem by problem."""

    pev: np.ndarray
    seconds: np.ndarray


def variants() -> list[Variant]:
    """The default, everything switched off, everything halved and doubled."""
    found = [Variant("default")]
    found += [Variant(f"without {move}", without=move) for move in ("polish", "exchange", "swap")]
    off = ("first_ridge", "exchanges", "rows", "patience", "redraws")
    found += [
        Variant(f"{name} = 0", replace(DEFAULT, **{name: type(getattr(DEFAULT, name))(0)}))
        for name in off
    ]
    for field in fields(Strategy):
        value = getattr(DEFAULT, field.name)
        for factor in (0.5, 2):
            changed = type(value)(
                min(value * factor, 1.0) if field.name == "outside" else value * factor
            )
            found.append(
                Variant(f"{field.name} × {factor:g}", replace(DEFAULT, **{field.name: changed}))
            )
    return [each for each in found if not each.name.startswith("warmth")]


def measured(variant: Variant, problem: TestProblem) -> tuple[float, float]:
    """PEV and the least time of some default fits."""
    _ = problem.matrix
    seconds = np.inf
    with threadpool_limits(1), variant.in_place():
        for _ in range(_ROUNDS):
            start = time.process_time()
            model = problem.fit()
            seconds = min(seconds, time.process_time() - start)
    return problem.pev(model.components_), float(seconds)


def outcome(variant: Variant, problems: Sequence[TestProblem], jobs: int) -> Outcome:
    rows = Parallel(n_jobs=jobs)(delayed(measured)(variant, problem) for problem in problems)
    pev, seconds = np.array(rows).T
    return Outcome(pev, seconds)


def table(outcomes: dict[str, Outcome]) -> Iterator[str]:
    """What is lost by each change, in Markdown."""
    default = outcomes["default"]
    yield "| change | points lost, mean | at worst | gained at best | time |"
    yield "|---|--:|--:|--:|--:|"
    for name, each in outcomes.items():
        lost = default.pev - each.pev
        ratio = np.exp(np.mean(np.log(each.seconds / default.seconds)))
        yield (
            f"| {name} | {lost.mean():+.3f} | {max(0.0, lost.max()):.2f} | "
            f"{max(0.0, -lost.min()):.2f} | {ratio:.2f} |"
        )


def written(page: str, lines: Sequence[str]) -> str:
    """The page with a new table between its marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return "\n".join([before + BEGIN, "", *lines, "", END + after])


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    problems = spread(tuning(), options.limit)
    chosen = [each for each in variants() if each.name == "default" or options.only in each.name]
    outcomes = {}
    for number, variant in enumerate(chosen, start=1):
        outcomes[variant.name] = outcome(variant, problems, options.jobs)
        sys.stderr.write(f"\r{number} of {len(chosen)} ")
    sys.stderr.write("\n")
    lines = [*table(outcomes), "", f"Over {len(problems)} problems; CPU time, geometric mean."]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), lines), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__)
    parser.add_argument("--limit", type=int, metavar="N", help="only N of the problems")
    parser.add_argument("--only", default="", metavar="TEXT", help="only changes with this in them")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes side by side")
    parser.add_argument(
        "--write", action="store_true", help="put the table into docs/the_search.md"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
