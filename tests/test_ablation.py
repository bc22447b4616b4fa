"""The ablation changes one thing at a time, and says what that loses."""

from dataclasses import asdict

import numpy as np
import pytest
from benchmarks.ablation import BEGIN, END, PAGE, Outcome, main, table, variants, written

from redac.solver import climb
from redac.solver.strategy import DEFAULT, current

BY_NAME = {variant.name: variant for variant in variants()}


def test_every_variant_differs_from_the_default_in_one_thing():
    assert len(BY_NAME) == len(variants()) > 30
    for name, variant in BY_NAME.items():
        default, changed = asdict(DEFAULT), asdict(variant.strategy)
        different = [field for field in default if default[field] != changed[field]]
        assert len(different) + (variant.without is not None) == (name != "default")
        assert all(type(changed[field]) is type(default[field]) for field in different)


def test_a_variant_is_in_place_for_a_while():
    swap = climb.swap
    V = np.eye(3)
    with BY_NAME["without swap"].in_place():
        assert climb.swap(None, V) is V
    assert climb.swap is swap
    with BY_NAME["redraws = 0"].in_place():
        assert current().redraws == 0
    assert current() is DEFAULT


def test_the_table_says_what_is_lost_and_what_it_costs():
    outcomes = {
        "default": Outcome(np.array([50.0, 60.0]), np.array([0.1, 0.2])),
        "without swap": Outcome(np.array([49.0, 60.5]), np.array([0.05, 0.1])),
    }
    assert list(table(outcomes))[-1] == "| without swap | +0.250 | 1.00 | 0.50 | 0.50 |"


def test_the_page_keeps_all_but_its_table():
    page = f"before\n{BEGIN}\n\nold\n\n{END}\nbehind\n"
    assert written(page, ["new"]) == page.replace("old", "new")
    assert PAGE.read_text(encoding="utf-8").count(BEGIN) == 1


def test_the_command_compares_with_the_default(capsys: pytest.CaptureFixture[str]):
    assert main(["--limit", "2", "--only", "redraws = 0"]) == 0
    printed = capsys.readouterr().out
    assert "| default | +0.000 |" in printed
    assert "| redraws = 0 |" in printed
    assert "Over 2 problems" in printed
