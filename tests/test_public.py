"""The public names: what ``import redac`` offers, what is documented, and that both agree."""

import ast
import importlib
import inspect
import re
import subprocess
import sys

import pytest

import redac
from pages import PAGES, name_of

MODULES = (
    "anndata",
    "certificate",
    "constraints",
    "datasets",
    "exceptions",
    "files",
    "methods",
    "metrics",
    "plots",
)


def public_names() -> set[str]:
    """Everything that a user may rely on, as ``redac.metrics.pev``."""
    names = {f"redac.{name}" for name in redac.__all__}
    for module in MODULES:
        names |= {f"redac.{module}.{name}" for name in getattr(redac, module).__all__}
    return names


PUBLIC = public_names()


def imported(code: str) -> set[str]:
    """What a piece of code imports from redac, as full names."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.startswith("redac.")}


def mentioned(text: str) -> set[str]:
    """The names of redac with dots in them that a text mentions, wherever it does."""
    return set(re.findall(r"(?<![\w./-])redac(?:\.[A-Za-z_]\w*)+", text))


def test_public_modules_are_there_after_a_bare_import():
    code = "\n".join(["import redac", *(f"redac.{name}.__name__" for name in MODULES)])
    code += "\nassert callable(redac.certificate.certificate)"
    code += "\nassert set(redac.__all__) <= set(dir(redac))"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


def test_a_bare_import_brings_nothing_heavy():
    code = (
        "import sys, redac\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'rich'} & set(sys.modules)\n"
        "own = {name for name in sys.modules if name.startswith('redac.')}\n"
        "assert (heavy, own) == (set(), {'redac._version'}), (heavy, own)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


def test_public_modules_are_named_once():
    modules = {name for name in redac.__all__ if inspect.ismodule(getattr(redac, name))}
    assert modules == set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_public_modules_say_what_is_public(name):
    module = importlib.import_module(f"redac.{name}")
    assert module.__doc__
    for each in module.__all__:
        assert getattr(module, each).__doc__, each
        assert not each.startswith("_"), each


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_in_the_documentation_imports_public_names_only(page):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for code in blocks:
        assert imported(code) <= PUBLIC


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_documentation_mentions_public_names_only(page):
    assert mentioned(page.read_text(encoding="utf-8")) <= PUBLIC


def test_docstrings_of_public_names_mention_public_names_only():
    for name in sorted(PUBLIC - {"redac.__version__"}):
        value = redac
        for part in name.split(".")[1:]:
            value = getattr(value, part)
        methods = vars(value).values() if inspect.isclass(value) else ()
        for documented in (value, *methods):
            assert mentioned(inspect.getdoc(documented) or "") <= PUBLIC, name


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from redac import SparsePCA", {"redac.SparsePCA"}),
        ("import redac.files.table", {"redac.files.table"}),
        ("from redac.metrics import pev, rre", {"redac.metrics.pev", "redac.metrics.rre"}),
        ("import numpy\nimport redac", set()),
    ],
)
def test_what_code_imports_is_seen(code, names):
    assert imported(code) == names


def test_inner_names_in_a_text_are_seen():
    text = "See `redac.sources.progress.watching`, docs/redac.md and help(redac.SparsePCA)."
    assert mentioned(text) == {"redac.sources.progress.watching", "redac.SparsePCA"}
