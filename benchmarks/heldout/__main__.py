"""``python -m benchmarks.heldout``: the default fit on the held-out problems.

Prints a table and a summary. What is measured is written down problem by problem, as lines of JSON,
so that a run that was broken off goes on with ``--resume``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.heldout.measures import Row, measure
from benchmarks.heldout.summary import Earlier, stored, summary, table
from benchmarks.problems import heldout
from benchmarks.problems.model import spread


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    earlier = Earlier.of(json.loads(options.against.read_text()) if options.against else {})
    names = [problem.name for problem in spread(heldout(), options.limit)]
    done = _read(options.results, options.perturbations) if options.resume else {}
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with options.results.open("w", encoding="utf-8") as lines:
        lines.writelines(_line(row, options.perturbations) for row in done.values())
        lines.flush()
        missing = [name for name in names if name not in done]
        for row in _measured(missing, options.perturbations, options.jobs):
            done[row.name] = row
            lines.write(_line(row, options.perturbations))
            lines.flush()
            sys.stderr.write(f"\r{len(done)} done ")
    sys.stderr.write("\n")
    rows = [done[name] for name in names if name in done]
    for line in (*table(rows, earlier), "", *summary(rows, earlier)):
        sys.stdout.write(line + "\n")
    if options.output:
        content = json.dumps(stored(rows, earlier), indent=1) + "\n"
        options.output.write_text(content, encoding="utf-8")
    return 0


def _measured(names: list[str], perturbations: int, jobs: int) -> Iterator[Row]:
    """The rows, as they are ready."""
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(delayed(_measure)(name, perturbations) for name in names)


def _measure(name: str, perturbations: int) -> Row:
    """The problem is looked up where it is solved: a name travels faster than a matrix."""
    problem = next(problem for problem in heldout() if problem.name == name)
    with threadpool_limits(1):  # so that times do not depend on what else is at work
        return measure(problem, perturbations)


def _line(row: Row, perturbations: int) -> str:
    return json.dumps({"asked": perturbations, **row.as_dict()}) + "\n"


def _read(path: Path, perturbations: int) -> dict[str, Row]:
    """What an earlier run with as many perturbations has written, but for a line it did not end."""
    if not path.exists():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            values = json.loads(line)
            if values["asked"] == perturbations:
                found[values["name"]] = Row.of(values)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heldout", description=__doc__)
    parser.add_argument(
        "--limit", type=int, metavar="N", help="only N of the problems, of all kinds"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="processes side by side")
    parser.add_argument(
        "--perturbations",
        type=int,
        default=1000,
        metavar="N",
        help="rounds of the long search; a fifth of them beyond 2000 features; 0 for none",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("build/heldout.jsonl"),
        metavar="FILE",
        help="lines of JSON, one for each problem (%(default)s)",
    )
    parser.add_argument("--resume", action="store_true", help="go on with what is in --results")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare with the --output of an earlier run"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write times and best values for --against"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
