"""``python -m benchmarks.proofs``: value, bound, gap and time of certificates.

Each certificate starts from the default fit. What rival methods of the package and a longer search
find is held against the bound, which must not lie below it, and against the value: a gap is not to
be told of components that a rival beats. Results are written down one by one, as lines of JSON, so
that a run that was broken off goes on with ``--resume``. On a machine that does other things too,
``--processor`` counts processor time, on which an idle machine agrees with the clock.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.proofs.cases import Case, cases
from benchmarks.proofs.measures import Row, measure
from benchmarks.proofs.page import summary, table, write

_PAGE = Path("docs/certificate.md")


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.processor:  # whoever asks what time it is
        time.monotonic = time.process_time
    wanted = [case for case in cases() if _is_wanted(case, options.only)]
    done = _read(options.results) if options.resume else {}
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with options.results.open("w", encoding="utf-8") as lines:
        lines.writelines(row.line() for row in done.values())
        lines.flush()
        for case in wanted:
            if (case.group, case.name) in done:
                continue
            row = measure(case, options.seconds)
            done[row.group, row.name] = row
            lines.write(row.line())
            lines.flush()
            sys.stderr.write(f"{row.told()}\n")
    rows = [done[case.group, case.name] for case in wanted if (case.group, case.name) in done]
    for line in (*table(rows), "", *summary(rows)):
        sys.stdout.write(f"{line}\n")
    if options.write:
        write(_PAGE, rows)
    return int(any(not row.holds for row in rows))


def _is_wanted(case: Case, only: list[str] | None) -> bool:
    return only is None or any(word in f"{case.group}: {case.name}" for word in only)


def _read(path: Path) -> dict[tuple[str, str], Row]:
    """What an earlier run has written, but for a line it did not end."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    rows = [Row(**json.loads(line)) for line in text.splitlines(keepends=True) if line[-1] == "\n"]
    return {(row.group, row.name): row for row in rows}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proofs", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="cases whose group or name has one of these words"
    )
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="the most for each proof, in place of its own"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("build/proofs.jsonl"),
        metavar="FILE",
        help="lines of JSON, one for each case (%(default)s)",
    )
    parser.add_argument("--resume", action="store_true", help="go on with what is in --results")
    parser.add_argument("--processor", action="store_true", help="count processor time instead")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {_PAGE}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
