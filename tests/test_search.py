"""From starting points to a solution: promising features, polish, the best of several starts."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from helpers import assert_same_loadings, factor_data
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.datasets import load_pitprops
from redac.exceptions import ExhaustedWarning, SeparationWarning
from redac.methods import sparse_pca
from redac.metrics import pev
from redac.model.callbacks import Silent
from redac.solver import run as run_module
from redac.solver import search as search_module
from redac.solver import variance
from redac.solver.problem import Problem
from redac.solver.run import Run
from redac.solver.search import Search, departures
from redac.solver.starts import Starts, oriented
from redac.solver.sweep import Status, solve
from redac.sources import Columns, Gram, as_data, as_source, covariance_source

R = 4
SEEDS = range(4)


def data(n: int, d: int, seed: int) -> np.ndarray:
    """Five sparse factors in noise: components use few of the features."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((5, d)) * (rng.random((5, d)) < 0.15)
    factors = rng.standard_normal((n, 5)) * [5.0, 4.0, 3.0, 2.5, 2.0]
    return factors @ loadings + 0.5 * rng.standard_normal((n, d))


SOURCES = {
    "gram": lambda seed: as_source(as_data(data(200, 100, seed))),
    "factor": lambda seed: as_source(as_data(data(40, 110, seed))),
    "columns": lambda seed: Columns(as_data(data(60, 110, seed))),
    "sparse columns": lambda seed: Columns(as_data(sp.csr_array(data(60, 110, seed)))),
    "covariance": lambda seed: covariance_source(np.cov(data(50, 90, seed), rowvar=False)),
}
BOUNDS = {
    "l0": [L0(6)] * R,
    "nonnegative": [Nonnegative(L0(6))] * R,
    "l1": [L1(2.2)] * R,
    "mixed": [L0(6), L1(2.0), Nonnegative(L0(5)), Nonnegative(L1(2.0))],
}
source = pytest.mark.parametrize("source", SOURCES)
bounds = pytest.mark.parametrize("bounds", BOUNDS)
seeds = pytest.mark.parametrize("seed", SEEDS)

# A small ridge keeps the components of these data apart, so that values are known to rounding.
RIDGE = 0.02
FIRST_RIDGE = 0.1


def problem(source: str, bounds: str, seed: int = 0, **options) -> Problem:
    return Problem(SOURCES[source](seed), BOUNDS[bounds], **{"ridge": RIDGE, **options})


def starts(task: Problem, count: int = 2, seed: int = 0) -> list[np.ndarray]:
    made = Starts(task.source, task.constraints, np.random.RandomState(seed))
    return list(made.sequence("pca", count))


def run_of(task: Problem, start=None, *, first_ridge: float = FIRST_RIDGE, on_sweep=None) -> Run:
    run = Run(task, starts(task)[0] if start is None else start, first_ridge)
    run.on_sweep = on_sweep
    return run


def finished(task: Problem, start=None, **options) -> Run:
    run = run_of(task, start, **options)
    run.scout()
    run.settle()
    run.finish()
    return run


def value_of(task: Problem, V: np.ndarray) -> float:
    """What loadings explain with the best scores they can have, as a share."""
    M, G = V.T @ task.source.dot(V), V.T @ V
    weights = np.linalg.pinv(G + task.ridge * np.eye(len(G)))
    return float(np.trace(weights @ M)) / task.source.total


def feasible(task: Problem, V: np.ndarray) -> bool:
    return all(c.contains(v) for c, v in zip(task.constraints, V.T, strict=True))


class Watched(Gram):
    """A matrix that notes to which features it was restricted."""

    def __init__(self, S: np.ndarray) -> None:
        super().__init__(S)
        self.scopes: list[list[int]] = []

    def restricted(self, support):
        self.scopes.append(support.tolist())
        return super().restricted(support)


