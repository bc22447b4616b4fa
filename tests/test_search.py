"""From starting points to a solution: promising features, polish, the best of several starts."""

import warnings
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from helpers import assert_same_loadings, climbed, factor_data, solve, steps_from
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative, oriented
from redac.datasets import load_pitprops
from redac.exceptions import ExhaustedWarning, SeparationWarning
from redac.methods import sparse_pca
from redac.metrics import pev
from redac.model.callbacks import Silent
from redac.solver import climb, variance
from redac.solver.climb import Start, Step, settle
from redac.solver.problem import Problem
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.solver.strategy import Strategy, using
from redac.solver.sweep import Solution, Status
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
# What a run does behind its first sweeps.
END = ["explore", "converge"]
# Sweeps look at a part of so few features too, as they do where there are many.
NARROW = Strategy(least_features=1)


def problem(source: str, bounds: str, seed: int = 0, **options) -> Problem:
    options = {"ridge": RIDGE, "strategy": NARROW, **options}
    return Problem(SOURCES[source](seed), BOUNDS[bounds], **options)


def starts(task: Problem, count: int = 2, seed: int = 0) -> list[Start]:
    """The usual starts, all followed with a ridge."""
    sequence = Starts(task, np.random.RandomState(seed)).sequence("pca", count)
    return [Start(start.V, FIRST_RIDGE) for start in sequence]


def finished(task: Problem, V=None, first_ridge: float = FIRST_RIDGE) -> Solution:
    start = starts(task, 1)[0] if V is None else Start(V, first_ridge)
    return climbed(task, start).whole


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
    """Notes every sweep of a search, and stops or interrupts it where it is told to.

    That is a task and the number of its sweep, counted over all runs; or the number alone.
    """

    def __init__(self, *, stop_at=None, interrupt_at=None) -> None:
        self.stopped = False
        self.tasks: list[str] = []
        self.sweeps: list[tuple[str, int, float]] = []
        self.loadings: list[np.ndarray] = []
        self._stop_at, self._interrupt_at = stop_at, interrupt_at

    def begin(self, task):
        self.tasks.append(task)
        return self._on_sweep

    def end(self):
        pass

    def _on_sweep(self, number, objective, V):
        self.sweeps.append((self.tasks[-1], number, objective))
        self.loadings.append(V.copy())
        of_task = sum(task == self.tasks[-1] for task, *_ in self.sweeps)
        done = (self.tasks[-1], of_task), len(self.sweeps)
        if self._interrupt_at in done:
            raise KeyboardInterrupt
        self.stopped |= self._stop_at in done
        return self.stopped


# ------------------------------------------------------------ one run


@source
@bounds
@seeds
@pytest.mark.parametrize("first_ridge", [0.0, FIRST_RIDGE])
def test_the_objective_never_rises_from_the_first_sweep_to_the_last(
    source, bounds, seed, first_ridge
):
    task = problem(source, bounds, seed)
    start = Start(starts(task)[0].V, first_ridge)
    steps = list(steps_from(task, start))
    for step in steps:
        assert feasible(task, step.whole.V)
        value = step.value / task.source.total
        assert value == pytest.approx(value_of(task, step.whole.V), rel=1e-9)
        # The scores of the last sweep are no better than the best ones.
        assert step.solution.history[-1] >= 1 - value - 1e-12
    for earlier, later in pairwise(step.solution.history for step in steps):
        assert later[: len(earlier)] == earlier
        assert len(later) - len(earlier) in (0, 1)
    history = steps[-1].solution.history
    assert (np.diff(history) <= 1e-12).all()
    *_, settled = settle(task, start)
    assert steps[-1].value >= settled.value - 1e-12 * task.total


@pytest.mark.parametrize("source", ["gram", "factor"])
@seeds
def test_the_objective_rises_by_rounding_only_where_components_collapse(source, seed):
    history = finished(problem(source, "nonnegative", seed, ridge=0.0)).history
    assert (np.diff(history) <= 1e-9).all()


