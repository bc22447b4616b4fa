"""The table of all problems, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.heldout.measures import Row

# PEV points that matter: half of what a table with one digit behind the point shows.
_MATTERS = 0.05
# PEV points that count as equal to a proved optimum: rounding and no more.
_EQUAL = 1e-4


@dataclass(frozen=True)
class Earlier:
    """Times and best values of an earlier run, by the names of the problems."""

    seconds: Mapping[str, float]
    best: Mapping[str, float]

    @classmethod
    def of(cls, stored: Mapping[str, Mapping[str, float]]) -> Earlier:
        return cls(stored.get("seconds", {}), stored.get("best", {}))


def stored(rows: Sequence[Row], earlier: Earlier) -> dict[str, Any]:
    """What a later run needs: times, and the best values known until now."""
    return {
        "seconds": {row.name: row.seconds for row in rows},
        "best": {row.name: best_known(row, earlier) for row in rows},
    }


def best_known(row: Row, earlier: Earlier) -> float:
    """The best value of this run or of the earlier one."""
    return max(row.best, earlier.best.get(row.name, 0.0))


def table(rows: Sequence[Row], earlier: Earlier) -> Iterator[str]:
    """A line for each problem, in Markdown."""
    yield "| problem | d | PEV | rival | its PEV | search | rounds | optimum | miss | s | × PCA |"
    yield "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        cells = (
            row.name,
            str(row.d),
            f"{row.pev:.3f}",
            row.rival or "",
            _number(row.rival_pev),
            _number(row.searched_pev),
            str(row.rounds),
            _number(row.optimum),
            f"{best_known(row, earlier) - row.pev:.3f}",
            f"{row.seconds:.4f}",
            f"{row.seconds / row.pca_seconds:.1f}",
        )
        yield "| " + " | ".join(cells) + " |"


def summary(rows: Sequence[Row], earlier: Earlier) -> Iterator[str]:
    """What all problems come to."""
    if not rows:
        yield "no problem was measured"
        return
    ahead = [row.rival_pev - row.pev for row in rows if row.rival_pev is not None]
    yield f"{len(rows)} problems"
    yield f"behind a rival by more than {_MATTERS}: {_share(np.array(ahead) > _MATTERS)}"
    miss = np.array([best_known(row, earlier) - row.pev for row in rows])
    middle, most = np.percentile(miss, [50, 90])
    yield (
        f"behind the best known by more than {_MATTERS}: {_share(miss > _MATTERS)}; "
        f"median {middle:.4f}, 90th percentile {most:.4f}, most {miss.max():.3f} points"
    )
    proved = [row.optimum - row.pev <= _EQUAL for row in rows if row.optimum is not None]
    singles = sum(row.r == 1 for row in rows)
    yield f"r = 1: {singles} problems; at the optimum where it is proved: {_share(proved)}"
    pca = _geometric_mean([row.seconds / row.pca_seconds for row in rows])
    yield f"time of the default fit, geometric mean: {pca:.2f} times scikit-learn's PCA"
    shared = [row for row in rows if row.name in earlier.seconds]
    if shared:
        ratio = _geometric_mean([row.seconds / earlier.seconds[row.name] for row in shared])
        yield f"and {ratio:.2f} times the earlier run, over {len(shared)} problems"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _share(marks: Any) -> str:
    marks = np.asarray(marks, dtype=bool)
    if not marks.size:
        return "none to look at"
    return f"{marks.sum()} of {marks.size} ({100 * marks.mean():.1f} %)"


def _geometric_mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))
