"""The benchmark of proofs: its cases, what it tells, and the table it writes."""

import numpy as np
from benchmarks.proofs.__main__ import main
from benchmarks.proofs.cases import cases
from benchmarks.proofs.measures import Row
from benchmarks.proofs.page import summary, table, write

ROW = Row(
    "two of five", "wine 2 × 5", "wine", "2 × 5", 0.5, 44.8, 45.1, 44.8, "blocks", 9, 60.0, 3.0, 2.0
)


def test_names_are_unique_and_matrices_are_made_the_same_way_twice():
    everything = cases()
    assert len({(case.group, case.name) for case in everything}) == len(everything)
    generated = next(case for case in everything if "d = 30, unequal" in case.name)
    S = generated.make()
    np.testing.assert_array_equal(S, generated.make())
    assert np.ptp(np.diagonal(S)) > 0.5 * np.diagonal(S).mean()
    equal = next(case for case in everything if "d = 30, equal" in case.name)
    np.testing.assert_allclose(np.diagonal(equal.make()), 1.0)


def test_a_bound_below_something_known_and_a_beaten_value_are_counted():
    wrong = Row(**{**ROW.__dict__, "rival": 45.2})
    assert ROW.reached
    assert ROW.holds
    assert not ROW.beaten
    assert not wrong.holds
    (line,) = summary([ROW, wrong])
    assert "2 of 2 as close as wanted" in line
    assert "below something known: 1" in line
    assert "by 0.001: 1" in line


def test_tables_go_between_their_marks(tmp_path):
    page = tmp_path / "page.md"
    begin = "<!-- begin: python -m benchmarks.proofs --write -->"
    page.write_text(f"a\n{begin}\nold\n<!-- end -->\nb\n")
    write(page, [ROW])
    text = page.read_text()
    assert text.startswith("a\n")
    assert text.endswith("<!-- end -->\nb\n")
    assert "old" not in text
    assert list(table([ROW]))[-1] in text


def test_a_run_goes_on_with_what_is_there(tmp_path, capsys):
    file = tmp_path / "proofs.jsonl"
    asked = ["--only", "one component: wine, correlation", "--seconds", "5"]
    assert main([*asked, "--results", str(file)]) == 0
    first = capsys.readouterr()
    assert "one component: 2 of 2" in first.out
    assert first.err.count("\n") == 2
    assert main([*asked, "--results", str(file), "--resume"]) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert second.err == ""
