"""The tables of docs/certificate.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.proofs.measures import Row

_BEGIN = "<!-- begin: python -m benchmarks.proofs --write -->"
_END = "<!-- end -->"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """One line for each case."""
    yield "| data | components | value | upper bound | gap | wanted | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row.data} | {row.settings} | {row.value:.3f} | {row.bound:.3f} | {row.gap:.3f} "
            f"| {row.wanted:g} | {row.seconds:.1f} |"
        )


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """What share of each group is as close as wanted."""
    for group in dict.fromkeys(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        reached = sum(row.reached for row in members)
        wrong = sum(not row.holds for row in members)
        beaten = sum(row.beaten for row in members)
        yield (
            f"{group}: {reached} of {len(members)} as close as wanted; bounds below something "
            f"known: {wrong}; values that a rival beats by 0.001: {beaten}"
        )


def write(page: Path, rows: Sequence[Row]) -> None:
    """Put the tables between their marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    lines = [_BEGIN, "", *table(rows), "", *(f"- {line}" for line in summary(rows)), "", _END]
    page.write_text(before + "\n".join(lines) + after, encoding="utf-8")
