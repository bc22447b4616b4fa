"""Printed figures of other packages beside redac, by their measure and by PEV.

The sum of the variances of the components, each for itself, counts what components share more than
once; PEV counts it once. ``--write`` puts the tables into docs/packages.md. ``--riboflavin FILE``
adds a table for those data, which do not come with redac.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.packages.catalogue import at_hand, fit
from benchmarks.packages.package import Array
from benchmarks.published.figures import PRINTED
from benchmarks.published.problems import Problem, problems
from redac import SparsePCA
from redac.methods import sparse_pca
from redac.metrics import orthogonality_violation, pev

PAGE = Path(__file__).parents[2] / "docs" / "packages.md"
_ROUNDS = 200
_LIMIT = 120.0  # seconds for one package


def ours(problem: Problem) -> Iterator[tuple[str, Array]]:
    """What redac and its methods find, one component taken r times, and PCA."""
    fit_ours = partial(SparsePCA, problem.r, cardinality=problem.k)
    method = partial(sparse_pca, problem.X, n_components=problem.r, cardinality=problem.k)
    yield "redac", fit_ours().fit(problem.X).components_
    longer = fit_ours(n_perturbations=_ROUNDS, random_state=0).fit(problem.X)
    yield f"redac, {_ROUNDS} perturbations", longer.components_
    yield "redac.methods, orthogonal", method(method="orthogonal", random_state=0)
    yield "redac.methods, spca", method(method="spca")
    yield "redac.methods, empca", method(method="empca", random_state=0)
    first = SparsePCA(1, cardinality=problem.k).fit(problem.X).components_
    yield f"one component, {problem.r} times", np.repeat(first, problem.r, axis=0)
    yield "PCA", SparsePCA(problem.r).fit(problem.X).components_


def theirs(problem: Problem) -> Iterator[tuple[str, Array | str]]:
    """What the packages find that are installed here, or why they find nothing."""
    here, _ = at_hand()
    for name in here:
        if not name.startswith("redac"):
            found = fit(name, problem.X, problem.r, problem.k, limit=_LIMIT)
            yield name, found if isinstance(found, str) else found.components


def measured(name: str, V: Array, problem: Problem) -> str:
    """One line of a table: what was found here, by both measures."""
    variances = np.trace(V @ problem.S @ V.T) / np.trace(problem.S)
    explained = pev(problem.S, V, covariance=True) / 100
    violation = orthogonality_violation(V)
    counts = _counts(np.count_nonzero(V, axis=1).tolist())
    return f"| {name} | {counts} | {variances:.3f} | {explained:.3f} | {_small(violation)} |"


def table(problem: Problem, *, packages: bool) -> Iterator[str]:
    """Found here and printed there."""
    yield "| found here | loadings | sum of variances | PEV | not orthogonal by |"
    yield "|---|---|--:|--:|--:|"
    for name, V in ours(problem):
        yield measured(name, V, problem)
    for name, found in theirs(problem) if packages else ():
        if isinstance(found, str):
            yield f"| {name} | {found} | | | |"
        else:
            yield measured(name, found, problem)
    if problem.name not in PRINTED:
        return
    yield "| *printed by msPCA 0.5.1:* | | | | |"
    for row in PRINTED[problem.name]:
        counts, violation = _counts(row.counts), _small(row.violation)
        yield f"| {row.function} | {counts} | {row.variances:.3f} | | {violation} |"


def _counts(counts: tuple[int, ...] | list[int]) -> str:
    """5-5-2, or 3 × 4 where all are alike."""
    if len(set(counts)) == 1:
        return f"{len(counts)} × {counts[0]}"
    return "-".join(map(str, counts))


def _small(violation: float) -> str:
    return "0" if violation < 1e-12 else f"{violation:.3g}"


def write(name: str, lines: list[str], page: Path = PAGE) -> None:
    """Put a table between its marks."""
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{page.name} has no place for {name}: {begin} … {end}")
    whole = "\n".join([begin, "", *lines, "", end])
    page.write_text(before + whole + after, encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description=__doc__)
    parser.add_argument("--riboflavin", type=Path, help="a file of 71 rows and 4,088 columns")
    parser.add_argument("--no-packages", action="store_true", help="redac alone")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/packages.md")
    options = parser.parse_args(arguments)
    for problem in problems(options.riboflavin):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about components that are nearly parallel
            lines = list(table(problem, packages=not options.no_packages))
        sys.stdout.write("\n".join([f"## {problem.name}", "", *lines, "", ""]))
        sys.stdout.flush()
        if options.write:
            write(problem.name, lines)


if __name__ == "__main__":
    main()
