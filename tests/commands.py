"""Calls of the ``redac`` command, and what they print, read back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers import factor_data
from redac import SparsePCA

X = factor_data(40, 6, seed=3)
FEATURES = ["length", "width", "größe", "age 2", "[a]", "w.t"]
SAMPLES = [f"s{i}" for i in range(len(X))]
FRAME = pd.DataFrame(X, index=SAMPLES, columns=FEATURES)
COVARIANCE = np.cov(X.T)
UNNAMED = [f"x{j}" for j in range(6)]
OUTPUTS = ["loadings.csv", "model.npz", "report.html", "scores.csv"]
# Text that a terminal library might take for markup, emoji codes or escapes.
ODD_NAMES = ["[a]", "[bold]x[/bold]", "[/]", ":warning:", "back\\", "\\[y]", "größe", "Σ 1", "<b>&"]


@dataclass(frozen=True)
class Outcome:
    """What a call leaves behind."""

    status: int
    out: str
    err: str

    @property
    def notes(self) -> list[str]:
        return self.err.splitlines()


Run = Callable[..., Outcome]


def run_process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Call the command in a process of its own."""
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    command = [sys.executable, "-m", "redac", *map(str, arguments)]
    return subprocess.run(command, timeout=600, check=False, **streams)  # noqa: S603


def uncounted() -> dict[str, str]:
    """The environment of a process whose lines are not counted, as that needs room on the disk."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def done(outcome: Outcome) -> Outcome:
    """The outcome, which must be a success without notes."""
    assert outcome.err == ""
    assert outcome.status == 0
    return outcome


def complaint(outcome: Outcome, status: int = 2) -> str:
    """The one line that an unsuccessful call prints."""
    assert outcome.status == status
    assert outcome.out == ""
    (line,) = outcome.err.splitlines()
    assert line.startswith("redac")
    assert "Traceback" not in line
    return line


@dataclass(frozen=True)
class Printed:
    """The numbers of a printed result."""

    loadings: dict[str, dict[int, float]]  # feature → component → loading
    variance: list[float]
    cumulative: list[float]
    non_zeros: list[int]

    def equals(self, model: SparsePCA, names: Sequence[str]) -> None:
        """Check it against a model."""
        assert {
            (name, k)
            for name, row in self.loadings.items()
            for k in row  # every printed cell is a non-zero, and no non-zero is left out
        } == {(names[j], k) for k, j in np.argwhere(model.components_).tolist()}
        for name, row in self.loadings.items():
            for k, value in row.items():
                expected = model.components_[k, list(names).index(name)]
                assert value == pytest.approx(expected, abs=5.1e-4)
        shares = 100 * model.explained_variance_ratio_
        assert self.variance == pytest.approx(shares.tolist(), abs=5.1e-3)
        assert self.cumulative == pytest.approx(np.cumsum(shares).tolist(), abs=5.1e-3)
        assert self.non_zeros == [int(row.astype(bool).sum()) for row in model.components_]


def parse_matrix(out: str) -> Printed:
    """Read the table form: every number ends where the name of its component ends."""
    lines = [line.rstrip() for line in out.splitlines()]
    top = next(i for i, line in enumerate(lines) if line.split()[:2] == ["feature", "PC1"])
    ends = {match.end(): int(match[1]) - 1 for match in re.finditer(r"PC(\d+)", lines[top])}
    rows: dict[str, dict[int, float]] = {}
    for line in lines[top + 2 :]:
        if re.match(r"\d+ components? explains? ", line):
            break
        numbers = re.finditer(r"(?<=\s)-?[\d.]+(?:e-\d+)?(?=\s|$)", line)
        cells = [number for number in numbers if number.end() in ends]
        if cells:
            name = line[: cells[0].start()].strip()
            assert name not in rows
            rows[name] = {ends[cell.end()]: float(cell[0]) for cell in cells}
    variance, cumulative, non_zeros = (
        [rows[key][k] for k in range(len(ends))]
        for key in ("variance %", "cumulative %", "non-zeros")
    )
    for key in ("variance %", "cumulative %", "non-zeros"):
        del rows[key]
    return Printed(rows, variance, cumulative, [int(count) for count in non_zeros])


def parse_list(out: str) -> Printed:
    """Read the list form: a heading for each component, then its loadings, then a blank line."""
    loadings: dict[str, dict[int, float]] = {}
    figures = []
    for block in out.split("\n\n")[:-1]:
        heading, _, entries = block.partition("\n")
        found = re.fullmatch(
            r"PC(\d+)  ([\d.]+) % of the variance, ([\d.]+) % so far, (\d+) features?", heading
        )
        assert found, heading
        magnitudes = []
        for entry in " ".join(entries.split()).split(", "):
            name, _, value = entry.rpartition(" ")
            loadings.setdefault(name, {})[int(found[1]) - 1] = float(value)
            magnitudes.append(abs(float(value)))
        assert magnitudes == sorted(magnitudes, reverse=True)
        figures.append((float(found[2]), float(found[3]), int(found[4])))
    variance, cumulative, non_zeros = (list(column) for column in zip(*figures, strict=True))
    return Printed(loadings, variance, cumulative, non_zeros)


def parse_summary(out: str) -> tuple[int, float, int, float]:
    """Components, PEV, non-zeros and RRE of the sentence below the table."""
    found = re.search(
        r"(\d+) components? explains? ([\d.]+) % of the variance \(PEV\) with (\d+) non-zero "
        r"loadings?; reconstruction error \(RRE\) ([\d.]+)\.(?: |$)",
        " ".join(out.split()),
    )
    assert found, out
    return int(found[1]), float(found[2]), int(found[3]), float(found[4])


def check_summary(out: str, model: SparsePCA) -> None:
    count, pev, non_zeros, rre = parse_summary(out)
    assert count == model.n_components_
    assert pev == pytest.approx(100 * model.explained_variance_ratio_.sum(), abs=5.1e-3)
    assert non_zeros == np.count_nonzero(model.components_)
    assert rre == pytest.approx(model.reconstruction_error_, abs=5.1e-5)


def check_table(outcome: Outcome, model: SparsePCA, names: Sequence[str]) -> None:
    """The printed table is the model's."""
    parse_matrix(outcome.out).equals(model, names)
    check_summary(outcome.out, model)


def save_frame(path: Path, frame: pd.DataFrame = FRAME, **options: Any) -> Path:
    frame.to_csv(path, **options)
    return path


def files_in(folder: Path) -> list[str]:
    """All files, hidden ones included."""
    return sorted(path.name for path in folder.iterdir())
