"""``redac certify`` as a user sees it."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from helpers import factor_data
from redac import SparsePCA, metrics
from redac.certificate import Certificate, certificate
from redac.cli import main
from redac.cli.certify import sentences

X = factor_data(40, 6, seed=3)
PROMISE = re.compile(
    r"Your components explain (\d+\.\d+) % of the variance\.\n"
    r"No choice of loadings with (.+) can explain more than (\d+\.\d+) %\."
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    pd.DataFrame(X, columns=list("abcdef")).to_csv(path, index=False)
    return path


def printed(out: str) -> tuple[float, float]:
    """The value and the bound in the sentences."""
    found = PROMISE.search(out)
    assert found, out
    return float(found[1]), float(found[3])


def test_pitprops_with_one_component_is_proved(capsys):
    assert main(["certify", "pitprops", "--cardinality", "5", "--components", "1"]) == 0
    out, err = capsys.readouterr()
    value, bound = printed(out)
    # 3.406 is the optimum that ScalableSPCA.jl lists.
    assert value == pytest.approx(100 * 3.406 / 13, abs=2e-3)
    assert value < bound <= value + 0.0021
    assert "They are optimal" in out
    assert err == ""


def test_sentences_agree_with_the_model(data, capsys):
    arguments = ["--cardinality", "3,2", "--standardize", "--time-limit", "10", "--seed", "1"]
    arguments += ["--perturbations", "30", "--jobs", "1"]
    assert main(["certify", str(data), *arguments]) == 0
    out = capsys.readouterr().out
    model = SparsePCA(
        2, cardinality=(3, 2), standardize=True, n_perturbations=30, random_state=1
    ).fit(X)
    expected = metrics.pev(np.corrcoef(X.T), model.components_, covariance=True)
    value, bound = printed(out)
    assert value == pytest.approx(expected, abs=1.1e-3)
    assert bound >= model.certificate(time_limit=0).value
    assert "at most 3 and 2 non-zeros" in out
    assert "PC2" in out


def test_covariance_matrix_and_data_get_the_same_answer(data, tmp_path, capsys):
    matrix = tmp_path / "covariance.npy"
    np.save(matrix, np.cov(X.T))
    asked = ["--cardinality", "2", "--components", "1", "--perturbations", "5"]
    assert main(["certify", str(data), *asked]) == 0
    from_data = printed(capsys.readouterr().out)
    assert main(["certify", str(matrix), "--covariance", *asked]) == 0
    assert printed(capsys.readouterr().out) == pytest.approx(from_data, abs=1.1e-3)


def test_wide_data_get_a_bound_below_that_of_their_model(tmp_path, capsys):
    wide = factor_data(20, 230, seed=1)
    path = tmp_path / "wide.npy"
    np.save(path, wide)
    asked = ["--cardinality", "10", "--components", "2", "--perturbations", "0"]
    assert main(["certify", str(path), *asked, "--time-limit", "15", "--standardize"]) == 0
    value, bound = printed(capsys.readouterr().out)
    model = SparsePCA(2, cardinality=10, standardize=True, random_state=0).fit(wide)
    kept = model.certificate()
    assert value == pytest.approx(kept.value, abs=1.1e-3)
    assert value <= bound < kept.upper_bound


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--cardinality", "0"], "cardinality=0"),
        (["--cardinality", "x"], "neither a number nor a list"),
        ([], "--cardinality"),
        (["--cardinality", "2", "--time-limit", "-1"], "--time-limit"),
        (["--cardinality", "2", "--perturbations", "-1"], "n_perturbations"),
        (["--cardinality", "2,2", "--components", "3"], "2 values for n_components=3"),
    ],
)
def test_a_wrong_call_is_one_line(data, capsys, arguments, complaint):
    status: object
    try:
        status = main(["certify", str(data), *arguments])
    except SystemExit as ending:
        status = ending.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    (line,) = err.splitlines()
    assert complaint in line


def test_a_missing_file_is_named(capsys):
    assert main(["certify", "nowhere.csv", "--cardinality", "2"]) == 2
    assert "nowhere.csv" in capsys.readouterr().err


def test_better_components_are_mentioned_with_advice():
    text = sentences(Certificate(80.0, 82.0, "blocks", (4,), better_value=81.0))
    assert "81.000 %" in text
    assert "--perturbations" in text


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_sees_the_gap_closing():
    ours, theirs = pty.openpty()
    asked = ["--cardinality", "4", "--components", "3", "--perturbations", "0", "--time-limit", "6"]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "redac", "certify", "pitprops", *asked],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
    out = process.stdout.read().decode()
    process.stdout.close()
    os.close(ours)
    assert process.wait() == 0
    gaps = [float(gap) for gap in re.findall(r"gap (\d+\.\d+)", shown.decode())]
    assert len(gaps) > 2
    assert gaps[-1] <= gaps[0]
    printed(out)


def test_nothing_but_results_goes_to_a_pipe():
    asked = ["--cardinality", "3", "--components", "1"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "redac", "certify", "pitprops", *asked],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    printed(done.stdout)


def wide_file(folder: Path, kind: str) -> Path:
    """The same wide data in files of several kinds."""
    wide = factor_data(20, 230, seed=1)
    path = folder / f"wide.{kind}"
    if kind == "mtx":
        scipy.io.mmwrite(path, scipy.sparse.coo_array(wide))
    elif kind == "csv":
        pd.DataFrame(wide, columns=[f"f{j}" for j in range(230)]).to_csv(path, index=False)
    else:
        np.save(path, np.cov(wide.T))
    return path


@pytest.mark.parametrize("kind", ["csv", "mtx", "npy"])
def test_wide_data_of_every_kind_get_the_same_bound(tmp_path, capsys, kind):
    wide = factor_data(20, 230, seed=1)
    model = SparsePCA(2, cardinality=10, standardize=True, random_state=0).fit(wide)
    expected = certificate(np.corrcoef(wide.T), model.components_, time_limit=0)
    asked = ["--cardinality", "10", "--components", "2", "--perturbations", "0", "--standardize"]
    asked += ["--time-limit", "0", *(["--covariance"] if kind == "npy" else [])]
    assert main(["certify", str(wide_file(tmp_path, kind)), *asked]) == 0
    value, bound = printed(capsys.readouterr().out)
    assert value == pytest.approx(expected.value, abs=1.1e-3)
    assert bound == pytest.approx(expected.upper_bound, abs=1.1e-3)
