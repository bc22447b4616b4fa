"""Measure: ``python -m benchmarks [--quick] [--case NAME] [--contestant NAME] [--resume]``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks import contestants, render, report
from benchmarks.cases import SPARSITIES, Case, grid
from benchmarks.growth import measure_growth
from benchmarks.measuring import Settings, measure
from benchmarks.penalties import FILE, Penalties
from benchmarks.run import DifferentRunError, Run
from benchmarks.small import measure_small

_CONSOLE = Console(stderr=True)
PARTS = ("grid", "growth", "small")


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for; the whole of it also writes the page of the documentation."""
    options = _parser().parse_args(arguments)
    narrowed = (options.case, options.contestant, options.sparsity, options.part)
    whole = not (options.quick or any(narrowed))
    output = options.output or (render.RESULTS if whole else None)
    settings = _settings(options)
    try:
        cases = grid(tuple(options.case or ()), tuple(options.sparsity or ()), quick=options.quick)
        with threadpool_limits(settings.threads):
            run = Run(output, _asked(options), resume=options.resume)
            _measure(run, cases, options.part or (PARTS if whole else PARTS[:1]), settings)
    except (ValueError, DifferentRunError) as error:
        _CONSOLE.print(str(error), markup=False)
        return 2
    run.finish()
    if whole and output is not None:
        render.render(output)
    else:
        sys.stdout.write(report.page(run.results))
    return 0


def _measure(run: Run, cases: list[Case], parts: tuple[str, ...], settings: Settings) -> None:
    """Everything that the run does not have yet; each piece is kept as soon as it is done."""
    pieces: list[tuple[str, Callable[[], dict[str, Any]]]] = []
    if "grid" in parts:
        pieces += [(case.name, lambda case=case: _case(case, settings)) for case in cases]  # type: ignore[misc]
    if "growth" in parts:
        pieces.append(("growth", lambda: {"growth": measure_growth(progress=_tell)}))
    if "small" in parts:
        pieces.append(("many small fits", lambda: {"small": measure_small()}))
    begin = time.perf_counter()
    for number, (name, piece) in enumerate(pieces, start=1):
        minutes = (time.perf_counter() - begin) / 60
        known = run.has(name)
        _tell(f"{number}/{len(pieces)} {name}" + (": kept" if known else f" ({minutes:.1f} min)"))
        if not known:
            run.keep(name, piece())


def _case(case: Case, settings: Settings) -> dict[str, Any]:
    try:
        rows, quality = measure(case, settings)
    except FileNotFoundError as error:
        reason = str(error).splitlines()[0].split(";")[0]
        return {"skipped": [{"case": case.name, "reason": reason}]}
    return {"rows": rows, "quality": quality}


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """What must be the same for a run to be gone on with."""
    names = ("case", "contestant", "sparsity", "part", "quick", "threads", "peer_limit")
    return {name: getattr(options, name) for name in names}


def _settings(options: argparse.Namespace) -> Settings:
    settings = Settings(
        threads=options.threads,
        only=tuple(options.contestant or ()),
        penalties=Penalties(FILE),
        tune=options.tune,
        progress=_tell,
    )
    changes: dict[str, Any] = {}
    if options.quick:
        changes = {"rounds": 3, "case_seconds": 10.0, "peer_limit": 20.0}
    if options.peer_limit is not None:
        changes["peer_limit"] = options.peer_limit
    return settings.changed(**changes)


def _tell(text: str) -> None:
    _CONSOLE.print(text, markup=False, highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--case", action="append", help="data set or data set/r10; may be repeated")
    parser.add_argument("--contestant", action="append", choices=list(contestants.CONTESTANTS))
    parser.add_argument("--sparsity", action="append", choices=SPARSITIES)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="two data sets, r = 10, few rounds")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="BLAS threads")
    parser.add_argument("--peer-limit", type=float, help="seconds for one fit of a penalised rival")
    parser.add_argument(
        "--tune", action="store_true", help="search again for the penalties in penalties.json"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the run that was broken off"
    )
    parser.add_argument("--output", type=Path, help="JSON file; the whole run has its own place")
    return parser


if __name__ == "__main__":
    sys.exit(main())
