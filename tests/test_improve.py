"""The search for better components before a proof: what it finds, and when it ends."""

import time
from dataclasses import dataclass

import numpy as np
import pytest

import redac.certificate.api
from helpers import assert_same_loadings
from redac import SparsePCA
from redac.certificate import certificate
from redac.certificate.improve import Improved, improve
from redac.constraints import L0
from redac.datasets import load_pitprops
from redac.solver import variance

PITPROPS = load_pitprops().correlation / 13
CARDINALITIES = (6, 5, 4, 3)
START = np.eye(13)[:, :4]


def improved(constraints=None, *, deadline=np.inf, rounds=20):
    constraints = [L0(k) for k in CARDINALITIES] if constraints is None else constraints
    return improve(
        PITPROPS, constraints, START, rounds=rounds, sweeps=100, seed=0, deadline=deadline
    )


def explained(V):
    return variance.Explained.of(V, lambda Q: Q.T @ PITPROPS @ Q).together()


@dataclass
class Interrupting:
    """A constraint during whose work somebody presses Ctrl-C once."""

    inner: L0
    after: int
    calls: int = 0

    def maximize(self, w):
        self.calls += 1
        if self.calls == self.after:
            raise KeyboardInterrupt
        return self.inner.maximize(w)

    def contains(self, v, *, atol=1e-9):
        return self.inner.contains(v, atol=atol)

    @property
    def free_range(self):
        return self.inner.free_range

    def restricted(self, features):
        return self  # to count all calls in one place


def test_it_finds_what_the_estimator_finds():
    model = SparsePCA(
        4,
        cardinality=CARDINALITIES,
        init=START.T,
        n_init=1,
        n_perturbations=20,
        max_iter=100,
        random_state=0,
    ).fit_covariance(PITPROPS)
    found = improved()
    assert not found.interrupted
    for v, w in zip(found.V.T, model.components_, strict=True):
        assert_same_loadings(v[None] * np.sign(v @ w), w[None])
    assert all(L0(k).contains(v) for k, v in zip(CARDINALITIES, found.V.T, strict=True))
    assert explained(found.V) > explained(START) + 0.2


def test_rounds_find_no_less():
    assert explained(improved().V) >= explained(improved(rounds=0).V)


@pytest.mark.parametrize("after", [20, 300, 1000])
def test_an_interrupt_keeps_feasible_loadings(after):
    # What is wrapped counts its calls: whether the interrupt has come does not depend on a clock.
    constraints = [Interrupting(L0(6), after), *(L0(k) for k in CARDINALITIES[1:])]
    found = improved(constraints, rounds=200)
    assert constraints[0].calls >= after
    assert found.interrupted
    assert all(L0(k).contains(v) for k, v in zip(CARDINALITIES, found.V.T, strict=True))
    assert explained(found.V) >= explained(START)


def test_without_time_the_start_comes_back():
    found = improved(deadline=time.monotonic() - 1)
    np.testing.assert_array_equal(found.V, START)
    assert not found.interrupted


def test_rounds_end_at_the_deadline():
    began = time.monotonic()
    found = improved(rounds=10**9, deadline=began + 0.5)
    assert time.monotonic() - began < 60
    assert not found.interrupted
    assert explained(found.V) > explained(START)


def test_a_certificate_says_that_its_search_was_interrupted(monkeypatch):
    """What was found until then counts, and no proof is begun."""
    better = improved().V
    monkeypatch.setattr(redac.certificate.api, "improve", lambda *_, **__: Improved(better, True))
    monkeypatch.setattr(redac.certificate.api, "Tree", None)
    result = certificate(PITPROPS, START.T, cardinality=CARDINALITIES, time_limit=60)
    assert result.interrupted
    assert result.better_value == pytest.approx(100 * explained(better))
    assert result.upper_bound >= result.better_value
