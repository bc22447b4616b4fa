"""Rules for features on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from redac import SparsePCA
from redac.cli import main

NAMES = [f"{'ab'[j % 2]}{j}" for j in range(8)]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 8)) + rng.standard_normal((40, 8))
    pd.DataFrame(X, columns=NAMES).to_csv(tmp_path / "data.csv", index=False)
    groups = pd.DataFrame({"name": NAMES, "size": ["s"] * 8, "letter": [n[0] for n in NAMES]})
    groups.to_csv(tmp_path / "groups.csv", index=False)
    # More features than the data have, and other marks between the fields.
    more = pd.concat([groups, pd.DataFrame({"name": ["z9"], "size": ["s"], "letter": ["z"]})])
    more.to_csv(tmp_path / "more.csv", index=False, sep=";")
    more.to_csv(tmp_path / "more.tsv", index=False, sep="\t")
    groups[["name", "letter"]].to_csv(tmp_path / "headless.csv", index=False, header=False)
    groups.iloc[[0, 1, 0]].assign(size=["s", "s", "t"]).to_csv(tmp_path / "twice.csv", index=False)
    return tmp_path


def test_rules_are_kept_and_reported(files, capsys):
    call = ["fit", str(files / "data.csv"), "--components", "2", "--cardinality", "3"]
    call += ["--exclude", "a0,b1", "--groups", f"{files / 'groups.csv'}:letter"]
    call += ["--max-per-group", "2", "--disjoint", "--output", str(files / "out")]
    assert main(call) == 0
    said = "never used: 'a0', 'b1'; at most 2 of each of 2 groups; no feature in two components"
    assert said in " ".join(capsys.readouterr().out.split())
    used = SparsePCA.load(files / "out" / "model.npz").components_ != 0
    assert not used[:, :2].any()
    assert (used.sum(axis=0) <= 1).all()
    assert (used[:, ::2].sum(axis=1) <= 2).all()
    assert "no feature in two components" in (files / "out" / "report.html").read_text()
    assert main(["show", str(files / "out")]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
    assert main(["show", str(files / "out"), "--json"]) == 0
    remarks = json.loads(capsys.readouterr().out)["model"]["remarks"]
    assert any(said in remark for remark in remarks)


@pytest.mark.parametrize("name", ["groups.csv", "more.csv", "more.tsv"])
def test_tables_of_groups_are_read_whatever_stands_between_fields(files, name):
    call = ["fit", str(files / "data.csv"), "--components", "2", "--cardinality", "4", "--quiet"]
    call += ["--groups", f"{files / name}:letter", "--max-per-group", "1"]
    assert main([*call, "--output", str(files / "out")]) == 0
    used = SparsePCA.load(files / "out" / "model.npz").components_ != 0
    assert (used[:, ::2].sum(axis=1) == 1).all()
    assert (used[:, 1::2].sum(axis=1) == 1).all()


def test_a_total_needs_no_cardinality(files, capsys):
    call = ["fit", str(files / "data.csv"), "--components", "2", "--total", "5"]
    assert main([*call, "--output", str(files / "out")]) == 0
    assert "at most 5 loadings in all" in " ".join(capsys.readouterr().out.split())
    assert np.count_nonzero(SparsePCA.load(files / "out" / "model.npz").components_) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--exclude", "a9"], "exclude holds 'a9'"),
        (["--groups", "nothing.csv", "--max-per-group", "1"], "redac: nothing.csv: no such file;"),
        (["--groups", "groups.csv:colour", "--max-per-group", "1"], "size, letter"),
        (["--max-groups", "1"], "max_groups=1 needs groups"),
        (["--groups", "headless.csv", "--max-per-group", "1"], "must be a header, but 'a' is"),
        (["--groups", "twice.csv", "--max-per-group", "1"], "row 4 has the group 't' for 'a0'"),
    ],
)
def test_what_is_wrong_is_one_line(files, capsys, monkeypatch, options, message):
    monkeypatch.chdir(files)
    assert main(["fit", "data.csv", "--components", "2", "--cardinality", "3", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
