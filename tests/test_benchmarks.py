"""The benchmark at toy size: its reference, its measurements, its report."""

import json
import platform
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks import (
    children,
    contestants,
    growth,
    measuring,
    render,
    report,
    rivals,
    small,
    targets,
)
from benchmarks.__main__ import _asked, _parser, main
from benchmarks.about import circumstances
from benchmarks.cached import CachedColumns
from benchmarks.cases import (
    DATA_SETS,
    L1_BOUND,
    Case,
    DataSet,
    Job,
    Sparsity,
    factor_data,
    grid,
    sparsity_for,
    topic_counts,
)
from benchmarks.dictionary import QuickSparsePCA
from benchmarks.penalties import FILE, Penalties, Penalty
from benchmarks.plain import PlainRedac, maximize, principal_start, square_root
from benchmarks.quality import gain_of_one_more_sweep
from benchmarks.run import DifferentRunError, Run
from benchmarks.tuning import search, tune
from scipy.sparse import csr_matrix
from sklearn.decomposition import SparsePCA as SklearnSparsePCA
from threadpoolctl import threadpool_limits

from helpers import NaiveRedac, assert_same_loadings, centred
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.metrics import pev, separation
from redac.sources import Columns, as_data

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


def test_plain_sweeps_leave_out_what_brings_components_too_close():
    X, sparsity = factor_data(40, 30), KINDS["l1"][0]
    free = PlainRedac(X, principal_start(X, 4, sparsity), sparsity)
    free.run()
    least = 1.2 * separation(free.V.T)
    kept = PlainRedac(X, principal_start(X, 4, sparsity), sparsity, least)
    heights = []
    for _ in range(30):
        kept.sweep()
        heights.append(kept.objective())
        assert separation(kept.V.T) >= least - 1e-8
    assert (np.diff(heights) <= 1e-12).all()
    assert kept.objective() > free.objective()


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


