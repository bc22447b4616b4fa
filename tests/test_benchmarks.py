"""The benchmark at toy size: its reference, its measurements, its report."""

import json
import platform
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks import children, contestants, growth, measuring, render, report, small, targets
from benchmarks.__main__ import main
from benchmarks.about import circumstances
from benchmarks.cases import Case, DataSet, Job, Sparsity, factor_data, grid, topic_counts
from benchmarks.plain import PlainRedac, maximize, principal_start, square_root
from benchmarks.quality import gain_of_one_more_sweep
from benchmarks.tuning import tune
from scipy.sparse import csr_matrix

from helpers import NaiveRedac, centred
from redac.constraints import L0, L1, Nonnegative
from redac.metrics import pev

KINDS = {
    "l0": (Sparsity("l0", cardinality=6), L0(6)),
    "l1": (Sparsity("l1", l1_bound=2.0), L1(2.0)),
    "nonnegative": (Sparsity("n", cardinality=6, nonnegative=True), Nonnegative(L0(6))),
}
each_kind = pytest.mark.parametrize(("sparsity", "constraint"), KINDS.values(), ids=KINDS)


# ------------------------------------------------------------ the plain algorithm


@each_kind
def test_plain_update_is_as_good_as_the_closed_form(sparsity, constraint):
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = rng.standard_normal(30)
        v = maximize(w, sparsity)
        assert constraint.contains(v, atol=1e-8)
        assert v @ w == pytest.approx(constraint.maximize(w) @ w, rel=1e-9)


def test_plain_update_without_a_positive_entry_takes_the_largest():
    v = maximize(-np.arange(1.0, 5.0), KINDS["nonnegative"][0])
    assert v.tolist() == [1.0, 0.0, 0.0, 0.0]


@each_kind
def test_plain_sweeps_are_those_of_explicit_residuals(sparsity, constraint):
    X = factor_data(40, 30)
    start = principal_start(X, 3, sparsity)
    plain = PlainRedac(X, start, sparsity)
    naive = NaiveRedac(centred(X).astype(float), start, [constraint] * 3)
    for _ in range(4):
        plain.sweep()
        naive.sweep()
    np.testing.assert_allclose(plain.V, naive.V, atol=1e-8)
    assert plain.objective() == pytest.approx(naive.objective(), abs=1e-10)


@each_kind
def test_sparse_data_and_the_square_root_give_the_same_iterates(sparsity, constraint):
    X = factor_data(60, 25) + 3.0
    start = principal_start(X, 3, sparsity)
    runs = [PlainRedac(data, start, sparsity) for data in (X, csr_matrix(X), square_root(X))]
    for run in runs:
        for _ in range(5):
            run.sweep()
    for other in runs[1:]:
        np.testing.assert_allclose(other.V, runs[0].V, atol=1e-8)
        assert other.objective() == pytest.approx(runs[0].objective(), abs=1e-10)


@pytest.mark.parametrize("shape", [(50, 20), (20, 50)], ids=["tall", "wide"])
def test_the_start_has_the_principal_axes(shape):
    X = factor_data(*shape)
    V = principal_start(X, 4, Sparsity("none"))
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assert pev(X, V.T) == pytest.approx(100 * (singular[:4] ** 2).sum() / (singular**2).sum())


def test_one_more_sweep_gains_little_at_the_end_and_much_elsewhere():
    X, sparsity = factor_data(60, 25), KINDS["l0"][0]
    iterate = PlainRedac(X, principal_start(X, 3, sparsity), sparsity)
    iterate.run(tol=1e-12)
    assert 0 <= gain_of_one_more_sweep(X, iterate.V.T, sparsity) + 1e-12 < 1e-8
    assert gain_of_one_more_sweep(X, np.eye(3, 25), sparsity) > 1e-3


# ------------------------------------------------------------ children


def allocate(megabytes):
    np.ones(100 << 17).sum()  # an earlier peak, which must not count
    before = children._fresh_peak()
    np.ones(megabytes << 17).sum()
    return None if before is None else children._status("VmHWM") - before


