"""Printed figures of other packages beside redac: the same data, and the same measure."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.published import __main__ as command
from benchmarks.published.figures import PRINTED
from benchmarks.published.problems import OTHER_CELLS, problems, rows_of, their_pitprops

from redac.datasets import load_pitprops
from redac.methods import sparse_pca
from redac.metrics import orthogonality_violation

PROBLEMS = {problem.name: problem for problem in problems()}


def printed(name, function):
    return next(row for row in PRINTED[name] if row.function == function)


def variances(V, S):
    return np.trace(V @ S @ V.T) / np.trace(S)


@pytest.mark.parametrize("name", [name for name in PRINTED if name in PROBLEMS])
def test_principal_components_explain_what_is_printed(name):
    """So data and measure are those of the printed table."""
    problem = PROBLEMS[name]
    largest = np.linalg.eigvalsh(problem.S)[-problem.r :].sum() / len(problem.S)
    assert largest == pytest.approx(printed(name, "PCA").variances, abs=5.1e-4)


def test_jeffers_matrix_would_not_explain_that():
    problem = PROBLEMS["pitprops"]
    largest = np.linalg.eigvalsh(problem.S)[-problem.r :].sum() / len(problem.S)
    assert abs(largest - printed("pitprops, their matrix", "PCA").variances) > 0.005


@pytest.mark.parametrize(
    ("name", "method", "function"),
    [
        ("mtcars", "spca", "elasticnet::spca (matrix)"),
        ("pitprops, their matrix", "spca", "elasticnet::spca (matrix)"),
        ("mtcars", "empca", "nsprcomp::nsprcomp"),
    ],
)
def test_a_method_finds_what_its_package_prints(name, method, function):
    problem, row = PROBLEMS[name], printed(name, function)
    V = sparse_pca(problem.X, method, problem.r, cardinality=problem.k, random_state=0)
    assert tuple(np.count_nonzero(V, axis=1)) == row.counts
    assert variances(V, problem.S) == pytest.approx(row.variances, abs=1.5e-3)
    assert orthogonality_violation(V) == pytest.approx(row.violation, abs=1.5e-3)


def test_the_matrices_differ_in_five_cells():
    jeffers = np.asarray(load_pitprops().correlation)
    assert np.count_nonzero(np.triu(their_pitprops() != jeffers)) == len(OTHER_CELLS) == 5
    assert np.linalg.eigvalsh(their_pitprops()).min() > 0


def test_rows_have_exactly_the_correlations():
    S = their_pitprops()
    X = rows_of(S)
    np.testing.assert_allclose(np.corrcoef(X, rowvar=False), S, atol=1e-12)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)


def test_the_page_claims_no_more_than_is_found_now():
    page = command.PAGE.read_text(encoding="utf-8")
    table = page.partition("<!-- begin: mtcars -->")[2].partition("<!-- end: mtcars -->")[0]
    (line,) = [line for line in table.splitlines() if line.startswith("| redac |")]
    _, V = next(command.ours(PROBLEMS["mtcars"]))
    now = command.measured("redac", V, PROBLEMS["mtcars"])
    assert line.split("|")[2] == now.split("|")[2]
    assert float(line.split("|")[4]) <= float(now.split("|")[4]) + 1e-3


def test_other_data_come_from_a_file(tmp_path: Path):
    X = np.random.default_rng(0).standard_normal((20, 6))
    np.save(tmp_path / "riboflavin.npy", X)
    added = problems(tmp_path / "riboflavin.npy")[-1]
    assert (added.name, added.r, added.k) == ("riboflavin", 2, 20)
    np.testing.assert_allclose(added.S, np.corrcoef(X, rowvar=False))


def test_a_table_goes_between_its_marks(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin: a -->\nold\n<!-- end: a -->\nafter\n", encoding="utf-8")
    command.write("a", ["| new |"], page)
    text = page.read_text(encoding="utf-8")
    assert text == "before\n<!-- begin: a -->\n\n| new |\n\n<!-- end: a -->\nafter\n"
    with pytest.raises(ValueError, match="no place for b"):
        command.write("b", [], page)


def test_a_table_has_both_measures_and_what_is_printed():
    lines = list(command.table(PROBLEMS["mtcars"], packages=False))
    copies = next(line for line in lines if line.startswith("| one component, 3 times"))
    _, _, loadings, total, explained, violation, _ = (cell.strip() for cell in copies.split("|"))
    assert loadings == "3 × 4"
    assert float(total) > printed("mtcars", "PCA").variances  # though it is one component
    assert float(explained) == pytest.approx(float(total) / 3, abs=1e-3)
    assert float(violation) == pytest.approx(3.0, abs=1e-3)
    assert sum(line.startswith("| msPCA") for line in lines) == 1
