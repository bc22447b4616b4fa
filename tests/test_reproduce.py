"""The experiments of the paper at toy size: what is crossed, kept, compared and written."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from redac import metrics
from redac.cli import reproduce as command
from redac.cli.session import add_session_options
from redac.datasets import load_pitprops, make_toy
from redac.experiments import EXPERIMENTS, measures, printed, reproduce, runner
from redac.experiments.contenders import MethodContender, SearchContender, methods
from redac.experiments.face_tables import equalized
from redac.experiments.page import page
from redac.experiments.problems import ClassificationProblem, ExperimentProblem, RecoveryProblem
from redac.experiments.real_data_tables import PITPROPS
from redac.experiments.runner import run
from redac.experiments.store import Store, fingerprint
from redac.experiments.summary import (
    Cell,
    Row,
    against_the_paper,
    against_the_rivals,
    rows_of,
)
from redac.experiments.synthetic_tables import TOY, toy_problem

ROW_KEYS = {"experiment", "setting", "method", "metric", "ours", "paper"}
needs_data = pytest.mark.skipif(
    "REDAC_DATA" not in os.environ, reason="the colon and face data are not shipped"
)


def small_problem(setting, seed):
    """Stands in for colon and faces: wide data with three strong directions."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((24, 3)) * [9, 6, 4]
    directions = np.abs(rng.standard_normal((3, 36))) * (rng.random((3, 36)) < 0.4)
    return ExperimentProblem(scores @ directions + 0.3 * rng.standard_normal((24, 36)), (6, 5, 4))


def small_images(setting, seed):
    problem = small_problem(setting, seed)
    matrix = np.tile(problem.matrix, (1, 11))[:, : 19 * 19]
    return ExperimentProblem(
        matrix + 0.1 * np.random.default_rng(seed).standard_normal(matrix.shape), (9, 9)
    )


def small_classification(setting, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], 30)
    data = rng.standard_normal((120, 12)) + 3 * np.tile(labels, 2)[:, None] * (np.arange(12) < 6)
    return ClassificationProblem(
        data[:60], (4, 4), train_labels=labels, test=data[60:], test_labels=labels
    )


def cheap(contenders):
    return tuple(
        replace(each, rounds=2) if isinstance(each, SearchContender) else each
        for each in contenders
    )


def toy_sized(name):
    """An experiment with all its contenders and its measure, on few or small data."""
    experiment = EXPERIMENTS[name]
    small = {
        "colon": small_problem,
        "colon_nonnegative": small_problem,
        "faces": small_images,
        "face_classification": small_classification,
    }
    return replace(
        experiment,
        make=small.get(name, experiment.make),
        contenders=cheap(experiment.contenders),
        curve_at=(1, 3) if experiment.curve_at else (),
    ).repeated(2)


def store_in(folder, name="work"):
    return Store(folder / f"{name}.jsonl")


def printed_figures(rows):
    return {
        (row["setting"], row["method"], row["metric"]): row["paper"]
        for row in rows
        if row["paper"] is not None
    }


@pytest.fixture
def count_measures(monkeypatch):
    """The trials that were really computed."""
    computed = []
    original = runner.measure

    def counting(trial, key):
        computed.append(trial.place)
        return original(trial, key)

    monkeypatch.setattr(runner, "measure", counting)
    return computed


TINY = replace(
    TOY, contenders=methods("pca", "rsvd_l0", "redac_l0", "redac_l1"), settings={"n=500": 500}
).repeated(3)


