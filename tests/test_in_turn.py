"""Components drawn one after the other: a start for features that are many."""

import numpy as np
import pytest

from helpers import factor_data
from redac import SparsePCA
from redac.constraints import L0, L1, Nonnegative
from redac.metrics import pev
from redac.solver.problem import Problem
from redac.solver.redraw import in_turn
from redac.solver.starts import Starts
from redac.sources import Gram, as_data, as_source

SETS = {"l0": L0(5), "l1": L1(2.0), "nonnegative": Nonnegative(L0(5))}


def drawn(X: np.ndarray, constraint, r: int) -> np.ndarray:
    problem = Problem(as_source(as_data(X)), [constraint] * r)
    return Starts(problem, np.random.RandomState(0)).in_turn()


@pytest.mark.parametrize("d", [20, 150, 900])
@pytest.mark.parametrize("name", SETS)
def test_each_component_is_in_its_set(name, d):
    V = drawn(factor_data(40, d, seed=1), SETS[name], 4)
    assert all(SETS[name].contains(v) for v in V.T)


def test_disjoint_blocks_are_found_one_after_the_other():
    """Blocks of one strength each: the strongest is drawn first, and none twice."""
    S = np.zeros((40, 40))
    for number, strength in enumerate((2.0, 5.0, 3.0, 4.0)):
        block = slice(10 * number, 10 * number + 5)
        S[block, block] = strength
    S += np.eye(40)
    V = in_turn(Problem(Gram(S), [L0(5)] * 4), np.eye(40))
    assert [set(np.flatnonzero(v) // 10) for v in V.T] == [{1}, {3}, {2}, {0}]


@pytest.mark.parametrize("name", SETS)
def test_nothing_is_drawn_where_nothing_is_left(name):
    x = np.zeros(12)
    x[:3] = 1.0 / np.sqrt(3.0)
    S = np.multiply.outer(x, x)
    V = in_turn(Problem(Gram(S), [SETS[name]] * 3), np.eye(12))
    assert V[:, 0] @ S @ V[:, 0] == pytest.approx(1.0)
    assert not V[:, 1:].any()


def test_signs_of_directions_do_not_matter():
    S = np.cov(factor_data(50, 30, seed=3), rowvar=False)
    problem = Problem(Gram(S), [Nonnegative(L0(4))] * 3)
    W = np.linalg.eigh(S)[1][:, -6:]
    np.testing.assert_allclose(in_turn(problem, -W), in_turn(problem, W), atol=1e-12)


@pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning")
@pytest.mark.parametrize("axis", ["features", "components"])
@pytest.mark.parametrize("seed", range(3))
def test_explained_variance_never_falls_along_a_sequence_that_starts_from_the_last(axis, seed):
    X = factor_data(60, 30, seed=seed)
    before, components = 0.0, None
    for size in range(2, 8):
        r, k = (3, 2 * size) if axis == "features" else (size, 5)
        init = "pca" if components is None else components
        if components is not None and axis == "components":
            init = np.vstack([components, np.random.default_rng(size).standard_normal(30)])
        model = SparsePCA(r, cardinality=k, init=init, n_init=1).fit(X)
        components = model.components_
        now = pev(X, components)
        assert now >= before - 1e-9
        before = now
