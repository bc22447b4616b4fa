"""The command in scripts: JSON, quiet calls, standard input, results that are not overwritten."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array

from commands import FEATURES, FRAME, SAMPLES, Run, X, complaint, done, run_process, save_frame
from json_schema import violations
from redac import SparsePCA, compare
from redac.datasets import load_pitprops
from redac.methods import available_methods

pytestmark = pytest.mark.usefixtures("plain_terminal")

FIT = ("--components", 2, "--cardinality", 3)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return save_frame(tmp_path / "data.csv")


def strict(text: str) -> Any:
    """JSON as the standard has it: without NaN and infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    document = json.loads(text, parse_constant=refuse)
    assert violations(document) == []
    return document


# ------------------------------------------------------------ JSON


def test_a_fit_as_json(run: Run, data: Path) -> None:
    document = strict(done(run("fit", data, *FIT, "--json")).out)
    model = SparsePCA(2, cardinality=3).fit(X)
    assert document["command"] == "fit"
    assert document["data"] == str(data)
    found = document["model"]
    assert found["pev"] == pytest.approx(100 * model.explained_variance_ratio_.sum())
    for component, row in zip(found["components"], model.components_, strict=True):
        loadings = {each["feature"]: each["loading"] for each in component["loadings"]}
        expected = {FEATURES[j]: row[j] for j in np.flatnonzero(row)}
        assert loadings == pytest.approx(expected, abs=1e-6)


COMMANDS = {
    "fit": ["fit", "pitprops", "--cardinality", "3,2"],
    "chosen": ["fit", "data.csv"],
    "stability": ["fit", "data.csv", *map(str, FIT), "--stability", "3"],
    "path": ["path", "data.csv", "--components", "1..2", "--cardinality", "2,3"],
    "choose": ["choose", "data.csv", "--components", "1..2", "--cardinality", "2,3"],
    "nothing": ["choose", "noise.csv", "--components", "1..2", "--cardinality", "2,3"],
    "compare": ["compare", "data.csv", *map(str, FIT), "--methods", "pca,thresholding,nspca"],
    "certify": ["certify", "pitprops", "--cardinality", "2,2", "--time-limit", "0", "--jobs", "1"],
    "transform": ["transform", "model.npz", "gaps.csv"],
    "impute": ["impute", "model.npz", "gaps.csv"],
    "show": ["show", "model.npz"],
}


@pytest.mark.parametrize("case", COMMANDS)
def test_every_document_follows_the_schema(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    save_frame(Path("data.csv"))
    save_frame(Path("gaps.csv"), FRAME.mask(np.eye(len(X), 6, dtype=bool)))
    noise = np.random.default_rng(2).standard_normal((60, 12))
    save_frame(Path("noise.csv"), pd.DataFrame(noise))
    SparsePCA(2, cardinality=3).fit(FRAME).save("model.npz")
    arguments = COMMANDS[case]
    plain = run(*arguments)
    outcome = run(*arguments, "--json", "--quiet")
    assert outcome.status == plain.status == 0, outcome.err
    assert outcome.err == "", "quiet"
    document = strict(outcome.out)
    assert document["command"] == arguments[0]
    assert [f"note: {text}" for text in document["notes"]] == plain.notes


def test_names_are_untouched_in_json(run: Run, tmp_path: Path) -> None:
    names = ["\x1b[31mred", "=1+1", "Σ", "\u202eback", 'quo"te', "\U0001f600"]
    np.savez(tmp_path / "data.npz", X=X, feature_names=np.array(names))
    text = done(run("fit", tmp_path / "data.npz", "--cardinality", "6,6", "--json")).out
    assert text.isascii(), "so that no terminal takes a name for a command"
    loadings = strict(text)["model"]["components"][0]["loadings"]
    assert sorted(each["feature"] for each in loadings) == sorted(names)


def test_what_is_not_known_is_null(run: Run, data: Path) -> None:
    arguments = ("--methods", "pca,gpower_l0", "--components", 2, "--cardinality", 99)
    document = strict(run("compare", data, *arguments, "--json").out)
    rows = {row["method"]: row for row in document["comparison"]}
    assert rows["pca"]["pev"] > 0
    model = strict(done(run("fit", "pitprops", "--cardinality", 2, "--json")).out)["model"]
    assert model["n_missing"] is None


def test_json_into_another_program(data: Path) -> None:
    command = (
        f'"{sys.executable}" -m redac fit "$0" --components 2 --cardinality 3 --json '
        f'| "{sys.executable}" -c "import json, sys; '
        "print(json.load(sys.stdin)['model']['n_components'])\""
    )
    ended = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", command, str(data)], capture_output=True, timeout=600, check=True
    )
    assert ended.stdout == b"2\n"


