"""Data files become tables with names, or one clear error line."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import redac.files
from redac.disk import decoding, output_folder, write_atomically
from redac.files import DataFileError, Table, read_table, watching
from users import ordinary_user

VALUES = np.array([[1.5, -2.0, 0.0], [1e-3, 4.25, 1e300], [0.1, 7.0, -8.5], [3.0, 0.0, 2.0]])
FEATURES = ["height", "age", "größe"]
SAMPLES = ["s1", "s2", "s3", "s4"]
FRAME = pd.DataFrame(VALUES, index=SAMPLES, columns=FEATURES)


def dense(table: Table) -> np.ndarray:
    return table.values.toarray() if sp.issparse(table.values) else np.asarray(table.values)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def error_line(path: Path | str, **options: bool) -> str:
    """Read a bad file and return what its error says after the file name."""
    with pytest.raises(DataFileError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def write_compressed(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content))


def csv_bytes(**options: object) -> bytes:
    return FRAME.to_csv(**options).encode()


def write_mtx_compressed(path: Path) -> None:
    plain = io.BytesIO()
    scipy.io.mmwrite(plain, sp.csr_array(VALUES))
    write_compressed(path, plain.getvalue())


NAMED_FORMATS = {
    "t.csv": lambda path: FRAME.to_csv(path),
    "t.CSV": lambda path: FRAME.to_csv(path),
    "t.csv.gz": lambda path: write_compressed(path, csv_bytes()),
    "t.CSV.GZ": lambda path: write_compressed(path, csv_bytes()),
    "t.tsv": lambda path: FRAME.to_csv(path, sep="\t"),
    "t.tsv.gz": lambda path: write_compressed(path, csv_bytes(sep="\t")),
    "tab.txt": lambda path: FRAME.to_csv(path, sep="\t"),
    "comma.txt": lambda path: FRAME.to_csv(path),
    "semicolon.txt": lambda path: FRAME.to_csv(path, sep=";"),
    "european.csv": lambda path: FRAME.to_csv(path, sep=";", decimal=","),
    "european.tsv": lambda path: FRAME.to_csv(path, sep="\t", decimal=","),
    "bom.csv": lambda path: FRAME.to_csv(path, encoding="utf-8-sig"),
    "latin.csv": lambda path: FRAME.to_csv(path, encoding="latin-1"),
    "utf16.txt": lambda path: FRAME.to_csv(path, sep="\t", encoding="utf-16"),
    "bars.txt": lambda path: FRAME.to_csv(path, sep="|"),
    "typeset.csv": lambda path: path.write_bytes(csv_bytes().replace(b"-", "\u2212".encode())),
    "quoted.csv": lambda path: FRAME.to_csv(path, quoting=2),
    "crlf.csv": lambda path: FRAME.to_csv(path, lineterminator="\r\n"),
    "cr.csv": lambda path: FRAME.to_csv(path, lineterminator="\r"),
    "named_index.csv": lambda path: FRAME.to_csv(path, index_label="patient"),
    "blank.txt": lambda path: path.write_text(FRAME.to_string(), encoding="utf-8"),
    "pandas.parquet": lambda path: FRAME.to_parquet(path),
    "polars.parquet": lambda path: pl.DataFrame(
        {"patient": SAMPLES, **{name: FRAME[name].to_numpy() for name in FEATURES}}
    ).write_parquet(path),
    "names.npz": lambda path: np.savez(
        path, X=VALUES, feature_names=np.array(FEATURES), sample_names=np.array(SAMPLES)
    ),
}


@pytest.mark.parametrize("name", NAMED_FORMATS)
def test_named_formats_agree(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    NAMED_FORMATS[name](path)
    table = read_table(path)
    np.testing.assert_array_equal(dense(table), VALUES)
    assert table.feature_names == FEATURES
    assert table.sample_names == SAMPLES
    assert table.ignored == {}


NAMELESS_FORMATS = {
    "t.csv": lambda path: FRAME.to_csv(path, header=False, index=False),
    "t.txt": lambda path: np.savetxt(path, VALUES),
    "leading_blanks.txt": lambda path: np.savetxt(path, VALUES, fmt="%24.16e"),
    "t.npy": lambda path: np.save(path, VALUES),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(VALUES)),
    "other_bytes.npy": lambda path: np.save(path, VALUES.astype(">f8")),
    "X.npz": lambda path: np.savez(path, X=VALUES, Y=VALUES.T),
    "data.npz": lambda path: np.savez_compressed(path, data=VALUES, Y=VALUES.T),
    "only.npz": lambda path: np.savez(path, whatever=VALUES, weights=np.ones(4)),
    "csr.npz": lambda path: sp.save_npz(path, sp.csr_array(VALUES)),
    "csc.npz": lambda path: sp.save_npz(path, sp.csc_matrix(VALUES)),
    "coo.npz": lambda path: sp.save_npz(path, sp.coo_array(VALUES)),
    "sparse.mtx": lambda path: scipy.io.mmwrite(path, sp.csr_array(VALUES)),
    "dense.mtx": lambda path: scipy.io.mmwrite(path, VALUES),
    "sparse.mtx.gz": write_mtx_compressed,
    "SPARSE.MTX.GZ": write_mtx_compressed,
}


@pytest.mark.parametrize("name", NAMELESS_FORMATS)
def test_nameless_formats_agree(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    NAMELESS_FORMATS[name](path)
    table = read_table(str(path))
    np.testing.assert_array_equal(dense(table), VALUES)
    assert table.values.dtype == np.float64
    assert table.values.dtype.isnative
    assert table.feature_names is None
    assert table.sample_names is None


def test_npy_stays_on_disk(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VALUES)
    assert isinstance(read_table(tmp_path / "a.npy").values, np.memmap)


@pytest.mark.parametrize("name", ["csr.npz", "csc.npz", "coo.npz", "sparse.mtx"])
def test_sparse_stays_sparse(tmp_path: Path, name: str) -> None:
    NAMELESS_FORMATS[name](tmp_path / name)
    assert read_table(tmp_path / name).values.format in ("csr", "csc")


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (np.bool_, np.uint8),
        (np.int16, np.int16),
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.longdouble, np.float64),
    ],
)
def test_array_types(tmp_path: Path, stored: type, read: type) -> None:
    np.save(tmp_path / "a.npy", np.eye(3, dtype=stored))
    values = read_table(tmp_path / "a.npy").values
    assert values.dtype == read
    np.testing.assert_array_equal(values, np.eye(3))


# Each case: content, feature names, sample names, ignored columns, values.
LAYOUTS = {
    "header": ("a,b\n1,2\n3,4\n", ["a", "b"], None, {}, [[1, 2], [3, 4]]),
    "no header": ("1,2\n3,4\n", None, None, {}, [[1, 2], [3, 4]]),
    "no final line end": ("a,b\n1,2\n3,4", ["a", "b"], None, {}, [[1, 2], [3, 4]]),
    "empty lines": ("\n\na,b\n1,2\n\n   \n3,4\n\n", ["a", "b"], None, {}, [[1, 2], [3, 4]]),
    "blanks behind commas": ("a, b\n1, 2\n3, 4\n", ["a", "b"], None, {}, [[1, 2], [3, 4]]),
    "blanks before commas": ("a ,b \n1 ,2 \n3 ,4 \n", ["a", "b"], None, {}, [[1, 2], [3, 4]]),
    "some numeric names": ("a,2020\n1,2\n3,4\n", ["a", "2020"], None, {}, [[1, 2], [3, 4]]),
    "single column": ("a\n1\n2\n", ["a"], None, {}, [[1], [2]]),
    "single row": ("a,b\n1,2\n", ["a", "b"], None, {}, [[1, 2]]),
    "unnamed index": (",a,b\nx,1,2\nx,3,4\n", ["a", "b"], ["x", "x"], {}, [[1, 2], [3, 4]]),
    "numeric index": (",a\n007,1\n010,3\n", ["a"], ["007", "010"], {}, [[1], [3]]),
    "pandas index": ("Unnamed: 0,a\n0,1\n1,3\n", ["a"], ["0", "1"], {}, [[1], [3]]),
    "index without column names": (
        ",0,1\n0,1,2\n1,3,4\n",
        ["0", "1"],
        ["0", "1"],
        {},
        [[1, 2], [3, 4]],
    ),
    "named index": ("id,a\nx,1\ny,3\n", ["a"], ["x", "y"], {}, [[1], [3]]),
    "index, no header": ("x,1,2\ny,3,4\n", None, ["x", "y"], {}, [[1, 2], [3, 4]]),
    "index that looks missing": ("gene,a\nNA,1\nTP53,3\n", ["a"], ["NA", "TP53"], {}, [[1], [3]]),
    "R": ('"a" "b"\n"x" 1 2\n"y z" 3 4\n', ["a", "b"], ["x", "y z"], {}, [[1, 2], [3, 4]]),
    "R, numbered": ('"a","b"\n"1",1,2\n"2",3,4\n', ["a", "b"], ["1", "2"], {}, [[1, 2], [3, 4]]),
    "R, European": ("a;b\nx;1,5;2\ny;3;4,5\n", ["a", "b"], ["x", "y"], {}, [[1.5, 2], [3, 4.5]]),
    "repeated names": ("a,a,a.1\n1,2,3\n", ["a", "a.2", "a.1"], None, {}, [[1, 2, 3]]),
    "nameless column": ("a,,b\n1,2,3\n", ["a", "column 2", "b"], None, {}, [[1, 2, 3]]),
    "quoted names": ('"a, b","c ""d"""\n1,2\n', ["a, b", 'c "d"'], None, {}, [[1, 2]]),
    "name over two lines": ('"a\nb",c\n1,2\n', ["a\nb", "c"], None, {}, [[1, 2]]),
    "booleans": ("a,b\nTrue,1\nfalse,0\n", ["a", "b"], None, {}, [[1, 1], [0, 0]]),
    "huge integers": (
        "a,b\n99999999999999999999999,1\n2,2\n",
        ["a", "b"],
        None,
        {},
        [[1e23, 1], [2, 2]],
    ),
    "exponents": ("a;b\n1,5e2;1\n-,5;2\n", ["a", "b"], None, {}, [[150, 1], [-0.5, 2]]),
    "text column": (
        "a,tissue\n1,tumour\n2,tumour\n",
        ["a"],
        None,
        {"tissue": "text, e.g. 'tumour' in row 2"},
        [[1], [2]],
    ),
    "repeated text in front": (
        "tissue,a\n,1\nnormal,2\nnormal,3\n",
        ["a"],
        None,
        {"tissue": "text, e.g. 'normal' in row 3"},
        [[1], [2], [3]],
    ),
    "text column, no header": (
        "1,tumour\n2,tumour\n",
        None,
        None,
        {"column 2": "text, e.g. 'tumour' in row 1"},
        [[1], [2]],
    ),
    "text with the delimiters": (
        "a,terms\n1,x;y\n2,x;y\n3,x;y\n",
        ["a"],
        None,
        {"terms": "text, e.g. 'x;y' in row 2"},
        [[1], [2], [3]],
    ),
    "comma behind every row": (
        "a,b\n1,2,\n3,4,\n",
        ["a", "b"],
        None,
        {"column 3": "empty, without a name"},
        [[1, 2], [3, 4]],
    ),
    "mostly text": (
        "a,code\n1,x1\n2,2\n3,x3\n4,x4\n",
        ["a"],
        None,
        {"code": "text, e.g. 'x1' in row 2"},
        [[1], [2], [3], [4]],
    ),
}


