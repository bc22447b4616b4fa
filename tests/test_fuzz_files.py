"""A slice of the random files and models of ``benchmarks.fuzz``, and that its judges are awake."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fuzz import files, models
from benchmarks.fuzz.damage import CHANGES, damaged, damaged_inside
from benchmarks.fuzz.folders import Finding, check_folders
from benchmarks.fuzz.valid import WRITERS, valid_file

from redac import SparsePCA
from redac.files import read_table


def test_damaged_files_are_read_or_refused() -> None:
    assert [each for case in files.check_files(range(120), seed=7) for each in case] == []


def test_damaged_models_are_loaded_or_refused() -> None:
    assert [each for case in models.check_models(range(150), seed=7) for each in case] == []


def test_valid_files_can_be_read(tmp_path: Path) -> None:
    seen = set()
    for number in range(150):
        suffix, content = valid_file(np.random.default_rng((1, number)))
        seen.add(suffix)
        path = tmp_path / f"data{suffix}"
        path.write_bytes(content)
        table = read_table(path, missing="keep")  # tables as people write them have gaps
        assert suffix != ".npy" or np.isfinite(table.values).all()
    assert seen == set(WRITERS)


def test_a_case_is_the_same_alone_and_among_others() -> None:
    for make in (lambda random: valid_file(random)[1], lambda random: b"0123456789" * 30):
        for number in range(20):
            contents = []
            for _ in range(2):
                random = np.random.default_rng((5, number))
                content = make(random)
                contents.append((damaged(content, random), damaged_inside(content, random)))
            assert contents[0] == contents[1]


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_takes_any_content(name: str) -> None:
    for number, content in enumerate([b"", b"1", bytes(range(256)) * 3, b"12 34\n" * 100]):
        changed = CHANGES[name](content, np.random.default_rng(number))
        assert isinstance(changed, bytes)
    many = [CHANGES[name](b"12 34\n" * 100, np.random.default_rng(i)) for i in range(20)]
    assert any(changed != b"12 34\n" * 100 for changed in many)


def troublesome(seed: int, number: int, folder: Path) -> Finding:
    if number == 1:
        time.sleep(600)
    if number == 2:
        os._exit(3)
    if number == 3:
        return "wrong", f"as case {number} of seed {seed} should be"
    if number == 4:
        return None if np.ones(90_000_000).any() else ("never", "")
    return None


def test_cases_that_hang_or_die_are_found_and_the_others_go_on() -> None:
    def limit(number: int) -> float:
        return 1.0 if number == 1 else 60.0

    cases = check_folders(troublesome, 9, range(6), limit, option="--files")
    found = {number: case[0] for number, case in enumerate(cases) if case}
    assert found[1].kind == "hang"
    assert (found[2].kind, found[2].details) == ("crash", "exit status 3")
    assert (found[3].kind, found[3].details) == ("wrong", "as case 3 of seed 9 should be")
    assert found[3].reproduce == "python -m benchmarks.fuzz --files 1 --seed 9 --first 3"
    assert 0 not in found
    assert 5 not in found
    if Path("/proc/self/status").exists():
        assert found[4].kind == "memory"


LINE = "redac: data.csv: damaged\n"
OUTCOMES = {
    "fine": (2, "", LINE, (), None),
    "raised": (None, "", "Traceback\nKeyError: 1", (), "raised KeyError"),
    "no name": (2, "", "redac: damaged\n", (), "the line does not begin with the name"),
    "two lines": (2, "", LINE * 2, (), "not one line"),
    "output": (2, "PC1", LINE, (), "not one line"),
    "half done": (2, "", LINE, ("loadings.csv",), "results left behind by a call that failed"),
    "failed": (1, "", "redac: KeyError: 1\n", (), "status 1:  KeyError"),
    "warned": (0, "PC1", "UserWarning\n", files._RESULTS, "something else than notes"),
    "noted": (0, "PC1", "note: so\n", files._RESULTS, None),
    "incomplete": (0, "PC1", "", ("model.npz",), "results incomplete"),
    "leftover": (0, "PC1", "", (*files._RESULTS, ".tmp"), "results incomplete"),
    "bell": (0, "PC1\a", "", files._RESULTS, "control characters printed"),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_outcomes_are_judged(case: str, tmp_path: Path) -> None:
    status, out, err, left, expected = OUTCOMES[case]
    for name in left:
        (tmp_path / name).touch()
    found = files.judge(status, out, err, files.Call(["fit"], "data.csv", tmp_path))
    assert found == expected or (expected is not None and str(found).startswith(expected))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("components_", np.full((2, 6), 2.0), "rows that are not of unit length"),
        ("components_", np.full((2, 6), np.nan), "numbers that are not finite"),
        ("components_", np.eye(3, 6), "shapes that do not fit"),
        ("mean_", np.zeros(5), "shapes that do not fit"),
    ],
)
def test_loaded_models_are_judged(name: str, value: object, expected: str) -> None:
    model = SparsePCA(2).fit(np.random.default_rng(0).standard_normal((9, 6)))
    assert models.broken_promise(model) is None
    setattr(model, name, value)
    assert models.broken_promise(model) == expected