def test_a_failed_call_prints_no_document(run: Run, data: Path) -> None:
    assert "cardinality=0" in complaint(run("fit", data, "--cardinality", 0, "--json"))


# ------------------------------------------------------------ what is said


def test_quiet_leaves_the_result(run: Run, tmp_path: Path) -> None:
    path = save_frame(tmp_path / "data.csv", FRAME.assign(words="a"), index=False)
    loud, quiet = run("fit", path, *FIT), run("fit", path, *FIT, "--quiet")
    assert loud.notes
    assert (quiet.status, quiet.err, quiet.out) == (0, "", loud.out)


def test_levels(run: Run, tmp_path: Path) -> None:
    values = X.copy()
    values[:, 3:] = 0.0  # rank 3: a warning of the fourth component
    frame = pd.DataFrame(values, columns=FEATURES).assign(words="a")
    path = save_frame(tmp_path / "data.csv", frame, index=False)

    def said(level: str) -> list[str]:
        return run("fit", path, "--cardinality", "6,6,6,6", "--log-level", level).notes

    assert said("error") == []
    (warning,) = said("warning")
    assert "Nothing is left to explain" in warning
    assert len(said("info")) == 2
    assert any(line.startswith("debug: read 40 × 6 in") for line in said("debug"))
    assert "invalid choice" in complaint(run("fit", path, "--log-level", "shout"))


def test_an_unknown_option_refers_to_the_help_of_its_command(run: Run, data: Path) -> None:
    line = complaint(run("fit", data, "--bogus"))
    assert line == "redac fit: unrecognized arguments: --bogus (see 'redac fit --help')"
    line = complaint(run("fit", data, "--componets=2"))
    assert "--componets=2; did you mean --components? (see" in line


# ------------------------------------------------------------ standard input

STREAMS = {
    "csv": FRAME.to_csv().encode(),
    "csv.gz": None,
    "parquet": None,
    "npy": None,
    "jsonl": FRAME.to_json(orient="records", lines=True).encode(),
}