class Recorder:
    """Notes every sweep of a search, and stops or interrupts it where it is told to."""

    def __init__(self, *, stop_at=None, interrupt_at=None) -> None:
        self.stopped = False
        self.tasks: list[str] = []
        self.sweeps: list[tuple[str, int, float]] = []
        self._stop_at, self._interrupt_at = stop_at, interrupt_at

    def begin(self, task):
        self.tasks.append(task)
        return self._on_sweep

    def end(self):
        pass

    def _on_sweep(self, number, objective, V):
        self.sweeps.append((self.tasks[-1], number, objective))
        done = (self.tasks[-1], sum(task == self.tasks[-1] for task, *_ in self.sweeps))
        if done == self._interrupt_at:
            raise KeyboardInterrupt
        self.stopped |= done == self._stop_at
        return self.stopped


# ------------------------------------------------------------ one run


@source
@bounds
@seeds
def test_the_objective_never_rises_from_the_first_sweep_to_the_last(source, bounds, seed):
    task = problem(source, bounds, seed)
    run = run_of(task)
    values, histories = [], []
    for phase in (run.scout, run.settle, run.finish):
        phase()
        values.append(run.appraise() / task.source.total)
        histories.append(run.solution.history)
        assert feasible(task, run.solution.V)
        assert values[-1] == pytest.approx(value_of(task, run.solution.V), rel=1e-9)
        # The scores of the last sweep are no better than the best ones.
        assert histories[-1][-1] >= 1 - values[-1] - 1e-12
    assert (np.diff(run.solution.history) <= 1e-12).all()
    assert (np.diff(values) >= -1e-12).all()
    for earlier, later in pairwise(histories):
        assert later[: len(earlier)] == earlier


@pytest.mark.parametrize("source", ["gram", "factor"])
@seeds
def test_the_objective_rises_by_rounding_only_where_components_collapse(source, seed):
    run = finished(problem(source, "nonnegative", seed, ridge=0.0))
    assert (np.diff(run.solution.history) <= 1e-9).all()


@source
@pytest.mark.parametrize(("bounds", "ridge"), [("l0", 0.0), ("l0", RIDGE), ("nonnegative", RIDGE)])
@seeds
def test_at_the_end_a_sweep_over_all_features_gains_no_more_than_tol(source, bounds, ridge, seed):
    task = problem(source, bounds, seed, ridge=ridge)
    solution = finished(task).solution
    assert solution.status is Status.CONVERGED
    again = solve(task.source, task.constraints, solution.V, ridge=ridge, max_sweeps=1)
    assert again.gain <= task.tol
    assert again.gain >= -1e-9


@source
@pytest.mark.parametrize("bounds", ["l1", "mixed"])
@seeds
def test_at_the_end_a_sweep_gains_little_where_nothing_was_polished(source, bounds, seed):
    task = problem(source, bounds, seed)
    solution = finished(task).solution
    assert solution.status is Status.CONVERGED
    assert solution.gain <= task.tol
    # That gain was measured with the scores of the sweeps; with the best ones it may be larger.
    again = solve(task.source, task.constraints, solution.V, ridge=RIDGE, max_sweeps=1)
    assert -1e-9 <= again.gain <= 2 * task.tol


@bounds
def test_a_run_that_is_cut_short_has_gone_the_same_way(bounds):
    whole = finished(problem("gram", bounds)).solution
    for most in range(1, whole.n_sweeps + 3):
        cut = finished(problem("gram", bounds, max_sweeps=most)).solution
        assert cut.history == pytest.approx(whole.history[:most], rel=1e-9)
        if most < whole.n_sweeps:
            assert cut.status is Status.STOPPED
        if most > whole.n_sweeps:
            assert cut.status is Status.CONVERGED
            assert_same_loadings(cut.V, whole.V)


@source
@bounds
def test_a_watcher_sees_every_sweep_of_the_history_and_all_features(source, bounds):
    task = problem(source, bounds)
    seen: list[tuple[int, float, np.ndarray]] = []

    def watch(number, objective, V):
        seen.append((number, objective, V.copy()))
        return False

    solution = finished(task, on_sweep=watch).solution
    assert [number for number, *_ in seen] == list(range(1, solution.n_sweeps + 1))
    assert tuple(objective for _, objective, _ in seen) == solution.history
    assert all(V.shape == (task.source.n_features, R) for *_, V in seen)
    assert all(feasible(task, V) for *_, V in seen)
    np.testing.assert_array_equal(seen[-1][2], solution.V)
    assert_same_loadings(finished(task).solution.V, solution.V)  # looking changes nothing


