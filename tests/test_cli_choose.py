"""``redac path``, ``redac choose`` and ``--stability``: what they print and write."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.planted import planted

from commands import Run, check_summary, complaint
from helpers import Impatient
from redac import SparsePCA, SparsityPath, sparsity_path
from redac.model.callbacks import watched

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
    legend = outcome.out[outcome.out.index("PEV: percent") :].replace("\n", " ")
    for column in ("PCA: ", "Q²: ", "EBIC: ", "sparseness: "):
        assert column in legend
    assert "stability" not in legend
    assert "By the rule one_se: 2 components of 4 features have the best Q²" in legend


def test_a_choice_is_said_and_its_model_written(run: Run, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    outcome = run("choose", data, *GRID, "--stability", 4, "--output", folder)
    assert outcome.status == 0
    assert outcome.out.startswith(
        "Take --components 2 --cardinality 4: 2 components of 4 features have the best Q²"
    )
    assert "1 is perfect, 0 no better than the mean." in outcome.out
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
    assert outcome.out == "Take no component: no component predicts better than the mean.\n"
    assert outcome.notes == [
        "note: to have components all the same, give one number of them to --components"
    ]
    fitted = run("fit", tmp_path / "noise.npy", "--components", 1)
    assert fitted.status == 0, "a number is no matter of choice"
    assert "That is worse than no component at all." in fitted.err
    usual = run("fit", tmp_path / "noise.npy", "--log-level", "warning")
    assert usual.status == 0
    assert "what follows may be noise. Each component has at most 4 features" in usual.err


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fit", "--stability", "1"), "--stability 1 must be at least 2"),
        (("path", "--stability", "1"), "--stability 1 must be at least 2"),
        (("choose", "--folds", "81"), "--folds 81 must be between 2 and the number of rows, "),
        (("path", "--folds", "1"), "--folds 1 must be between 2 and the number of rows, which"),
        (("choose", "--samples", "9"), "--samples goes with --covariance"),
    ],
)
def test_what_cannot_be_done_is_said_in_the_words_of_the_options(
    run: Run, data: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in complaint(run(words[0], data, *words[1:]))


def test_few_rows_have_no_halves(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "few.npy", PLANTED[:3])
    asked = run("fit", tmp_path / "few.npy", "--cardinality", 2, "--stability", 4)
    assert "3 are too few" in complaint(asked)


def test_a_matrix_needs_the_number_of_its_samples(run: Run, tmp_path: Path) -> None:
    pd.DataFrame(np.cov(PLANTED.T), columns=list("abcdefghijkl")).to_csv(
        tmp_path / "S.csv", index=False
    )
    of_matrix = (tmp_path / "S.csv", "--covariance")
    assert "--samples N is missing" in complaint(run("choose", *of_matrix))
    path = run("path", *of_matrix, *GRID)
    assert path.status == 0
    assert path.notes == [
        "note: no EBIC: --samples does not say how many samples are behind the matrix"
    ]
    assert "EBIC" not in path.out
    assert "By the rule" not in path.out
    fitted = run("fit", *of_matrix)
    assert "when --samples says how many samples" in fitted.err
    chosen = run("fit", *of_matrix, "--samples", 80)
    assert "have the smallest EBIC" in chosen.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--robust", "cells"), "With --robust no numbers are chosen."),
        ((), "8 rows are too few to choose numbers by."),
    ],
)
def test_a_fit_says_why_it_chooses_no_numbers(
    run: Run, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    np.save(tmp_path / "few.npy", PLANTED[:8])
    outcome = run("fit", tmp_path / "few.npy", *words)
    assert outcome.status == 0
    assert f"{why} Each component has at most 4 features; choose yourself with" in outcome.err


def test_features_that_are_left_out_or_required_are_no_matter_of_choice(
    run: Run, tmp_path: Path
) -> None:
    names = list("abcdefghijkl")
    pd.DataFrame(PLANTED, columns=names).to_csv(tmp_path / "data.csv", index=False)
    rules = ("--exclude", "a", "--require", "j,k,l")
    outcome = run("fit", tmp_path / "data.csv", *rules, "--output", tmp_path / "out")
    assert outcome.status == 0
    assert "Choose yourself with --components and --cardinality." in outcome.err
    used = SparsePCA.load(tmp_path / "out" / "model.npz").components_ != 0
    assert not used[:, 0].any()
    assert used[:, 9:].all()


def test_numbers_are_chosen_for_data_with_gaps(run: Run, tmp_path: Path) -> None:
    X = np.where(np.random.default_rng(1).random(PLANTED.shape) < 0.1, np.nan, PLANTED)
    np.save(tmp_path / "gaps.npy", X)
    chosen = run("choose", tmp_path / "gaps.npy", *GRID)
    assert chosen.status == 0
    assert chosen.out.startswith("Take --components 2 --cardinality 4: ")
    assert f"{np.isnan(X).sum()} missing cells" in chosen.err
    path = run("path", tmp_path / "gaps.npy", *GRID, "--output", tmp_path / "out")
    assert path.status == 0
    assert len(SparsityPath.load(tmp_path / "out" / "path.redac").table) == 6
    assert "missing value" in complaint(
        run("choose", tmp_path / "gaps.npy", *GRID, "--missing", "error")
    )


@pytest.mark.parametrize(
    ("patience", "words", "note"),
    [
        (40, (), "The choice was interrupted; it was made from what was done by then."),
        (60, ("--cardinality", "4", "--stability", "99"), "of 99 half-samples, which are kept."),
    ],
    ids=["choice", "stability"],
)
def test_an_interrupted_fit_keeps_what_is_done(
    run: Run, data: Path, patience: int, words: tuple[str, ...], note: str
) -> None:
    with watched(Impatient(patience)):
        outcome = run("fit", data, *words, "--components", 2)
    assert outcome.status == 130
    assert note in outcome.err
    assert "2 components explain" in outcome.out
