"""``redac fit`` on tables with gaps and outliers."""

from pathlib import Path

import numpy as np
import pytest

from commands import FRAME, Outcome, Run, X
from redac import SparsePCA
from redac.files import read_table

GAPS = np.random.default_rng(0).random(X.shape) < 0.1
FIT = ("--components", 2, "--cardinality", 3)


@pytest.fixture
def gappy(tmp_path: Path) -> Path:
    FRAME.mask(GAPS).to_csv(tmp_path / "gappy.csv")
    return tmp_path / "gappy.csv"


def fitted(outcome: Outcome) -> Outcome:
    assert outcome.status == 0, outcome.err
    return outcome


def test_gaps_are_counted_in_a_note(run: Run, gappy: Path, tmp_path: Path) -> None:
    outcome = fitted(run("fit", gappy, *FIT, "--output", tmp_path / "out"))
    assert f"{GAPS.sum()} missing cells" in outcome.err
    model = SparsePCA.load(tmp_path / "out" / "model.npz")
    assert model.n_missing_ == GAPS.sum()
    assert "missing cells" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_gaps_are_refused_on_request(run: Run, gappy: Path) -> None:
    outcome = run("fit", gappy, *FIT, "--missing", "error")
    assert outcome.status == 2
    assert "missing value" in outcome.err


def test_further_marks_of_gaps(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    FRAME.astype(object).mask(GAPS, "?").to_csv(path)
    assert run("fit", path, *FIT).status == 2
    assert f"{GAPS.sum()} missing cells" in fitted(run("fit", path, *FIT, "--na", "?,-")).err
    table = read_table(path, missing="keep", na_marks=["?"])
    np.testing.assert_array_equal(np.isnan(table.values), GAPS)


@pytest.mark.parametrize("kind", ["cells", "rows", "both"])
def test_outliers_are_listed(run: Run, tmp_path: Path, kind: str) -> None:
    spoiled = FRAME.copy()
    spoiled.iloc[5] = 300.0 * np.where(np.arange(6) % 2, 1, -1)
    spoiled.to_csv(tmp_path / "wild.csv")
    arguments = (*FIT, "--robust", kind, "--output", tmp_path / "out")
    outcome = fitted(run("fit", tmp_path / "wild.csv", *arguments))
    assert "lost their weight" in outcome.err
    assert "lost their weight" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    model = SparsePCA.load(tmp_path / "out" / "model.npz")
    assert 5 in set(model.outliers_table()["row"])


def test_an_error_that_remains(run: Run, tmp_path: Path) -> None:
    """Where columns have no names, one without a value is not left out: names would shift."""
    spoiled = X.copy()
    spoiled[:, 2] = np.nan
    np.save(tmp_path / "empty-column.npy", spoiled)
    outcome = run("fit", tmp_path / "empty-column.npy", *FIT)
    assert outcome.status == 2
    assert "no value at all" in outcome.err
