"""A constraint of one's own: any object that says what is best and what is allowed will do."""

import warnings

import numpy as np
import pytest

from helpers import assert_same_loadings
from never import Never
from redac import SparsePCA
from redac.constraints import L0, Constraint, Nonnegative

SIZES = pytest.mark.parametrize(("d", "k"), [(12, 3), (120, 10), (1200, 25)])
SIGNS = pytest.mark.parametrize("nonnegative", [False, True], ids=["any-sign", "nonnegative"])
ROUNDS = pytest.mark.parametrize("rounds", [0, 5])
R = 3


def data(d: int, k: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """Three groups of k features, and others that vary most of all and are forbidden.

    Without these there is one answer that stands out, so that every search must come to it.
    """
    rng = np.random.default_rng((7, d))
    order = rng.permutation(d)
    X = rng.standard_normal((200, d))
    for i, strength in enumerate((6.0, 5.0, 4.0)):
        X[:, order[i * k : (i + 1) * k]] += strength * rng.standard_normal((200, 1))
    forbidden = order[R * k :][: max(d // 10, 2)]
    X[:, forbidden] += 7.0 * rng.standard_normal((200, 1))
    return X * rng.uniform(0.8, 1.2, d), tuple(sorted(forbidden.tolist()))


def bound(k: int, *, nonnegative: bool) -> Constraint:
    return Nonnegative(L0(k)) if nonnegative else L0(k)


def fitted(X: np.ndarray, **options) -> SparsePCA:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about components that are nearly parallel
        return SparsePCA(R, random_state=0, tol=1e-10, **options).fit(X)


def explained(model: SparsePCA) -> float:
    """The variance that components explain, in the units of the data."""
    return float(model.explained_variance_.sum())


@SIZES
@SIGNS
@ROUNDS
def test_forbidden_features_are_as_good_as_absent(d, k, nonnegative, rounds):
    X, forbidden = data(d, k)
    constraint = Never(bound(k, nonnegative=nonnegative), forbidden)
    model = fitted(X, constraint=constraint, n_perturbations=rounds)
    without = fitted(
        np.delete(X, forbidden, axis=1),
        cardinality=k,
        nonnegative=nonnegative,
        n_perturbations=rounds,
    )
    total = X.var(axis=0, ddof=1).sum()
    # A millionth of a percentage point.
    assert explained(model) == pytest.approx(explained(without), abs=1e-8 * total)


@SIZES
@SIGNS
@ROUNDS
def test_the_components_are_in_the_set_and_the_objective_never_rises(d, k, nonnegative, rounds):
    X, forbidden = data(d, k)
    constraint = Never(bound(k, nonnegative=nonnegative), forbidden)
    model = fitted(X, constraint=constraint, n_perturbations=rounds)
    assert model.components_.shape == (R, d)
    assert not model.components_[:, list(forbidden)].any()
    assert all(constraint.contains(v) for v in model.components_)
    assert (np.diff(model.objective_history_) <= 1e-12).all()


@SIZES
def test_each_component_may_have_a_constraint_of_its_own(d, k):
    X, forbidden = data(d, k)
    inner = [L0(k), Nonnegative(L0(k)), L0(k)]
    constraints = [Never(inner[0], forbidden), Never(inner[1], forbidden[::2]), inner[2]]
    model = fitted(X, constraint=constraints)
    for v, constraint in zip(model.components_, constraints, strict=True):
        assert constraint.contains(v)
    assert (np.diff(model.objective_history_) <= 1e-12).all()
    # One more constraint each can only cost something.
    free = fitted(X, constraint=inner, init=model.components_)
    assert explained(free) >= explained(model) * (1 - 1e-9)


@SIZES
def test_a_constraint_object_is_the_bound_that_it_stands_for(d, k):
    X, _ = data(d, k)
    by_object = fitted(X, constraint=Nonnegative(L0(k)))
    by_name = fitted(X, cardinality=k, nonnegative=True)
    assert_same_loadings(by_object.components_, by_name.components_)


@pytest.mark.parametrize(
    "options",
    [
        {"constraint": L0(2), "cardinality": 3},
        {"constraint": L0(2), "l1_bound": 1.5},
        {"constraint": [L0(2)] * (R + 1)},
        {"constraint": "sparse"},
    ],
    ids=["and-cardinality", "and-l1", "too-many", "no-constraint"],
)
def test_a_constraint_object_that_contradicts_something_is_an_error(options):
    model = SparsePCA(R, **options)
    with pytest.raises((ValueError, TypeError), match="constraint"):
        model.fit(data(12, 3)[0])


def test_the_class_of_these_tests_keeps_the_protocol():
    rng = np.random.default_rng(0)
    for inner in (L0(3), Nonnegative(L0(3))):
        constraint = Never(inner, (1, 4, 5))
        for w in (rng.standard_normal(9), -np.abs(rng.standard_normal(9)), np.eye(9)[4] - 2.0):
            v = constraint.maximize(w)
            assert constraint.contains(v)
            features = np.array([0, 4, 5, 8])
            part = constraint.restricted(features).maximize(w[features])
            assert not part[[1, 2]].any()
        assert not constraint.maximize(np.zeros(9)).any()