@pytest.mark.parametrize("case", LAYOUTS)
def test_text_layouts(tmp_path: Path, case: str) -> None:
    content, features, samples, ignored, values = LAYOUTS[case]
    table = read_table(write(tmp_path / "t.csv", content))
    assert table.feature_names == features
    assert table.sample_names == samples
    assert table.ignored == ignored
    # Older pandas rounds whole numbers beyond 64 bits to a neighbour.
    np.testing.assert_allclose(table.values, values, rtol=1e-15)


TEN_ROWS = "".join(f"{row},{row}.5\n" for row in range(10))
FILL = "fill in the missing values or drop their rows"

TEXT_ERRORS = {
    "slip": (
        f"id,height\n{TEN_ROWS}10,n/a?\n",
        "row 12, column 'height': 'n/a?' is not a number",
    ),
    "slip in a small file": ("a,b\n1,2\n3,x\n5,6\n", "row 3, column 'b': 'x' is not a number"),
    "slip without header": ("1,2\n3,4\n5,x\n", "row 3, column 2: 'x' is not a number"),
    "slip behind empty lines": (
        "\n\na,b\n\n1,2\n\n3,x\n5,6\n",
        "row 7, column 'b': 'x' is not a number",
    ),
    "slip behind a cell of two lines": (
        'a,b,c\n1,2,"x\ny"\n3,x,z\n5,6,z\n',
        "row 4, column 'b': 'x' is not a number",
    ),
    "long slip": (
        "a,b\n1,2\n3," + 100 * "x" + "\n5,6\n",
        "row 3, column 'b': '" + 39 * "x" + "…' is not a number",
    ),
    "own marker for missing values": (
        "a,b\n1,?\n2,3\n3,?\n4,5\n5,6\n",
        "row 2, column 'b': '?' is not a number (2 such cells in the column)",
    ),
    "slip with decimal comma": (
        "a;b\n1,5;2\n3;4\n5;6.7.8\n",
        "row 4, column 'b': '6.7.8' is not a number",
    ),
    "missing": ("a,b\n1,2\n3,\nNA,5\n", f"row 3, column 'b': missing value (2 in all); {FILL}"),
    "missing everywhere": ("a,b\n1,\n3,\n", f"row 2, column 'b': missing value (2 in all); {FILL}"),
    "missing behind text": (
        "n,a,b\nx,1,2\ny,3,NaN\n",
        f"row 3, column 'b': missing value (1 in all); {FILL}",
    ),
    "missing behind ignored": (
        "g,a,t,b\nx,1,u,2\nx,3,u,null\n",
        f"row 3, column 'b': missing value (1 in all); {FILL}",
    ),
    "missing boolean": (
        "a,b\nTrue,1\n,2\n",
        f"row 3, column 'a': missing value (1 in all); {FILL}",
    ),
    "infinite": (
        "a,b\n1,2\n-inf,3\n",
        "row 3, column 'a': infinite value (1 in all); "
        "replace the infinite values or drop their rows",
    ),
    "long row": ("a,b\n1,2\n3,4,5\n6,7\n", "row 3 has 3 cells where 2 are expected"),
    "short row": ("a,b,c\n1,2,3\n4,5\n", "row 3 has 2 cells where 3 are expected"),
    "title": ("My data\na,b\n1,2\n3,4\n", "row 1 has 1 cell where 2 are expected"),
    "short row, no header": ("1,2\n3,4,5\n6,7,8\n", "row 1 has 2 cells where 3 are expected"),
    "late long row": (f"a,b\n{100 * TEN_ROWS}1,2,3\n", "row 1002 has 3 cells where 2 are expected"),
    "late short row": (
        f"a,b\n{100 * TEN_ROWS}1\n2,3\n",
        "row 1002 has 1 cell where 2 are expected",
    ),
    "late short row, text last": (
        "a,b\n" + 200 * "1,u\n" + "1\n",
        "row 202 has 1 cell where 2 are expected",
    ),
    "late open quote": (
        f'a,b\n{100 * TEN_ROWS}1,"2\n3,4\n',
        "row 1002: a quotation mark opens and never closes",
    ),
    "only text": ("a,b\nx,y\nx,z\n", "no numeric column (column 1: text, e.g. 'a' in row 1)"),
    "only a header": ("a,b\n", "a header, but no rows below it"),
    "only empty lines": ("\n\n  \n", "the file is empty"),
    "empty": ("", "the file is empty"),
    "binary": (b"\x89PNG\r\n\0\0\0", "holds binary data, not a text table"),
}