@source
@pytest.mark.parametrize(
    ("bounds", "ridge"),
    [("l0", 0.0), ("l0", RIDGE), ("nonnegative", RIDGE), ("l1", RIDGE), ("mixed", RIDGE)],
)
@seeds
def test_at_the_end_a_sweep_over_all_features_gains_no_more_than_tol(source, bounds, ridge, seed):
    task = problem(source, bounds, seed, ridge=ridge)
    solution = finished(task)
    assert solution.status is Status.CONVERGED
    again = solve(task.source, task.constraints, solution.V, ridge=ridge, max_sweeps=1)
    assert again.gain <= task.tol
    assert again.gain >= -1e-9


@bounds
def test_the_first_sweeps_end_when_one_gains_little(bounds):
    task = problem("gram", bounds)
    ends = {}
    for rough in (1e-2, 1e-4):
        strategy = replace(task.strategy, rough=rough)
        *others, last = settle(replace(task, strategy=strategy), starts(task)[0])
        assert last.solution.gain <= rough
        assert all(each.solution.status is Status.STOPPED for each in (*others, last))
        ends[rough] = last.solution.n_sweeps
    assert ends[1e-2] < ends[1e-4]


@bounds
def test_first_sweeps_without_a_ridge_are_those_of_the_paper(bounds):
    """On the features that they look at."""
    task = problem("gram", bounds)
    V = oriented(starts(task)[0].V, task.constraints)
    *_, last = settle(task, Start(V))
    part = last.part
    assert part.features is not None
    plain = solve(
        part.problem.source,
        part.problem.constraints,
        part.inside(V),
        ridge=RIDGE,
        tol=task.strategy.rough * task.total / part.problem.source.total,
    )
    # What is left out is a part of the objective that nothing changes.
    share = part.problem.source.total / task.total
    expected = [1.0 - share * (1.0 - objective) for objective in plain.history]
    assert last.solution.history == pytest.approx(expected, rel=1e-9)
    assert_same_loadings(last.solution.V, plain.V)


@bounds
def test_a_run_that_is_cut_short_has_gone_the_same_way(bounds):
    whole = finished(problem("gram", bounds))
    for most in range(1, whole.n_sweeps + 3):
        cut = finished(problem("gram", bounds, max_sweeps=most))
        assert cut.history == pytest.approx(whole.history[:most], rel=1e-9)
        if most < whole.n_sweeps:
            assert cut.status is Status.STOPPED
        else:
            assert cut.status is Status.CONVERGED
            assert_same_loadings(cut.V, whole.V)


@source
@bounds
def test_a_watcher_sees_every_sweep_of_the_history_and_all_features(source, bounds):
    task = problem(source, bounds)
    recorder = Recorder()
    solution = best_of(task, starts(task, 1), recorder).found
    assert [number for _, number, _ in recorder.sweeps] == list(range(1, solution.n_sweeps + 1))
    assert tuple(objective for *_, objective in recorder.sweeps) == solution.history
    assert all(V.shape == (task.source.n_features, R) for V in recorder.loadings)
    assert all(feasible(task, V) for V in recorder.loadings)
    np.testing.assert_array_equal(recorder.loadings[-1], solution.V)
    assert_same_loadings(finished(task).V, solution.V)  # looking changes nothing


@pytest.mark.parametrize("how", ["stop_at", "interrupt_at"])
@pytest.mark.parametrize("bounds", ["l0", "mixed"])
def test_a_run_can_be_ended_after_any_sweep(bounds, how):
    task = problem("gram", bounds)
    whole = finished(task)
    for last in range(1, whole.n_sweeps):
        recorder = Recorder(**{how: last})
        ended = best_of(task, starts(task, 1), recorder).found
        assert len(recorder.sweeps) == last
        assert ended.history == pytest.approx(whole.history[:last], rel=1e-9)
        assert ended.status is (Status.INTERRUPTED if how == "interrupt_at" else Status.STOPPED)
        np.testing.assert_array_equal(ended.V, recorder.loadings[-1])


# ------------------------------------------------------------ promising features


