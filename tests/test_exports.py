"""Models as ONNX, SQL, equations and skops files, and their loadings as tables for papers."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

from helpers import factor_data
from redac import SparsePCA
from redac.show.markup import as_latex, as_markdown

ODD = ["plain", "with space", 'quo"ted', "größe", "semi;colon", "100%", "a_b", "x^2", "<b>", "e|f"]
X = factor_data(60, 10, seed=1) * np.logspace(-2, 2, 10) + np.arange(10)
FRAME = pd.DataFrame(X, columns=ODD)


def close(found: object, model: SparsePCA) -> None:
    scores = model.transform(FRAME)
    np.testing.assert_allclose(np.asarray(found), scores, atol=1e-6 * np.abs(scores).max())


@pytest.fixture(scope="module", params=[False, True], ids=["as it is", "standardized"])
def model(request: pytest.FixtureRequest) -> SparsePCA:
    return SparsePCA(3, cardinality=3, standardize=request.param).fit(FRAME)


def test_onnx_gives_the_scores(model: SparsePCA) -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    exported = model.to_onnx()
    onnx.checker.check_model(exported, full_check=True)
    session = runtime.InferenceSession(
        exported.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    close(session.run(["scores"], {"X": X})[0], model)


def test_sql_gives_the_scores(model: SparsePCA) -> None:
    with sqlite3.connect(":memory:") as database:
        FRAME.to_sql("my data", database, index=False)
        found = pd.read_sql_query(model.to_sql("my data"), database)
    assert list(found.columns) == ["PC1", "PC2", "PC3"]
    close(found, model)


def test_equations_give_the_scores(model: SparsePCA) -> None:
    lines = model.equations()
    close(np.column_stack([FRAME.eval(line)[f"PC{i}"] for i, line in enumerate(lines, 1)]), model)


def test_an_equation_is_one_line_whatever_the_names() -> None:
    fitted = SparsePCA(1).fit(X[:, :2], feature_names=["two\nlines", "\u202eevil"])
    (line,) = fitted.equations()
    assert line.isprintable()


def test_only_features_in_use_appear(model: SparsePCA) -> None:
    unused = [
        name for name, used in zip(ODD, model.components_.any(axis=0), strict=True) if not used
    ]
    assert unused, "the test needs a feature that no component uses"
    text = model.to_sql("t") + "".join(model.equations())
    for name in unused:
        assert f'"{name}"' not in text
        assert f"`{name}`" not in text


def test_long_sums_are_no_problem_for_databases() -> None:
    wide = np.random.default_rng(0).standard_normal((20, 1500))
    fitted = SparsePCA(1, n_init=1).fit(wide)
    names = [f"x{j}" for j in range(1500)]
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE t ({', '.join(names)})")
        marks = ", ".join("?" * 1500)
        database.executemany(f"INSERT INTO t VALUES ({marks})", wide.tolist())  # noqa: S608
        found = database.execute(fitted.to_sql("t")).fetchall()
    np.testing.assert_allclose(found, fitted.transform(wide), atol=1e-6)
    scores = pd.DataFrame(wide, columns=names).eval(fitted.equations()[0])["PC1"]
    np.testing.assert_allclose(scores, fitted.transform(wide)[:, 0], atol=1e-6)


def test_single_precision_stays_single() -> None:
    runtime = pytest.importorskip("onnxruntime")
    values = X.astype(np.float32)
    fitted = SparsePCA(2, cardinality=3, standardize=True).fit(values)
    session = runtime.InferenceSession(fitted.to_onnx().SerializeToString())
    found = session.run(None, {"X": values})[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, fitted.transform(values), atol=1e-4)


def test_a_model_survives_skops(model: SparsePCA) -> None:
    io = pytest.importorskip("skops.io")
    content = io.dumps(model)
    unknown = io.get_untrusted_types(data=content)
    assert all(name.startswith(("redac.", "numpy.")) for name in unknown), unknown
    close(io.loads(content, trusted=unknown).transform(FRAME), model)


# ------------------------------------------------------------ tables


def test_names_of_ones_own() -> None:
    fitted = SparsePCA(2, cardinality=[2, 3]).fit(X)
    words = [f"word{j}" for j in range(10)]
    assert set(fitted.loadings_table(feature_names=words).index) <= set(words)
    topics = fitted.top_features(2, feature_names=words)
    for names, row in zip(topics, fitted.components_, strict=True):
        largest = np.argsort(-np.abs(row), kind="stable")[:2]
        assert names == [words[j] for j in largest]
    assert [len(names) for names in fitted.top_features(10)] == [2, 3]
    with pytest.raises(ValueError, match="feature_names has 2 names for 10 features"):
        fitted.loadings_table(feature_names=["a", "b"])
    with pytest.raises(ValueError, match="n=0"):
        fitted.top_features(0)


def test_what_is_no_loading_is_a_blank(model: SparsePCA) -> None:
    table = model.loadings_table()
    assert table.isna().to_numpy().any()
    for text in (repr(table), str(table), table._repr_html_(), table.to_string(), table.to_html()):
        assert "NaN" not in text
        assert "PC1" in text
    assert "NaN" not in repr(table.round(1).head(2)), "also of a part of it"
    pd.testing.assert_frame_equal(
        pd.DataFrame(table), pd.DataFrame(table.to_dict()), check_names=False
    )


def test_tables_in_markdown_and_latex_escape_names(model: SparsePCA, tmp_path) -> None:
    table = model.loadings_table(feature_names=["a_b", "50%", "x|y", "$z$", "{q}", "~", *"cdef"])
    markdown = table.to_markdown(digits=2)
    lines = markdown.splitlines()
    assert lines[0] == "| feature | PC1 | PC2 | PC3 |"
    assert lines[1] == "| --- | ---: | ---: | ---: |"
    assert all(len(line.replace(r"\|", "").split("|")) == 6 for line in lines)
    assert len(lines) == 2 + len(table)
    latex = table.to_latex()
    assert latex.count(r"\\") == 1 + len(table)
    assert latex.count("&") == 3 * (1 + len(table))
    table.to_latex(tmp_path / "t.tex")
    assert (tmp_path / "t.tex").read_text(encoding="utf-8") == latex


def test_escapes() -> None:
    frame = pd.DataFrame({"a_1": [0.5]}, index=pd.Index(["50% & {x}^~\\|*"], name="n"))
    assert as_markdown(frame) == (
        "| n | a\\_1 |\n| --- | ---: |\n| 50% \\& \\{x\\}^\\~\\\\\\|\\* | 0.500 |\n"
    )
    assert (
        r"50\% \& \{x\}\textasciicircum{}\textasciitilde{}\textbackslash{}\textbar{}* & 0.500 \\"
        in (as_latex(frame))
    )