@pytest.mark.parametrize("name", ["t.csv", "t.txt.gz"])
@pytest.mark.parametrize("case", TEXT_ERRORS)
def test_text_errors(tmp_path: Path, case: str, name: str) -> None:
    content, expected = TEXT_ERRORS[case]
    raw = content.encode() if isinstance(content, str) else content
    path = write(tmp_path / name, gzip.compress(raw) if name.endswith("gz") else raw)
    assert error_line(path) == expected


def test_character_outside_utf8_far_down(tmp_path: Path) -> None:
    content = ("a,b,unit\n" + 2000 * "1,2,kg\n" + "3,4,°C\n").encode("latin-1")
    table = read_table(write(tmp_path / "t.csv", content))
    assert table.values.shape == (2001, 2)
    assert table.ignored == {"unit": "text, e.g. 'kg' in row 2"}


def test_names_in_the_encoding_of_windows(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "price €,größe\n1,2\n3,5\n4,4\n".encode("cp1252")))
    assert table.feature_names == ["price €", "größe"]
    assert "not UTF-8" in " ".join(table.notes)
    table = read_table(write(tmp_path / "u.csv", "preis €\n1\n3\n".encode()))
    assert table.notes == ()


# ------------------------------------------------------------ numbers as names


BANDS = [1100.0, 1102.5, 1104.9, 1107.4, 1110.0, 1112.5, 1115.0, 1117.6]
SPECTRA = np.random.default_rng(7).standard_normal((9, len(BANDS))).round(3)


