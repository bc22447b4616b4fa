"""The ``redac`` command as a user sees it: files in, tables out, one line for an error."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import redac
import redac.cli.inputs
import redac.files.parquet
import redac.show.report
from commands import (
    COVARIANCE,
    FEATURES,
    FRAME,
    ODD_NAMES,
    OUTPUTS,
    SAMPLES,
    UNNAMED,
    Run,
    X,
    check_summary,
    check_table,
    complaint,
    done,
    files_in,
    parse_list,
    parse_matrix,
    run_process,
    save_frame,
)
from helpers import factor_data
from redac import SparsePCA, SparsePCACV
from redac.datasets import load_pitprops

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file with names on rows and columns."""
    return save_frame(tmp_path / "data.csv")


# ------------------------------------------------------------ data


def test_pitprops_by_name(run: Run) -> None:
    pitprops = load_pitprops()
    model = SparsePCA(6, cardinality=[8, 5, 6, 2, 3, 2]).fit_covariance(pitprops.correlation)
    outcome = done(run("fit", "pitprops", "--cardinality", "8,5,6,2,3,2"))
    check_table(outcome, model, pitprops.feature_names)
    assert parse_matrix(outcome.out).non_zeros == [8, 5, 6, 2, 3, 2]


def save_parquet(path: Path) -> None:
    FRAME.to_parquet(path)


def save_parquet_without_index(path: Path) -> None:
    FRAME.reset_index(drop=True).to_parquet(path)


def save_named_npz(path: Path) -> None:
    np.savez(path, X=X, feature_names=np.array(FEATURES), sample_names=np.array(SAMPLES))


FORMATS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "names.csv": (lambda path: FRAME.to_csv(path), FEATURES),
    "header.csv": (lambda path: FRAME.to_csv(path, index=False), FEATURES),
    "index.csv": (lambda path: FRAME.to_csv(path, header=False), UNNAMED),
    "bare.csv": (lambda path: FRAME.to_csv(path, header=False, index=False), UNNAMED),
    "names.tsv": (lambda path: FRAME.to_csv(path, sep="\t"), FEATURES),
    "header.tsv": (lambda path: FRAME.to_csv(path, sep="\t", index=False), FEATURES),
    "bare.tsv": (lambda path: FRAME.to_csv(path, sep="\t", header=False, index=False), UNNAMED),
    "names.csv.gz": (lambda path: FRAME.to_csv(path), FEATURES),
    "names.parquet": (save_parquet, FEATURES),
    "header.parquet": (save_parquet_without_index, FEATURES),
    "bare.npy": (lambda path: np.save(path, X), UNNAMED),
    "fortran.npy": (lambda path: np.save(path, np.asfortranarray(X)), UNNAMED),
    "names.npz": (save_named_npz, FEATURES),
    "bare.npz": (lambda path: np.savez(path, X=X), UNNAMED),
    "sparse.npz": (lambda path: sp.save_npz(path, sp.csr_array(X)), UNNAMED),
    "dense.mtx": (lambda path: scipy.io.mmwrite(path, X), UNNAMED),
    "sparse.mtx": (lambda path: scipy.io.mmwrite(path, sp.coo_array(X)), UNNAMED),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_components(run: Run, tmp_path: Path, name: str) -> None:
    write, names = FORMATS[name]
    write(tmp_path / name)
    model = SparsePCA(3, cardinality=3).fit(X)
    outcome = done(run("fit", tmp_path / name, "--components", 3, "--cardinality", 3))
    check_table(outcome, model, names)


def save_covariance(path: Path, **options: Any) -> None:
    pd.DataFrame(COVARIANCE, index=FEATURES, columns=FEATURES).to_csv(path, **options)


COVARIANCE_FORMATS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "names.csv": (save_covariance, FEATURES),
    "header.csv": (lambda path: save_covariance(path, index=False), FEATURES),
    "index.csv": (lambda path: save_covariance(path, header=False), FEATURES),
    "bare.csv": (lambda path: save_covariance(path, header=False, index=False), UNNAMED),
    "bare.npy": (lambda path: np.save(path, COVARIANCE), UNNAMED),
    "dense.mtx": (lambda path: scipy.io.mmwrite(path, COVARIANCE), UNNAMED),
    "sparse.mtx": (lambda path: scipy.io.mmwrite(path, sp.coo_array(COVARIANCE)), UNNAMED),
    "sparse.npz": (lambda path: sp.save_npz(path, sp.csc_array(COVARIANCE)), UNNAMED),
}