# Every experiment, whole


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs_and_writes_its_results(name, tmp_path):
    experiment = toy_sized(name)
    made = reproduce([experiment], tmp_path)
    rows = json.loads((tmp_path / "results.json").read_text())
    assert all(set(row) == ROW_KEYS for row in rows)
    assert all(np.isfinite(row["ours"]) for row in rows)
    known = {contender.name for contender in experiment.contenders} | {"redac"}
    assert {row["method"] for row in rows} == known
    assert {row["setting"] for row in rows} == set(experiment.settings)
    assert printed_figures(rows) == {
        (setting, method, metric): value
        for setting, cells in printed.figures(name).items()
        for method, cell in cells.items()
        for metric, value in cell.items()
    }
    text = (tmp_path / "results.md").read_text()
    for result in made.results:
        assert result.experiment.title in text
    pictures = sorted(path.name for path in (tmp_path / "figures").glob("*"))
    for picture in pictures:
        assert (tmp_path / "figures" / picture).stat().st_size > 1000
        if picture.endswith(".svg"):
            assert f"figures/{picture})" in text
    assert bool(pictures) == (name not in ("hastie", "face_classification"))


# The runner


def test_scores_are_those_of_a_plain_loop(tmp_path):
    records = run(TINY, store_in(tmp_path), seed=5)
    for record in records:
        trial = next(trial for trial in runner._trials(TINY, 5) if trial.place == _place(record))
        data = make_toy(500, random_state=trial.data_seed)
        V = trial.contender.components(
            RecoveryProblem(np.cov(data.data.T), (6, 6), covariance=True), (6, 6), trial.data_seed
        )
        first = abs(V[0] @ data.components[0]) >= 0.99 and abs(V[1] @ data.components[1]) >= 0.99
        swapped = abs(V[0] @ data.components[1]) >= 0.99 and abs(V[1] @ data.components[0]) >= 0.99
        assert record["measures"] == {
            measures.ORDERED: float(first),
            measures.ANY_ORDER: float(first or swapped),
        }


def _place(record):
    return record["setting"], record["contender"], record["repeat"]


def test_nothing_is_computed_twice(tmp_path, count_measures):
    first = run(TINY, store_in(tmp_path))
    assert len(count_measures) == 12
    assert run(TINY, store_in(tmp_path)) == first
    assert len(count_measures) == 12
    run(TINY.repeated(4), store_in(tmp_path))  # four more, one for each contender
    assert len(count_measures) == 16