def spectra(*front: str, bands: Sequence[float] = BANDS, numbered: bool = False) -> str:
    """A table of spectra, with cells in front of each row."""
    lines = [",".join([*front, *map(str, bands)])]
    for number, row in enumerate(SPECTRA):
        names = [str(number) if numbered else f"{name or 'row'} {number}" for name in front]
        lines.append(",".join([*names, *map(str, row)]))
    return "\n".join(lines) + "\n"


UNEVEN = [50.1, 61.0, 88.2, 89.9, 120.0, 300.5, 301.0, 500.0]


@pytest.mark.parametrize(
    "content",
    [
        spectra(),
        spectra("sample"),
        spectra(""),
        spectra("sample", "batch"),
        spectra("", numbered=True),
        spectra("sample", bands=UNEVEN),
        spectra("", bands=UNEVEN[::-1]),
        spectra("", bands=[3.0, 1.0, 2.0, 8.0, 5.0, 6.0, 7.0, 4.0]),
    ],
)
def test_numbers_name_the_columns(tmp_path: Path, content: str) -> None:
    table = read_table(write(tmp_path / "t.csv", content.encode()))
    header = content.splitlines()[0].split(",")
    assert table.feature_names == header[-len(BANDS) :]
    np.testing.assert_array_equal(dense(table), SPECTRA)
    semicolons = content.replace(",", ";").replace(".", ",")
    table = read_table(write(tmp_path / "de.csv", semicolons.encode()))
    np.testing.assert_array_equal(dense(table), SPECTRA)


def test_a_note_says_that_numbers_name_the_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", spectra().encode())
    assert read_table(path).notes == (
        "the first row was read as names of columns: '1100.0', '1102.5', '1104.9', …",
    )


