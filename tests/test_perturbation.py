"""Iterated local search: better than its start, repeatable, interruptible, on any source."""

import os
import signal
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from helpers import assert_same_loadings
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.datasets import load_pitprops
from redac.exceptions import FitInterruptedWarning, SeparationWarning
from redac.metrics import pev
from redac.solver.attempts import Attempt, spread
from redac.solver.climb import around
from redac.solver.perturbation import Chain, perturb
from redac.solver.problem import Problem
from redac.solver.search import Monitor, Search
from redac.solver.starts import Starts
from redac.solver.strategy import Strategy
from redac.solver.sweep import Status
from redac.sources import Columns, Factor, Gram, as_data, as_source, covariance_source

PITPROPS = load_pitprops().correlation
BOUNDS = {
    "l0": [L0(4)] * 3,
    "l1": [L1(1.8)] * 3,
    "nonnegative": [Nonnegative(L0(4))] * 3,
    "mixed": [L0(4), L1(1.8), Nonnegative(L0(3))],
}


def data(n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) + rng.standard_normal((n, d))


SOURCES = {
    "gram": (lambda: as_source(as_data(data(60, 25, 1))), Gram),
    "factor": (lambda: as_source(as_data(data(30, 80, 1))), Factor),
    "columns": (lambda: as_source(as_data(data(150, 200, 1))), Columns),
}


def searched(problem: Problem, monitor: Monitor | None = None) -> Search:
    search = Search(problem, monitor)
    search.try_starts(Starts(problem, np.random.RandomState(0)).sequence("pca", 2))
    return search


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("kind", SOURCES)
def test_a_search_never_loses_and_stays_feasible(kind, bounds):
    make, expected = SOURCES[kind]
    problem = Problem(make(), BOUNDS[bounds], ridge=0.02)
    assert isinstance(problem.source, expected)
    search = searched(problem)
    before = search.value
    attempts = perturb(search, 12, np.random.RandomState(3), 1)
    assert len(attempts) == 12
    assert search.value >= before
    assert all(c.contains(v) for c, v in zip(BOUNDS[bounds], search.found.V.T, strict=True))
    best = max(attempt.value for attempt in attempts)
    assert search.value / problem.total >= best - 1e-9


# How many starting points there are by default.
STARTS = 3


def test_a_search_finds_the_best_that_is_known():
    model = SparsePCA(6, cardinality=(7, 4, 4, 1, 1, 1), n_perturbations=1500, random_state=1)
    value = pev(PITPROPS, model.fit_covariance(PITPROPS).components_, covariance=True)
    assert value == pytest.approx(82.2661, abs=1e-3)


def test_a_search_finds_what_the_starts_miss():
    """From the principal axes alone a fit ends at 67.51, the search at 69.21."""
    alone = SparsePCA(4, cardinality=4, n_init=1)
    longer = SparsePCA(4, cardinality=4, n_init=1, n_perturbations=300, random_state=1)
    before, after = (
        pev(PITPROPS, model.fit_covariance(PITPROPS).components_, covariance=True)
        for model in (alone, longer)
    )
    assert after > before + 1.0


def test_the_same_seed_gives_the_same_answer_and_the_same_spread():
    def fit(seed: int, jobs: int | None) -> SparsePCA:
        # The ridge keeps components apart, so that their loadings are known to many digits.
        model = SparsePCA(6, cardinality=3, ridge=0.01, n_perturbations=30, random_state=seed)
        return model.set_params(n_jobs=jobs).fit_covariance(PITPROPS)

    first, again, other = fit(0, None), fit(0, None), fit(1, None)
    assert_same_loadings(first.components_, again.components_)
    for name, values in first.search_history_.items():
        np.testing.assert_allclose(values, again.search_history_[name], atol=1e-9)
    shares = "explained_variance_ratio"
    assert not np.allclose(first.search_history_[shares], other.search_history_[shares], atol=1e-3)
    two = [fit(0, 2) for _ in range(2)]
    assert_same_loadings(two[0].components_, two[1].components_)
    assert len(two[0].search_history_[shares]) == STARTS + 2 * 30
    alone = first.search_history_[shares][STARTS:]  # chains know nothing of each other
    np.testing.assert_allclose(
        two[0].search_history_[shares][STARTS : STARTS + 30], alone, atol=1e-9
    )


def test_chains_in_processes_of_their_own_search_through_the_data():
    """With more features than samples, and samples not few, S is not formed."""
    X = np.random.default_rng(0).standard_normal((140, 200))
    assert isinstance(as_source(as_data(X)), Columns)
    model = SparsePCA(3, cardinality=4, n_perturbations=3, random_state=0, n_jobs=2).fit(X)
    assert len(model.search_history_["explained_variance_ratio"]) == STARTS + 2 * 3


@pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning")
def test_the_history_says_what_each_run_came_to():
    model = SparsePCA(6, cardinality=3, n_perturbations=40, random_state=0)
    history = model.fit_covariance(PITPROPS).search_history_
    shares, agreement = history["explained_variance_ratio"], history["agreement"]
    assert len(shares) == len(agreement) == STARTS + 40
    assert shares.max() == pytest.approx(model.explained_variance_ratio_.sum(), abs=1e-9)
    assert ((agreement >= 0) & (agreement <= 1)).all()
    assert agreement[np.argmax(shares)] == 1.0
    assert agreement.min() < 1.0


def test_agreement_is_the_mean_overlap_of_matched_supports():
    V = np.zeros((6, 2))
    V[[0, 1], 0] = V[[2, 3], 1] = 0.5
    swapped = V[:, ::-1]
    moved = np.zeros((6, 2))
    moved[[2, 3], 0] = moved[[1, 4], 1] = 0.5  # 1 for one component, 1/3 for the other
    elsewhere = np.zeros((6, 2))
    elsewhere[[4], 0] = elsewhere[[5], 1] = 1.0
    attempts = [Attempt.of(W, 2.0, 4.0) for W in (V, swapped, moved, elsewhere)]
    found = spread(attempts, V)
    np.testing.assert_allclose(found["agreement"], [1, 1, 2 / 3, 0])
    np.testing.assert_allclose(found["explained_variance_ratio"], 0.5)


def chain_of(problem: Problem, seed: int = 0, rounds: int = 1) -> Chain:
    search = searched(problem)
    return Chain(problem, search.found, search.value, seed, rounds)


def test_redrawn_components_lie_outside_the_others():
    problem = Problem(covariance_source(PITPROPS), [L0(3)] * 6)
    chain = chain_of(problem)
    before = chain.solution.V.copy()

    def redrawn() -> int:
        V = chain._redrawn()
        assert np.linalg.matrix_rank(V) == 6
        assert all(L0(3).contains(v) for v in V.T)
        return sum(not np.array_equal(V[:, i], before[:, i]) for i in range(6))

    counts = [redrawn() for _ in range(400)]
    np.testing.assert_array_equal(chain.solution.V, before)
    # One, and another one for every head of a coin until there is no more.
    expected = [0, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 32]
    np.testing.assert_allclose(np.bincount(counts, minlength=7) / 400, expected, atol=0.08)


def test_a_single_component_is_always_drawn_anew():
    chain = chain_of(Problem(covariance_source(PITPROPS), [L0(3)]))
    drawn = [chain._redrawn() for _ in range(20)]
    assert all(L0(3).contains(V[:, 0]) for V in drawn)
    assert len({(V != 0).tobytes() for V in drawn}) > 1


def test_a_chain_makes_its_rounds_and_keeps_the_best_of_them():
    problem = Problem(covariance_source(PITPROPS), [L0(3)] * 6)
    chain = chain_of(problem, rounds=30)
    before = chain.value
    while not chain.is_over:
        count, value = len(chain.attempts), chain.value
        assert chain.advance(0.0) is chain  # at least one round, however little time there is
        assert len(chain.attempts) > count
        assert chain.value >= value
    assert len(chain.attempts) == 30
    best = max(each.value for each in chain.attempts) * problem.total
    assert chain.value == pytest.approx(max(best, before), rel=1e-9)
    assert problem.value(chain.solution.V) == pytest.approx(chain.value, rel=1e-9)
    assert chain.advance(0.0).attempts == chain.attempts  # there is no round left


@pytest.mark.parametrize("warmth", [0.0, 1e9])
def test_a_chain_goes_on_from_what_is_not_too_bad_and_the_best_stays_known(warmth):
    """From nothing that is worse without any warmth, and from everything with much of it."""
    problem = Problem(covariance_source(PITPROPS), [L0(3)] * 6, strategy=Strategy(warmth=warmth))
    chain = chain_of(problem, rounds=20)
    best, stands, ups, downs = chain.value, chain.value, 0, 0
    while not chain.is_over:
        chain.advance(0.0)
        value = chain.attempts[-1].value * problem.total
        ups += value > stands + 1e-9 * problem.total
        downs += value < stands - 1e-9 * problem.total
        best, stands = max(best, value), value if warmth else max(stands, value)
        assert chain._height == pytest.approx(stands, rel=1e-9)
        assert problem.value(chain._V) == pytest.approx(stands, rel=1e-9)
        assert chain.value == pytest.approx(best, rel=1e-9)
    assert ups > 0
    assert downs > 0