def test_the_square_root_has_hardly_more_rows_than_features():
    X = factor_data(60, 25) + 3.0
    root = square_root(X)
    assert root.shape == (26, 25)
    np.testing.assert_allclose(root.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(root.T @ root, centred(X).T @ centred(X), atol=1e-9)


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
    peaks = [children.in_child(allocate, megabytes, limit=300) for megabytes in (40, 80)]
    assert peaks == pytest.approx([40 << 20, 80 << 20], rel=0.1)


def gram_after_warm_up(threads):
    """The peak of a product beyond its result, when BLAS has been used before."""
    X = np.ones((1500, 1500))
    with threadpool_limits(threads):
        children._warm_up(Job("PCA", 2), X)
        before = children._fresh_peak()
        product = X.T @ X
        peak = children._status("VmHWM") - before
    return peak - product.nbytes


@pytest.mark.skipif(platform.system() != "Linux", reason="needs /proc")
def test_buffers_of_blas_are_not_counted():
    assert children.in_child(gram_after_warm_up, 2, limit=300) < 2 << 20


@pytest.mark.parametrize(
    ("function", "limit", "reason"),
    [
        (wait_for_long, 0.5, "no result in 0.5 s"),
        (ask_for_all_memory, 300, "more than 60 % of the memory"),
        (refuse, 300, "does not want to"),
    ],
    ids=["too slow", "too large", "not applicable"],
)
def test_a_child_without_result_says_why(function, limit, reason):
    assert reason in children.in_child(function, limit=limit)


def test_a_fit_that_is_ended_took_longer_than_its_limit(tmp_path):
    path = children.store(factor_data(300, 200), tmp_path)
    job = Job("SparsePCA", 5, Sparsity("l0", cardinality=8), alpha=1e-3)
    ended = children.trial(job, path, limit=0.2, threads=1)
    assert (ended.longer_than, ended.seconds) == (0.2, None)
    assert ended.failure == "no result in 0.2 s"
    refused = children.trial(replace(job, sparsity=TOY.sparsities[1]), path, limit=300, threads=1)
    assert (refused.longer_than, refused.seconds) == (None, None)


# ------------------------------------------------------------ what is remembered of S


def test_remembered_columns_and_copies_of_s_are_counted():
    source = Columns(as_data(factor_data(50, 400)))
    with CachedColumns() as cached:
        other = Columns(source.data)
        other.combine(np.arange(7), np.ones(7))
        assert (cached.count, cached.n_bytes) == (7, 7 * 400 * 8)
        copies = [other.restricted(np.arange(20)), source.restricted(np.arange(30))]
        assert cached.n_bytes == 8 * (7 * 400 + 20**2 + 30**2)
        assert other.restricted(np.arange(20)) is copies[0]  # and not counted again
        assert cached.n_bytes == 8 * (7 * 400 + 20**2 + 30**2)
        copies.clear()
        del copies
        # Those of 20 and 25 are gone, and the others no more than the most there were at a time.
        other.restricted(np.arange(100, 125))
        other.restricted(np.arange(200, 204))
        assert cached.n_bytes == 8 * (7 * 400 + 25**2 + 30**2)
        other.restricted(np.arange(300, 310))
        assert cached.n_bytes == 8 * (7 * 400 + 25**2 + 30**2)
        cached.forget()
        assert cached.n_bytes == 8 * (10**2 + 30**2)  # the last one of each source is kept
    Columns(source.data).restricted(np.arange(10))  # nobody watches any more
    assert cached.n_bytes == 8 * (10**2 + 30**2)


def test_a_fit_says_what_it_remembers(tmp_path):
    # More samples than are kept in a factor, more features than samples.
    X = factor_data(200, 900)
    path = children.store(X, tmp_path)
    job = Job("redac", 2, Sparsity("l0", cardinality=5))
    found = children.trial(job, path, limit=300, threads=1)
    # All of S at most, and the small parts that belong to supports.
    assert 0 < found.cached_bytes <= 8 * 900**2 * 1.01
    assert_same_loadings(found.components, SparsePCA(2, cardinality=5).fit(X).components_)


# ------------------------------------------------------------ a case

TOY = Case(
    DataSet("toy", 80, 60, factor_data),
    r=3,
    sparsities=(Sparsity("l0", cardinality=8), Sparsity("l0+", cardinality=8, nonnegative=True)),
)
SETTINGS = measuring.Settings(threads=1, rounds=2, case_seconds=2.0, limit=30.0, peer_limit=30.0)


@pytest.fixture(scope="module")
def results():
    rows, quality = measuring.measure(TOY, replace(SETTINGS, penalties=Penalties()))
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
    # A busy machine may have time for one round only.
    assert all(row["rounds"] in (1, 2) for row in [pca, *rows_of(results, "redac")])


@pytest.mark.parametrize("name", contestants.PENALISED)
def test_the_penalised_rival_has_no_fewer_nonzeros(results, name):
    tuned, impossible = rows_of(results, name)
    assert 24 <= tuned["nonzeros"] <= 30
    assert tuned["alpha"] > 0
    assert impossible["failure"] == "has no nonnegative loadings"
    assert "seconds" not in impossible


def test_quality_is_measured_against_the_plain_algorithm(results):
    plain = [row["pev"] for row in rows_of(results, "plain NumPy")]
    assert [q["pev_plain"] for q in results["quality"]] == pytest.approx(plain, abs=1e-9)
    for q in results["quality"]:
        assert q["pev"] >= q["pev_plain"] - 0.1
        assert q["pev"] >= q["pev_pca_start"] - 1e-9


# ------------------------------------------------------------ penalties


@pytest.mark.parametrize("shape", [(60, 40), (30, 80)], ids=["tall", "wide"])
@pytest.mark.parametrize("alpha", [5.0, 15.0])
def test_the_quick_way_has_the_iterates_of_sparse_pca(shape, alpha):
    X = factor_data(*shape) + 5.0
    quick = QuickSparsePCA(X, 3)
    for limit in (1, 3, 1000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SklearnSparsePCA(3, alpha=alpha, max_iter=limit, random_state=0).fit(X)
        V, iterations = quick.fit(alpha, max_iter=limit)
        V = V / np.linalg.norm(V, axis=0)
        V *= np.sign((V.T * model.components_).sum(axis=1))
        np.testing.assert_allclose(V.T, model.components_, atol=1e-6)
        assert iterations == model.n_iter_
        assert quick.nonzeros(alpha, max_iter=limit) == np.count_nonzero(model.components_)


@pytest.mark.parametrize("first", [1e-3, 1.0, 30.0], ids=["low", "near", "high"])
def test_the_search_finds_the_least_number_that_is_enough(first):
    tried = []

    def count(alpha):
        tried.append(alpha)
        return int(1000 / (1 + alpha**2))

    found = search(count, first, 200)
    assert 200 <= count(found) <= 202
    assert len(tried) <= 17


def test_the_search_gets_across_a_plain():
    def count(alpha):  # falls by 2 % from 0.01 to 1 only
        return int(490 - 5 * np.log(alpha)) if alpha > 0.01 else int(513 * (0.01 / alpha))

    assert 550 <= count(search(count, 100.0, 550)) <= 556


def test_a_search_without_success_says_so():
    assert search(lambda alpha: 3, 1.0, 10) is None


def test_a_search_among_jumps_keeps_the_fewest_that_are_enough():
    assert search(lambda alpha: 50 if alpha < 2.0 else 5, 1.0, 20) < 2.0


@pytest.mark.parametrize("name", contestants.PENALISED)
def test_a_tuned_penalty_is_close(tmp_path, name):
    X = factor_data(50, 80)
    path = children.store(X, tmp_path)
    job = Job(name, 3, Sparsity("l0", cardinality=10))
    found = contestants.fit(replace(job, alpha=tune(job, path, 30, 1)), X).components
    assert 30 <= np.count_nonzero(found) <= 36


def penalty(**changes):
    base = Penalty("toy", 3, "l0, k = 8", "SparsePCA", aim=24, alpha=10.0, nonzeros=25)
    return replace(base, **changes)


def test_penalties_are_written_at_once_and_read_again(tmp_path):
    path = tmp_path / "penalties.json"
    first, second = Penalties(path), Penalties(path)
    first.add(penalty())
    second.add(penalty(r=5, nonzeros=None, longer_than=600.0))
    again = Penalties(path)
    assert again.get(penalty().key) == penalty()
    assert again.get(penalty(r=5).key).longer_than == 600.0
    assert again.get(penalty(r=6).key) is None


def test_a_penalty_serves_the_number_it_was_sought_for():
    assert penalty().serves(24)
    assert not penalty().serves(23)
    assert not penalty(nonzeros=23).serves(24)
    assert penalty(nonzeros=None, longer_than=9.0).serves(24)


def sparse_pca_row(penalties, **changes):
    only = ("redac", "SparsePCA")
    case = replace(TOY, sparsities=TOY.sparsities[:1])
    settings = replace(SETTINGS, only=only, penalties=penalties, **changes)
    rows, _ = measuring.measure(case, settings)
    (found,) = [row for row in rows if row["contestant"] == "SparsePCA"]
    return found


def test_a_penalty_is_searched_for_once_and_again_only_on_request(tmp_path):
    penalties = Penalties(tmp_path / "penalties.json")
    found = sparse_pca_row(penalties)
    kept = penalties.get(penalty().key)
    assert (kept.alpha, kept.nonzeros, kept.aim) == (found["alpha"], found["nonzeros"], 24)
    # A known penalty is used as it is, although this one is not what a search would find.
    other = replace(kept, alpha=0.9 * kept.alpha)
    penalties.add(other)
    assert sparse_pca_row(penalties)["alpha"] == other.alpha
    again = sparse_pca_row(penalties, tune=True)
    assert again["nonzeros"] >= 24
    assert penalties.get(penalty().key).alpha == again["alpha"] != other.alpha


def test_a_fit_known_to_take_too_long_is_not_tried_again():
    penalties = Penalties()
    penalties.add(penalty(nonzeros=None, longer_than=600.0))
    found = sparse_pca_row(penalties)
    assert (found["longer_than"], found["recorded"]) == (600.0, True)
    assert "seconds" not in found
    # Who waits for longer tries it.
    assert sparse_pca_row(penalties, peer_limit=700.0)["seconds"] < 600


def test_a_penalty_whose_fit_was_ended_is_kept_with_the_limit(tmp_path):
    path = children.store(TOY.data.matrix(), tmp_path)
    job = Job("SparsePCA", 3, TOY.sparsities[0], alpha=10.0)
    settings = replace(SETTINGS, penalties=Penalties(), peer_limit=0.01)
    _, result = measuring._confirmed(TOY, job, path, 24, settings)
    assert (result.longer_than, result.recorded) == (0.01, False)
    kept = settings.penalties.get(penalty().key)
    assert kept == penalty(nonzeros=None, longer_than=0.01)


def test_a_penalty_that_leaves_too_few_is_weakened_and_never_kept_so(tmp_path):
    path = children.store(TOY.data.matrix(), tmp_path)
    job = Job("SparsePCA", 3, TOY.sparsities[0], alpha=1e4)
    settings = replace(SETTINGS, penalties=Penalties())
    tried, result = measuring._confirmed(TOY, job, path, 24, settings)
    assert np.count_nonzero(result.components) < 24
    assert tried.alpha == pytest.approx(1e4 * 0.99**2)
    assert settings.penalties.get(penalty().key) is None


def test_without_a_result_of_redac_no_penalty_is_searched_for():
    found = sparse_pca_row(Penalties(), peer_limit=0.0)
    assert found["failure"] == "no result of redac to be compared with"


def test_the_committed_penalties_are_those_of_dense_cases_and_are_enough():
    entries = json.loads(FILE.read_text())
    cases = {case.name: case for case in grid((), ("l0",))}
    for entry in entries:
        kept = Penalty(**entry)
        case = cases[f"{kept.data}/r{kept.r}"]
        assert kept.sparsity == str(case.sparsities[0])
        assert kept.aim == case.r * case.sparsities[0].cardinality
        assert kept.longer_than is not None or kept.aim <= kept.nonzeros <= 1.1 * kept.aim


# ------------------------------------------------------------ other contestants


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


def test_the_l1_bound_is_that_of_the_data():
    assert sparsity_for("l1", DATA_SETS[0]) == Sparsity("l1", l1_bound=DATA_SETS[0].l1_bound)
    assert sparsity_for("l1", replace(DATA_SETS[0], l1_bound=3.5)).l1_bound == 3.5
    assert TOY.data.l1_bound == L1_BOUND
    (case,) = grid(("colon/r10",), ("nonnegative l0",))
    assert case.sparsities == (Sparsity("nonnegative l0", cardinality=50, nonnegative=True),)


# ------------------------------------------------------------ a run

ASKED = {"threads": 1}


def test_a_run_goes_on_where_it_was_broken_off(tmp_path):
    output = tmp_path / "results.json"
    first = Run(output, ASKED)
    first.keep("a", {"rows": [1], "quality": [2]})
    first.keep("growth", {"growth": [3]})
    assert not output.exists()
    second = Run(output, ASKED, resume=True)
    assert [second.has(name) for name in ("a", "growth", "b")] == [True, True, False]
    second.keep("b", {"rows": [4], "skipped": [5]})
    second.finish()
    stored = json.loads(output.read_text())
    assert [stored[key] for key in ("rows", "quality", "skipped", "growth")] == [
        *([1, 4], [2], [5], [3])
    ]
    assert len(stored["about"]["went_on"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.parametrize("case", ["nothing there", "other options", "other versions", "no output"])
def test_a_run_that_cannot_be_gone_on_with(tmp_path, case):
    output = tmp_path / "results.json"
    if case != "nothing there":
        Run(output, ASKED).keep("a", {})
    asked = {"threads": 2} if case == "other options" else ASKED
    if case == "other versions":
        partial = tmp_path / "results.partial.json"
        partial.write_text(partial.read_text().replace('"redac": "', '"redac": "0.'))
    reason = {"other options": "give the same options", "other versions": "versions changed"}
    with pytest.raises(DifferentRunError, match=reason.get(case, "nothing to go on with")):
        Run(None if case == "no output" else output, asked, resume=True)


def test_the_command_measures_keeps_and_goes_on(tmp_path, capsys):
    output = tmp_path / "results.json"
    options = ["--quick", "--case", "gene-like", "--sparsity", "l0", "--contestant", "redac"]
    options += ["--contestant", "PCA", "--threads", "1", "--output", str(output)]
    assert main([*options, "--resume"]) == 2
    assert main(options) == 0
    stored = json.loads(output.read_text())
    assert [row["contestant"] for row in stored["rows"]] == ["PCA", "redac"]
    shown = capsys.readouterr()
    assert "1/1 gene-like/r10" in shown.err
    assert "redac, l0, k = 50: " in shown.err
    # As if the run had been ended after its only case: nothing is measured again.
    partial = {"asked": _asked(_parser().parse_args(options)), "done": ["gene-like/r10"]}
    stored["rows"][0]["seconds"] = 123.0
    (tmp_path / "results.partial.json").write_text(json.dumps({**partial, "results": stored}))
    assert main([*options, "--resume"]) == 0
    assert json.loads(output.read_text())["rows"][0]["seconds"] == 123.0
    assert "1/1 gene-like/r10: kept" in capsys.readouterr().err


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
    base |= {"failure": None, "seconds": 2.0, "input_bytes": 16_000_000, "cached_bytes": 0}
    return base | {"pev": 50.0, "nonzeros": 100, "peak_bytes": 10_000_000} | changes


@pytest.mark.parametrize(
    ("n", "d", "cached", "allowed"),
    [
        (2000, 1000, 0, 3_200_000 + 64 * 3000 * 10 + 8_000_000),
        (2000, 1000, 9_000, 3_200_000 + 64 * 3000 * 10 + 8_000_000 + 9_000),
        (1000, 2000, 8 * 2000 * 7, 3_200_000 + 64 * 3000 * 10 + 8 * 2000 * 7),
    ],
    ids=["Gram", "Gram and a part of it", "columns"],
)
def test_memory_allowed_and_not_a_byte_more(n, d, cached, allowed):
    for extra, met in ((0, True), (1, False)):
        found = row(n=n, d=d, cached_bytes=cached, peak_bytes=allowed + extra)
        assert targets.verdicts({"rows": [found], "quality": []})[2].met is met


def test_rivals_are_compared_at_no_more_nonzeros_only():
    def met(**rival):
        rows = [row(), row(contestant="SparsePCA", **rival)]
        return targets.verdicts({"rows": rows, "quality": []})[4].met

    assert met(pev=50.0) is True
    assert met(pev=50.1, nonzeros=100) is False
    assert met(pev=50.1, nonzeros=99) is None


def test_sparse_pca_is_to_take_twenty_times_as_long():
    def met(seconds, longer_than=None, ours=2.0):
        rival = row(contestant="SparsePCA", seconds=seconds, longer_than=longer_than)
        if seconds is None:
            del rival["seconds"]
            rival["failure"] = "no result"
        rows = [row(seconds=ours), rival]
        return targets.verdicts({"rows": rows, "quality": []})[3].met

    assert met(40.0) is True
    assert met(39.9) is False
    assert met(None, longer_than=40.0) is True  # ended, but after long enough
    assert met(None, longer_than=39.0) is False  # nothing is shown by that
    assert met(None, longer_than=600.0, ours=31.0) is None  # not within ten minutes
    assert met(None) is None


def test_a_fit_that_was_ended_is_shown_with_its_limit(results):
    ended = row(contestant="SparsePCA", failure="no result in 3 min", longer_than=180.0)
    page = report.page({**results, "rows": [row(sweeps=1, passes=1), ended], "quality": []})
    assert "| > 180 s |" in page
    ended |= {"longer_than": 600.0, "recorded": True}
    page = report.page({**results, "rows": [row(sweeps=1, passes=1), ended], "quality": []})
    assert "| > 600 s, recorded |" in page


@pytest.mark.parametrize(("slower", "mean", "nowhere"), [(4.4, True, True), (4.6, False, True)])
def test_speed_is_the_geometric_mean_over_dense_cases(slower, mean, nowhere):
    rows = [
        row(contestant="PCA", sparsity=None, seconds=1.0),
        row(seconds=2.0),
        row(sparsity="l1", seconds=slower),
        row(sparsity="sparse data", seconds=999.0, input_bytes=1000),
    ]
    on_average, everywhere = targets.verdicts({"rows": rows, "quality": []})[:2]
    assert (on_average.met, everywhere.met) == (mean, nowhere)
    assert "over 2 cases" in on_average.detail
    assert f"{slower:g} times, on a, r = 10, l1" in everywhere.detail


def test_no_dense_case_is_to_be_ten_times_as_slow():
    for seconds, met in ((10.0, True), (10.1, False)):
        rows = [row(contestant="PCA", sparsity=None, seconds=1.0), row(seconds=seconds)]
        assert targets.verdicts({"rows": rows, "quality": []})[1].met is met


@pytest.mark.parametrize("key", ["fixed_sweeps_exponent", "default_exponent"])
def test_growth_is_judged_by_each_exponent_but_that_of_k(key):
    def met(size, value):
        good = {"fixed_sweeps_exponent": 1.0, "default_exponent": 1.0}
        growth = [{"size": letter, **good} for letter in "ndrk"]
        next(each for each in growth if each["size"] == size)[key] = value
        results = {"rows": [], "quality": [], "growth": growth}
        return next(v.met for v in targets.verdicts(results) if v.aim.startswith("time grows"))

    for size in "ndr":
        assert met(size, 1.1) is True
        assert met(size, 1.11) is False
    assert met("k", 2.0) is True


@pytest.mark.parametrize(
    ("key", "limit"),
    [("fits_seconds", 10), ("starts_seconds", 20), ("import_seconds", 0.7), ("help_seconds", 1)],
)
def test_overheads_are_judged(key, limit):
    small = dict.fromkeys(targets._OVERHEADS, 0.1) | {"fits": 1000, "starts": 1000}
    for seconds, missed in ((limit - 0.01, 0), (limit, 1)):
        found = targets.verdicts({"rows": [], "quality": [], "small": small | {key: seconds}})
        assert sum(verdict.met is False for verdict in found) == missed
        assert sum(verdict.met is True for verdict in found) == len(targets._OVERHEADS) - missed


def test_rivals_are_counted_beside_the_default_fit(monkeypatch):
    tally = rivals.Tally("some", np.array([0.5, 0.001, -0.001, -1.0, -3.0]))
    assert str(tally) == "| some | 1 | 2 | 2 | 0.50 | -0.70 |"
    monkeypatch.setattr(rivals, "COMPONENTS", (2,))
    monkeypatch.setattr(rivals, "CARDINALITIES", (3, 13))
    S = {"pitprops": rivals.matrices()["pitprops"]}
    found = {t.method: t.leads for t in rivals.tallies(S, nonnegative=False)}
    assert "thresholding" in found
    assert not any(name.startswith("redac") or name == "pca" for name in found)
    assert all(leads.shape == (2,) and (leads <= 1e-6).all() for leads in found.values())
    # With all features allowed both come to the principal axes.
    assert found["thresholding"][0] < -1.0
    assert found["thresholding"][1] == pytest.approx(0.0, abs=1e-6)


def test_the_table_of_rivals_has_a_row_for_each():
    table = rivals.rivals(nonnegative=False) + rivals.rivals(nonnegative=True)
    text = (Path(__file__).parent.parent / "docs" / "methods.md").read_text()
    assert [name for name in table if f"| {name} |" not in text] == []
