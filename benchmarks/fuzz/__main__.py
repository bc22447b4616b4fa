"""``python -m benchmarks.fuzz``: random cases, checked against what must always hold.

Prints each kind of violation with the smallest case that shows it; the exit status is 1 if there is
any.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module

from benchmarks.fuzz.report import Progress, summary
from benchmarks.fuzz.violations import Violation


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if not (options.fits or options.files or options.models):
        _parser().error("give a number of --fits, --files or --models.")
    found: list[Violation] = []
    try:
        for violations in _cases(options):
            found += violations
    except KeyboardInterrupt:
        sys.stdout.write("\n".join(summary(found)) + "\ninterrupted\n")
        return 130
    for line in summary(found):
        sys.stdout.write(line + "\n")
    counts = {name: getattr(options, name) for name in ("fits", "files", "models")}
    done = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    sys.stdout.write(f"{done}, {len(found)} violations\n")
    return 1 if found else 0


def _cases(options: argparse.Namespace) -> Iterator[list[Violation]]:
    """What does not hold, case by case."""
    for name in ("fits", "files", "models"):
        count = getattr(options, name)
        if not count:
            continue
        check = getattr(import_module(f"benchmarks.fuzz.{name}"), f"check_{name}")
        progress = Progress(name, count)
        numbers = range(options.first, options.first + count)
        for found in check(numbers, options.seed, jobs=max(1, min(options.jobs, count))):
            progress.advance(len(found))
            yield found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--fits", type=_count, default=0, help="number of random fits")
    parser.add_argument("--files", type=_count, default=0, help="number of random data files")
    parser.add_argument("--models", type=_count, default=0, help="number of random model files")
    parser.add_argument("--seed", type=_count, default=0, help="another seed, other cases")
    parser.add_argument("--first", type=_count, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=_count, default=1, help="processes side by side")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more.")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