def test_whoever_watches_is_told_of_every_stretch_and_may_end_the_rounds():
    class Watching:
        stopped, begun, ended = False, 0, 0

        def begin(self, task: str) -> None:
            self.begun += task == "perturbation"

        def end(self) -> None:
            self.ended += 1
            self.stopped = self.begun == 3

    monitor = Watching()
    problem = Problem(covariance_source(PITPROPS), [L0(3)] * 6)
    search = searched(problem, monitor)
    before, ended = search.value, monitor.ended
    attempts = perturb(search, 1000, np.random.RandomState(0), 1)
    # A single chain is asked for one round at a time, and its runs are not reported one by one.
    assert monitor.begun == monitor.ended - ended == len(attempts) == 3
    assert search.value >= before
    assert perturb(search, 1000, np.random.RandomState(0), 1) == []


def test_rounds_on_a_pool_do_not_touch_the_data_and_end_on_all_features():
    X = data(150, 300, 2)
    narrow = Strategy(least_features=1, scope=2)
    problem = Problem(as_source(as_data(X)), [L0(5)] * 3, strategy=narrow)
    search = searched(problem)
    pool = around(problem, search.found.V, widened=narrow.scope)
    assert pool.problem.source.n_features < 300
    inside = pool.inside(search.found.V)
    np.testing.assert_array_equal(pool.embed(inside), search.found.V)
    reads = problem.source.data.n_passes
    chain = Chain(pool.problem, replace(search.found, V=inside), search.value, 0, rounds=5)
    assert len(chain.advance(60.0).attempts) == 5
    assert problem.source.data.n_passes == reads
    before = search.value
    attempts = perturb(search, 10, np.random.RandomState(0), 1)
    assert search.value >= before
    assert search.found.V.shape == (300, 3)
    assert search.found.status is Status.CONVERGED
    # The features of attempts are those of all data.
    best = max(attempts, key=lambda each: each.value)
    assert max(each.features.max() for each in attempts) >= pool.problem.source.n_features
    if best.value >= search.value / problem.total - 1e-9:
        assert spread([best], search.found.V)["agreement"][0] == pytest.approx(1.0)


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    rounds = []
    plain = Chain._round

    def third_is_interrupted(chain: Chain) -> Iterator[None]:
        rounds.append(1)
        if len(rounds) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        yield from plain(chain)

    monkeypatch.setattr(Chain, "_round", third_is_interrupted)
    model = SparsePCA(6, cardinality=3, n_perturbations=50, random_state=0)
    with pytest.warns(FitInterruptedWarning):
        model.fit_covariance(PITPROPS)
    assert len(rounds) == 3
    assert (np.count_nonzero(model.components_, axis=1) == 3).all()
    assert not model.converged_


@pytest.mark.parametrize("jobs", [0, 1.5, "all"])
def test_a_wrong_number_of_jobs_is_named(jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        SparsePCA(2, cardinality=3, n_jobs=jobs).fit_covariance(PITPROPS)


@pytest.mark.parametrize("least", [0.2, 0.5])
def test_components_are_as_far_apart_as_asked(least):
    S = np.cov(data(40, 15, 5).T)
    free = SparsePCA(4, cardinality=4, nonnegative=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        free.fit_covariance(S)
    apart = SparsePCA(4, cardinality=4, nonnegative=True, min_separation=least).fit_covariance(S)
    assert free.separation_ < least <= apart.separation_


def test_asking_for_more_separation_than_there_is_never_gives_less():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        for seed in range(8):
            S = np.cov(data(40, 15, seed).T)
            free = SparsePCA(4, cardinality=4).fit_covariance(S)
            apart = SparsePCA(4, cardinality=4, min_separation=1.0).fit_covariance(S)
            assert apart.separation_ >= free.separation_


def test_orthogonal_components_can_be_had_for_the_asking():
    S = np.ones((3, 3)) + np.diag([1e-6, 1e-6, 1e-3])
    model = SparsePCA(2, cardinality=3, min_separation=1.0).fit_covariance(S)
    assert model.separation_ == pytest.approx(1.0, abs=1e-9)
    assert model.components_.any(axis=1).all()
    with pytest.raises(ValueError, match="min_separation=2"):
        SparsePCA(2, cardinality=3, min_separation=2).fit_covariance(S)