def test_an_interrupted_run_goes_on(tmp_path, count_measures, monkeypatch):
    whole = run(TINY, store_in(tmp_path, "whole"))
    original = Store.add

    def interrupted(store, record):
        if len(count_measures) == 12 + 7:
            raise KeyboardInterrupt
        original(store, record)

    monkeypatch.setattr(Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(TINY, store_in(tmp_path))
    monkeypatch.setattr(Store, "add", original)
    with (tmp_path / "work.jsonl").open("a") as file:
        file.write('{"key": "cut sho')  # the machine went down in the middle of a line
    again = run(TINY, store_in(tmp_path))
    assert len(count_measures) == 12 + 7 + 6
    assert [record["measures"] for record in again] == [record["measures"] for record in whole]
    assert run(TINY, store_in(tmp_path)) == again


@pytest.mark.parametrize(
    "changed",
    [
        lambda: (replace(TINY, settings={"n=500": 501}), {}),
        lambda: (TINY, {"seed": 1}),
        lambda: (
            replace(
                TINY,
                contenders=tuple(
                    replace(each, options={"n_init": 1})  # type: ignore[call-arg]
                    if "redac" in each.name
                    else each
                    for each in TINY.contenders
                ),
            ),
            {},
        ),
    ],
    ids=["data", "seed", "options"],
)
def test_changed_work_is_not_taken_from_the_store(changed, tmp_path, count_measures):
    run(TINY, store_in(tmp_path))
    before = len(count_measures)
    experiment, keywords = changed()
    run(experiment, store_in(tmp_path), **keywords)
    expected = 6 if experiment.contenders != TINY.contenders else 12
    assert len(count_measures) - before == expected


def test_changed_code_is_not_taken_from_the_store(tmp_path, count_measures, monkeypatch):
    run(TINY, store_in(tmp_path))
    monkeypatch.setattr("redac.experiments.store.fingerprint", lambda: "another version")
    run(TINY, store_in(tmp_path))
    assert len(count_measures) == 24
    assert len(fingerprint()) == 16


def test_all_contenders_see_the_same_data_and_no_two_repeats_do():
    trials = runner._trials(TOY.repeated(3), 0)
    seeds = {}
    for trial in trials:
        seeds.setdefault((trial.setting, trial.repeat), set()).add(trial.data_seed)
    assert all(len(each) == 1 for each in seeds.values())
    assert len(set.union(*seeds.values())) == 12


def test_processes_side_by_side_give_the_same(tmp_path):
    alone = run(TINY, store_in(tmp_path, "one"), n_jobs=1)
    together = run(TINY, store_in(tmp_path, "two"), n_jobs=2)
    for one, other in zip(alone, together, strict=True):
        assert one["measures"] == pytest.approx(other["measures"])


def test_cardinalities_are_taken_over_from_the_other_contender(tmp_path):
    experiment = toy_sized("colon_nonnegative")
    records = run(experiment, store_in(tmp_path))
    for record in records:
        (given,) = [
            other["non_zeros"]
            for other in records
            if other["contender"] == "nspca" and other["repeat"] == record["repeat"]
        ]
        assert all(
            found <= max(most, 1) for found, most in zip(record["non_zeros"], given, strict=True)
        )
    assert any(sum(record["non_zeros"]) > 0 for record in records)


@pytest.mark.parametrize(
    "name",
    [each.name for each in PITPROPS.contenders if each.has_curve and not each.joint],
)
def test_curves_of_sequential_methods_equal_runs_with_fewer_components(name):
    contender = PITPROPS.contender(name)
    problem = PITPROPS.make((8, 5, 6, 2, 3, 2), 0)
    whole = contender.components(problem, problem.cardinality, 7)
    for count in (1, 3):
        fewer = contender.components(problem, problem.cardinality[:count], 7)
        np.testing.assert_allclose(fewer, whole[:count], atol=1e-6)


def test_curves_rise_and_end_at_the_table(tmp_path):
    experiment = replace(
        PITPROPS,
        settings={"7-2-3-1-1-1": (7, 2, 3, 1, 1, 1)},
        contenders=methods("pathspca", "redac_l0", "redac_l1", "alspca"),
    )
    records = run(experiment, store_in(tmp_path))
    for record in records:
        if record["contender"] == "alspca":
            assert "curve" not in record
            continue
        curve = record["curve"]
        assert curve["components"] == [1, 2, 3, 4, 5, 6]
        assert curve["PEV"][-1] == pytest.approx(record["measures"]["PEV"])
        assert (np.diff(curve["PEV"]) > 1).all()


# Measures


def test_recovery_is_strict_about_order_and_agreement():
    problem = toy_problem(500, 3)
    truth = problem.truth
    assert measures.recovered(problem, truth) == {measures.ORDERED: 1, measures.ANY_ORDER: 1}
    assert measures.recovered(problem, -truth[::-1]) == {measures.ORDERED: 0, measures.ANY_ORDER: 1}
    same_twice = truth[[0, 0]]
    assert measures.recovered(problem, same_twice) == {measures.ORDERED: 0, measures.ANY_ORDER: 0}
    cosine = 0.989
    off = cosine * truth[0] + (1 - cosine**2) ** 0.5 * truth[1]
    assert measures.recovered(problem, np.array([off, truth[1]]))[measures.ANY_ORDER] == 0


def test_supports_must_agree_exactly():
    truth = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    problem = RecoveryProblem(np.eye(4), (2, 2), covariance=True, truth=truth)
    assert measures.supports_recovered(problem, truth)[measures.ORDERED] == 1
    assert measures.supports_recovered(problem, truth[::-1])[measures.ORDERED] == 0
    assert measures.supports_recovered(problem, truth[::-1])[measures.ANY_ORDER] == 1
    more = np.array([[1.0, 1, 0.1, 0], [0, 0, 1, 1]])
    assert measures.supports_recovered(problem, more)[measures.ANY_ORDER] == 0


def test_accuracy_is_the_share_of_right_answers_in_each_class():
    problem = small_classification(None, 0)
    both = measures.classified(problem, np.eye(12))
    assert min(both.values()) > 95
    # A direction without information leaves little more than guessing.
    blind = measures.classified(problem, np.eye(12)[[11]])
    assert blind[measures.TOTAL] < 80
    parts = [both[measures.FACES], both[measures.OTHERS]]
    assert both[measures.TOTAL] == pytest.approx(np.mean(parts))
    swapped = replace(problem, test_labels=1 - problem.test_labels)
    assert measures.classified(swapped, np.eye(12))[measures.TOTAL] == pytest.approx(
        100 - both[measures.TOTAL]
    )


def test_equalized_images_keep_the_order_of_pixels_and_lose_the_light():
    image = np.array([[3.0, 9, 1, 7]])
    np.testing.assert_array_equal(equalized(image), equalized(np.exp(image) + 40))
    np.testing.assert_array_equal(equalized(image), [[0.5, 1, 0.25, 0.75]])


# What the paper prints


def test_the_paper_contradicts_itself_in_three_cells_of_rre_and_pev():
    found = {
        (each.experiment, each.setting, each.method): each
        for name in EXPERIMENTS
        for each in printed.contradictions(name)
    }
    assert set(found) == {
        ("pitprops", "8-5-6-2-3-2", "redac"),
        ("pitprops", "7-4-4-1-1-1", "pathspca"),
        ("colon", "20 of 50", "gpower_l0"),
    }
    redac = found["pitprops", "8-5-6-2-3-2", "redac"]
    assert redac.pev_of_rre == pytest.approx(83.96, abs=0.005)
    assert redac.rre_of_pev == pytest.approx(0.4062, abs=0.00005)


def test_printed_accuracies_are_whole_numbers_of_pictures_but_for_one():
    (rows,) = printed.figures("face_classification").values()
    for method, row in rows.items():
        (faces,) = printed.possible_counts(row["faces"], 1429)
        others = printed.possible_counts(row["non-faces"], 3548)
        totals = printed.possible_counts(row["total"], 1429 + 3548)
        if method == "redac":
            assert not others
            # 95.46 instead of 94.46 would fit both the total and a whole number of pictures.
            assert {total - faces for total in totals} & set(printed.possible_counts(95.46, 3548))
        else:
            assert any(faces + count in totals for count in others)


# Rows and verdicts


def test_the_better_redac_is_the_better_one(tmp_path):
    rows = rows_of(TINY, run(TINY, store_in(tmp_path)))
    own = {row.method: row for row in rows}
    assert own["redac"].cells[measures.ORDERED].ours == max(
        own[name].cells[measures.ORDERED].ours for name in ("redac_l0", "redac_l1")
    )
    assert own["redac"].cells[measures.ORDERED].paper == 676
    assert own["redac_l0"].cells[measures.ORDERED].paper is None
    assert own["pca"].cells[measures.ORDERED].paper == 0


def test_standard_errors_are_those_of_counts():
    records = [
        {
            "setting": "n=500",
            "contender": contender.name,
            "repeat": repeat,
            "measures": {measures.ORDERED: float(repeat < 30)},
            "non_zeros": [6, 6],
            "seconds": 0.1,
            "warnings": [],
        }
        for contender in TINY.contenders
        for repeat in range(40)
    ]
    cell = rows_of(TINY, records)[0].cells[measures.ORDERED]
    assert cell.ours == 750
    assert cell.error == pytest.approx(1000 * (0.75 * 0.25 / 40) ** 0.5, rel=0.02)


def row(method, pev, *, paper=None, error=0.0, setting="8-5-6-2-3-2"):
    rre = (1 - pev / 100) ** 0.5
    paper_rre = None if paper is None else (1 - paper / 100) ** 0.5
    cells = {"PEV": Cell(pev, error, paper), "RRE": Cell(rre, 0.0, paper_rre)}
    return Row("pitprops", setting, method, method, cells, 26, 0.1, 1, 0)


def test_verdicts_are_strict():
    better = against_the_paper(PITPROPS, [row("redac", 84.0, paper=83.5)])
    assert [verdict.holds for verdict in better] == [True, True]
    assert all(verdict.margin > 0 for verdict in better)
    worse = against_the_paper(PITPROPS, [row("redac", 83.0, paper=83.5)])
    assert [verdict.holds for verdict in worse] == [False, False]
    (near, _) = against_the_paper(PITPROPS, [row("redac", 83.485, paper=83.5)])
    assert near.holds
    (uncertain, _) = against_the_paper(PITPROPS, [row("redac", 83.0, paper=83.5, error=0.3)])
    assert not uncertain.holds
    assert uncertain.open
    assert not worse[0].open


def test_block_methods_are_compared_at_their_own_cardinalities():
    experiment = replace(PITPROPS, settings={"8-5-6-2-3-2": (8, 5, 6, 2, 3, 2)})
    rows = [
        row("redac", 84.0),
        row("redac_l0", 84.0),
        row("pathspca", 84.5),
        row("gpower_l0_block", 85.0),
        row("redac_search_as_gpower_l0_block", 86.0),
    ]
    verdicts = {v.rival: v for v in against_the_rivals(experiment, rows)}
    assert verdicts["gpower_l0_block"].margin == pytest.approx(1.0)
    assert verdicts["pathspca"].margin == pytest.approx(-0.5)
    assert not verdicts["pathspca"].holds
    assert len(verdicts) == 2


def test_the_page_marks_the_best_and_shows_the_difference(tmp_path):
    experiment = replace(
        PITPROPS,
        settings={"8-5-6-2-3-2": (8, 5, 6, 2, 3, 2)},
        contenders=methods("pathspca", "redac_l0", "redac_l1"),
        curve_at=(),
        keep_components=False,
    )
    made = reproduce([experiment], tmp_path)
    text = page(made.results, made.facts, {}, "figures")
    (line,) = [line for line in text.splitlines() if line.startswith("| PathSPCA")]
    assert "| 83.35 | 83.35 | +0.00 |" in line  # a rounded zero has no sign of its own
    (ours,) = [line for line in text.splitlines() if line.startswith("| **ReDaC, the better**")]
    correlation = load_pitprops().correlation
    best = max(
        metrics.pev(correlation, record["components"], covariance=True)
        for record in run(replace(experiment, keep_components=True), store_in(tmp_path))
    )
    assert f"| **{best:.2f}** | **83.50** | {best - 83.5:+.2f} |" in ours


def table_lines(text, setting):
    """The lines of the table of a setting, as lists of cells."""
    block = text.split(f"### {setting}")[1].split("\n\n")[1]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()]