@pytest.mark.parametrize("interrupt", [False, True], ids=["stop", "interrupt"])
@pytest.mark.parametrize("bounds", ["l0", "mixed"])
def test_a_run_can_be_ended_after_any_sweep(bounds, interrupt):
    whole = finished(problem("gram", bounds)).solution
    for last in range(1, whole.n_sweeps):
        reached: list[np.ndarray] = []

        def watch(number, objective, V, *, last=last, reached=reached):
            reached.append(V.copy())
            if number == last and interrupt:
                raise KeyboardInterrupt
            return number == last

        ended = finished(problem("gram", bounds), on_sweep=watch).solution
        assert ended.history == pytest.approx(whole.history[:last], rel=1e-9)
        assert ended.status is (Status.INTERRUPTED if interrupt else Status.STOPPED)
        np.testing.assert_array_equal(ended.V, reached[-1])


# ------------------------------------------------------------ promising features


@pytest.mark.parametrize("source", ["gram", "factor", "columns"])
@pytest.mark.parametrize("bounds", ["l0", "nonnegative"])
def test_looking_at_promising_features_costs_little(source, bounds, monkeypatch):
    narrow, wide = [], []
    for seed in range(8):
        task = problem(source, bounds, seed)
        narrow.append(best_of(task).value / task.source.total)
    monkeypatch.setattr(run_module, "_SCOPE", 10**6)
    for seed in range(8):
        task = problem(source, bounds, seed)
        wide.append(best_of(task).value / task.source.total)
    difference = np.array(narrow) - np.array(wide)
    # Both ways end in local optima, now the one higher, now the other.
    assert difference.min() >= -0.02
    assert difference.mean() >= -0.002


def one_factor(strengths: dict[int, float], d: int = 60) -> Watched:
    """S of one factor with given loadings and a little noise."""
    loadings = np.zeros(d)
    loadings[list(strengths)] = list(strengths.values())
    return Watched(np.outer(loadings, loadings) + 0.01 * np.eye(d))


@pytest.mark.parametrize(
    "constraint", [L0(3), Nonnegative(L0(3)), L1(1.7), Nonnegative(L1(1.7))], ids=str
)
def test_features_outside_the_first_view_enter_where_they_belong(constraint):
    source = one_factor({0: 1.0, 1: 0.9, 40: 3.0, 41: 3.1, 42: 3.2})
    start = np.zeros((60, 1))
    start[[0, 1], 0] = 1.0
    run = finished(Problem(source, [constraint]), start)
    assert not {40, 41, 42} & set(source.scopes[0])
    # Exchanges, which come last, look at supports.
    views = [set(scope) for scope in source.scopes if len(scope) > 3]
    assert {40, 41, 42} <= views[-1]
    assert np.flatnonzero(run.solution.V).tolist() == [40, 41, 42]
    assert run.solution.status is Status.CONVERGED
    np.testing.assert_allclose(
        run.solution.V, solve(source, [constraint], start).V, rtol=0, atol=1e-3
    )


def test_a_feature_that_may_enter_is_found_among_larger_ones_that_may_not():
    # From feature 0 a nonnegative component can reach 1, but not the many that oppose it.
    source = one_factor({0: 1.0, 1: 1.0} | dict.fromkeys(range(2, 22), -5.0))
    constraint = Nonnegative(L0(2))
    start = np.zeros((60, 1))
    start[0] = 1.0
    run = finished(Problem(source, [constraint]), start)
    assert np.flatnonzero(run.solution.V).tolist() == [0, 1]
    assert run.solution.status is Status.CONVERGED
    np.testing.assert_allclose(run.solution.V, solve(source, [constraint], start).V, atol=1e-4)


def test_a_start_without_any_direction_looks_at_everything():
    task = problem("gram", "l0")
    solution = finished(task, np.zeros((100, R))).solution
    assert solution.exhausted == ()
    assert solution.status is Status.CONVERGED
    assert feasible(task, solution.V)


# ------------------------------------------------------------ several starts


