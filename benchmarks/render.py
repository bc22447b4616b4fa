"""Write the page and its figure again from stored results: ``python -m benchmarks.render``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks import figure, report

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results.json"


def render(source: Path = RESULTS, docs: Path = ROOT / "docs") -> None:
    """From results to docs/performance.md and docs/figures/performance.{svg,png}."""
    results = json.loads(source.read_text(encoding="utf-8"))
    figure.draw(results, docs / "figures")
    (docs / "performance.md").write_text(report.page(results), encoding="utf-8")


if __name__ == "__main__":
    render(*map(Path, sys.argv[1:3]))
