"""Modules know only what lies below them, and every name means one thing."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import redac

ROOT = Path(redac.__file__).parent
# A module may import from folders and files of the layers above its own line in this list, not from
# those beside it, and not from those below. "redac" is the face of the package, redac/__init__.py.
LAYERS = (
    ("_version", "exceptions", "constraints", "signs", "threads", "user_line", "workers"),
    ("parameters",),
    ("sources",),
    ("solver",),
    ("certificate", "metrics"),
    ("show",),
    ("disk", "plots"),
    ("datasets", "files", "model"),
    ("methods", "choose", "anndata"),
    ("redac",),
    ("experiments", "explore"),
    ("cli",),
    ("__main__",),
)
HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names}
# What computes with matrices; it is given arrays, never fitted models.
MATHEMATICS = ("constraints", "signs", "parameters", "sources", "solver", "certificate", "metrics")


def _modules() -> dict[str, ast.Module]:
    """The syntax trees of all modules, by their full names."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT.parent).with_suffix("")
        name = ".".join(place.parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = _modules()


def imports_of(name: str, tree: ast.Module, modules: dict[str, ast.Module]) -> Iterator[str]:
    """The modules of redac that a module imports, anywhere in it: in functions, for types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively; write the full name"
            within = [f"{node.module}.{alias.name}" for alias in node.names]
            wanted = [each if each in modules else str(node.module) for each in within]
        else:
            continue
        yield from (each for each in wanted if each.split(".")[0] == "redac")


def unit_of(module: str) -> str:
    """The folder or file directly below redac that a module belongs to."""
    return module.split(".")[1] if "." in module else "redac"


def wrong_ways(modules: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """Imports between units that do not point to a lower layer."""
    return {
        (name, other)
        for name, tree in modules.items()
        for other in imports_of(name, tree, modules)
        if unit_of(name) != unit_of(other) and HEIGHTS[unit_of(other)] >= HEIGHTS[unit_of(name)]
    }


def repeated(names: dict[str, list[str]]) -> dict[str, list[str]]:
    """Names that are used in more than one place, with the places."""
    return {name: places for name, places in names.items() if len(places) > 1}


def test_every_module_has_its_layer():
    assert {unit_of(name) for name in MODULES} == set(HEIGHTS)


def test_imports_point_one_way():
    assert wrong_ways(MODULES) == set()


@pytest.mark.parametrize(
    "text",
    [
        "from redac.model.estimator import SparsePCA",
        "import redac",
        "from redac import SparsePCA",
        "from redac import metrics",
        "def f():\n    from redac.files import Table",
        "if TYPE_CHECKING:\n    import redac.cli.fit",
    ],
)
def test_an_import_the_wrong_way_is_noticed(text):
    changed = MODULES | {"redac.certificate.tree": ast.parse(text)}
    assert [name for name, _ in wrong_ways(changed)] == ["redac.certificate.tree"]


def test_mathematics_does_not_know_fitted_models():
    """Fitted attributes of estimators end with an underscore; numpy has a few such names too."""
    knowing = {
        name
        for name, tree in MODULES.items()
        if unit_of(name) in MATHEMATICS
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.endswith("_")
        and not node.attr.startswith("_")
        and not hasattr(np, node.attr)
    }
    assert knowing == set()


def test_the_command_line_does_no_mathematics():
    """It takes nothing from numpy or scipy but the error that linear algebra raises."""
    taken = set()
    for name, tree in MODULES.items():
        if unit_of(name) == "cli":
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    taken |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    taken |= {f"{node.module}.{alias.name}" for alias in node.names}
    numerical = {each for each in taken if each.split(".")[0] in ("numpy", "scipy")}
    assert numerical == {"numpy.linalg.LinAlgError"}


def test_the_command_line_changes_no_fitted_model():
    for name, tree in MODULES.items():
        if unit_of(name) == "cli":
            for node in ast.walk(tree):
                written = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
                assert not (written and node.attr.endswith("_")), name


def test_class_names_are_unique():
    places = defaultdict(list)
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(name)
    assert repeated(places) == {}


def test_module_names_are_unique():
    places = defaultdict(list)
    for name in MODULES:
        places[name.split(".")[-1].strip("_")].append(name)
    assert repeated(places) == {}