def best_of(task: Problem, points=None, monitor=None) -> Search:
    hunt = Search(task, monitor or Silent())
    points = starts(task) if points is None else points
    hunt.try_starts((point, FIRST_RIDGE) for point in points)
    return hunt


@source
@bounds
def test_the_best_of_several_starts_is_no_worse_than_any(source, bounds):
    task = problem(source, bounds)
    points = starts(task, 5)
    singly = [value_of(task, finished(task, start).solution.V) for start in points]
    hunt = best_of(task, points)
    # Of runs that come to the same supports one is finished, so values are equal to some tol only.
    assert value_of(task, hunt.found.V) == pytest.approx(max(singly), abs=1e-6)
    assert hunt.value / task.source.total == pytest.approx(max(singly), abs=1e-6)
    assert hunt.found.status is Status.CONVERGED
    if bounds == "nonnegative":
        assert max(singly) - min(singly) > 1e-6  # there was something to choose


@seeds
def test_a_poor_start_beside_a_good_one_does_no_harm(seed):
    task = problem("gram", "l0", seed)
    first = starts(task)[0]
    # All components begin in the noise of the four weakest features.
    weakest = np.argsort(task.source.diagonal)[:R]
    poor = np.zeros((100, R))
    poor[weakest, np.arange(R)] = 1.0
    alone = best_of(task, [first])
    for points in ([first, poor], [poor, first]):
        assert best_of(task, points).value >= alone.value * (1 - 1e-9)


@source
@bounds
@seeds
def test_more_starts_of_the_same_sequence_never_end_lower(source, bounds, seed):
    task = problem(source, bounds, seed, ridge=0.0)
    points = starts(task, 5)
    values = [best_of(task, points[:count]).value for count in range(1, 6)]
    # A source that remembers sums in another order the second time; runs end within some tol.
    assert (np.diff(values) >= -10 * task.tol * task.total).all()


def test_a_start_is_followed_to_its_end_unless_it_meets_another():
    task = problem("gram", "l0")
    first, second = starts(task)
    for points, expected in (([first, second], 2), ([first, first.copy()], 1)):
        recorder = Recorder()
        best_of(task, points, recorder)
        counts = [recorder.tasks.count(name) for name in ("start", "settle", "finish")]
        assert counts == [2, 2, expected]


@pytest.mark.parametrize("source", ["gram", "factor", "covariance"])
def test_where_starts_are_equally_good_the_first_one_wins(source):
    d = SOURCES[source](0).n_features
    task = Problem(SOURCES[source](0), [L0(d)] * 3)
    pca, rotated = starts(task)
    axes = task.source.principal_axes(3)[0]
    found = best_of(task, [pca, rotated]).found.V
    np.testing.assert_allclose(np.abs(axes.T @ found), np.eye(3), atol=1e-6)
    other = best_of(task, [rotated, pca]).found.V
    assert np.abs(np.abs(axes.T @ other) - np.eye(3)).max() > 0.01
    assert value_of(task, other) == pytest.approx(value_of(task, found), abs=1e-9)


def test_a_start_given_twice_changes_nothing():
    task = problem("gram", "l0")
    start = starts(task)[0]
    once, twice = best_of(task, [start]).found, best_of(task, [start, start.copy()]).found
    assert_same_loadings(once.V, twice.V)
    assert once.history == pytest.approx(twice.history, rel=1e-9)


def test_a_search_without_a_start_says_so():
    with pytest.raises(ValueError, match="at least one starting point"):
        best_of(problem("gram", "l0"), []).found  # noqa: B018


@bounds
def test_the_same_data_in_any_container_have_the_same_solution(bounds):
    X = data(60, 110, 3)
    solutions = [
        best_of(Problem(make(as_data(convert(X))), BOUNDS[bounds], ridge=RIDGE, tol=1e-13)).found.V
        for make, convert in [(as_source, np.array), (Columns, np.array), (Columns, sp.csc_array)]
    ]
    for other in solutions[1:]:
        np.testing.assert_allclose(other, solutions[0], rtol=0, atol=1e-6)


# ------------------------------------------------------------ ending early


PHASES = [("start", 1), ("start", 2), ("settle", 1), ("finish", 1)]


