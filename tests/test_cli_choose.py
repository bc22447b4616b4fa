"""``redac path``, ``redac choose`` and ``--stability``: what they print and write."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.planted import planted

from commands import Run, check_summary
from redac import SparsePCA, SparsityPath, sparsity_path

PLANTED = planted(np.random.default_rng(0), 80, 12, 4, (9, 6), 0)
GRID = ("--components", "1..3", "--cardinality", "2,4")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.save(tmp_path / "data.npy", PLANTED)
    return tmp_path / "data.npy"


def test_a_path_is_printed_and_written(run: Run, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    outcome = run("path", data, *GRID, "--output", folder)
    assert outcome.status == 0
    expected = sparsity_path(PLANTED, n_components=(1, 2, 3), cardinality=(2, 4)).table
    np.testing.assert_allclose(pd.read_csv(folder / "path.csv"), expected, atol=1e-6)
    np.testing.assert_allclose(SparsityPath.load(folder / "path.redac").table, expected, atol=1e-6)
    assert b"<svg" in (folder / "path.svg").read_bytes()
    for value in expected.q2:
        assert f" {value:.3f} " in outcome.out


def test_a_choice_is_said_and_its_model_written(run: Run, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    outcome = run("choose", data, *GRID, "--stability", 4, "--output", folder)
    assert outcome.status == 0
    assert outcome.out.startswith("Take 2 × 4 loadings. 2 components of 4 features have the best")
    model = SparsePCA.load(folder / "model.npz")
    check_summary(outcome.out, model)
    assert model.components_.shape == (2, 12)
    assert "PC1 keeps 4 of its 4 features in more than 80% of 4 half-samples." in outcome.out
    assert pd.read_csv(folder / "stability.csv", index_col=0).shape == (12, 2)
    assert "half-samples" in (folder / "report.html").read_text()


def test_noise_is_told_from_components(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "noise.npy", np.random.default_rng(2).standard_normal((60, 12)))
    outcome = run("choose", tmp_path / "noise.npy", *GRID)
    assert outcome.status == 0
    assert outcome.out == "Take no component. No component predicts better than the mean.\n"
    assert any("No component was chosen" in note for note in outcome.notes)
    fitted = run("fit", tmp_path / "noise.npy", "--components", 1)
    assert fitted.status == 0, "a number is no matter of choice"


def test_a_covariance_matrix_is_judged_by_ebic(run: Run) -> None:
    outcome = run("choose", "pitprops", "--components", "4..6", "--cardinality", "4,5")
    assert outcome.status == 0
    assert "the smallest EBIC" in outcome.out
    wrong = run("choose", "pitprops", "--rule", "best")
    assert wrong.status == 2
    assert "rule='best' holds rows out" in wrong.notes[-1]
    unstable = run("fit", "pitprops", "--cardinality", 4, "--stability", 5)
    assert unstable.status == 2
    assert "--stability draws rows" in unstable.notes[-1]


@pytest.mark.parametrize("text", ["x", "5..2", "1,,2"])
def test_wrong_grids_are_refused(run: Run, data: Path, text: str) -> None:
    outcome = run("path", data, "--components", text)
    assert outcome.status == 2
    assert "neither a number nor a list" in outcome.notes[-1]
