"""Measure: ``python -m benchmarks [--quick] [--case NAME] [--contestant NAME]``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks import contestants, render, report
from benchmarks.about import circumstances
from benchmarks.cases import grid
from benchmarks.growth import measure_growth
from benchmarks.measuring import Settings, measure
from benchmarks.small import measure_small

_CONSOLE = Console(stderr=True)
PARTS = ("grid", "growth", "small")


def main(arguments: list[str] | None = None) -> int:
    """Measure what was asked for; the whole of it also writes the page of the documentation."""
    options = _parser().parse_args(arguments)
    whole = not (options.quick or options.case or options.contestant or options.part)
    output = options.output or (render.RESULTS if whole else None)
    try:
        cases = grid(tuple(options.case or ()), quick=options.quick)
    except ValueError as error:
        _CONSOLE.print(str(error), markup=False)
        return 2
    settings = _settings(options)
    results: dict[str, Any] = {}
    with threadpool_limits(settings.threads):
        results = {"about": circumstances(), "rows": [], "quality": [], "skipped": []}
        if "grid" in (options.part or PARTS):
            for case in cases:
                _measure_case(case, settings, results)
                # A long run that is ended keeps what it has, beside the results of the last one.
                _write(results, output and output.with_suffix(".partial.json"))
        parts = options.part or (PARTS if whole else ())
        if "growth" in parts:
            results["growth"] = measure_growth(progress=_CONSOLE.print)
        if "small" in parts:
            _CONSOLE.print("many small fits")
            results["small"] = measure_small()
    _write(results, output)
    if output is not None:
        output.with_suffix(".partial.json").unlink(missing_ok=True)
    if whole and output is not None:
        render.render(output)
    else:
        sys.stdout.write(report.page(results))
    return 0


def _measure_case(case: Any, settings: Settings, results: dict[str, Any]) -> None:
    _CONSOLE.print(f"{case.name}", markup=False)
    try:
        rows, quality = measure(case, settings)
    except FileNotFoundError as error:
        reason = str(error).splitlines()[0].split(";")[0]
        results["skipped"].append({"case": case.name, "reason": reason})
        return
    results["rows"] += rows
    results["quality"] += quality


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        threads=options.threads,
        rounds=3 if options.quick else 5,
        case_seconds=10.0 if options.quick else 30.0,
        limit=20.0 if options.quick else 60.0,
        peer_limit=options.peer_limit or (20.0 if options.quick else 600.0),
        only=tuple(options.contestant or ()),
        alphas=_earlier_alphas(),
        progress=lambda text: _CONSOLE.print(text, markup=False, highlight=False),
    )


def _earlier_alphas() -> dict[tuple[Any, ...], float]:
    """Penalties that an earlier run has found; they are tried first and checked."""
    if not render.RESULTS.exists():
        return {}
    rows = json.loads(render.RESULTS.read_text(encoding="utf-8"))["rows"]
    return {
        (row["data"], row["r"], row["sparsity"], row["contestant"]): row["alpha"]
        for row in rows
        if row.get("alpha") is not None
    }


def _write(results: dict[str, Any], output: Path | None) -> None:
    if output is not None:
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--case", action="append", help="data set or data set/r10; may be repeated")
    parser.add_argument("--contestant", action="append", choices=list(contestants.CONTESTANTS))
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="two data sets, r = 10, few rounds")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="BLAS threads")
    parser.add_argument("--peer-limit", type=float, help="seconds for one fit of a penalised rival")
    parser.add_argument("--output", type=Path, help="JSON file; the whole run has its own place")
    return parser


if __name__ == "__main__":
    sys.exit(main())
