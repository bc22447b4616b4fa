"""Guesses where a run over cells is going."""

from dataclasses import replace

import numpy as np
import pytest

from redac.constraints import L0, L1, Nonnegative
from redac.solver.ahead import Trail
from redac.solver.problem import Problem
from redac.sources.cells import CellModel
from redac.sources.gram import Gram

D, N = 5, 20
PROBLEM = Problem(Gram(np.eye(D)), [L0(D)])


def model(v: np.ndarray, mean: np.ndarray) -> CellModel:
    scores = np.random.default_rng(0).standard_normal((N, 1))
    return CellModel((v / np.linalg.norm(v))[:, None], scores, mean)


def trail_of(*places: tuple[np.ndarray, np.ndarray], reach: float = 1e9) -> Trail:
    trail = Trail(reach=reach)
    for v, mean in places:
        trail = trail.on(model(v, mean))
    return trail


def creeping(rate: float, v: np.ndarray | None = None) -> tuple[Trail, np.ndarray, np.ndarray]:
    """Means that go 1/(1 − rate) steps, each of them ``rate`` times the one before; where to."""
    rng = np.random.default_rng(1)
    v = rng.standard_normal(D) if v is None else v
    end, away = rng.standard_normal(D), rng.standard_normal(D)
    return trail_of(*[(v, end + rate**k * away) for k in range(3)]), v, end


@pytest.mark.parametrize("rate", [0.6, 0.9, 0.999])
def test_steps_that_shrink_alike_lead_to_their_end(rate):
    trail, v, end = creeping(rate)
    guess = trail.guess(PROBLEM)
    np.testing.assert_allclose(guess.mean, end, atol=1e-6)
    np.testing.assert_allclose(guess.V[:, 0], v / np.linalg.norm(v), atol=1e-9)


def test_a_guess_goes_no_farther_than_its_reach():
    trail, _, end = creeping(0.999)
    begin, step = trail.models[0].mean, trail.models[1].mean - trail.models[0].mean
    near = replace(trail, reach=4.0).guess(PROBLEM).mean
    # Two times four steps ahead, less what steps shrink meanwhile.
    assert np.linalg.norm(near - begin) == pytest.approx(8 * np.linalg.norm(step), rel=0.01)
    assert np.linalg.norm(near - end) < np.linalg.norm(begin - end)


def test_right_guesses_go_farther_next_time_and_wrong_ones_less_far():
    trail = replace(creeping(0.999)[0], reach=4.0)
    right = trail.led_to(trail.guess(PROBLEM))
    assert len(right.models) == 1
    assert right.reach > trail.reach > trail.misled().reach
    reaches_its_end = replace(trail, reach=1e9)
    assert reaches_its_end.led_to(trail.guess(PROBLEM)).reach == reaches_its_end.reach


def test_nothing_is_guessed_from_less_than_three_places_or_other_supports():
    v, mean = np.arange(1.0, D + 1.0), np.zeros(D)
    places = [(v, mean + 1.0), (v, mean + 0.9), (v, mean + 0.81)]
    assert trail_of(*places[:2]).guess(PROBLEM) is None
    assert trail_of(*places).guess(PROBLEM) is not None
    other = v * (np.arange(D) > 0)
    assert trail_of((other, mean + 1.0), *places[1:]).guess(PROBLEM) is None
    assert trail_of(*[(v, mean)] * 3).guess(PROBLEM) is None  # it stands still


@pytest.mark.parametrize("constraint", [Nonnegative(L0(3)), L1(1.5)])
def test_guesses_are_in_the_sets_of_their_components(constraint):
    ways = [np.array([1.0, 0.5, 0.1 - 0.03 * k, 0.0, 0.0]) for k in range(3)]
    mean = np.zeros(D)
    guess = trail_of(*[(v, mean) for v in ways]).guess(replace(PROBLEM, constraints=[constraint]))
    assert guess is None or constraint.contains(guess.V[:, 0])
    bent = [np.array([1.0, 0.5, 0.1 * 0.5**k - 0.02, 0.0, 0.0]) for k in range(3)]
    guess = trail_of(*[(v, mean) for v in bent]).guess(replace(PROBLEM, constraints=[constraint]))
    assert constraint.contains(guess.V[:, 0])