@pytest.mark.parametrize("source", ["gram", "factor", "columns"])
@pytest.mark.parametrize("bounds", ["l0", "nonnegative"])
def test_looking_at_promising_features_costs_little(source, bounds):
    values = {}
    for scope in (NARROW.scope, 10**6):
        strategy = replace(NARROW, scope=scope)
        tasks = [problem(source, bounds, seed, strategy=strategy) for seed in range(8)]
        looks = [next(settle(task, starts(task)[0])).part.features is None for task in tasks]
        assert all(looks) if scope > 100 else not any(looks)
        values[scope] = np.array([best_of(task).value / task.source.total for task in tasks])
    difference = values[NARROW.scope] - values[10**6]
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
    steps = list(steps_from(Problem(source, [constraint], strategy=NARROW), Start(start)))
    assert not {40, 41, 42} & set(source.scopes[0])
    assert {40, 41, 42} <= set(steps[-1].part.features)
    found = steps[-1].whole
    assert np.flatnonzero(found.V).tolist() == [40, 41, 42]
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.V, solve(source, [constraint], start).V, rtol=0, atol=1e-3)


def test_a_feature_that_may_enter_is_found_among_larger_ones_that_may_not():
    # From feature 0 a nonnegative component can reach 1, but not the many that oppose it.
    source = one_factor({0: 1.0, 1: 1.0} | dict.fromkeys(range(2, 22), -5.0))
    constraint = Nonnegative(L0(2))
    start = np.zeros((60, 1))
    start[0] = 1.0
    found = finished(Problem(source, [constraint], strategy=NARROW), start)
    assert np.flatnonzero(found.V).tolist() == [0, 1]
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.V, solve(source, [constraint], start).V, atol=1e-4)


@pytest.mark.parametrize("widened", [1, 3])
def test_features_that_are_promising_are_those_in_use_and_the_next_in_reach(widened):
    rng = np.random.default_rng(0)
    W = rng.standard_normal((80, 2)) * [10.0, 0.1]  # the length of a direction says nothing
    sets = [L0(3), Nonnegative(L0(2))]
    task = Problem(covariance_source(np.eye(80)), sets, strategy=Strategy(least_features=1))
    chosen = set(climb.promising(task, W, widened))
    for w, constraint, k in zip(W.T, sets, (3, 2), strict=True):
        assert set(np.flatnonzero(constraint.maximize(w))) <= chosen
        assert set(np.argsort(-np.abs(w))[: widened * task.strategy.scope * k]) <= chosen
    assert len(chosen) <= widened * task.strategy.scope * 5 + 2
    more = replace(task, strategy=Strategy(least_features=20))
    wider = set(climb.promising(more, W, widened))
    assert chosen <= wider
    assert len(wider) >= 20 * widened
    reach = (np.abs(W) / np.abs(W).max(axis=0)).max(axis=1)
    assert set(np.argsort(-reach)[: 20 * widened]) <= wider
    np.testing.assert_array_equal(
        climb.promising(replace(task, strategy=Strategy(least_features=80)), W), np.arange(80)
    )


def test_the_part_around_loadings_has_their_features_and_those_a_sweep_would_use():
    task = problem("gram", "l0", ridge=0.0)
    V = np.zeros((100, R))
    V[np.argsort(task.source.diagonal)[:R], np.arange(R)] = 1.0  # in the noise
    part = climb.around(task, V)
    assert part.features is not None
    np.testing.assert_array_equal(part.embed(part.inside(V)), V)
    swept = solve(task.source, task.constraints, V, max_sweeps=1, tol=-1.0).V
    first = np.flatnonzero(swept[:, 0])  # the others begin with the scores that it leaves
    assert set(first) <= set(part.features)
    wider = climb.around(task, V, widened=2)
    assert wider.features is None or set(part.features) < set(wider.features)
    assert climb.around(replace(task, strategy=Strategy()), V).features is None


def test_a_start_without_any_direction_looks_at_everything():
    task = problem("gram", "l0")
    solution = finished(task, np.zeros((100, R)))
    assert solution.exhausted == ()
    assert solution.status is Status.CONVERGED
    assert feasible(task, solution.V)


# ------------------------------------------------------------ several starts


def best_of(task: Problem, points=None, monitor=None, *, automatic: bool = False) -> Search:
    hunt = Search(task, monitor or Silent())
    hunt.try_starts(starts(task) if points is None else points, automatic=automatic)
    return hunt


automatically = pytest.mark.parametrize("automatic", [False, True], ids=["given", "automatic"])