@pytest.mark.parametrize("where", PHASES, ids=str)
@pytest.mark.parametrize("how", ["stop_at", "interrupt_at"])
@pytest.mark.parametrize("bounds", ["l0", "mixed"])
def test_a_search_that_is_ended_keeps_the_best_so_far(where, how, bounds):
    task = problem("gram", bounds)
    recorder = Recorder(**{how: where})
    hunt = best_of(task, monitor=recorder)
    assert recorder.sweeps[-1][0] == where[0]
    assert recorder.tasks[-1] == where[0]  # nothing was begun after that
    assert feasible(task, hunt.found.V)
    assert hunt.found.status is (Status.INTERRUPTED if how == "interrupt_at" else Status.STOPPED)
    assert hunt.value / task.source.total == pytest.approx(value_of(task, hunt.found.V), rel=1e-9)
    # The same without the part that was interrupted is no better.
    shares = [1 - objective for _, _, objective in recorder.sweeps]
    assert value_of(task, hunt.found.V) >= max(shares) - 1e-12


@pytest.mark.parametrize("sweep", [1, 2])
def test_an_end_in_the_second_start_keeps_the_first(sweep):
    task = problem("gram", "l0")
    first = Recorder()
    run = run_of(task, on_sweep=first.begin("start"))
    run.scout()
    hunt = best_of(task, monitor=Recorder(interrupt_at=("start", len(first.sweeps) + sweep)))
    assert hunt.found.status is Status.INTERRUPTED
    assert value_of(task, hunt.found.V) >= value_of(task, run.solution.V) - 1e-12
    assert feasible(task, hunt.found.V)


def interrupt(*_, **__):
    raise KeyboardInterrupt


def test_an_interrupt_during_polish_keeps_the_best_so_far(monkeypatch):
    task = problem("gram", "nonnegative")
    monkeypatch.setattr(run_module, "polish", interrupt)
    recorder = Recorder()
    hunt = best_of(task, monitor=recorder)
    assert recorder.tasks[-1] == "finish"
    assert hunt.found.status is Status.INTERRUPTED
    assert feasible(task, hunt.found.V)
    best = max(1 - objective for _, _, objective in recorder.sweeps)
    assert value_of(task, hunt.found.V) >= best - 1e-12


@pytest.mark.parametrize("made", [1, 2])
def test_an_interrupt_while_a_start_is_made_keeps_the_best_so_far(made):
    task = problem("gram", "l0")

    def interrupted():
        yield from starts(task)[:made]
        raise KeyboardInterrupt

    hunt = best_of(task, interrupted())
    assert hunt.found.status is Status.INTERRUPTED
    assert feasible(task, hunt.found.V)


def test_an_interrupt_before_the_first_start_is_passed_on():
    def interrupted():
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        best_of(problem("gram", "l0"), interrupted())


@pytest.mark.parametrize("update", [0, 1, 3])
def test_an_interrupt_within_the_first_sweep_leaves_feasible_loadings(update):
    class Interrupted(Gram):
        calls = 0

        def restricted(self, support):
            return Interrupted(super().restricted(support).S)

        def combine(self, support, coefficients):
            Interrupted.calls += 1
            if Interrupted.calls == update + 1:
                raise KeyboardInterrupt
            return super().combine(support, coefficients)

    whole = SOURCES["gram"](0)
    task = Problem(Interrupted(whole.S), BOUNDS["mixed"])
    found = best_of(task).found
    assert found.status is Status.INTERRUPTED
    assert found.history == ()
    assert feasible(task, found.V)


# ------------------------------------------------------------ components that are left over


def blocks(n: int = 60) -> np.ndarray:
    """Two factors on four features each, exactly; four features that are constant."""
    scores = np.random.default_rng(0).standard_normal((n, 2)) * [3.0, 2.0]
    return scores @ np.kron(np.eye(2), np.ones(4)) @ np.eye(8, 12)


