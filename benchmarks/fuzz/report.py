"""What is printed: how far the fuzz is, and what it found."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator

from benchmarks.fuzz.cases import FitViolation
from benchmarks.fuzz.violations import Violation

_SECONDS_BETWEEN = 10.0


class Progress:
    """A line now and then: done, of how many, and the number of violations so far."""

    def __init__(self, what: str, count: int) -> None:
        self.what, self.count = what, count
        self.done = self.n_violations = 0
        self._start = self._last = time.monotonic()

    def advance(self, n_violations: int) -> None:
        self.done += 1
        self.n_violations += n_violations
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN:
            self._last = now
            sys.stderr.write(
                f"{self.done} of {self.count} {self.what} after {now - self._start:.0f} s, "
                f"{self.n_violations} violations\n"
            )


def summary(found: Iterable[Violation]) -> Iterator[str]:
    """For each kind of violation how often, how bad at worst, and the smallest case to look at."""
    kinds: dict[str, list[Violation]] = {}
    for violation in found:
        kinds.setdefault(violation.kind, []).append(violation)
    for kind, violations in sorted(kinds.items(), key=lambda item: -len(item[1])):
        smallest = min(violations, key=_entries)
        worst = max(map(_excess, violations))
        size = "" if worst in (0.0, float("inf")) else f", worst {worst:.3g}"
        yield f"{kind}: {len(violations)}{size}"
        yield f"    {smallest.reproduce}"
        yield f"    {smallest.details}"


def _entries(violation: Violation) -> int:
    return violation.entries if isinstance(violation, FitViolation) else 0


def _excess(violation: Violation) -> float:
    return violation.excess if isinstance(violation, FitViolation) else 0.0