@source
@bounds
def test_the_best_of_several_starts_is_no_worse_than_any(source, bounds):
    task = problem(source, bounds)
    points = starts(task, 5)
    singly = [value_of(task, climbed(task, start).whole.V) for start in points]
    hunt = best_of(task, points)
    # Of runs that come to the same supports one is finished, so values are equal to some tol only.
    assert value_of(task, hunt.found.V) == pytest.approx(max(singly), abs=1e-6)
    assert hunt.value / task.source.total == pytest.approx(max(singly), abs=1e-6)
    assert hunt.found.status is Status.CONVERGED
    if bounds == "nonnegative":
        assert max(singly) - min(singly) > 1e-6  # there was something to choose


@automatically
@source
@bounds
def test_a_search_is_worth_no_less_than_any_of_its_attempts(source, bounds, automatic):
    """Also where a run is not finished, because it has met another or fallen behind."""
    task = problem(source, bounds)
    hunt = best_of(task, starts(task, 5), automatic=automatic)
    assert len(hunt.attempts) == 5
    assert hunt.value / task.total >= max(each.value for each in hunt.attempts) - 1e-9


@seeds
def test_a_poor_start_beside_a_good_one_does_no_harm(seed):
    task = problem("gram", "l0", seed)
    first = starts(task)[0]
    # All components begin in the noise of the four weakest features.
    weakest = np.argsort(task.source.diagonal)[:R]
    V = np.zeros((100, R))
    V[weakest, np.arange(R)] = 1.0
    poor = Start(V)
    alone = best_of(task, [first])
    for points in ([first, poor], [poor, first]):
        assert best_of(task, points).value >= alone.value * (1 - 1e-9)


@source
@bounds
@seeds
def test_more_starts_of_the_same_sequence_never_end_lower(source, bounds, seed):
    values = []
    for count in range(1, 6):
        # A source that remembers sums in another order the second time, so each has its own.
        task = problem(source, bounds, seed, ridge=0.0)
        values.append(best_of(task, starts(task, 5)[:count]).value / task.total)
    assert (np.diff(values) >= -task.tol).all()


@automatically
def test_a_start_is_followed_to_its_end_unless_it_meets_another(automatic):
    task = problem("gram", "l0", strategy=replace(NARROW, redraws=0))
    first, second = starts(task)
    again = Start(first.V.copy(), first.first_ridge)
    recorder, met = Recorder(), Recorder()
    best_of(task, [first, second], recorder, automatic=automatic)
    best_of(task, [first, again], met, automatic=automatic)
    if automatic:  # all are looked at before the first is followed to its end
        assert recorder.tasks == ["start", "start", *END, *END]
        assert met.tasks == ["start", "start", *END, "explore"]
    else:
        assert recorder.tasks == ["start", *END, "start", *END]
        assert met.tasks == ["start", *END, "start", "explore"]


@automatically
@pytest.mark.parametrize("source", ["gram", "factor", "covariance"])
def test_where_starts_are_equally_good_the_first_one_wins(source, automatic):
    d = SOURCES[source](0).n_features
    task = Problem(SOURCES[source](0), [L0(d)] * 3)
    pca, rotated = starts(task)
    axes = task.source.principal_axes(3)[0]
    found = best_of(task, [pca, rotated], automatic=automatic).found.V
    np.testing.assert_allclose(np.abs(axes.T @ found), np.eye(3), atol=1e-6)
    other = best_of(task, [rotated, pca], automatic=automatic).found.V
    assert np.abs(np.abs(axes.T @ other) - np.eye(3)).max() > 0.01
    assert value_of(task, other) == pytest.approx(value_of(task, found), abs=1e-9)


def test_a_start_given_twice_changes_nothing():
    task = problem("gram", "l0")
    start = starts(task)[0]
    again = Start(start.V.copy(), start.first_ridge)
    once, twice = best_of(task, [start]).found, best_of(task, [start, again]).found
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


PHASES = [("start", 1), ("start", 2), ("explore", 1), ("converge", 1)]


