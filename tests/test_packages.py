"""Other packages in one shape: those that are installed, and what is said of the others."""

import shutil

import numpy as np
import pytest
from benchmarks.packages import __main__ as command
from benchmarks.packages import catalogue, of_python, of_r
from benchmarks.packages.package import CannotFitError, Package

from redac.metrics import pev

R, K = 3, 4
needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")


@pytest.fixture(scope="module")
def wine():
    return command.standardized("wine")


@pytest.mark.parametrize("name", catalogue.PACKAGES)
@pytest.mark.filterwarnings("ignore")  # of packages about their convergence
def test_a_package_finds_components_of_the_size_asked_for(name, wine):
    package = catalogue.find(name)
    if reason := package.missing():
        pytest.skip(f"{name}: {reason}")
    given = wine.copy()
    found = package.fit(given, R, K)
    np.testing.assert_array_equal(given, wine)
    counts = np.count_nonzero(found.components, axis=1)
    if package.first_penalty is None:
        assert (counts <= K).all()
    else:
        assert R * K <= counts.sum() <= 1.5 * R * K
    lengths = np.linalg.norm(found.components, axis=1)
    np.testing.assert_allclose(lengths[counts > 0], 1.0)
    # Three principal components explain 66.5 %, the two thirds of it any sensible method.
    assert 44.0 < pev(wine, found.components) < 66.6
    assert found.seconds > 0.0
    assert found.n_fits >= 1


def test_a_package_is_at_hand_or_there_is_a_reason():
    here, missing = catalogue.at_hand()
    assert {*here, *missing} == set(catalogue.PACKAGES)
    assert not {*here} & {*missing}
    assert "redac SparsePCA" in here
    assert all(missing.values())


def test_reasons_say_what_to_do(monkeypatch):
    assert "pip install --no-deps nowhere" in of_python._not_installed("nowhere")
    monkeypatch.setattr(of_r.shutil, "which", lambda command: None)
    assert of_r._missing("pcaPP") == "R is not installed"
    monkeypatch.setattr(of_r.shutil, "which", lambda command: command)
    monkeypatch.setattr(of_r, "_installed", lambda: frozenset({"PMA"}))
    assert of_r._missing("PMA") is None
    assert of_r._missing("pcaPP") == "not installed (Debian: r-cran-pcapp)"
    assert 'install.packages("elasticnet")' in of_r._missing("elasticnet")


def test_a_name_that_does_not_exist_is_said():
    with pytest.raises(ValueError, match=r"no package 'sparse'; there are redac SparsePCA, "):
        catalogue.find("sparse")


def test_a_penalty_that_is_not_found_is_said(wine):
    def dense(X, r, penalty):
        return np.zeros((r, X.shape[1])), 1.0

    package = Package("empty", "total cardinality", dense, lambda: None, lambda X, r, k: 1.0)
    with pytest.raises(CannotFitError, match="no penalty found with 12 non-zeros"):
        package.fit(wine, R, K)


@needs_r
def test_loadings_come_from_r_as_they_are(wine):
    line = of_r._Line("stats", "prcomp", "not sparse", "prcomp(X)$rotation[, 1:r]")
    found, seconds = of_r._once(line, wine, R, 1.0)
    axes = np.linalg.svd(wine, full_matrices=False)[2][:R]
    np.testing.assert_allclose(np.abs(np.sum(found * axes, axis=1)), 1.0)
    assert seconds >= 0.0


@needs_r
def test_an_error_of_r_is_the_reason(wine):
    line = of_r._Line("stats", "stop", "not sparse", 'stop("singular")')
    with pytest.raises(CannotFitError, match=r"R: .*singular"):
        of_r._once(line, wine, R, 1.0)


def test_a_package_runs_in_a_process_of_its_own_with_a_limit(wine):
    found = catalogue.fit("redac SparsePCA", wine, R, K, limit=60.0)
    assert np.count_nonzero(found.components) == R * K
    assert catalogue.fit("redac SparsePCA", wine, R, K, limit=0.0) == "no result in 0 s"


def test_the_command_prints_a_table_and_who_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(command, "PROBLEMS", (("wine", 2, 3),))
    monkeypatch.setattr(command, "at_hand", lambda: ({"redac SparsePCA": None}, {"x": "why"}))
    monkeypatch.setattr(command.sys, "argv", ["packages"])
    command.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("| wine | redac SparsePCA | same cardinality | 6 | ")
    assert lines[-1] == "x: why"