def wait_for_long():
    time.sleep(60)


def ask_for_all_memory():
    return np.ones(1 << 46)


def refuse():
    raise contestants.NotApplicableError("does not want to")


@pytest.mark.skipif(platform.system() != "Linux", reason="needs /proc")
def test_peak_memory_is_what_was_allocated_at_most_at_a_time():
    peaks = [children.in_child(allocate, megabytes, limit=30) for megabytes in (40, 80)]
    assert peaks == pytest.approx([40 << 20, 80 << 20], rel=0.1)


@pytest.mark.parametrize(
    ("function", "limit", "reason"),
    [
        (wait_for_long, 0.5, "no result in 0.5 s"),
        (ask_for_all_memory, 30, "more than 60 % of the memory"),
        (refuse, 30, "does not want to"),
    ],
    ids=["too slow", "too large", "not applicable"],
)
def test_a_child_without_result_says_why(function, limit, reason):
    assert reason in children.in_child(function, limit=limit)


# ------------------------------------------------------------ a case

TOY = Case(
    DataSet("toy", 80, 60, factor_data),
    r=3,
    sparsities=(Sparsity("l0", cardinality=8), Sparsity("l0+", cardinality=8, nonnegative=True)),
)
SETTINGS = measuring.Settings(threads=1, rounds=2, case_seconds=2.0, limit=30.0, peer_limit=30.0)


@pytest.fixture(scope="module")
def results():
    names = tuple(name for name in contestants.CONTESTANTS if name != "SparsePCA")
    rows, quality = measuring.measure(TOY, replace(SETTINGS, only=names))
    points = growth.measure_growth(
        growth.Sizes(20, 60, 2, 5), {"n": (10, 20, 40), "k": (5, 10)}, rounds=1
    )
    found = {"about": circumstances(), "rows": rows, "quality": quality, "skipped": []}
    found["growth"] = points
    found["small"] = small.measure_small(fits=2, starts=2, rounds=1)
    return json.loads(json.dumps(found))


def rows_of(results, contestant):
    return [row for row in results["rows"] if row["contestant"] == contestant]


def test_nobody_explains_more_than_pca_and_redac_keeps_its_bounds(results):
    (pca,) = rows_of(results, "PCA")
    for row in results["rows"]:
        if row["failure"] is None:
            assert 0 < row["pev"] <= pca["pev"] + 1e-9
            assert 0 < row["seconds"] <= row["median_seconds"]
    assert [row["nonzeros"] for row in rows_of(results, "redac")] == [24, 24]
    assert all(row["rounds"] == 2 for row in [pca, *rows_of(results, "redac")])


def test_the_penalised_rival_has_no_fewer_nonzeros(results):
    tuned, impossible = rows_of(results, "MiniBatchSparsePCA")
    assert tuned["nonzeros"] >= 24
    assert impossible["failure"] == "has no nonnegative loadings"
    assert "seconds" not in impossible


def test_quality_is_measured_against_the_plain_algorithm(results):
    plain = [row["pev"] for row in rows_of(results, "plain NumPy")]
    assert [q["pev_plain"] for q in results["quality"]] == pytest.approx(plain, abs=1e-9)
    for q in results["quality"]:
        assert q["pev_pca_start"] == pytest.approx(q["pev_plain"], abs=0.1)
        assert q["pev"] >= q["pev_pca_start"] - 1e-9


def test_a_tuned_penalty_is_close_and_kept(tmp_path):
    X = factor_data(50, 80)
    path = children.store(X, tmp_path)
    job = Job("MiniBatchSparsePCA", 3, Sparsity("l0", cardinality=10))
    alpha = tune(job, path, 30, 60.0, 1)
    found = contestants.fit(replace(job, alpha=alpha), X).components
    assert 30 <= np.count_nonzero(found) <= 45
    assert tune(job, path, 30, 1e-9, 1).startswith("not started: ")
    count = int(np.count_nonzero(found))
    assert tune(replace(job, alpha=alpha), path, count, 60.0, 1) == alpha


