"""What the documentation shows is what the code does.

The code of the other pages is run by `make docs`, in tests_docs/test_pages.py.
"""

import doctest
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import redac
import redac.datasets
import redac.methods
import redac.metrics
from pages import DOCS, PAGES, ROOT, Block, blocks, name_of
from redac.files.formats import SUFFIXES

SOURCES = ROOT / "src"
EXAMPLES = [
    pytest.param(block, id=f"{name_of(page)}:{block.line}")
    for page in (ROOT / "README.md", DOCS / "index.md")
    for block in blocks(page.read_text(encoding="utf-8"))
    if block.output is not None
]
WITH_PROMPTS = [
    path
    for path in sorted((SOURCES / "redac").rglob("*.py"))
    if re.search(r"^\s+>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("block", EXAMPLES)
def test_example_prints_what_the_page_says(block: Block):
    assert block.output is not None
    run = subprocess.run(  # noqa: S603
        [sys.executable, "-c", block.text], capture_output=True, text=True, check=True
    )
    assert [line.rstrip() for line in run.stdout.splitlines()] == block.output.splitlines()


def test_there_are_examples():
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_somewhere(page):
    """As they are read without Sphinx, which looks at those into headings, too."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        made = DOCS / "examples" in (page.parent / target).resolve().parents
        if not made and not target.startswith("https://"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("module", [redac, redac.datasets, redac.methods, redac.metrics])
def test_public_names_exist_and_are_documented(module):
    for name in module.__all__:
        value = getattr(module, name)
        assert name.startswith("__") or value.__doc__, name


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'PCA'"):
        redac.PCA  # noqa: B018


@pytest.mark.parametrize("path", WITH_PROMPTS, ids=lambda path: path.stem)
def test_examples_of_docstrings_hold(path: Path):
    name = ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


def test_there_are_examples_in_docstrings():
    assert "estimator" in {path.stem for path in WITH_PROMPTS}


def test_the_page_of_files_has_every_suffix():
    page = (DOCS / "reference" / "files.md").read_text(encoding="utf-8")
    table = page.partition("## What is written")[0]
    named = set(re.findall(r"`(\.\w+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE))))
    assert named == set(SUFFIXES)


def test_the_page_of_files_has_the_header_of_a_model(tmp_path: Path):
    model = redac.SparsePCA(1, cardinality=1).fit([[0.0, 1.0], [1.0, 3.0], [2.0, 4.0]])
    model.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as archive:
        header = json.loads(str(archive["header"]))
    page = (DOCS / "reference" / "files.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)` \|", page.partition("## Models")[2], re.MULTILINE)
    assert sorted(named) == sorted(header)
    assert header["format"].startswith("redac-model-")
