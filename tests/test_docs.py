"""What the documentation shows is what the code does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import redac
import redac.datasets
import redac.methods
import redac.metrics

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
# Code and the output under it; a block of shell commands under code is not its output.
EXAMPLE = re.compile(r"```python\n((?:(?!```).)*)```\n\n```\n(?!redac )(.*?)```", re.DOTALL)


EXAMPLES = [
    pytest.param(code, output, id=f"{page.name}: {code.splitlines()[-1][:40]}")
    for page in PAGES
    for code, output in EXAMPLE.findall(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_example_prints_what_the_page_says(code, output):
    run = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert [line.rstrip() for line in run.stdout.splitlines()] == output.splitlines()


def test_there_are_examples():
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("module", [redac, redac.datasets, redac.methods, redac.metrics])
def test_public_names_exist_and_are_documented(module):
    for name in module.__all__:
        value = getattr(module, name)
        assert name.startswith("__") or value.__doc__, name


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'PCA'"):
        redac.PCA  # noqa: B018


@pytest.mark.parametrize("module", ["redac.model.estimator", "redac.choose.sparse_pca_cv"])
def test_the_docstring_example_of_the_estimator_holds(module):
    import doctest
    import importlib

    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0