def test_abess_does_not_take_part_where_it_returns_ones():
    with pytest.raises(contestants.NotApplicableError, match=r"ones for n < d|not installed"):
        contestants.fit(Job("abess", 2, TOY.sparsities[0]), factor_data(10, 20))


def test_the_exponent_of_a_power_law():
    sizes = np.array([10, 20, 40, 80])
    assert growth.exponent(sizes, 3e-4 * sizes**1.7) == pytest.approx(1.7)


# ------------------------------------------------------------ cases


def test_generated_data_can_be_made_again():
    for make in (factor_data, topic_counts):
        assert abs(make(30, 4000) - make(30, 4000)).max() == 0


def test_topic_counts_are_as_sparse_as_said():
    X = topic_counts(500, 50_000)
    assert X.sum() == 500 * 50
    assert 0.0007 < X.nnz / (500 * 50_000) <= 0.001


def test_cases_are_chosen_by_name():
    assert [case.name for case in grid(("colon/r20", "sparse"))] == [
        "colon/r20",
        "sparse/r10",
        "sparse/r20",
    ]
    assert len(grid(())) == 14
    assert main(["--case", "nope"]) == 2


# ------------------------------------------------------------ report


def test_page_shows_every_case_and_nothing_of_the_machine(results):
    page = report.page(results)
    for sparsity in TOY.sparsities:
        assert f"| toy | 80 × 60 | 3 | {sparsity} |" in page
    assert "geometric mean" in page
    assert "has no nonnegative loadings" in page
    for private in (platform.node(), str(Path.home()), str(Path.cwd())):
        assert len(private) < 3 or private not in page


def test_rendering_again_gives_the_same_files(results, tmp_path):
    source = tmp_path / "results.json"
    source.write_text(json.dumps(results))
    files = ("performance.md", "figures/performance.svg", "figures/performance.png")
    written = []
    for _ in range(2):
        render.render(source, tmp_path)
        written.append([(tmp_path / name).read_bytes() for name in files])
    assert written[0] == written[1]


def row(**changes):
    base = {"data": "a", "n": 2000, "d": 1000, "r": 10, "sparsity": "l0", "contestant": "redac"}
    base |= {"failure": None, "seconds": 2.0, "input_bytes": 16_000_000, "cached_columns": 0}
    return base | {"pev": 50.0, "nonzeros": 100, "peak_bytes": 10_000_000} | changes


@pytest.mark.parametrize(
    ("n", "d", "cached", "allowed"),
    [
        (2000, 1000, 0, 3_200_000 + 64 * 3000 * 10 + 8_000_000),
        (1000, 2000, 7, 3_200_000 + 64 * 3000 * 10 + 8 * 2000 * 7),
        (1000, 2000, 10**6, 3_200_000 + 64 * 3000 * 10 + 2**30),
    ],
    ids=["Gram", "columns", "full cache"],
)
def test_memory_allowed_and_not_a_byte_more(n, d, cached, allowed):
    for extra, met in ((0, True), (1, False)):
        found = row(n=n, d=d, cached_columns=cached, peak_bytes=allowed + extra)
        assert targets.verdicts({"rows": [found], "quality": []})[0].met is met


def test_rivals_are_compared_at_no_more_nonzeros_only():
    def met(**rival):
        rows = [row(), row(contestant="SparsePCA", **rival)]
        return targets.verdicts({"rows": rows, "quality": []})[1].met

    assert met(pev=50.0) is True
    assert met(pev=50.1, nonzeros=100) is False
    assert met(pev=50.1, nonzeros=99) is None


def test_speed_is_the_geometric_mean_over_dense_cases():
    rows = [
        row(contestant="PCA", sparsity=None, seconds=1.0),
        row(seconds=2.0),
        row(sparsity="l1", seconds=8.0),
        row(sparsity="sparse data", seconds=999.0, input_bytes=1000),
    ]
    summary = targets.speed_summary(rows)
    assert "2 dense cases" in summary
    assert "takes 4 times" in summary
    assert "worst 8 times, on a, r = 10, l1" in summary
