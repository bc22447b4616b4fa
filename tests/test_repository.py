"""What the files around the code say of each other."""

import re
import tomllib

import redac
from pages import ROOT


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    newest = re.search(r"^## (\S+) \(\d{4}-\d{2}-\d{2}\)$", read("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == redac.__version__
    assert f"\nversion: {redac.__version__}\n" in read("CITATION.cff")


def test_a_commit_is_checked_by_what_make_lint_calls():
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)
    assert recipe is not None
    called = recipe[1].replace("$(PY)", ".venv/bin/python").split("\n\t")
    hooks = re.findall(r"^ +entry: (.*)$", read(".pre-commit-config.yaml"), re.MULTILINE)
    assert hooks == [line.strip() for line in called]


def test_all_stages_of_continuous_integration_are_targets():
    stages = re.findall(r"^stage ([\w-]+)", read(".ci/run"), re.MULTILINE)
    assert {"test", "docs", "test-floor", "test-latest"} <= set(stages)
    for stage in stages:
        assert f"\n{stage}:" in read("Makefile"), stage


def test_the_floor_of_coverage_is_enforced():
    settings = tomllib.loads(read("pyproject.toml"))["tool"]["coverage"]
    assert settings["report"]["fail_under"] >= 95


def test_forms_for_issues_say_what_they_are_for():
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"):
        _, header, _ = form.read_text(encoding="utf-8").split("---", 2)
        assert re.findall(r"^(\w+): .+$", header, re.MULTILINE)[:2] == ["name", "about"], form.name