@pytest.mark.parametrize("name", COVARIANCE_FORMATS)
def test_a_covariance_matrix_in_every_format(run: Run, tmp_path: Path, name: str) -> None:
    write, names = COVARIANCE_FORMATS[name]
    write(tmp_path / name)
    model = SparsePCA(3, cardinality=3).fit_covariance(COVARIANCE)
    outcome = done(
        run("fit", tmp_path / name, "--covariance", "--components", 3, "--cardinality", 3)
    )
    check_table(outcome, model, names)


def test_columns_of_text_are_left_out_with_a_note(run: Run, tmp_path: Path) -> None:
    mixed = FRAME.assign(colour=["red", "blue"] * (len(X) // 2))
    path = save_frame(tmp_path / "mixed.csv", mixed, index=False)
    outcome = run("fit", path, "--components", 2, "--cardinality", 2)
    assert outcome.status == 0
    (note,) = outcome.notes
    assert note.startswith("note: column 'colour' left out")
    check_table(outcome, SparsePCA(2, cardinality=2).fit(X), FEATURES)


def test_single_precision_and_whole_numbers(run: Run, tmp_path: Path) -> None:
    for values in (X.astype(np.float32), np.rint(10 * X).astype(np.int16)):
        np.save(tmp_path / "data.npy", values)
        outcome = done(run("fit", tmp_path / "data.npy", "--components", 2, "--cardinality", 2))
        check_table(outcome, SparsePCA(2, cardinality=2).fit(values), UNNAMED)


# ------------------------------------------------------------ options

OPTIONS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "one cardinality": (["--components=4", "--cardinality=2"], {"cardinality": 2}),
    "a share": (["--components=4", "--cardinality=0.5"], {"cardinality": 0.5}),
    "all features": (["--components=4", "--cardinality=1.0"], {"cardinality": 1.0}),
    "more than all": (["--components=4", "--cardinality=60"], {"cardinality": 60}),
    "a list": (["--cardinality=4,3,2,1"], {"cardinality": [4, 3, 2, 1]}),
    "a list of shares": (["--cardinality=0.7,0.5,2,1"], {"cardinality": [0.7, 0.5, 2, 1]}),
    "a list and its length": (
        ["--components=4", "--cardinality=4,3,2,1"],
        {"cardinality": [4, 3, 2, 1]},
    ),
    "one l1 bound": (["--components=4", "--l1-bound=1.4"], {"l1_bound": 1.4}),
    "l1 bounds": (["--l1-bound=1,1.5,2,1.2"], {"l1_bound": [1, 1.5, 2, 1.2]}),
    "nonnegative": (
        ["--components=2", "--cardinality=2", "--nonnegative"],
        {"n_components": 2, "cardinality": 2, "nonnegative": True},
    ),
    "nonnegative with l1 bounds": (
        ["--components=2", "--l1-bound=1.2", "--nonnegative"],
        {"n_components": 2, "l1_bound": 1.2, "nonnegative": True},
    ),
    "standardize": (
        ["--components=4", "--cardinality=3", "--standardize"],
        {"cardinality": 3, "standardize": True},
    ),
    "one start": (
        ["--components=3", "--cardinality=3", "--init-count=1"],
        {"n_components": 3, "n_init": 1},
    ),
    "search": (
        ["--components=3", "--cardinality=3", "--perturbations=8", "--jobs=1", "--seed=2"],
        {"n_components": 3, "n_perturbations": 8, "random_state": 2},
    ),
    "apart": (
        ["--components=3", "--cardinality=3", "--min-separation=0.5"],
        {"n_components": 3, "min_separation": 0.5},
    ),
    "seven starts": (
        ["--components=4", "--cardinality=3", "--init-count=7", "--seed=5"],
        {"n_init": 7, "random_state": 5},
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options_mean_what_the_estimator_means(run: Run, data: Path, case: str) -> None:
    arguments, parameters = OPTIONS[case]
    if "l1_bound" not in parameters:
        parameters = {"cardinality": 3} | parameters
    model = SparsePCA(**({"n_components": 4} | parameters)).fit(X)
    check_table(done(run("fit", data, *arguments)), model, FEATURES)


def test_nonnegative_prints_no_negative_loading(run: Run, data: Path) -> None:
    plain = run("fit", data, "--components", 2, "--cardinality", 6)
    nonnegative = run("fit", data, "--components", 2, "--cardinality", 6, "--nonnegative")
    assert "-0." in plain.out
    assert "-0." not in nonnegative.out


def test_l1_bounds_hold_in_the_written_loadings(run: Run, data: Path, tmp_path: Path) -> None:
    outcome = run("fit", data, "--l1-bound", "1.2,2,1.5", "--output", tmp_path / "o")
    assert outcome.status == 0
    loadings = pd.read_csv(tmp_path / "o" / "loadings.csv", index_col=0)
    norms = loadings.abs().sum().to_numpy()
    assert (norms <= np.array([1.2, 2, 1.5]) + 1e-9).all()


def test_standardized_covariance_is_correlation(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "covariance.npy", COVARIANCE)
    arguments = ("--covariance", "--standardize", "--components", 2, "--cardinality", 3)
    outcome = done(run("fit", tmp_path / "covariance.npy", *arguments))
    check_table(outcome, SparsePCA(2, cardinality=3, standardize=True).fit(X), UNNAMED)


@pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning")
def test_numbers_that_were_not_given_are_chosen_and_the_note_says_why(
    run: Run, tmp_path: Path
) -> None:
    values = factor_data(40, 6, seed=1)
    np.save(tmp_path / "data.npy", values)
    outcome = run("fit", tmp_path / "data.npy")
    assert outcome.status == 0
    chosen = SparsePCACV().fit(values)
    assert outcome.notes[0].startswith(f"note: {chosen.reason_} Choose yourself")
    model = SparsePCA(chosen.n_components_, cardinality=chosen.cardinality_).fit(values)
    check_table(outcome, model, [f"x{j}" for j in range(6)])


def test_too_few_rows_to_choose_by_leave_five_components_and_a_note(
    run: Run, tmp_path: Path
) -> None:
    for d, components, cardinality in ((3, 3, 1), (6, 5, 2), (13, 5, 5), (90, 5, 10)):
        values = factor_data(9, d, seed=d)
        np.save(tmp_path / "data.npy", values)
        outcome = run("fit", tmp_path / "data.npy")
        assert outcome.status == 0
        assert outcome.notes[0].startswith("note: 9 rows are too few to choose numbers by.")
        assert f" has at most {cardinality} feature" in outcome.notes[0]
        assert "--cardinality" in outcome.notes[0]
        model = SparsePCA(components, cardinality=cardinality).fit(values)
        check_table(outcome, model, [f"x{j}" for j in range(d)])


def test_the_same_seed_gives_the_same_output(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(8).standard_normal((30, 100)))

    def outcome(seed: int) -> str:
        arguments = ("--components", 6, "--cardinality", 10, "--init-count", 6, "--seed", seed)
        return done(run("fit", tmp_path / "data.npy", *arguments)).out

    assert outcome(1) == outcome(1)
    assert len({outcome(seed) for seed in range(4)}) > 1


# ------------------------------------------------------------ written results


@pytest.mark.parametrize("name", ["names.csv", "index.csv", "bare.npy", "sparse.mtx"])
def test_output_holds_what_the_model_says(run: Run, tmp_path: Path, name: str) -> None:
    write, names = FORMATS[name]
    write(tmp_path / name)
    folder = tmp_path / "new" / "results"
    outcome = run("fit", tmp_path / name, "--cardinality", "4,3,2", "--output", folder)
    assert (outcome.status, outcome.err) == (0, f"note: results written to {folder}\n")
    assert files_in(folder) == OUTPUTS
    model = SparsePCA(3, cardinality=[4, 3, 2]).fit(X)
    check_table(outcome, model, names)

    loadings = pd.read_csv(folder / "loadings.csv", index_col=0)
    used = model.components_.any(axis=0)
    assert sorted(loadings.index) == sorted(np.array(names)[used])
    expected = pd.DataFrame(model.components_.T, index=names).loc[loadings.index]
    # Sparse data are summed in another order, and runs end within tol of each other.
    np.testing.assert_allclose(loadings.to_numpy(), expected.to_numpy(), atol=1e-6)

    scores = pd.read_csv(folder / "scores.csv", index_col=0)
    np.testing.assert_allclose(scores.to_numpy(), model.transform(X), atol=1e-5)
    has_index = name in ("names.csv", "index.csv")
    assert list(scores.index) == (SAMPLES if has_index else list(range(len(X))))

    loaded = SparsePCA.load(folder / "model.npz")
    assert loaded.get_params() == model.get_params()
    assert list(loaded.loadings_table().index) == list(loadings.index)
    given = FRAME if names is FEATURES else X
    np.testing.assert_allclose(loaded.transform(given), scores.to_numpy(), atol=1e-12)


@pytest.mark.parametrize("source", ["pitprops", "file"])
def test_a_covariance_matrix_has_no_scores(run: Run, tmp_path: Path, source: str) -> None:
    arguments: list[object] = [source]
    if source == "file":
        save_covariance(tmp_path / "covariance.csv")
        arguments = [tmp_path / "covariance.csv", "--covariance"]
    folder = tmp_path / "results"
    outcome = run("fit", *arguments, "--cardinality", "3,2", "--output", folder)
    assert outcome.status == 0
    assert files_in(folder) == [name for name in OUTPUTS if name != "scores.csv"]
    assert SparsePCA.load(folder / "model.npz").n_components_ == 2


def test_model_file_holds_no_pickles(run: Run, data: Path, tmp_path: Path) -> None:
    run("fit", data, "--cardinality", "2,2", "--output", tmp_path / "results")
    with np.load(tmp_path / "results" / "model.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind != "O" for name in archive.files)
        assert json.loads(str(archive["header"]))["params"]["cardinality"] == [2, 2]


def test_an_existing_folder_is_used_again(run: Run, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "mine.txt").write_text("keep")
    for cardinality in ("2,2", "3,3"):
        outcome = run("fit", data, "--cardinality", cardinality, "--output", folder, "--force")
        assert outcome.status == 0
    assert files_in(folder) == sorted([*OUTPUTS, "mine.txt"])
    assert (folder / "mine.txt").read_text() == "keep"
    assert SparsePCA.load(folder / "model.npz").cardinality == [3, 3]


@pytest.mark.parametrize("below", ["", "sub", "sub/sub"])
def test_output_that_is_a_file_is_refused_before_the_work(
    run: Run, data: Path, tmp_path: Path, below: str
) -> None:
    (tmp_path / "taken").write_text("mine")
    line = complaint(run("fit", data, "--cardinality", 2, "--output", tmp_path / "taken" / below))
    assert "taken" in line
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_wrong_call_leaves_no_folder_behind(run: Run, data: Path, tmp_path: Path) -> None:
    complaint(run("fit", data, "--cardinality", 0, "--output", tmp_path / "results"))
    assert not (tmp_path / "results").exists()


def test_a_failing_report_leaves_no_other_file(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> str:
        raise RuntimeError("no report today")

    monkeypatch.setattr(redac.show.report, "html_report", fail)
    outcome = run("fit", data, "--cardinality", "2,2", "--output", tmp_path / "results")
    assert outcome.status == 1
    assert outcome.err.splitlines() == ["redac: RuntimeError: no report today"]
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_a_file_name_that_is_not_text(run: Run, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.npy")
    np.save(path, X)
    outcome = run("fit", path, "--cardinality", "2,2", "--output", tmp_path / "results")
    assert outcome.status == 0
    assert files_in(tmp_path / "results") == OUTPUTS


# ------------------------------------------------------------ wrong calls


def spoiled(text: str) -> pd.DataFrame:
    """The data with one cell replaced: row 4 of the file, column 'width'."""
    frame = FRAME.astype(object)
    frame.iloc[2, 1] = text
    return frame


def save_npy(path: Path, values: np.ndarray) -> None:
    np.save(path, values)


@pytest.fixture
def bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files with one thing wrong each, in the working folder."""
    monkeypatch.chdir(tmp_path)
    save_frame(Path("good.csv"))
    save_frame(Path("text.csv"), spoiled("oops"))
    save_frame(Path("nan.csv"), spoiled("NaN"))
    save_frame(Path("one-row.csv"), FRAME.iloc[:1])
    save_frame(Path("header-only.csv"), FRAME.iloc[:0])
    Path("empty.csv").touch()
    Path("data.xyz").write_text("1,2\n3,4\n")
    Path("broken.npz").write_bytes(b"PK\3\4 no archive")
    Path("folder.csv").mkdir()
    save_npy(Path("nan.npy"), np.where(np.arange(X.size).reshape(X.shape) == 15, np.nan, X))
    save_npy(Path("infinite.npy"), np.where(np.arange(X.size).reshape(X.shape) == 15, np.inf, X))
    asymmetric = COVARIANCE.copy()
    asymmetric[0, 1] += 1
    save_npy(Path("asymmetric.npy"), asymmetric)
    save_npy(Path("indefinite.npy"), -COVARIANCE)


WRONG: dict[str, tuple[str, str]] = {
    # arguments, and what the line must match
    "missing file": ("fit nowhere.csv", r"^redac: nowhere\.csv: no such file"),
    "empty file": ("fit empty.csv", r"^redac: empty\.csv: .*empty"),
    "folder": ("fit folder.csv", r"^redac: folder\.csv: .*folder"),
    "no rows": ("fit header-only.csv", r"^redac: header-only\.csv: .*row"),
    "unknown extension": ("fit data.xyz", r"^redac: data\.xyz: unknown extension '\.xyz'.*\.csv"),
    "damaged file": ("fit broken.npz", r"^redac: broken\.npz: damaged"),
    "text cell": ("fit text.csv", r"^redac: text\.csv: row 4, column 'width': 'oops'"),
    "missing value": (
        "fit nan.csv --missing error",
        r"^redac: nan\.csv: row 4, column 'width': missing value",
    ),
    "missing value in an array": (
        "fit nan.npy --missing error",
        r"^redac: nan\.npy: row 3, column 4 .*missing value",
    ),
    "infinite value": ("fit infinite.npy", r"^redac: infinite\.npy: row 3, column 4 .*infinite"),
    "one row": ("fit one-row.csv", r"^redac: one-row\.csv: .*\b(1|one)\b"),
    "both bounds": ("fit good.csv --cardinality 2 --l1-bound 2", r"--l1-bound.*--cardinality"),
    "cardinality 0": ("fit good.csv --cardinality 0", r"cardinality=0 .*at least 1"),
    "cardinality -1": ("fit good.csv --cardinality -1", r"cardinality=-1 .*at least 1"),
    "cardinality 1.5": ("fit good.csv --cardinality 1.5", r"cardinality=1\.5 .*share"),
    "cardinality x": ("fit good.csv --cardinality x", r"--cardinality: 'x' is neither"),
    "cardinality nan": ("fit good.csv --cardinality nan", r"--cardinality: 'nan' is neither"),
    "cardinality with a gap": ("fit good.csv --cardinality 2,,2", r"--cardinality: '2,,2'"),
    "cardinality without value": ("fit good.csv --cardinality", r"--cardinality"),
    "one of several cardinalities": ("fit good.csv --cardinality 2,0", r"cardinality=0 "),
    "l1 bound 0.5": ("fit good.csv --l1-bound 0.5", r"l1_bound=0\.5"),
    "l1 bound nan": ("fit good.csv --l1-bound nan", r"l1_bound=nan"),
    "l1 bound x": ("fit good.csv --l1-bound x", r"--l1-bound: 'x' is neither"),
    "components 0": ("fit good.csv --components 0", r"n_components=0 .*6 features"),
    "components 100": ("fit good.csv --components 100", r"n_components=100 .*6 features"),
    "components x": ("fit good.csv --components x", r"--components.*'x'"),
    "too many for pitprops": ("fit pitprops --components 14", r"n_components=14 .*13"),
    "cardinalities too few": (
        "fit good.csv --components 3 --cardinality 2,2",
        r"cardinality has 2 values .*3",
    ),
    "l1 bounds too many": (
        "fit good.csv --components 1 --l1-bound 2,2",
        r"l1_bound has 2 values .*1",
    ),
    "starts 0": ("fit good.csv --init-count 0", r"n_init=0|--init-count"),
    "starts x": ("fit good.csv --init-count x", r"--init-count.*'x'"),
    "seed -1": ("fit good.csv --seed -1", r"[Ss]eed"),
    "seed x": ("fit good.csv --seed x", r"--seed.*'x'"),
    "not square": ("fit good.csv --covariance", r"^redac: good\.csv: .*square.*40 × 6"),
    "asymmetric": (
        "fit asymmetric.npy --covariance",
        r"^redac: asymmetric\.npy: .*symmetric.*\(0, 1\)",
    ),
    "indefinite": ("fit indefinite.npy --covariance", r"^redac: indefinite\.npy: .*eigenvalue"),
    "unknown command": ("transmogrify good.csv", r"'transmogrify'"),
    "no command": ("", r"COMMAND"),
    "no data": ("fit", r"DATA"),
    "two files": ("fit good.csv text.csv", r"text\.csv"),
    "unknown option": ("fit good.csv --bogus", r"--bogus"),
}


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls_end_with_one_line(run: Run, case: str) -> None:
    arguments, expected = WRONG[case]
    line = complaint(run(*arguments.split()))
    assert re.search(expected, line), line


@pytest.mark.usefixtures("bad_files")
def test_wrong_calls_in_a_process_of_their_own() -> None:
    for arguments in (["fit", "text.csv"], ["fit", "good.csv", "--cardinality", "0"], []):
        ended = run_process(*arguments)
        assert (ended.returncode, ended.stdout) == (2, b"")
        assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (RuntimeError("something\nbroke"), "redac: RuntimeError: something broke"),
        (np.linalg.LinAlgError("SVD did not converge"), "SVD did not converge"),
        (ZeroDivisionError("division by zero"), "redac: ZeroDivisionError: division by zero"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_failed_work_ends_with_one_line_and_status_1(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception, expected: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr(SparsePCA, "fit", fail)
    assert expected in complaint(run("fit", data, "--cardinality", 2), status=1)


def test_interrupted_while_reading(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(redac.cli.inputs, "read_table", interrupt)
    assert complaint(run("fit", data), status=130) == "redac: interrupted"


# ------------------------------------------------------------ notes


def test_exhausted_components_are_a_note_beside_the_results(run: Run, tmp_path: Path) -> None:
    values = factor_data(30, 5, seed=2, rank=2)
    np.save(tmp_path / "data.npy", values)
    outcome = run("fit", tmp_path / "data.npy", "--components", 4, "--cardinality", 5)
    assert outcome.status == 0
    (note,) = outcome.notes
    assert note.startswith("note: Nothing is left to explain")
    with pytest.warns(redac.exceptions.ExhaustedWarning):
        model = SparsePCA(4, cardinality=5).fit(values)
    check_table(outcome, model, UNNAMED)


def test_constant_data_are_a_note_and_no_loadings(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.ones((10, 4)))
    outcome = run(
        "fit", tmp_path / "data.npy", "--cardinality", "2,2", "--output", tmp_path / "results"
    )
    assert outcome.status == 0
    assert outcome.notes[0].startswith("note: Nothing is left to explain")
    assert parse_matrix(outcome.out).loadings == {}
    assert "nan" not in outcome.out.lower()
    assert files_in(tmp_path / "results") == OUTPUTS


def test_standard_output_holds_results_only(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", X)
    outcome = run("fit", tmp_path / "data.npy", "--output", tmp_path / "results")
    assert "note" not in outcome.out
    assert all(line.startswith("note: ") for line in outcome.notes)
    assert len(outcome.notes) == 2


# ------------------------------------------------------------ what is printed


@pytest.mark.parametrize("others", [0, 80], ids=["table", "list"])
def test_odd_names_are_printed_literally(run: Run, tmp_path: Path, others: int) -> None:
    rng = np.random.default_rng(4)
    names = ODD_NAMES + [f"g{j}" for j in range(others)]
    values = rng.standard_normal((30, len(names)))
    np.savez(tmp_path / "data.npz", X=values, feature_names=np.array(names))
    k = len(names) // 2
    outcome = done(run("fit", tmp_path / "data.npz", "--components", 4, "--cardinality", k))
    model = SparsePCA(4, cardinality=k).fit(values)
    parse = parse_list if others else parse_matrix
    parse(outcome.out).equals(model, names)


@pytest.mark.parametrize("others", [0, 80], ids=["table", "list"])
def test_control_characters_in_names_do_not_reach_the_terminal(
    run: Run, tmp_path: Path, others: int
) -> None:
    names = ["two\nlines", "red\x1b[31m", "bell\a", *(f"g{j}" for j in range(others))]
    values = np.random.default_rng(4).standard_normal((30, len(names)))
    np.savez(tmp_path / "data.npz", X=values, feature_names=np.array(names))
    outcome = done(run("fit", tmp_path / "data.npz", "--components", 2, "--cardinality", 0.9))
    for shown in (r"two\nlines", r"red\x1b[31m", r"bell\x07"):
        assert shown in outcome.out
    assert not set(outcome.out) & {"\x1b", "\a", "\r"}


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed there")
def test_control_characters_in_file_names_do_not_reach_the_terminal(
    run: Run, tmp_path: Path
) -> None:
    hostile = "a\x1b]0;title\a\nb"
    line = complaint(run("fit", tmp_path / f"{hostile}.csv"))
    assert r"a\x1b]0;title\x07" in line
    assert r"a\x1b]0;title\x07" in complaint(run("fit", "pitprops", hostile))
    frame = pd.DataFrame(X, columns=FEATURES).assign(**{hostile: "text", "t2": "\x1b[31m"})
    path = save_frame(tmp_path / f"{hostile}.csv", frame, index=False)
    outcome = run("fit", path, "--cardinality", 2, "--output", tmp_path / f"out{hostile}")
    assert outcome.status == 0
    assert not set(outcome.err + outcome.out) & {"\x1b", "\a"}
    assert r"\x1b]0;title" in outcome.err
    report = (tmp_path / f"out{hostile}" / "report.html").read_text(encoding="utf-8")
    assert not set(report) & {"\x1b", "\a"}
    assert r"a\x1b]0;title\x07\nb.csv" in report


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-a", "@SUM(A1)", "\tx", "'quoted", "plain", "-1.5", "+3"]


def test_no_name_in_a_csv_file_is_a_formula(run: Run, tmp_path: Path) -> None:
    values = np.random.default_rng(4).standard_normal((9, 9))
    names = {"feature_names": np.array(FORMULAS), "sample_names": np.array(FORMULAS)}
    np.savez(tmp_path / "data.npz", X=values, **names)
    folder = tmp_path / "results"
    outcome = run(
        "fit", tmp_path / "data.npz", "--components", 2, "--cardinality", 1.0, "--output", folder
    )
    assert outcome.status == 0
    assert "=1+1" in outcome.out
    for name in ("loadings.csv", "scores.csv"):
        written = pd.read_csv(folder / name, index_col=0, dtype={0: str})
        for cell in written.index.astype(str):
            assert not cell.startswith(tuple("=+-@\t")) or cell in ("-1.5", "+3")
        back = {cell.removeprefix("'") for cell in written.index.astype(str)}
        assert back == set(FORMULAS)
        assert written.to_numpy().dtype == np.float64
    assert set(SparsePCA.load(folder / "model.npz").feature_names_in_) == set(FORMULAS)


def test_a_sparse_matrix_of_absurd_width_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data.mtx"
    start = "%%MatrixMarket matrix coordinate real general"
    path.write_text(f"{start}\n3 {2**45} 2\n1 1 1.0\n3 2 2.0\n")
    line = complaint(run("fit", path, "--cardinality", 2))
    assert line == f"redac: {path}: 3 × {2**45} do not fit into memory"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_a_special_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/null")
    if kind == "pipe":
        path = tmp_path / "data.csv"
        os.mkfifo(path)
    elif kind == "socket":
        path = tmp_path / "data.csv"
        bind = "import os, socket; socket.socket(socket.AF_UNIX).bind('data.csv')"
        subprocess.run([sys.executable, "-c", bind], check=True, cwd=tmp_path)  # noqa: S603
    outcome = run_process("fit", path)
    assert outcome.returncode == 2
    assert outcome.stderr.decode().splitlines() == [
        f"redac: {path}: is a pipe, a device or a socket; write the data to a file first"
    ]


def test_many_features_are_printed_as_lists(run: Run, tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((30, 200))
    names = [f"gene {j}" for j in range(200)]
    path = save_frame(tmp_path / "wide.csv", pd.DataFrame(values, columns=names), index=False)
    outcome = run("fit", path, "--components", 8, "--cardinality", 10)
    assert outcome.status == 0
    assert len(outcome.notes) == 0
    model = SparsePCA(8, cardinality=10).fit(values)
    parse_list(outcome.out).equals(model, names)
    check_summary(outcome.out, model)
    assert max(map(len, outcome.out.splitlines())) <= 120
    # A name and its loading stay together.
    assert not re.search(r"gene$", outcome.out, re.MULTILINE)
    assert not re.search(r"^\s*-?0\.\d+", outcome.out, re.MULTILINE)


def test_many_components_are_printed_as_lists(run: Run, tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((60, 20))
    np.save(tmp_path / "data.npy", values)
    arguments = ("--components", 18, "--cardinality", 1)
    outcome = done(run("fit", tmp_path / "data.npy", *arguments))
    assert "…" not in outcome.out
    model = SparsePCA(18, cardinality=1).fit(values)
    parse_list(outcome.out).equals(model, [f"x{j}" for j in range(20)])


def test_long_names_are_not_cut(run: Run, tmp_path: Path) -> None:
    names = [f"{'very ' * 30}long name {j}" for j in range(6)]
    path = save_frame(tmp_path / "data.csv", pd.DataFrame(X, columns=names), index=False)
    outcome = done(run("fit", path, "--components", 2, "--cardinality", 3))
    parse_list(outcome.out).equals(SparsePCA(2, cardinality=3).fit(X), names)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_names_that_the_output_cannot_encode(tmp_path: Path, encoding: str) -> None:
    path = save_frame(tmp_path / "data.csv", FRAME.rename(columns={"width": "Σ"}))
    ended = run_process(
        "fit", path, "--cardinality", "4,4", env=os.environ | {"PYTHONIOENCODING": encoding}
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"2 components explain" in ended.stdout


def test_a_reader_who_has_seen_enough(tmp_path: Path) -> None:
    """As in ``redac fit DATA --output DIR | head -1``: no traceback, and the files are written."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = run_process(
            "fit", "pitprops", "--cardinality", 3, "--output", tmp_path / "o", stdout=writing
        )
    finally:
        os.close(writing)
    assert ended.returncode == 0
    assert ended.stderr.decode().splitlines() == [f"note: results written to {tmp_path / 'o'}"]
    assert "report.html" in files_in(tmp_path / "o")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_head_of_a_long_output(tmp_path: Path) -> None:
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).standard_normal((30, 200)))
    command = '"$0" -m redac fit wide.npy --components 8 --cardinality 10 | head -1'
    ended = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", command, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert ended.stderr == b""
    assert ended.stdout.startswith(b"PC1  ")
    assert len(ended.stdout.splitlines()) == 1


# ------------------------------------------------------------ help


def test_help_and_version(run: Run) -> None:
    general = done(run("--help")).out
    assert "fit" in general
    for command in ((), ("fit",), ("certify",), ("compare",), ("reproduce",)):
        shown = done(run(*command, "--help")).out
        assert "130  interrupted (Ctrl-C), what was found is kept\n" in shown
    particular = done(run("fit", "--help")).out
    for option in (
        *("DATA", "--components", "--cardinality", "--l1-bound", "--nonnegative", "--standardize"),
        *("--covariance", "--init-count", "--output", "--seed"),
    ):
        assert option in particular
    assert done(run("--version")).out == f"redac {redac.__version__}\n"


def test_help_does_not_wait_for_heavy_imports() -> None:
    code = (
        "import sys\nfrom redac.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'rich', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    ended = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, timeout=600, check=False
    )
    assert ended.stderr == b""


def test_the_module_runs_like_the_command(run: Run) -> None:
    ended = run_process("fit", "pitprops", "--cardinality", "3,2")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.decode() == run("fit", "pitprops", "--cardinality", "3,2").out