@automatically
@pytest.mark.parametrize("where", PHASES, ids=str)
@pytest.mark.parametrize("how", ["stop_at", "interrupt_at"])
@pytest.mark.parametrize("bounds", ["l0", "mixed"])
def test_a_search_that_is_ended_keeps_the_best_so_far(where, how, bounds, automatic):
    task = problem("gram", bounds)
    recorder = Recorder(**{how: where})
    hunt = best_of(task, monitor=recorder, automatic=automatic)
    assert recorder.sweeps[-1][0] == where[0]
    assert recorder.tasks[-1] == where[0]  # nothing was begun after that
    assert feasible(task, hunt.found.V)
    assert hunt.found.status is (Status.INTERRUPTED if how == "interrupt_at" else Status.STOPPED)
    assert hunt.value / task.source.total == pytest.approx(value_of(task, hunt.found.V), rel=1e-9)
    # The same without the part that was interrupted is no better.
    shares = [1 - objective for _, _, objective in recorder.sweeps]
    assert value_of(task, hunt.found.V) >= max(shares) - 1e-12
    assert hunt.is_over
    before = hunt.best
    hunt.try_starts(starts(task, 3))
    assert hunt.best is before  # nothing is begun any more


@automatically
@pytest.mark.parametrize("sweep", [1, 2])
def test_an_end_in_the_second_start_keeps_the_first(sweep, automatic):
    task = problem("gram", "l0")
    *steps, settled = settle(task, starts(task)[0])
    hunt = best_of(
        task,
        monitor=Recorder(interrupt_at=("start", len(steps) + 1 + sweep)),
        automatic=automatic,
    )
    assert hunt.found.status is Status.INTERRUPTED
    reached = settled if automatic else climbed(task, starts(task)[0])
    assert value_of(task, hunt.found.V) >= value_of(task, reached.whole.V) - 1e-9
    assert feasible(task, hunt.found.V)


def test_an_end_while_a_component_is_drawn_anew_keeps_the_best():
    task = problem("gram", "l0")
    quiet = Recorder()
    whole = best_of(replace(task, strategy=replace(NARROW, redraws=0)), None, quiet, automatic=True)
    hunt = best_of(task, None, Recorder(interrupt_at=len(quiet.sweeps) + 1), automatic=True)
    assert hunt.found.status is Status.INTERRUPTED
    assert hunt.value >= whole.value * (1 - 1e-9)
    assert feasible(task, hunt.found.V)


def interrupt(*_, **__):
    raise KeyboardInterrupt


def test_an_interrupt_during_polish_keeps_the_best_so_far(monkeypatch):
    task = problem("gram", "nonnegative")
    monkeypatch.setattr(climb, "polish", interrupt)
    recorder = Recorder()
    hunt = best_of(task, monitor=recorder)
    assert recorder.tasks[-1] == "converge"
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
        yield  # type: ignore[unreachable]

    with pytest.raises(KeyboardInterrupt):
        best_of(problem("gram", "l0"), interrupted())


class Interrupting(Gram):
    """A matrix at which the user loses patience once, after some updates of components."""

    def __init__(self, S: np.ndarray, updates: list[int]) -> None:
        super().__init__(S)
        self.updates = updates  # shared with all parts

    def restricted(self, support):
        return Interrupting(super().restricted(support).S, self.updates)

    def combine(self, support, coefficients):
        self.updates[0] -= 1
        if self.updates[0] == -1:
            raise KeyboardInterrupt
        return super().combine(support, coefficients)


@automatically
@bounds
@pytest.mark.parametrize("updates", [0, 1, 3, 4, 6, 9])
@pytest.mark.parametrize("least", [0.0, 0.5])
def test_an_interrupt_within_a_sweep_leaves_feasible_loadings(updates, bounds, least, automatic):
    S = SOURCES["gram"](0).S
    task = Problem(
        Interrupting(S, [updates]), BOUNDS[bounds], strategy=NARROW, least_separation=least
    )
    points = starts(Problem(Gram(S), BOUNDS[bounds]))
    recorder = Recorder()
    found = best_of(task, points, recorder, automatic=automatic).found
    assert found.status is Status.INTERRUPTED
    assert found.n_sweeps == len(recorder.sweeps) == updates // R
    if recorder.loadings:  # those of the last sweep that was complete
        np.testing.assert_array_equal(found.V, recorder.loadings[-1])
    placed = [c.contains(v) for c, v in zip(task.constraints, found.V.T, strict=True)]
    # Before the first sweep some may have no place that is far enough from the others.
    assert all(placed) if found.n_sweeps or least == 0.0 else any(placed)
    assert all(ok or not v.any() for ok, v in zip(placed, found.V.T, strict=True))
    assert variance.separation(found.V) >= least - 1e-9


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
    V = starts(task)[0].V
    expected = finished(task, V).V
    assert_same_loadings(finished(task, -V).V, expected)
    assert_same_loadings(finished(task, oriented(V, task.constraints)).V, expected)