@pytest.mark.parametrize(
    "values",
    [
        SPECTRA,
        np.cumsum(np.abs(SPECTRA), axis=1),  # all rows rise
        np.vstack([UNEVEN, SPECTRA]),  # unevenly, without a cell in front
        np.abs(np.subtract.outer(np.arange(8), np.arange(8))),  # a symmetric matrix
        np.vstack([[1, 2, 3], [3, 5, 1], [4, 4, 2]]),
    ],
)
def test_numbers_that_are_data(tmp_path: Path, values: Any) -> None:
    np.savetxt(tmp_path / "t.csv", values, delimiter=",")
    np.testing.assert_allclose(read_table(tmp_path / "t.csv").values, values)


def test_numbers_name_the_columns_of_a_sheet(tmp_path: Path) -> None:
    frame = pd.DataFrame(SPECTRA, columns=BANDS)
    for index in (True, False):
        frame.to_excel(tmp_path / "t.xlsx", index=index)
        table = read_table(tmp_path / "t.xlsx")
        np.testing.assert_array_equal(table.values, SPECTRA)
        assert [float(name) for name in table.feature_names] == BANDS


def test_cells_beyond_the_limit_of_the_csv_module(tmp_path: Path) -> None:
    width = 40_000
    names = "\t".join(f"gene{i}" for i in range(width))
    rows = "\n".join("\t".join(["1"] * width) for _ in range(6))
    table = read_table(write(tmp_path / "t.tsv", f"{names}\n{rows}\n"))
    assert table.values.shape == (6, width)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("other", [",", ";", "\t", " "])
@pytest.mark.parametrize("where", ["{}", "{}b", "a{}", "a{}b"])
@pytest.mark.parametrize("column", [0, 1])
def test_a_quoted_name_may_hold_another_delimiter(tmp_path, delimiter, other, where, column):
    names = ["x", "y"]
    names[column] += where.format(other) + "."
    quoted = delimiter.join(f'"{name}"' for name in names)
    row = delimiter.join(["1.5", "2.5"])
    table = read_table(write(tmp_path / "t.csv", f"{quoted}\n{row}\n{row}\n"))
    assert table.feature_names == names
    np.testing.assert_array_equal(table.values, [[1.5, 2.5]] * 2)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_name_that_ends_with_another_delimiter(tmp_path, delimiter):
    # To one who takes the other character for the delimiter, the header says: a first cell, and a
    # quoted one that holds all the rest of the file.
    other = ";" if delimiter == "," else ","
    text = f'"f0"{delimiter}"f{other}"\n0{delimiter}0\n0{delimiter}0\n'
    assert read_table(write(tmp_path / "t.csv", text)).feature_names == ["f0", f"f{other}"]


names = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters='"'), min_size=1
).map(lambda name: f"f{name}")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), delimiter=st.sampled_from([",", ";", "\t"]), has_index=st.booleans())
def test_csv_round_trip(
    tmp_path: Path, data: st.DataObject, delimiter: str, has_index: bool
) -> None:
    shape = data.draw(array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    values = data.draw(arrays(np.float64, shape, elements=finite))
    features = data.draw(st.lists(names, min_size=shape[1], max_size=shape[1], unique=True))
    samples = data.draw(st.lists(names, min_size=shape[0], max_size=shape[0], unique=True))
    frame = pd.DataFrame(values, index=samples, columns=features)
    frame.to_csv(tmp_path / "t.csv", sep=delimiter, index=has_index, quoting=2)
    table = read_table(tmp_path / "t.csv")
    np.testing.assert_array_equal(table.values, values)
    assert table.feature_names == features
    assert table.sample_names == (samples if has_index else None)


def test_parquet_columns_of_all_kinds(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "x": [1.0, 2.0],
            "flag": [True, False],
            "count": pd.array([3, 4], dtype="Int64"),
            "kind": ["u", "u"],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "group": pd.Categorical(["a", "b"]),
            "several": [[1], [2, 3]],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    np.testing.assert_array_equal(table.values, [[1, 1, 3], [2, 0, 4]])
    assert table.feature_names == ["x", "flag", "count"]
    assert table.sample_names is None
    assert list(table.ignored) == ["kind", "day", "group", "several"]
    assert table.ignored["kind"] == "text, e.g. 'u' in row 1"
    assert table.ignored["day"].startswith("dates, e.g. '2020-01-01")


def test_parquet_keeps_single_precision(tmp_path: Path) -> None:
    FRAME.replace(1e300, 1.0).astype(np.float32).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").values.dtype == np.float32


@pytest.mark.parametrize("values", [[1.0, None], pd.array([1, None], dtype="Int64")])
def test_parquet_missing_value(tmp_path: Path, values: object) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "b": values}).to_parquet(path)
    expected = f"row 2, column 'b' (counting from 1): missing value (1 in all); {FILL}"
    assert error_line(path) == expected


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'redac[parquet]'" in error_line(tmp_path / "t.parquet")


def test_parquet_without_rows(tmp_path: Path) -> None:
    FRAME.iloc[:0].to_parquet(tmp_path / "t.parquet")
    assert error_line(tmp_path / "t.parquet") == "the table has no rows"


WITH_GAP = np.where(VALUES == 7.0, np.nan, VALUES)
WITH_INFINITY = np.where(VALUES == 7.0, np.inf, VALUES)