def test_the_page_has_columns_of_the_paper_only_where_something_is_printed(tmp_path):
    made = reproduce([TINY], tmp_path)
    header, _, *lines = table_lines(page(made.results, made.facts, {}, "figures"), "n=500")
    assert header == [
        *("method", measures.ORDERED, "paper", "difference", measures.ANY_ORDER),
        *("non-zeros", "seconds"),
    ]
    assert all(len(line) == len(header) for line in lines)


def test_dense_components_are_not_the_best_in_explained_variance(tmp_path):
    made = reproduce([toy_sized("faces")], tmp_path)
    text = page(made.results, made.facts, {}, "figures")
    header, _, *lines = table_lines(text, "10, cardinalities of NSPCA")
    column = header.index("PEV")
    own = {line[0]: line[column] for line in lines}
    assert "**" not in own["PCA"]
    assert "**" in own["**ReDaC, the better**"]
    pev = {name.strip("*"): float(cell.split()[0].strip("*")) for name, cell in own.items()}
    assert pev["PCA"] == max(pev.values())  # it would have been


def test_the_page_says_how_long_everything_took(tmp_path):
    made = reproduce([TINY], tmp_path)
    (result,) = made.results
    fits = sum(record["seconds"] for record in made.records[TINY.name])
    assert result.elapsed > fits
    stretched = replace(result, elapsed=300.0)
    assert "Run time on one core: 5 min." in page([stretched], made.facts, {}, "figures")
    assert "run time on one core" in made.facts