class Noting(Search):
    """Notes which runs it follows, and what the best was worth before each."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.followed: list[tuple[str, int]] = []
        self.steps: Counter[tuple[str, int]] = Counter()

    def follow(self, task, number, steps):
        self.followed.append((task, number))
        for each in super().follow(task, number, steps):
            self.steps[task, number] += 1
            yield each

    @property
    def n_redrawn(self) -> int:
        return self.followed.count(("explore", -1))


def test_automatic_starts_are_followed_until_they_are_too_far_behind():
    d = 60
    X = factor_data(40, d, seed=0)

    def raced(patience: float, *, poor_is_first: bool = False) -> Noting:
        strategy = Strategy(patience=patience, redraws=0)
        task = Problem(as_source(as_data(X)), [L0(20)] * 3, strategy=strategy)
        poor = np.zeros((d, 3))
        poor[np.argsort(task.source.diagonal)[:3], range(3)] = 1.0
        # One sweep, so that the poor start is behind after it.
        strategy = replace(strategy, rough=1.0)
        search = Noting(replace(task, strategy=strategy), Silent())
        both = [starts(task)[0], Start(poor)]
        search.try_starts(both[::-1] if poor_is_first else both, automatic=True)
        # The leader comes first, and its solution is the one that is kept.
        order = (1, 0) if poor_is_first else (0, 1)
        expected = [(task, number) for number in order for task in END]
        assert search.followed == [("start", 0), ("start", 1), *expected]
        assert len(search.attempts) == 2
        best = max(each.value for each in search.attempts)
        assert search.value == pytest.approx(best * task.total)
        return search

    impatient, patient = raced(0.0), raced(np.inf)
    assert impatient.steps["converge", 0] == patient.steps["converge", 0]
    assert impatient.steps["converge", 1] < patient.steps["converge", 1]
    # The first one, which ``n_init=1`` follows alone, is still followed where another is given up.
    tried = [p for p in np.geomspace(1e3, 1e9, 25) if raced(p).steps != patient.steps]
    assert tried
    first = raced(tried[-1], poor_is_first=True)
    assert first.steps == raced(np.inf, poor_is_first=True).steps


# ------------------------------------------------------------ components drawn anew


def hunted(task: Problem, **numbers) -> Noting:
    search = Noting(replace(task, strategy=replace(task.strategy, **numbers)), Silent())
    # From one start that may miss much; more of them leave less to be found.
    search.try_starts(starts(task, 1), automatic=True)
    return search


@bounds
def test_drawing_components_anew_gains_here_and_there_and_never_loses(bounds):
    gains, n_redrawn = [], 0
    for seed in range(6):
        task = problem("gram", bounds, seed, strategy=Strategy())
        before, after = hunted(task, redraws=0), hunted(task)
        assert before.n_redrawn == 0
        assert after.n_redrawn <= R + 1
        n_redrawn += after.n_redrawn
        assert feasible(task, after.found.V)
        assert after.found.status is Status.CONVERGED
        assert after.value / task.total == pytest.approx(value_of(task, after.found.V), rel=1e-9)
        # Attempts are what starts came to, whatever follows.
        assert len(after.attempts) == len(before.attempts) == 1
        gains.append((after.value - before.value) / task.total)
    assert min(gains) >= -1e-9
    assert n_redrawn > 0  # those that come to known supports are not followed
    assert max(gains) > 1e-3


def test_components_are_drawn_anew_as_often_as_the_work_of_a_sweep_allows():
    task = problem("gram", "mixed", strategy=Strategy())
    assert hunted(task, redraws=0.99 * task.work).n_redrawn == 0
    assert hunted(task, redraws=1.01 * task.work).n_redrawn == 1
    assert 1 < hunted(task, redraws=np.inf).n_redrawn <= R + 1


def test_given_starts_are_all_that_is_tried_if_somebody_says_how_many():
    task = problem("gram", "mixed", strategy=Strategy())
    search = Noting(task, Silent())
    search.try_starts(starts(task, 1))
    assert search.n_redrawn == 0
    assert hunted(task).n_redrawn > 0


def test_a_fit_draws_components_anew_only_where_the_number_of_starts_is_left_open():
    S = np.cov(data(60, 30, 1), rowvar=False)

    def value(redraws: float, n_init) -> float:
        with using(Strategy(redraws=redraws)), warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)
            options = {"ridge": RIDGE, "n_init": n_init, "random_state": 0}
            model = SparsePCA(R, cardinality=4, nonnegative=True, **options)
            return 1.0 - model.fit_covariance(S).objective_history_[-1]

    assert value(3e5, 3) == pytest.approx(value(0.0, 3), abs=1e-9)
    assert value(3e5, "auto") >= value(0.0, "auto") - 1e-7


# ------------------------------------------------------------ several sizes


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


def test_runs_that_look_at_the_same_features_of_data_share_their_part_of_s():
    source = Columns(as_data(factor_data(30, 40, seed=0)))
    task = Problem(source, [L0(2)] * 2, strategy=NARROW)
    V = starts(task)[0].V
    first = next(settle(task, Start(V)))
    assert first.part.features is not None
    before = task.source.data.n_passes
    second = next(settle(task, Start(V, FIRST_RIDGE)))
    assert second.part.problem.source is first.part.problem.source
    assert task.source.data.n_passes == before


@pytest.mark.parametrize("source", ["gram", "factor"])
def test_polish_shortens_the_way_and_loses_little(source):
    sweeps, values = {}, {}
    for between in (NARROW.sweeps_between, 10**6):
        strategy = replace(NARROW, sweeps_between=between)
        tasks = [
            problem(source, "nonnegative", seed, strategy=strategy, ridge=0.001)
            for seed in range(6)
        ]
        steps = [climbed(task, starts(task)[0]) for task in tasks]
        assert all(step.solution.status is Status.CONVERGED for step in steps)
        sweeps[between] = sum(step.solution.n_sweeps for step in steps)
        values[between] = np.array(
            [step.value / task.total for step, task in zip(steps, tasks, strict=True)]
        )
    assert sweeps[NARROW.sweeps_between] < 0.5 * sweeps[10**6]
    assert (values[NARROW.sweeps_between] - values[10**6]).mean() >= -0.002


def test_a_run_comes_to_its_end_where_components_nearly_collapse():
    task = problem("factor", "nonnegative", ridge=0.0, tol=1e-9)
    assert finished(task).status is Status.CONVERGED


@automatically
def test_only_one_of_several_runs_on_the_same_supports_is_finished(automatic):
    task = problem("gram", "l0", strategy=replace(NARROW, redraws=0))
    V = starts(task)[0].V
    recorder = Recorder()
    points = [Start(each, FIRST_RIDGE) for each in (V, V[:, ::-1], V)]
    best_of(task, points, recorder, automatic=automatic)
    assert recorder.tasks.count("start") == 3
    assert recorder.tasks.count("converge") < 3


def test_a_place_does_not_depend_on_the_order_of_components_or_on_the_part_looked_at():
    task = problem("gram", "l0")
    V = np.eye(task.source.n_features)[:, :R]

    def step(V: np.ndarray, part=task.whole) -> Step:
        return Step(part, Solution(part.inside(V)))

    assert step(V).place == step(-V[:, ::-1]).place != step(V[::-1]).place
    part = task.restricted(np.arange(20))
    assert step(V, part).place == step(V).place
    np.testing.assert_array_equal(step(V, part).whole.V, V)
    assert step(V, part).value == pytest.approx(step(V).value, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_few_features_a_component_are_found_as_well_as_one_after_the_other(k, nonnegative):
    """Axes that use all features lead astray where few may be used; drawing anew does not."""
    S = load_pitprops().correlation
    rival = "empca_nonnegative" if nonnegative else "empca"
    theirs = pev(
        S, sparse_pca(S, rival, 6, cardinality=k, covariance=True, random_state=0), covariance=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        model = SparsePCA(6, cardinality=k, nonnegative=nonnegative).fit_covariance(S)
    assert 100 * model.explained_variance_ratio_.sum() >= theirs - 0.01