@pytest.mark.parametrize(
    ("values", "what"), [(WITH_GAP, "missing value"), (WITH_INFINITY, "infinite value")]
)
@pytest.mark.parametrize("name", ["a.npy", "a.npz", "csc.npz", "a.mtx"])
def test_arrays_with_non_finite_values(
    tmp_path: Path, values: np.ndarray, what: str, name: str
) -> None:
    path = tmp_path / name
    if name == "a.npy":
        np.save(path, values)
    elif name == "a.npz":
        np.savez(path, X=values)
    elif name == "csc.npz":
        sp.save_npz(path, sp.csc_array(values))
    else:
        scipy.io.mmwrite(path, sp.csr_array(values))
    assert error_line(path).startswith(f"row 3, column 2 (counting from 1): {what} (1 in all);")


ARRAY_ERRORS = {
    "one dimension": (np.ones(3), "not 3 float64"),
    "three dimensions": (np.ones((2, 3, 4)), "not 2 × 3 × 4 float64"),
    "scalar": (np.float64(1), "not scalar float64"),
    "complex": (np.ones((2, 2), dtype=complex), "not 2 × 2 complex128"),
    "text": (np.array([["a", "b"]]), "not 1 × 2 str"),
    "objects": (np.array([[1, None]], dtype=object), "not 1 × 2 object"),
    "records": (np.zeros(2, dtype=[("长", float)]), "not scalar void"),
    "no rows": (np.ones((0, 3)), "no values, its shape is (0, 3)"),
    "no columns": (np.ones((3, 0)), "no values, its shape is (3, 0)"),
}


@pytest.mark.parametrize("case", ARRAY_ERRORS)
@pytest.mark.filterwarnings("ignore:Stored array in format 3.0")
def test_array_errors(tmp_path: Path, case: str) -> None:
    array, expected = ARRAY_ERRORS[case]
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    assert expected in error_line(tmp_path / "a.npy")


ARCHIVE_ERRORS = {
    "several": ({"a": VALUES, "b": VALUES.T}, "found a (4 × 3 float64), b (3 × 4 float64)"),
    "none": ({"a": np.ones(3)}, "found a (3 float64)"),
    "objects": ({"a": np.array([[None]], dtype=object)}, "found a (1 × 1 object)"),
    "no rows": ({"X": np.ones((0, 3))}, "no values"),
    "number of names": (
        {"X": VALUES, "feature_names": np.array(["a"])},
        "feature_names has shape (1,), 3 names are needed",
    ),
    "names as objects": (
        {"X": VALUES, "feature_names": np.array(FEATURES, dtype=object)},
        "feature_names holds Python objects; save it as an array of strings",
    ),
}


@pytest.mark.parametrize("case", ARCHIVE_ERRORS)
def test_archive_errors(tmp_path: Path, case: str) -> None:
    contents, expected = ARCHIVE_ERRORS[case]
    np.savez(tmp_path / "a.npz", **contents)
    assert expected in error_line(tmp_path / "a.npz")


@pytest.mark.parametrize("shape", ["(4, 9223372036854775807)", "(99999999999, 3)"])
def test_absurd_shapes(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "a.npy"
    np.save(path, VALUES)
    content = path.read_bytes()
    header = content[10 : content.index(b"\n")].replace(b"(4, 3)", shape.encode())
    content = content[:8] + len(header + b"\n").to_bytes(2, "little") + header + b"\n" + bytes(96)
    path.write_bytes(content)
    assert "do not fit into the 96 bytes" in error_line(path)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", content)
    assert "do not fit into the 96 bytes" in error_line(tmp_path / "a.npz")


def test_names_of_characters_that_do_not_exist(tmp_path: Path) -> None:
    names = np.array(["a", "b", "c"])
    for code in (0x110000, 0xD800):
        names.view(np.uint32)[1] = code
        np.savez(tmp_path / "a.npz", X=VALUES, feature_names=names)
        assert "feature_names holds characters that do not exist" in error_line(tmp_path / "a.npz")


def test_names_as_bytes(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=VALUES, feature_names=np.array([b"a", b"b", b"c"]))
    assert read_table(tmp_path / "a.npz").feature_names == ["a", "b", "c"]


def test_sparse_matrices_of_absurd_shapes(tmp_path: Path) -> None:
    for shape in ((2**62, 3), (2**46, 3)):  # beyond what any machine can address
        sp.save_npz(tmp_path / "a.npz", sp.coo_array(([1.0], ([0], [0])), shape=shape))
        assert "memory" in error_line(tmp_path / "a.npz")


def test_complex_sparse_matrices(tmp_path: Path) -> None:
    values = sp.csr_array(VALUES + 1j)
    sp.save_npz(tmp_path / "a.npz", values)
    scipy.io.mmwrite(tmp_path / "a.mtx", values)
    for name in ("a.npz", "a.mtx"):
        assert "real numbers" in error_line(tmp_path / name)


DAMAGEABLE = {**NAMED_FORMATS, **NAMELESS_FORMATS}
DAMAGED = ["t.csv.gz", "pandas.parquet", "t.npy", "X.npz", "data.npz", "csr.npz", "coo.npz"]
DAMAGED += ["sparse.mtx", "sparse.mtx.gz"]


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("kept", [1, 10, 0.5, 0.9])
def test_truncated_files(tmp_path: Path, name: str, kept: float) -> None:
    path = tmp_path / name
    DAMAGEABLE[name](path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept if kept >= 1 else kept * len(content))])
    assert "damaged, or not a" in error_line(path)