# The command


def parse(*arguments):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    command.add_to(commands)
    add_session_options(commands.choices["reproduce"])
    return parser.parse_args(["reproduce", *arguments])


def test_the_command_writes_results_and_a_page_for_the_documentation(tmp_path, capsys):
    options = parse(
        *("hastie", "--quick", "--repeats", "3", "--jobs", "1"),
        *("--output", str(tmp_path / "out"), "--docs", str(tmp_path / "docs")),
    )
    assert options.run(options) == 0
    shown = capsys.readouterr()
    assert "hastie" in shown.out
    assert "results written" in shown.err
    rows = json.loads((tmp_path / "out" / "results.json").read_text())
    (found,) = [r for r in rows if r["method"] == "redac" and r["metric"] == measures.ORDERED]
    assert found["paper"] == 100
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert {"date", "seed", "redac", "numpy", "repeats"} <= set(facts)
    assert (tmp_path / "docs" / "reproduction.md").read_text().startswith("# The paper")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nothing"], "unknown experiment 'nothing'; choose from hastie, toy, pitprops"),
        (["hastie", "--repeats", "0"], "--repeats 0"),
        (["hastie", "--jobs", "0"], "--jobs 0"),
        (["hastie", "--seed", "-1"], "--seed -1"),
    ],
)
def test_wrong_calls_are_named(arguments, complaint, tmp_path):
    options = parse(*arguments, "--output", str(tmp_path))
    with pytest.raises(ValueError, match=complaint):
        options.run(options)