def stream(kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "csv.gz":
        FRAME.to_csv(buffer, compression="gzip")
    elif kind == "parquet":
        FRAME.to_parquet(buffer)
    elif kind == "npy":
        np.save(buffer, X)
    return STREAMS[kind] or buffer.getvalue()


class Stdin:
    """Bytes in place of what a shell would pass."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("kind", STREAMS)
def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(stream(kind)))
    document = strict(done(run("fit", "-", "--input-format", kind, *FIT, "--json")).out)
    expected = 100 * SparsePCA(2, cardinality=3).fit(X).explained_variance_ratio_.sum()
    assert document["model"]["pev"] == pytest.approx(expected, abs=1e-6)
    assert document["data"] == "-"


def test_standard_input_in_a_pipe(data: Path) -> None:
    with data.open("rb") as file:
        ended = run_process("fit", "-", "--input-format", "csv", *FIT, stdin=file)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"2 components explain" in ended.stdout


@pytest.mark.parametrize(
    ("closed", "status", "said"),
    [
        ("<&-", 2, "redac: standard input: is closed\n"),
        (">&-", 0, ""),
        (">&- 2>&-", 0, ""),
    ],
)
def test_streams_that_are_closed(closed: str, status: int, said: str, data: Path) -> None:
    source = "- --input-format csv" if closed == "<&-" else f"'{data}'"
    line = f"'{sys.executable}' -m redac fit {source} --components 1 --cardinality 2 {closed}"
    ended = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert (ended.returncode, ended.stderr, ended.stdout) == (status, said, "")


def test_what_is_wrong_with_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(content: bytes, *arguments: object) -> str:
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        return complaint(run("fit", "-", *arguments))

    assert "--input-format csv" in call(b"1,2\n3,4\n")
    assert "unknown format '.exe'" in call(b"1", "--input-format", "exe")
    line = call(b"a,b\n1,2\n3,x\n5,6\n7,8\n", "--input-format", "csv")
    assert line == "redac: standard input: row 3, column 'b': 'x' is not a number"
    assert call(b"", "--input-format", "csv") == "redac: standard input: the file is empty"


def test_a_format_for_a_name_that_does_not_say_it(run: Run, data: Path, tmp_path: Path) -> None:
    odd = data.rename(tmp_path / "table.dat")
    done(run("fit", odd, *FIT, "--input-format", "csv"))


# ------------------------------------------------------------ what is there already


@pytest.mark.parametrize(
    "call",
    [
        ["fit", "data.csv", "--cardinality", "2,2", "--output", "out"],
        ["path", "data.csv", "--components", "1", "--cardinality", "2", "--output", "out"],
        ["transform", "model.npz", "data.csv", "--output", "out.csv"],
        ["impute", "model.npz", "data.csv", "--output", "out.csv"],
        *[
            ["compare", "data.csv", "--methods", "pca", "--cardinality", "2,2", "--output", name]
            for name in ("out.csv", "out.md", "out.tex", "out.json")
        ],
    ],
    ids=lambda call: f"{call[0]} {call[-1]}",
)
def test_a_result_is_not_overwritten_without_force(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_frame(Path("data.csv"))
    SparsePCA(2, cardinality=3).fit(FRAME).save("model.npz")
    assert run(*call).status == 0
    place = Path(call[-1])
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    before = {file: file.stat().st_mtime_ns for file in files}
    line = complaint(run(*call))
    assert "--force" in line
    assert "already" in line
    assert {file: file.stat().st_mtime_ns for file in files} == before
    assert run(*call, "--force").status == 0
    assert all(file.stat().st_mtime_ns != before[file] for file in files)


# ------------------------------------------------------------ comparison


def test_a_comparison_is_a_frame() -> None:
    correlation = load_pitprops().correlation
    found = compare(
        correlation, ["pca", "redac_l0"], n_components=2, cardinality=3, covariance=True
    )
    assert list(found["method"]) == ["pca", "redac_l0"]
    assert found.loc[1, "nonzeros"] == 6
    assert found.loc[1, "cardinalities"] == "3 3"
    model = SparsePCA(2, cardinality=3).fit_covariance(correlation)
    assert found.loc[1, "pev"] == pytest.approx(100 * model.explained_variance_ratio_.sum())
    with pytest.raises(ValueError, match="nothing"):
        compare(X, ["nothing"], n_components=1, cardinality=1)
    assert set(found["method"]) <= set(available_methods())
    with pytest.raises(ValueError, match="methods is empty"):
        compare(X, [], n_components=1, cardinality=1)


def test_a_call_that_no_method_can_follow_is_an_error() -> None:
    with pytest.raises(ValueError, match="n_components=99"):
        compare(X, ["pca", "thresholding"], n_components=99, cardinality=1)
    assert compare(X, "pca", n_components=1, cardinality=1).method.tolist() == ["pca"]


def test_a_comparison_in_files(run: Run, data: Path, tmp_path: Path) -> None:
    arguments = ("compare", data, *FIT, "--methods", "pca,thresholding", "--quiet", "--output")
    for name in ("t.csv", "t.md", "t.tex", "t.json"):
        done(run(*arguments, tmp_path / name))
    frame = pd.read_csv(tmp_path / "t.csv")
    assert list(frame["method"]) == ["pca", "thresholding"]
    assert json.loads((tmp_path / "t.json").read_text())[1]["pev"] == pytest.approx(frame["pev"][1])
    assert "| thresholding |" in (tmp_path / "t.md").read_text()
    assert r"thresholding &" in (tmp_path / "t.tex").read_text()
    assert ".csv, .md, .tex, .json" in complaint(run(*arguments, tmp_path / "t.doc"))


# ------------------------------------------------------------ saved models


@pytest.fixture
def saved(tmp_path: Path) -> tuple[SparsePCA, Path]:
    model = SparsePCA(2, cardinality=3, standardize=True).fit(FRAME)
    model.save(tmp_path / "model.npz")
    return model, tmp_path / "model.npz"


def test_scores_of_other_data(run: Run, saved: tuple[SparsePCA, Path], tmp_path: Path) -> None:
    model, path = saved
    shuffled = FRAME.iloc[::-1, ::-1].assign(more=1.5, kind="b")
    data = save_frame(tmp_path / "new.csv", shuffled)
    outcome = run("transform", path, data, "--output", tmp_path / "scores.csv")
    assert outcome.status == 0
    assert any("not in the model and left out: 'more'" in note for note in outcome.notes)
    scores = pd.read_csv(tmp_path / "scores.csv", index_col=0)
    assert list(scores.index) == SAMPLES[::-1]
    np.testing.assert_allclose(scores, model.transform(FRAME)[::-1], atol=1e-9)
    printed = run("transform", path.parent, data).out
    np.testing.assert_allclose(pd.read_csv(io.StringIO(printed), index_col=0), scores, atol=1e-9)


def test_scores_are_written_as_csv_only(
    run: Run, saved: tuple[SparsePCA, Path], data: Path
) -> None:
    for command in ("transform", "impute"):
        line = complaint(run(command, saved[1], data, "--output", data.parent / "scores.json"))
        assert "scores.json: is written as .csv" in line
    assert not (data.parent / "scores.json").exists()


def test_columns_that_are_missing_are_named(
    run: Run, saved: tuple[SparsePCA, Path], tmp_path: Path
) -> None:
    data = save_frame(tmp_path / "new.csv", FRAME.drop(columns=["width", "w.t"]))
    line = complaint(run("transform", saved[1], data))
    assert "2 columns of the model missing: 'width', 'w.t'" in line
    text = FRAME.assign(width=[f"no {i}" for i in range(len(X))])
    line = complaint(run("transform", saved[1], save_frame(tmp_path / "text.csv", text)))
    assert "'width' is there, but text" in line
    np.save(tmp_path / "bare.npy", X[:, :4])
    line = complaint(run("transform", saved[1], tmp_path / "bare.npy"))
    assert "has 4 numeric columns, the model has 6 features" in line
    np.save(tmp_path / "bare.npy", X)
    outcome = run("transform", saved[1], tmp_path / "bare.npy")
    assert outcome.status == 0
    assert any("no names: columns were taken in the order" in note for note in outcome.notes)


def test_a_model_that_is_not_there(run: Run, data: Path, tmp_path: Path) -> None:
    assert complaint(run("show", tmp_path / "no")).endswith("no: no such file")
    assert "the model has no name" in complaint(run("transform", "", data))
    names = tmp_path / "names.txt"
    np.save(tmp_path / "bare.npy", X)
    line = complaint(run("fit", tmp_path / "bare.npy", "--names", names))
    assert line.endswith("names.txt: no such file")


def test_a_folder_that_is_missing_is_found_before_the_work(
    run: Run, saved: tuple[SparsePCA, Path], data: Path
) -> None:
    place = data.parent / "nowhere" / "out.csv"
    for call in (["transform", saved[1], data], ["compare", data, "--cardinality", 2]):
        assert "nowhere is not there; create it" in complaint(run(*call, "--output", place))
    assert not place.parent.exists()


def test_labels_stay_beside_the_scores(
    run: Run, saved: tuple[SparsePCA, Path], tmp_path: Path
) -> None:
    kinds = ["wild" if i % 3 else "=tame" for i in range(len(X))]
    data = save_frame(tmp_path / "new.csv", FRAME.assign(kind=kinds))
    printed = done(run("transform", saved[1], data, "--label", "kind")).out
    frame = pd.read_csv(io.StringIO(printed), index_col=0)
    assert list(frame.columns) == ["kind", "PC1", "PC2"]
    assert list(frame["kind"].str.removeprefix("'")) == kinds
    document = strict(done(run("transform", saved[1], data, "--label", "kind", "--json")).out)
    assert document["components"] == ["PC1", "PC2"]
    assert [row["label"] for row in document["scores"]] == kinds
    assert [row["sample"] for row in document["scores"]] == SAMPLES
    assert document["scores"][3]["values"] == pytest.approx(frame.iloc[3, 1:].tolist())


def test_gaps_are_filled(run: Run, saved: tuple[SparsePCA, Path], tmp_path: Path) -> None:
    model, path = saved
    gappy = FRAME.mask(np.random.default_rng(1).random(X.shape) < 0.2)
    data = save_frame(tmp_path / "gaps.csv", gappy)
    done(run("impute", path, data, "--output", tmp_path / "full.csv", "--quiet"))
    full = pd.read_csv(tmp_path / "full.csv", index_col=0)
    np.testing.assert_allclose(full, model.impute(gappy), atol=1e-9)
    assert list(full.columns) == FEATURES
    assert "missing value" in complaint(run("impute", path, data, "--missing", "error"))


def test_a_sparse_matrix_has_no_gaps(run: Run, saved: tuple[SparsePCA, Path]) -> None:
    data = saved[1].parent / "data.mtx"
    mmwrite(data, csr_array(X))
    assert "data.mtx: is a sparse matrix" in complaint(run("impute", saved[1], data))


def test_small_loadings_are_not_written_as_zero(run: Run, tmp_path: Path) -> None:
    model = SparsePCA(1).fit_covariance(np.diag([2.0, 1.0, 0.5]))
    model.components_ = np.array([[1.0, 4e-4, -2e-7]])
    model.save(tmp_path / "model.npz")
    words = done(run("show", tmp_path / "model.npz")).out.split()
    assert {"1.000", "4e-04", "-2e-07"} <= set(words)
    assert " ".join(words).count("1 component explains") == 1


def test_a_model_is_shown_again(run: Run, data: Path, tmp_path: Path) -> None:
    fitted = run("fit", data, *FIT, "--output", tmp_path / "out")
    assert done(run("show", tmp_path / "out")).out == fitted.out
    assert done(run("show", tmp_path / "out" / "model.npz")).out == fitted.out
    assert "no such file" in complaint(run("show", tmp_path / "nowhere.npz")).lower()
    (tmp_path / "empty").mkdir()
    assert "empty: has no model.npz" in complaint(run("show", tmp_path / "empty"))


def test_a_model_of_a_covariance_matrix_knows_no_means(
    run: Run, data: Path, tmp_path: Path
) -> None:
    SparsePCA(2, cardinality=3).fit_covariance(np.cov(X.T), feature_names=FEATURES).save(
        tmp_path / "model.npz"
    )
    outcome = run("transform", tmp_path / "model.npz", data)
    assert outcome.status == 0
    assert "about zero" in outcome.notes[-1]
