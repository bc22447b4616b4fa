"""The site that `make docs` has built: whole, complete, and readable without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import redac
from browsers import Tab, opened_browser
from built import SITE, all_pages, built, is_elsewhere, resolved, soup, text_at
from pages import DOCS, PAGES
from redac.cli import build_parser

START = SITE / "index.html"
# Pages with the code of redac are many and alike; some of them are enough for the browser.
SHOWN = [page for page in all_pages() if "_modules" not in page.parts]

# The words of the start page for each question that users of sparse PCA ask, and words that the
# answer, at most two clicks away, cannot do without.
QUESTIONS = {
    "variance does each component explain": ["explained_variance_ratio", "PEV"],
    "how many features a component may use": ["cardinality="],
    "how many components": ["SparsePCACV", "Q²"],
    "scores of new data": ["transform", "inverse_transform"],
    "what is maximised": ["‖X − UVᵀ‖²"],
    "sparse matrix": ["centred", "S"],
    "gaps": ["NaN", "impute"],
    "fast with many features": ["times", "PCA"],
    "biplot": ["plot_biplot", "plot_loadings"],
    "Which features are in use": ["loadings_table", "top_features"],
    "same every time": ["order", "sign"],
    "covariance matrix only": ["fit_covariance"],
    "do not fit into memory": ["Dask", "mmap_mode"],
    "weights": ["sample_weight"],
    "nonnegative, or obey rules": ["exclude", "groups"],
}


def test_there_is_a_site() -> None:
    assert START.exists(), "make docs builds it"
    assert len(SHOWN) > 60


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.relative_to(SITE).as_posix())
def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(page: Path) -> None:
    for link in built(page).links:
        assert link.file.exists(), link
        if link.anchor and link.file.suffix == ".html":
            assert link.anchor in built(link.file).anchors, link
    for address in built(page).loaded:
        assert not is_elsewhere(address), address
        assert resolved(page, address).file.exists(), address


@pytest.mark.parametrize(
    "page", [page for page in PAGES if DOCS in page.parents], ids=lambda page: page.stem
)
def test_every_page_is_there_under_its_name(page: Path) -> None:
    """Sphinx writes pages of its own, such as search.html, over those of the same name."""
    found = soup(SITE / page.relative_to(DOCS).with_suffix(".html")).find("h1")
    assert found is not None
    heading = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    if heading:  # two pages include another file
        assert found.get_text().removesuffix("#") == heading[1].replace("`", "")


def test_styles_load_nothing_from_elsewhere() -> None:
    for sheet in SITE.rglob("*.css"):
        for address in re.findall(r"url\(['\"]?([^'\")]+)", sheet.read_text(encoding="utf-8")):
            assert not is_elsewhere(address) or address.startswith("data:"), (sheet, address)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_start_page_leads_to_the_answer(question: str) -> None:
    rows = [row for row in soup(START).find_all("tr") if question in row.get_text()]
    assert len(rows) == 1
    links = [resolved(START, each["href"]) for each in rows[0].find_all("a")]
    reached = [text_at(link) for link in links]
    missing = [[word for word in QUESTIONS[question] if word not in text] for text in reached]
    assert [] in missing, missing


def test_the_start_page_has_as_many_questions_as_answers() -> None:
    table = soup(START).find("table")
    assert len(table.find_all("tr")) == 1 + len(QUESTIONS)


def test_every_page_is_at_most_two_clicks_away() -> None:
    """Start page, section, page; only the parts of the reference are one further."""
    distance = {START: 0}
    waiting = [START]
    for page in waiting:
        for link in built(page).links:
            if link.file.suffix == ".html" and link.file not in distance:
                distance[link.file] = distance[page] + 1
                waiting.append(link.file)
    far = {page for page in SHOWN if distance.get(page, 99) > 2} - {SITE / "search.html"}
    assert {page for page in far if "generated" not in page.parts} == set()
    assert all(distance[page] == 3 for page in far)


def public_names() -> set[str]:
    names = {f"redac.{name}" for name in redac.__all__ if name != "__version__"}
    modules = [name for name in names if not callable(getattr(redac, name[6:]))]
    for module in modules:
        names |= {f"{module}.{name}" for name in getattr(redac, module[6:]).__all__}
    return names


def test_the_reference_has_every_public_name() -> None:
    from sphinx.util.inventory import InventoryFile

    with (SITE / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    known = {name for kind, names in inventory.items() if kind[:3] == "py:" for name in names}
    assert public_names() <= known


def test_the_reference_has_every_option_of_every_command() -> None:
    page = SITE / "reference" / "command_line.html"
    (commands,) = (each for each in build_parser()._actions if each.dest == "command")
    assert commands.choices
    for name, parser in commands.choices.items():
        section = soup(page).find(id=f"redac-{name}")
        shown = {code.get_text().split()[0] for code in section.select("dt code")}
        for action in parser._actions:
            for option in action.option_strings:
                assert option in shown, (name, option)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened_browser() as opened:
        yield opened


LOOK = """() => {
    const pictures = Array.from(document.images);
    pictures.forEach(picture => { picture.loading = "eager"; });
    return Promise.all(pictures.map(picture => picture.decode().catch(() => null))).then(() => ({
        overflow: document.documentElement.scrollWidth - window.innerWidth,
        missing: pictures.filter(picture => !picture.naturalWidth).map(picture => picture.src),
    }));
}"""


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.relative_to(SITE).as_posix())
def test_pages_are_readable_on_a_phone(browser: Any, page: Path) -> None:
    with Tab(browser, width=380, chatter="[PST]: ") as tab:
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(page.as_uri())
        seen = tab.evaluate(LOOK)
        assert seen["overflow"] <= 0
        assert seen["missing"] == []
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_the_start_page_says_what_it_is_in_one_screen(browser: Any) -> None:
    with Tab(browser, width=1280, chatter="[PST]: ") as tab:
        tab.goto(START.as_uri())
        ends = tab.evaluate(
            "() => ['.start img', '.start pre', 'a[href^=\"tutorial\"]'].map(kind =>"
            " Math.max(...Array.from(document.querySelectorAll(`article ${kind}`))"
            ".map(each => each.getBoundingClientRect().bottom)))"
        )
        cut = tab.evaluate(
            "() => Array.from(document.querySelectorAll('.start pre'))"
            ".filter(each => each.scrollWidth > each.clientWidth).length"
        )
    assert max(ends) < 800
    assert min(ends) > 0
    assert cut == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [("cardinality", "SparsePCA"), ("fit_covariance", "fit_covariance"), ("outliers", "Gaps")],
)
def test_search_finds(browser: Any, words: str, expected: str) -> None:
    with Tab(browser, chatter="[PST]: ") as tab:
        tab.goto(f"{(SITE / 'search.html').as_uri()}?q={words}")
        tab.wait_for_selector(f"ul.search li a:has-text('{expected}')")