def test_missing_data_are_left_out_of_all_and_refused_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REDAC_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("REDAC_MIRROR", raising=False)
    ready = command._chosen(["all"])
    assert [each.name for each in ready] == ["hastie", "toy", "pitprops", "toy_nonnegative"]
    assert "colon left out: colon_raw.npz was not found" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError, match=r"colon_raw\.npz"):
        command._chosen(["colon"])


def test_quick_is_smaller_everywhere_it_matters():
    for experiment in EXPERIMENTS.values():
        quick = experiment.quick()
        assert quick.repeats <= experiment.repeats
        assert [each.name for each in quick.contenders] == [
            each.name for each in experiment.contenders
        ]
    assert EXPERIMENTS["toy"].quick().repeats < 100
    assert EXPERIMENTS["pitprops"].repeated(50).repeats == 1


def test_options_of_all_contenders_are_known():
    for experiment in EXPERIMENTS.values():
        for contender in experiment.contenders:
            assert contender.label
            if isinstance(contender, MethodContender):
                json.dumps(contender.specification())


# Real data, where they are


@needs_data
def test_real_problems_have_the_sizes_of_the_paper():
    colon = EXPERIMENTS["colon"].make(50, 0)
    assert colon.matrix.shape == (62, 2000)
    assert colon.cardinality == (50,) * 20
    split = EXPERIMENTS["face_classification"].make(10, 0)
    assert split.matrix.shape == (2000, 361)
    assert np.bincount(split.test_labels).tolist() == [3548, 1429]
    other = EXPERIMENTS["face_classification"].make(10, 1)
    assert not np.array_equal(split.matrix, other.matrix)
    assert EXPERIMENTS["faces"].make(10, 0).matrix.shape == (361, 361)


@needs_data
def test_logistic_regression_on_all_pixels_is_run_to_its_end():
    """A solver that stops early has about 96.9 %: stopping acts like a strong penalty."""
    problem = EXPERIMENTS["face_classification"].make(1, 0)
    found = measures.classified(problem, np.eye(361))
    assert 93 < found[measures.TOTAL] < 96