@pytest.mark.parametrize("name", DAMAGED)
def test_altered_files_never_raise_anything_else(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    DAMAGEABLE[name](path)
    content = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    random = np.random.default_rng(0)
    outcomes = []
    for _ in range(40):
        altered = content.copy()
        where = random.integers(len(altered), size=3)
        altered[where] = random.integers(256, size=3)
        path.write_bytes(altered.tobytes())
        try:
            table = read_table(path)
        except DataFileError as error:
            outcomes.append("\n" not in str(error))
        else:
            outcomes.append(bool(np.isfinite(dense(table)).all()))
    assert all(outcomes)


MTX_START = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n"


@pytest.mark.parametrize("body", [b"1 1 1\0\n2 2 2\n", b"1 1 1\n2 2 2\0", b"1 1 1\n2 2 \0"])
@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_zero_bytes_that_would_crash_scipy(tmp_path: Path, body: bytes, name: str) -> None:
    content = MTX_START + body
    path = write(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert "zero byte" in error_line(path)


@pytest.mark.parametrize("kind", ["array", "coordinate"])
@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
def test_a_symmetric_matrix_that_is_not_square_would_crash_scipy(
    tmp_path: Path, kind: str, symmetry: str
) -> None:
    start = f"%%MatrixMarket matrix {kind} real {symmetry}\n"
    body = "1 600\n" + "0.5\n" * 600 if kind == "array" else "1 600 1\n1 600 0.5\n"
    path = write(tmp_path / "a.mtx", start + body)
    assert f"({symmetry}, but 1 × 600)" in error_line(path)


@pytest.mark.parametrize("shape", ["0 5", "5 0", "-1 5"])
def test_a_dense_matrix_without_entries_would_crash_scipy(tmp_path: Path, shape: str) -> None:
    start = "%%MatrixMarket matrix array integer general\n"
    error_line(write(tmp_path / "a.mtx", f"{start}{shape}\n" + "7\n" * 6000))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.bsr_array])
def test_index_pointers_that_would_crash_scipy(tmp_path: Path, kind: type) -> None:
    values = kind(VALUES)
    values.indptr[-1] = -1152407524
    sp.save_npz(tmp_path / "a.npz", values)
    assert "index pointers" in error_line(tmp_path / "a.npz")


def test_warnings_of_libraries_are_not_about_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, VALUES)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"(4, 3), ", b"(4, 3L),"))  # as Python 2 wrote numbers
    np.testing.assert_array_equal(dense(read_table(path)), VALUES)


def test_absent_line_end_that_would_crash_scipy(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mtx", MTX_START + b"1 1 1\n2 2 2~")
    np.testing.assert_array_equal(dense(read_table(path)), [[1, 0], [0, 2]])


def test_what_a_library_warns_of_is_no_damage() -> None:
    with pytest.raises(DeprecationWarning), decoding("a.mtx", "a Matrix Market file"):
        warnings.warn("another class, soon", DeprecationWarning, stacklevel=1)


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.parquet", "a.mtx", "a.mtx.gz", "a.csv.gz"])
def test_wrong_extension(tmp_path: Path, name: str) -> None:
    assert "damaged, or not a" in error_line(write(tmp_path / name, "a,b\n1,2\n"))


def test_paths_that_are_no_readable_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert error_line(tmp_path / "absent.csv") == "no such file"
    assert error_line(tmp_path / "folder.csv") == "is a folder, not a file"
    assert error_line(write(tmp_path / "a.npy", b"")) == "the file is empty"
    known = (
        ".csv, .tsv, .txt, .xlsx, .parquet, .feather, .json, .jsonl, .ndjson, .npy, .npz, .mtx, "
        ".h5ad; .csv, .tsv, .txt, .json, .jsonl, .ndjson, .mtx also as .gz, .bz2, .xz, .zip"
    )
    for name, extension in [
        ("a.xls", "unknown extension '.xls'"),
        ("a.npy.gz", "unknown extension '.npy.gz'"),
        ("a", "no extension"),
    ]:
        assert error_line(write(tmp_path / name, "1")) == (
            f"{extension}; known are {known}; say what it is with --input-format csv or the like"
        )


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.npy", "X.npz", "pandas.parquet", "sparse.mtx"]
)
@pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")
def test_no_permission(open_folder: Path, name: str) -> None:
    path = open_folder / name
    DAMAGEABLE[name](path)
    read_table(path)  # as oneself, so that all modules have been imported
    with ordinary_user():
        read_table(path)
    path.chmod(0)
    with ordinary_user():
        assert error_line(path) == "no permission to read it"