@pytest.mark.parametrize(
    ("X", "options", "useful"),
    [
        (blocks(), {"cardinality": 4}, 2),
        (blocks(), {"cardinality": 4, "init": "varimax"}, 2),
        (blocks(), {"cardinality": 4, "nonnegative": True}, 2),
        (blocks(), {"l1_bound": 2.0}, 2),
        (factor_data(30, 12, seed=3, rank=2), {}, 2),
        (factor_data(30, 40, seed=3, rank=3), {}, 3),
        (factor_data(4, 40, seed=3), {}, 3),
    ],
    ids=["blocks", "rotated", "nonnegative", "l1", "rank 2", "rank 3, wide", "four samples"],
)
@pytest.mark.parametrize("n_init", [1, 3])
def test_components_that_are_left_over_are_zero_and_not_copies(X, options, useful, n_init):
    model = SparsePCA(useful + 2, n_init=n_init, random_state=0, **options)
    with pytest.warns(ExhaustedWarning, match=f"n_components={useful}"):
        model.fit(X)
    live = model.components_.any(axis=1)
    assert live.sum() == useful
    kept = model.components_[live]
    assert variance.separation(kept.T) > 0.01
    assert model.score(X) == pytest.approx(1.0, abs=1e-9)
    assert model.converged_


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_components_are_not_called_exhausted_because_the_sweeps_ran_out(most):
    X = np.random.default_rng(0).standard_normal((50, 10))
    X[:, 0] *= 100  # with the first ridge it attracts more than one component
    model = SparsePCA(3, cardinality=1, init="random", max_iter=most, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SeparationWarning)
        model.fit(X)
    assert model.components_.any(axis=1).all()


def test_copies_find_places_of_their_own():
    X = np.random.default_rng(0).standard_normal((50, 10))
    X[:, 0] *= 100
    model = SparsePCA(3, cardinality=1, init="random", random_state=0).fit(X)
    largest = np.argsort(-X.var(axis=0))[:1]
    chosen = np.argmax(model.components_, axis=1)
    assert len(set(chosen)) == 3
    assert largest[0] in chosen


def test_components_of_ones_own_are_turned_to_their_better_side():
    task = problem("gram", "nonnegative")
    start = starts(task)[0]
    expected = finished(task, start).solution.V
    assert_same_loadings(finished(task, -start).solution.V, expected)
    assert_same_loadings(finished(task, oriented(start, task.constraints)).solution.V, expected)


def test_starts_that_agree_make_further_ones_unnecessary():
    task = problem("gram", "l0")
    same, other = starts(task)[0], starts(task, 6, seed=3)[5]
    made = []

    def told(*points):
        for point in points:
            made.append(point)
            yield point, FIRST_RIDGE

    def attempts(automatic: bool) -> int:
        made.clear()
        search = Search(task, Silent())
        search.try_starts(told(same, same, other), automatic=automatic)
        return len(search.attempts)

    assert attempts(True) == len(made) == 2
    assert attempts(False) == len(made) == 3


@pytest.mark.parametrize("leeway", [0.0, np.inf])
def test_of_many_features_automatic_starts_are_finished_unless_they_are_far_behind(
    leeway, monkeypatch
):
    monkeypatch.setattr(search_module, "_LEEWAY", leeway)
    finished_runs = []
    plain = Run.finish
    monkeypatch.setattr(Run, "finish", lambda run: (finished_runs.append(run.number), plain(run)))
    X = factor_data(40, 600, seed=0)
    task = Problem(as_source(as_data(X)), [L0(20)] * 3)
    rng = np.random.RandomState(0)
    points = [rng.standard_normal((600, 3)), starts(task)[0]]
    search = Search(task, Silent())
    search.try_starts([(point, FIRST_RIDGE) for point in points], automatic=True)
    # The leader comes first, and its solution is the one that is kept.
    assert finished_runs == ([1] if leeway == 0.0 else [1, 0])
    assert len(search.attempts) == 2
    assert search.value == pytest.approx(max(each.value for each in search.attempts) * task.total)


@pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning")
@pytest.mark.parametrize("seed", range(6))
def test_of_many_features_automatic_starts_end_no_lower_than_a_given_number(seed):
    rng = np.random.default_rng(seed)
    X = factor_data(60, 520 + 40 * seed, seed=seed) * rng.lognormal(size=520 + 40 * seed)
    options = {"cardinality": 10 + 5 * seed, "nonnegative": seed % 2 == 1, "random_state": 0}
    auto, *others = (
        SparsePCA(3, n_init=count, **options).fit(X).explained_variance_ratio_.sum()
        for count in ("auto", 1, 2)
    )
    assert auto >= max(others) - 1e-7


