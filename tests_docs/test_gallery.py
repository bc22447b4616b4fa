"""The examples of the gallery end in what they say, as `make docs` has run them."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = sorted(path.stem for path in (DOCS / "gallery").glob("plot_*.py"))
# What the text of an example rests on, as a pattern of what it prints.
SHOWN = {
    "plot_breast_cancer": r"PC1 keeps 6 of its 6 features[^\n]*\n\s*PC2 keeps 6 of its 6 features",
    "plot_certificate": r"proved: True",
    "plot_dask": r"10 blocks, read 1 time.*largest difference of a loading: \de-1\d",
    "plot_digits": r"PCA   7\d\d loadings.*parts 96 loadings, 0 negative",
    "plot_gaps": r"20 % missing: error 0\.7\d \(means 1\.\d\d\), 6[78]\.\d % explained",
    "plot_gene_expression": r"redac    genes of one pathway in each component: \[30, 30, 30\]",
    "plot_how_many": r"4 components of 6 features have the best.*No component: no component",
    "plot_methods": r"redac_l0 +5\n",
    "plot_outliers": r"12 of 12 bad hours.*6 of 6 slips",
    "plot_portfolio": r"two of a sector     -[1-9].*all together        -",
    "plot_shared_variance": r"careless raw 9\d\.\d.*redac [^\n]* projection 7",
    "plot_single_cells": r"48 of 1500 genes have a loading; 48 of them are markers",
    "plot_topics": r"\d{4} documents, \d{4} words, \d\.\d % of the cells",
    "plot_weekly": r"new [1-9]\d* times, warm start 0 times\s+explained variance lost [^\n]* 0\.0",
    "plot_wine": r"PCA +39 loadings, 66\.5 %.*redac 15 loadings, 61\.\d %",
}


def test_there_are_enough():
    assert len(EXAMPLES) >= 12
    assert set(SHOWN) == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_shows_what_its_text_rests_on(name):
    page = (DOCS / "examples" / f"{name}.rst").read_text(encoding="utf-8")
    assert "**Conclusion.**" in page
    assert re.search(SHOWN[name], page, re.DOTALL), page
    assert (DOCS / "examples" / "images" / f"sphx_glr_{name}_001.png").stat().st_size > 5000


def accuracies(page: str) -> list[float]:
    return [float(text) for text in re.findall(r"([\d.]+) % of the cultivars right", page)]


def test_short_sums_tell_wines_apart_about_as_well_as_long_ones():
    page = (DOCS / "examples" / "plot_wine.rst").read_text(encoding="utf-8")
    dense, sparse = accuracies(page)
    assert sparse > dense - 4