def test_line_break_in_a_path(tmp_path: Path) -> None:
    with pytest.raises(DataFileError) as caught:
        read_table(tmp_path / "a\nb.csv")
    assert "\n" not in str(caught.value)


SQUARE = {
    "names on both": (",a,b\na,1,2\nb,2,1\n", ["a", "b"]),
    "named corner": ("name,a,b\na,1,2\nb,2,1\n", ["a", "b"]),
    "R": ("a b\na 1 2\nb 2 1\n", ["a", "b"]),
    "names above": ("a,b\n1,2\n2,1\n", ["a", "b"]),
    "names in front": ("a,1,2\nb,2,1\n", ["a", "b"]),
    "no names": ("1,2\n2,1\n", None),
}


@pytest.mark.parametrize("case", SQUARE)
def test_square(tmp_path: Path, case: str) -> None:
    content, features = SQUARE[case]
    table = read_table(write(tmp_path / "t.txt", content), square=True)
    assert table.feature_names == features
    np.testing.assert_array_equal(table.values, [[1, 2], [2, 1]])


NOT_SQUARE = {
    "shape": ("a,b\n1,2\n", "a covariance matrix is square, this one is 1 × 2"),
    "ignored": (
        "a,b,c\n1,2,x\n1,2,x\n1,2,x\n",
        "a covariance matrix is square, this one is 3 × 2 (1 non-numeric column left out)",
    ),
    "names": (",a,b\na,1,2\nc,2,1\n", "row name 2 is 'c' and column name 2 is 'b'"),
    "order": (",a,b\nb,1,2\na,2,1\n", "column name 1 is 'a' (same names, other order)"),
}


@pytest.mark.parametrize("case", NOT_SQUARE)
def test_not_square(tmp_path: Path, case: str) -> None:
    content, expected = NOT_SQUARE[case]
    assert error_line(write(tmp_path / "t.csv", content), square=True).endswith(expected)


def write_new(stream: IO[bytes]) -> None:
    stream.write(b"new")


def test_written_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = write(tmp_path / "out.csv", "old")
    write_atomically(path, write_new)
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_written_file_has_usual_permissions(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", lambda stream: None)
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_written_through_a_link(tmp_path: Path) -> None:
    target, link = write(tmp_path / "target", "old"), tmp_path / "link"
    link.symlink_to(target)
    write_atomically(link, write_new)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (RuntimeError("no"), RuntimeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(28, "No space left on device"), DataFileError),
    ],
)
@pytest.mark.parametrize("existing", [True, False])
def test_failed_write_leaves_everything_as_it_was(
    tmp_path: Path, raised: BaseException, seen: type[BaseException], existing: bool
) -> None:
    path = tmp_path / "out.csv"
    if existing:
        write(path, "old")

    def fail(stream: IO[bytes]) -> None:
        stream.write(b"half")
        raise raised

    with pytest.raises(seen):
        write_atomically(path, fail)
    assert os.listdir(tmp_path) == (["out.csv"] if existing else [])
    assert not existing or path.read_bytes() == b"old"


def test_write_where_no_file_can_be(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent" / "out.csv"):
        with pytest.raises(DataFileError, match="cannot write") as caught:
            write_atomically(path, lambda stream: None)
        assert str(caught.value).startswith(f"{path}: ")


def test_output_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert output_folder(str(folder)) == folder
    assert output_folder(folder).is_dir()


def test_output_folder_on_a_file(tmp_path: Path) -> None:
    file = write(tmp_path / "file", "x")
    for path in (file, file / "below", file / "further" / "below"):
        with pytest.raises(DataFileError, match="a file and cannot be a folder"):
            output_folder(path)


def test_output_folder_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DataFileError, match="not writable"):
        output_folder(tmp_path)


def test_a_pass_over_a_file_can_be_watched(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    np.save(path, np.random.default_rng(0).standard_normal((50, 4)))
    seen: list[tuple[int, int]] = []
    with watching(lambda done, total: seen.append((done, total))):
        redac.SparsePCA(2, cardinality=2).fit(read_table(path).values)
    assert seen[-1] == (50, 50)


def test_import_is_light() -> None:
    # The package itself may import the estimator; only this part is under test.
    check = (
        "import sys, types; "
        "package = sys.modules['redac'] = types.ModuleType('redac'); "
        "package.__path__ = [sys.argv[1]]; "
        "import redac.files; "
        "heavy = {'pandas', 'pyarrow', 'scipy', 'sklearn'} & sys.modules.keys(); "
        "sys.exit(', '.join(heavy) or None)"
    )
    folder = str(Path(redac.files.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", check, folder], capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stderr