def ways(features: int, count: int, least_separation: float = 0.0) -> list[float]:
    """The ridges with which so many starts are followed."""
    S = covariance_source(np.eye(features))
    task = Problem(S, [L0(3)] * 2, least_separation=least_separation)
    points = [np.full((features, 2), float(i)) for i in range(count)]
    followed = list(departures(task, points))
    assert [V[0, 0] for V, _ in followed] == list(range(count))
    return [ridge for _, ridge in followed]


def test_the_first_of_several_starts_is_followed_as_in_the_paper_if_features_are_many():
    assert ways(501, 3) == [0.0, FIRST_RIDGE, FIRST_RIDGE]
    assert ways(500, 3) == [FIRST_RIDGE] * 3
    assert ways(501, 3, least_separation=0.1) == [FIRST_RIDGE] * 3


def test_runs_that_look_at_the_same_features_of_data_share_their_part_of_s():
    task = Problem(Columns(as_data(factor_data(30, 40, seed=0))), [L0(2)] * 2)
    start = starts(task)[0]
    first = Run(task, start, 0.0)
    before = task.source.data.n_passes
    assert Run(task, start, FIRST_RIDGE)._part.problem.source is first._part.problem.source
    assert task.source.data.n_passes == before


def test_after_polish_sweeps_go_on_until_supports_are_at_rest(monkeypatch):
    """Then polish, which moves all components at once, is the better way to go on."""
    calls, polished = [], []
    real, real_polish = run_module.solve, Run._polish

    def polish(run):
        polished.append(real_polish(run))
        return polished[-1]

    def watched(source, constraints, start, **options):
        marks = [start != 0]
        told = options["on_sweep"]

        def heard(number, objective, V):
            marks.append(V != 0)
            return told(number, objective, V)

        found = real(source, constraints, start, **{**options, "on_sweep": heard})
        if polished and polished.pop():
            calls.append((found, [np.array_equal(*pair) for pair in pairwise(marks)]))
        return found

    task = problem("factor", "nonnegative", ridge=0.0, tol=1e-9)
    run = run_of(task)
    run.scout()
    run.settle()
    monkeypatch.setattr(run_module, "solve", watched)
    monkeypatch.setattr(Run, "_polish", polish)
    run.finish()
    assert run.solution.status is Status.CONVERGED
    early = 0
    for found, same in calls:
        assert not any(same[:-1])
        early += same[-1] and found.status is Status.STOPPED and found.gain > task.tol
    assert early


def test_only_one_of_several_runs_on_the_same_supports_is_finished():
    task = problem("gram", "l0")
    start = starts(task)[0]
    tasks = []

    class Watching(Silent):
        def begin(self, task):
            tasks.append(task)
            return super().begin(task)

    points = [start, start[:, ::-1], start]
    Search(task, Watching()).try_starts((point, FIRST_RIDGE) for point in points)
    assert tasks.count("start") == 3
    assert tasks.count("finish") < 3


def test_supports_do_not_depend_on_the_order_of_components():
    task = problem("gram", "l0")
    run, turned, other = (run_of(task) for _ in range(3))
    V = np.eye(task.source.n_features)[:, : len(task.constraints)]
    run.solution = replace(run.solution, V=V)
    turned.solution = replace(turned.solution, V=-V[:, ::-1])
    other.solution = replace(other.solution, V=V[::-1])
    assert run.supports == turned.supports != other.supports


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_few_features_a_component_are_found_as_well_as_one_after_the_other(k, nonnegative):
    """Axes that use all features lead astray where few may be used; the third start does not."""
    S = load_pitprops().correlation
    rival = "empca_nonnegative" if nonnegative else "empca"
    theirs = pev(
        S, sparse_pca(S, rival, 6, cardinality=k, covariance=True, random_state=0), covariance=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        model = SparsePCA(6, cardinality=k, nonnegative=nonnegative).fit_covariance(S)
    assert 100 * model.explained_variance_ratio_.sum() >= theirs - 0.01
