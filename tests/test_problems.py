"""The problems for tuning, those held out, and what is measured on them."""

import json
from functools import partial

import numpy as np
import pytest
from benchmarks.heldout.__main__ import main
from benchmarks.heldout.measures import Row, measure
from benchmarks.heldout.summary import Earlier, stored, summary, table
from benchmarks.problems import TestProblem, generated, heldout, real, tuning
from benchmarks.problems.heldout import rows
from benchmarks.problems.model import spread

LISTS = pytest.mark.parametrize("problems", [tuning, heldout])
SMALL = TestProblem("small", partial(generated.factors, (8,), 30, 8, 2), 1, 3, is_covariance=False)
ROW = Row("a", 10, 1, 3, 50.0, 0.2, 0.1, "pmd", 50.2, 7, 50.1, 50.3)


# ------------------------------------------------------------ the problems


@LISTS
def test_problems_have_names_of_their_own_and_are_made_when_looked_at(problems):
    found = problems()
    assert len({problem.name for problem in found}) == len(found)
    assert not any("matrix" in vars(problem) for problem in found)


def test_there_are_enough_problems():
    assert len(tuning()) >= 60
    assert len(rows()) >= 100
    assert {problem.cardinality for problem in tuning()} >= {2, 100}
    assert any(problem.l1_bound for problem in tuning())
    assert any(problem.nonnegative for problem in tuning())


@LISTS
def test_matrices_are_the_same_every_time_and_as_large_as_the_bounds_need(problems):
    for problem in spread(problems(), 40):
        again = problem.make()
        np.testing.assert_array_equal(problem.matrix, again)
        assert np.isfinite(again).all()
        assert max(problem.r, problem.cardinality or 1) <= problem.n_features
        if problem.is_covariance:
            np.testing.assert_array_equal(again, again.T)
            assert (np.diagonal(again) > 0).all()


def test_no_matrix_is_in_both_lists():
    seen = {problem.matrix.tobytes() for problem in tuning()}
    assert not any(problem.matrix.tobytes() in seen for problem in heldout())


def test_a_problem_has_one_bound():
    with pytest.raises(ValueError, match="one of the two"):
        TestProblem("none", real.pitprops, 2)


@pytest.mark.parametrize("bound", [{"cardinality": 3}, {"l1_bound": 1.5}], ids=["l0", "l1"])
def test_a_problem_is_fitted_with_its_bound(bound):
    problem = TestProblem("pitprops", real.pitprops, 2, **bound, nonnegative=True)
    model = problem.fit(max_iter=50)
    assert model.get_params()["max_iter"] == 50
    assert (model.components_ >= 0).all()
    assert problem.pev(model.components_) == pytest.approx(
        100 * model.explained_variance_ratio_.sum()
    )


# ------------------------------------------------------------ held out


def test_everything_is_measured_on_a_problem():
    row = measure(SMALL, 2)
    assert (row.name, row.d, row.r, row.k, row.rounds) == ("small", 8, 1, 3, 2)
    assert row.optimum == pytest.approx(row.best)
    assert row.pev <= row.best
    assert min(row.seconds, row.pca_seconds) > 0
    assert Row.of(json.loads(json.dumps(row.as_dict()))) == row


def test_the_summary_counts_what_is_behind():
    equal = Row("b", 10, 2, 3, 50.0, 0.1, 0.1, None, None, 0, None, None)
    lines = "\n".join(summary([ROW, equal], Earlier({"a": 0.1}, {})))
    assert "behind a rival by more than 0.05: 1 of 1 (100.0 %)" in lines
    assert "behind the best known by more than 0.05: 1 of 2 (50.0 %); median 0.1500" in lines
    assert "r = 1: 1 problems; at the optimum where it is proved: 0 of 1" in lines
    assert "1.41 times scikit-learn's PCA" in lines
    assert "2.00 times the earlier run, over 1 problems" in lines
    assert list(summary([], Earlier({}, {}))) == ["no problem was measured"]


def test_an_earlier_run_may_know_better():
    earlier = Earlier.of({"seconds": {}, "best": {"a": 51.0}})
    assert stored([ROW], earlier) == {"seconds": {"a": 0.2}, "best": {"a": 51.0}}
    assert " 1.000 |" in list(table([ROW], earlier))[-1]


def test_a_run_that_was_broken_off_goes_on(tmp_path, capsys):
    results, output = tmp_path / "lines.jsonl", tmp_path / "times.json"
    options = ["--limit", "2", "--perturbations", "1", "--results", str(results)]
    assert main(options) == 0
    first, second = results.read_text().splitlines(keepends=True)
    results.write_text(first + second[:20])
    assert main([*options, "--resume", "--output", str(output)]) == 0
    assert main([*options, "--resume", "--against", str(output)]) == 0
    assert results.read_text().startswith(first)
    assert len(results.read_text().splitlines()) == 2
    assert "the earlier run, over 2 problems" in capsys.readouterr().out
