"""Which columns are features, what numbers look like, and formats beyond text and arrays."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import redac.files.lines
import redac.files.table
from commands import FEATURES, FRAME, SAMPLES, Run, X, complaint, done, save_frame
from redac import SparsePCA
from redac.files import DataFileError, read_table
from redac.files.suspicions import suspicions

MIXED = FRAME.reset_index(drop=True).assign(id=range(1, 41), kind=["a", "b"] * 20, code="007")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return save_frame(tmp_path / "mixed.csv", MIXED, index=False)


def text(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


# ------------------------------------------------------------ choosing columns


def test_columns_are_dropped_by_name(mixed: Path) -> None:
    table = read_table(mixed, drop=["id", "width,age 2"])
    assert table.feature_names == ["length", "größe", "[a]", "w.t", "code"]
    assert list(table.ignored) == ["kind"]
    assert list(read_table(mixed, drop="kind,id,code").ignored) == []


def test_only_some_columns(mixed: Path) -> None:
    table = read_table(mixed, only="w.t,length")
    assert table.feature_names == ["length", "w.t"]
    assert table.ignored == {}
    np.testing.assert_allclose(table.values, X[:, [0, 5]])


def test_a_dropped_column_may_hold_anything(tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", "a,b,c\n1,2,1\n3,x,inf\n5,6,3\n7,8,4\n")
    with pytest.raises(DataFileError, match="'x' is not a number"):
        read_table(path)
    assert read_table(path, drop="b,c").values.tolist() == [[1], [3], [5], [7]]


def test_a_name_with_a_comma(tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", '"a,b",a,b\n1,2,3\n4,5,7\n')
    assert read_table(path, drop="a,b").feature_names == ["a", "b"]
    assert read_table(path, drop=["a", "b"]).feature_names == ["a,b"]


def test_an_index_stays_as_written(mixed: Path) -> None:
    table = read_table(mixed, index="code", drop="kind")
    assert table.sample_names == ["007"] * 40
    assert table.feature_names == [*FEATURES, "id"]
    assert read_table(mixed, index="id", drop="kind").sample_names == [str(i) for i in range(1, 41)]


def test_labels(mixed: Path) -> None:
    table = read_table(mixed, label="kind")
    assert (table.label_name, table.labels) == ("kind", ["a", "b"] * 20)
    assert table.ignored == {}


def test_columns_without_names_have_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", X)
    np.testing.assert_array_equal(
        read_table(tmp_path / "t.npy", drop="2,6").values, X[:, [0, 2, 3, 4]]
    )
    table = read_table(tmp_path / "t.npy", index="1", label="3")
    np.testing.assert_array_equal(table.values, X[:, [1, 3, 4, 5]])
    assert [float(name) for name in table.sample_names or []] == X[:, 0].tolist()
    path = text(tmp_path / "bare.csv", "1,2,3\n4,5,6\n7,8,1\n")
    assert read_table(path, only="3").values.tolist() == [[3], [6], [1]]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
def test_names_from_a_file(tmp_path: Path, kind: Any) -> None:
    names = text(tmp_path / "names.tsv", "".join(f"{name}\tmore\n" for name in FEATURES))
    path = tmp_path / "t.npz"
    if kind is np.asarray:
        np.savez(path, X=X)
    else:
        sp.save_npz(path, kind(X))
    table = read_table(path, names=names, drop="width")
    assert table.feature_names == [name for name in FEATURES if name != "width"]
    with pytest.raises(DataFileError, match="6 columns, but there are 2 names"):
        read_table(path, names=text(tmp_path / "two.txt", "a\nb\n"))
    with pytest.raises(DataFileError, match="names"):
        read_table(path, names=text(tmp_path / "none.txt", "\n"))


def test_a_large_array_is_not_read_to_choose_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "t.npy", X)
    monkeypatch.setattr(redac.files.table, "LARGE", 1)
    values = read_table(tmp_path / "t.npy", drop="2").values
    assert not isinstance(values, np.ndarray)
    found, expected = (
        SparsePCA(2, cardinality=2).fit(each) for each in (values, np.delete(X, 1, 1))
    )
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)


def test_rows_and_columns_of_a_covariance_matrix(run: Run, tmp_path: Path) -> None:
    S = pd.DataFrame(np.cov(X.T), index=FEATURES, columns=FEATURES)
    S.to_csv(tmp_path / "s.csv")
    table = read_table(tmp_path / "s.csv", square=True, drop="width")
    assert table.values.shape == (5, 5)
    assert table.sample_names == table.feature_names
    shown = done(run("fit", "pitprops", "--drop", "length,knots", "--cardinality", 2)).out
    assert "length" not in shown


WRONG_COLUMNS = {
    "--drop nothing": "no column 'nothing' to leave out; there are 'length', 'width'",
    "--drop lenght": "no column 'lenght' to leave out; did you mean 'length'",
    "--only width,x": "no column 'x' to use",
    "--index nothing": "no column 'nothing' to name the rows",
    "--label nothing": "no column 'nothing' to tell their kind",
    "--drop id --only width": "exclude each other",
    "--only kind --index kind": "no column is left to be a feature",
    "--names mixed.csv": "its columns have names; give no others",
}


@pytest.mark.parametrize("options", WRONG_COLUMNS)
def test_wrong_columns_are_one_line(
    run: Run, mixed: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.chdir(mixed.parent)
    assert WRONG_COLUMNS[options] in complaint(run("fit", "mixed.csv", *options.split()))


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "--cardinality", "3"],
        ["path", "--components", "1", "--cardinality", "3"],
        ["choose", "--components", "1,2", "--cardinality", "3"],
        ["compare", "--cardinality", "3", "--methods", "pca"],
        ["certify", "--cardinality", "3", "--time-limit", "0", "--perturbations", "0"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_reads_in_the_same_ways(
    run: Run, mixed: Path, tmp_path: Path, command: list[str]
) -> None:
    name, *options = command
    reading = [
        "--drop",
        "code",
        "--index",
        "id",
        "--label",
        "kind",
        "--na",
        "?",
        "--missing",
        "error",
    ]
    outcome = run(name, mixed, *options, *reading, "--json")
    assert outcome.status == 0, outcome.err
    document = json.loads(outcome.out)
    if "model" in document:
        assert document["model"]["n_features"] == 6
    assert not any("counts" in note or "left out" in note for note in document["notes"])


def test_features_that_are_rows(run: Run, tmp_path: Path) -> None:
    genes = FRAME.T.rename_axis("gene")
    path = save_frame(tmp_path / "genes.tsv", genes, sep="\t")
    table = read_table(path, transpose=True)
    np.testing.assert_allclose(table.values, X)
    assert (table.feature_names, table.sample_names) == (FEATURES, SAMPLES)
    table = read_table(path, transpose=True, drop=SAMPLES[:3])
    assert table.sample_names == SAMPLES[3:]
    plain = save_frame(tmp_path / "data.csv")
    options = ("--components", 2, "--cardinality", 3)
    assert run("fit", path, "--transpose", *options).out == run("fit", plain, *options).out
    model = tmp_path / "model.npz"
    SparsePCA(2, cardinality=3).fit(FRAME).save(model)
    scores = done(run("transform", model, path, "--transpose")).out
    assert [line.split(",")[0] for line in scores.splitlines()[1:]] == SAMPLES


def test_features_that_are_rows_of_an_array(run: Run, tmp_path: Path) -> None:
    words = text(tmp_path / "words.txt", "\n".join(FEATURES))
    np.savez(tmp_path / "a.npz", X=X.T)
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(X.T))
    for name in ("a.npz", "s.npz"):
        table = read_table(tmp_path / name, transpose=True, names=words)
        assert table.values.shape == X.shape
        assert table.feature_names == FEATURES
    twice = text(tmp_path / "twice.csv", "gene,a,b,c\nx,1,2,3\nx,2,3,5\ny,1,NA,9\n")
    table = read_table(twice, transpose=True, missing="keep", index="gene")
    assert table.feature_names == ["x", "x.1", "y"]
    assert "names that repeat" in table.notes[0]
    with pytest.raises(DataFileError, match=r"row 4, column 'b'.*missing value"):
        read_table(twice, transpose=True, index="gene")
    labelled = ("--label", "c", "--index", "gene", "--transpose", "--components", 1)
    assert "a label is of samples" in complaint(run("fit", twice, *labelled))


# ------------------------------------------------------------ notes


def notes_of(values: Any, **options: Any) -> str:
    frame = pd.DataFrame(values)
    names = [str(name) for name in frame.columns]
    from redac.files import Table

    return " | ".join(suspicions(Table(frame.to_numpy(dtype=float), names), "file", **options))


def test_a_column_that_counts_the_rows() -> None:
    spread = np.random.default_rng(0).standard_normal(40)
    for first in (0, 1):
        said = notes_of({"id": np.arange(40) + first, "x": 10 * spread})
        assert "column 'id' only counts the rows; leave it out with --drop" in said
    several = {f"t{j}": np.arange(40.0) for j in range(12)}
    said = notes_of(several)
    assert said.startswith("columns 't0', 't1', ")
    assert " and 4 more only count the rows" in said
    assert "|" not in said
    assert notes_of({"year": np.arange(40) + 1980.0, "x": 10 * spread}) == ""
    assert notes_of({"x": [0.0, 1, 2, 4, 5], "y": [1.0, 2, 3, 4, 6]}) == ""


def test_scales_far_apart() -> None:
    spread = np.random.default_rng(0).standard_normal((40, 2))
    apart = {"small": spread[:, 0], "large": 1000 * spread[:, 1], "constant": 5.0}
    said = notes_of(apart)
    ratio = 1000 * spread[:, 1].std() / spread[:, 0].std()
    assert f"'large' spreads {ratio:,.3g} times as much as 'small'; consider --standardize" in said
    assert notes_of(apart, standardize=True) == ""
    assert notes_of({"a": spread[:, 0], "b": 50 * spread[:, 1]}) == ""
    gappy = pd.DataFrame(apart)
    gappy.iloc[3, 1] = np.nan
    assert "consider --standardize" in notes_of(gappy)
    assert "consider --standardize" in notes_of(np.diag([1.0, 1e6]), covariance=True)


def test_a_symmetric_matrix() -> None:
    S = np.cov(X.T)
    assert "say --covariance" in notes_of(S)
    assert "--covariance" not in notes_of(S, covariance=True)
    assert notes_of(X[:6]) == ""


def test_repeated_names_are_said(run: Run, tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", "a,b,a\n1,2,5\n4,5,6\n7,8,1\n")
    outcome = run("fit", path, "--cardinality", "2,2", "--quiet", "--json")
    note = "names that repeat were changed: 'a' in column 3 is now 'a.1'"
    assert note in json.loads(outcome.out)["notes"]


# ------------------------------------------------------------ numbers as people write them

WRITTEN = {
    "percent": ("a,b\n1 %,2%\n30%,4.5%\n", [[1, 2], [30, 4.5]], "percent signs"),
    "percent with gaps": ("a,b\n1%,2\nNA,4\n3%,5\n", [[1, 2], [np.nan, 4], [3, 5]], "percent"),
    "thousands": ('a,b\n"1,234",2\n"-2,345,678.5",4\n', [[1234, 2], [-2345678.5, 4]], "thousands"),
    "points and comma groups": ('a;b\n1,234.5;2\n5,678;4\n', [[1234.5, 2], [5678, 4]], "thousands"),
    "blanks": ("a;b\n1 234;2\n5 678,5;4\n", [[1234, 2], [5678.5, 4]], "thousands"),
    "narrow blanks": ("a;b\n1\u202f234;2\n5\u00a0678;4\n", [[1234, 2], [5678, 4]], "thousands"),
    "apostrophes": ("a;b\n1'234.5;2\n5'678;4\n", [[1234.5, 2], [5678, 4]], "thousands"),
    "points": ("a;b\n1.234,5;2,5\n5.678;4,25\n", [[1234.5, 2.5], [5678, 4.25]], "thousands"),
    "comma": ("a;b\n1,234;2,5\n5,678;4,25\n", [[1.234, 2.5], [5.678, 4.25]], ""),
    "small": ("a;b\n0,125;2,5\n0,250;4,25\n", [[0.125, 2.5], [0.25, 4.25]], ""),
    "dollars": ('a,b\n"$1,234.50",2\n-$3,4\n,5\n', [[1234.5, 2], [-3, 4], [np.nan, 5]], "currency"),
    "euros": ("a;b\n1.234,50 €;2\n3,5€;4\n", [[1234.5, 2], [3.5, 4]], "currency signs"),
    "points only": ("a;b\n1.234;2\n5.678;4\n", [[1.234, 2], [5.678, 4]], ""),
}  # fmt: skip


@pytest.mark.parametrize("case", WRITTEN)
def test_numbers_as_people_write_them(tmp_path: Path, case: str) -> None:
    content, expected, said = WRITTEN[case]
    table = read_table(text(tmp_path / "t.csv", content), missing="keep")
    np.testing.assert_array_equal(table.values, expected)
    assert said in " ".join(table.notes)
    assert bool(table.notes) == bool(said)


def test_percent_beside_other_numbers_is_not_guessed(tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", "a,b\n1,1\n2,2\n3%,4\n4,5\n")
    with pytest.raises(DataFileError, match="'3%' is not a number"):
        read_table(path)


def test_currencies_are_not_mixed(tmp_path: Path) -> None:
    for cells in (("$1", "€2", "$3", "€4"), ("$1$", "$2$", "$3$", "$4$")):
        rows = "".join(f"{j},{cell}\n" for j, cell in enumerate(cells))
        assert list(read_table(text(tmp_path / "t.csv", f"a,b\n{rows}")).ignored) == ["b"]


# ------------------------------------------------------------ columns without a value


def test_a_column_without_a_value_is_no_feature(run: Run, tmp_path: Path) -> None:
    rows = "\n".join(f"{a},,{b},NA" for a, b in X[:, :2].tolist())
    path = text(tmp_path / "t.csv", f"a,empty,b,none\n{rows}\n")
    outcome = run("fit", path, "--components", 1, "--cardinality", 1, "--output", tmp_path / "out")
    assert outcome.status == 0
    assert "note: column 'empty' left out: no value at all" in outcome.notes
    assert "note: column 'none' left out: no value at all" in outcome.notes
    # What needs complete data can do without it, too.
    assert run("compare", path, "--components", 1, "--cardinality", 1).status == 0
    # A feature of a model may be missing in other rows: they have scores all the same.
    lost = text(tmp_path / "u.csv", "a,b\n1,\n2,\n")
    assert run("transform", tmp_path / "out", lost).status == 0
    nameless = text(tmp_path / "v.csv", "1,,3\n4,,5\n6,,1\n")
    assert "no value at all" in complaint(run("fit", nameless, "--components", 1))


# ------------------------------------------------------------ formats

PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def check(path: Path, **options: Any) -> None:
    table = read_table(path, **options)
    np.testing.assert_allclose(table.values, X)
    assert table.feature_names == FEATURES
    assert table.sample_names == SAMPLES


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_text(tmp_path: Path, suffix: str) -> None:
    content = PACKED[suffix](FRAME.to_csv().encode())
    path = tmp_path / f"t.csv.{suffix}"
    path.write_bytes(content)
    check(path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataFileError, match=r"t\.csv\.\w+: damaged"):
        read_table(path)
    other = tmp_path / "t.dat"
    other.write_bytes(content)
    check(other, input_format="csv")


@pytest.mark.parametrize("suffix", [*PACKED, "zip"])
def test_a_packed_file_that_swells_beyond_measure(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redac.files.lines, "_LARGE", 1 << 20)
    content = b"1,2,3\n" * 500_000
    path = tmp_path / f"t.csv.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", content)
    else:
        path.write_bytes(PACKED[suffix](content))
    with pytest.raises(DataFileError, match="unpacks to more than 100 times its size"):
        read_table(path)


def test_zipped_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner/t.csv", FRAME.to_csv())
        archive.writestr("__MACOSX/._t.csv", "x")
    check(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("u.csv", "1")
    with pytest.raises(DataFileError, match="holds 2 files, one is expected"):
        read_table(path)


def test_excel(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    FRAME.to_excel(tmp_path / "named.xlsx")
    check(tmp_path / "named.xlsx")
    with pd.ExcelWriter(tmp_path / "two.xlsx") as writer:
        MIXED.assign(day=pd.Timestamp("2026-01-01")).to_excel(
            writer, sheet_name="first", index=False
        )
        FRAME.to_excel(writer, sheet_name="second")
    table = read_table(tmp_path / "two.xlsx", index="code")
    assert table.feature_names == [*FEATURES, "id"]
    assert list(table.ignored) == ["kind", "day"]
    assert "dates" in table.ignored["day"]
    assert table.sample_names == ["007"] * 40
    assert "the sheet 'first' was read; there are 2 sheets" in table.notes
    FRAME.to_excel(tmp_path / "bare.xlsx", header=False, index=False)
    np.testing.assert_allclose(read_table(tmp_path / "bare.xlsx").values, X)
    spoiled = FRAME.astype(object)
    spoiled.iloc[2, 1] = "oops"
    spoiled.to_excel(tmp_path / "slip.xlsx")
    with pytest.raises(DataFileError, match="row 4, column 'width': 'oops' is not a number"):
        read_table(tmp_path / "slip.xlsx")
    gappy = FRAME.mask(np.eye(40, 6, dtype=bool))
    gappy.to_excel(tmp_path / "gaps.xlsx")
    found = read_table(tmp_path / "gaps.xlsx", missing="keep")
    np.testing.assert_allclose(found.values, gappy)


def test_feather(tmp_path: Path) -> None:
    MIXED.to_feather(tmp_path / "t.feather")
    table = read_table(tmp_path / "t.feather", index="code", drop="id", label="kind")
    np.testing.assert_allclose(table.values, X)
    assert table.labels == MIXED["kind"].tolist()


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".json.gz"])
@pytest.mark.parametrize("lines", [True, False])
def test_json_rows(tmp_path: Path, suffix: str, lines: bool) -> None:
    gappy = MIXED.drop(columns="id").mask(np.eye(40, 8, dtype=bool))
    content = gappy.to_json(orient="records", lines=lines, force_ascii=False).encode()
    path = tmp_path / f"t{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    table = read_table(path, missing="keep", index="code", drop="kind")
    np.testing.assert_allclose(table.values, gappy[FEATURES])
    path.write_bytes(b"[1, 2]")
    with pytest.raises(DataFileError, match="damaged, or not"):
        read_table(path)


MISSING_LIBRARIES = {
    "t.xlsx": ("openpyxl", "excel"),
    "t.h5ad": ("h5py", "h5ad"),
    "t.feather": ("pyarrow", "parquet"),
}


@pytest.mark.parametrize("name", MISSING_LIBRARIES)
def test_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    library, extra = MISSING_LIBRARIES[name]
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DataFileError, match=rf"pip install 'redac\[{extra}\]'"):
        read_table(text(tmp_path / name, "anything"))


def save_h5ad(path: Path, matrix: Any, *, old: bool = False) -> Path:
    """A file as anndata lays it out; ``old``: as it did before version 0.7."""
    h5py = pytest.importorskip("h5py")
    kinds = np.array(["T", "B", "NK"])
    with h5py.File(path, "w") as file:
        if sp.issparse(matrix):
            group = file.create_group("X")
            group.attrs["encoding-type"] = f"{matrix.format}_matrix"
            group.attrs["shape"] = matrix.shape
            for name in ("data", "indices", "indptr"):
                group[name] = getattr(matrix, name)
        else:
            file["X"] = matrix
        if old:
            for name, names in (("obs", SAMPLES), ("var", FEATURES)):
                records = np.array(
                    [(each.encode(), 1.0) for each in names], [("index", "S9"), ("n", "f8")]
                )
                file[name] = records
            return path
        for name, names in (("obs", SAMPLES), ("var", FEATURES)):
            group = file.create_group(name)
            group.attrs["_index"] = "barcode"
            group["barcode"] = np.array(names, dtype=h5py.string_dtype())
        kind = file["obs"].create_group("kind")
        kind.attrs["encoding-type"] = "categorical"
        kind["codes"] = np.arange(len(X)) % 4 - 1
        kind["categories"] = kinds.astype(h5py.string_dtype())
        file["obs"]["batch"] = np.arange(len(X))
    return path


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_h5ad(tmp_path: Path, make: Any) -> None:
    path = save_h5ad(tmp_path / "t.h5ad", make(X.astype(np.float32)))
    table = read_table(path, label="kind", drop="width")
    dense = table.values.toarray() if sp.issparse(table.values) else table.values
    np.testing.assert_array_equal(dense, np.delete(X.astype(np.float32), 1, 1))
    assert sp.issparse(table.values) == (make is not np.asarray)
    assert table.labels == [["", "T", "B", "NK"][i % 4] for i in range(len(X))]
    assert table.sample_names == SAMPLES
    assert read_table(path, index="batch").sample_names == [str(i) for i in range(len(X))]
    with pytest.raises(DataFileError, match="obs has no column 'x'; there are 'barcode', 'batch'"):
        read_table(path, label="x")
    old = read_table(save_h5ad(tmp_path / "old.h5ad", make(X), old=True))
    assert (old.feature_names, old.sample_names) == (FEATURES, SAMPLES)


def test_a_large_h5ad_file_is_read_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save_h5ad(tmp_path / "t.h5ad", X)
    monkeypatch.setattr(redac.files.table, "LARGE", 1)
    table = read_table(path, drop="width", label="kind")
    assert not isinstance(table.values, np.ndarray)
    found = SparsePCA(2, cardinality=2).fit(table.values)
    expected = SparsePCA(2, cardinality=2).fit(np.delete(X, 1, 1))
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)


def test_damaged_h5ad(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = save_h5ad(tmp_path / "t.h5ad", sp.csr_array(X))
    with h5py.File(path, "a") as file:
        file["X"]["indices"][3] = 10**6
    with pytest.raises(DataFileError, match=r"t\.h5ad: damaged"):
        read_table(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(10**7, 10**5), dtype="f8")
    with pytest.raises(DataFileError, match="claims 8000000000000 bytes"):
        read_table(path)
    with h5py.File(path, "w") as file:
        file["Y"] = X
    with pytest.raises(DataFileError, match="has no X"):
        read_table(path)


def test_a_text_in_h5ad_that_claims_more_bytes_than_there_are(tmp_path: Path) -> None:
    """The library of HDF5 makes room for what is claimed: up to 4 GB for 20 bytes."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = X
        names = file.create_dataset("var/_index", data=FEATURES, dtype=h5py.string_dtype())
        file["var"].attrs["_index"] = "_index"
        start = names.id.get_offset()
    assert read_table(path).feature_names == FEATURES
    content = bytearray(path.read_bytes())
    assert content[start : start + 4] == len(FEATURES[0]).to_bytes(4, "little")
    content[start : start + 4] = (1 << 30).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(DataFileError, match="var/_index: a text claims 1073741824 bytes"):
        read_table(path)


def test_the_help_lists_the_formats(run: Run) -> None:
    shown = " ".join(done(run("fit", "--help")).out.split())
    for suffix in (".xlsx", ".feather", ".h5ad", ".jsonl", ".parquet", ".bz2"):
        assert suffix in shown
