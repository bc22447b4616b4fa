"""The report that ``redac fit --output`` writes."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import redac
import redac.cli.inputs
import redac.files.parquet
import redac.show.report
from commands import (
    ODD_NAMES,
    Run,
)
from redac import SparsePCA
from redac.datasets import load_pitprops

pytestmark = pytest.mark.usefixtures("plain_terminal")


class Page(HTMLParser):
    """Checks that every element is closed, and collects what the page shows."""

    VOID = frozenset({"meta", "br", "hr", "img", "col", "link", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data
        elif not {"style", "script"} & set(self._open):
            self.texts.append(data)


def number(cell: str) -> float:
    return float(cell.replace("\N{MINUS SIGN}", "-")) if cell.strip() else 0.0


def test_report_shows_the_model(run: Run, tmp_path: Path) -> None:
    pitprops = load_pitprops()
    run("fit", "pitprops", "--cardinality", "8,5,6,2,3,2", "--output", tmp_path)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    model = SparsePCA(6, cardinality=[8, 5, 6, 2, 3, 2]).fit_covariance(pitprops.correlation)
    words = " ".join(" ".join(page.texts).split())
    assert "pitprops" in words
    assert f"{100 * model.explained_variance_ratio_.sum():.2f} %" in words
    assert f"{model.reconstruction_error_:.4f}" in words
    assert redac.__version__ in words

    variance, loadings = page.tables[:2]
    shares = 100 * model.explained_variance_ratio_
    printed = [[number(cell) for cell in row[1:4]] for row in variance[1:]]
    counts = [8, 5, 6, 2, 3, 2]
    np.testing.assert_allclose(
        printed, np.column_stack([counts, shares, np.cumsum(shares)]), atol=5.1e-3
    )
    expected = model.loadings_table().fillna(0.0)
    names = [pitprops.feature_names[int(name[1:])] for name in expected.index]
    assert [row[0] for row in loadings[1:]] == names
    cells = [[number(cell) for cell in row[1:]] for row in loadings[1:]]
    np.testing.assert_allclose(cells, expected.to_numpy(), atol=5.1e-4)


def test_report_is_self_contained_and_escaped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*ODD_NAMES, "<script>alert(1)</script>", "\"quoted\" 'twice'", "&amp;", "</table>"]
    values = np.random.default_rng(6).standard_normal((30, len(names)))
    monkeypatch.chdir(tmp_path)
    np.savez("a<i>&b.npz", X=values, feature_names=np.array(names))
    run("fit", "a<i>&b.npz", "--components", 3, "--cardinality", 1.0, "--output", "results")
    text = Path("results/report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    page = Page(text)
    assert not page.tags & {"link", "img", "iframe", "b", "i", "object"}
    assert not page.attributes & {"src", "href", "onload", "onclick", "style"}
    assert not re.search(r"https?:|\burl\(|@import", text, re.IGNORECASE)
    assert text.count("<script") == text.count("</script") == 2
    assert sorted(row[0] for row in page.tables[1][1:]) == sorted(names)
    assert "Sparse components of a<i>&b.npz" in page.texts


def test_report_of_many_features(run: Run, tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((30, 200))
    np.save(tmp_path / "wide.npy", values)
    sizes = ("--components", 8, "--cardinality", 10)
    run("fit", tmp_path / "wide.npy", *sizes, "--output", tmp_path / "results")
    page = Page((tmp_path / "results" / "report.html").read_text(encoding="utf-8"))
    used = SparsePCA(8, cardinality=10).fit(values).components_.any(axis=0)
    assert {row[0] for row in page.tables[1][1:]} == {f"x{j}" for j in np.flatnonzero(used)}


def test_the_page_draws_scores_and_the_label(run: Run, tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((30, 5))
    frame = pd.DataFrame(values, columns=list("abcde"))
    frame["kind"] = ["one", "two", "three"] * 10
    frame.to_csv(tmp_path / "data.csv", index=False)
    call = ("fit", tmp_path / "data.csv", "--label", "kind", "--components", 2, "--cardinality", 2)
    run(*call, "--output", tmp_path / "out")
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text)
    assert found is not None
    data = json.loads(found[1])
    (label,) = data["labels"]
    assert label["name"] == "kind"
    assert [label["groups"][i] for i in label["values"]] == frame["kind"].tolist()
    (place,) = data["places"]
    assert np.shape(place["scores"]) == (2, 30)
    assert "--label kind" in text


def test_a_path_is_written_as_a_page(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((40, 6)))
    grid = ("--components", "1,2", "--cardinality", "2,3", "--folds", 3)
    run("path", tmp_path / "data.npy", *grid, "--output", tmp_path / "out")
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    places = page.tables[2]
    assert [row[:2] for row in places[1:]] == [["1", "2"], ["1", "3"], ["2", "2"], ["2", "3"]]
    assert "redac path" in " ".join(page.texts)
