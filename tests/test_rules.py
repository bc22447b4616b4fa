"""Rules for the features of a component: the exact step against exhaustive search, and whole fits.

What a rule allows is said a second time here, as a plain predicate of a set of features.
"""

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from redac.constraints import (
    L0,
    L1,
    Budget,
    Constraint,
    Excluding,
    MaxPerGroup,
    Nonnegative,
    Requiring,
    WholeGroups,
    limited,
    maximize_curved,
)
from redac.constraints.knapsack import best_choice

Allowed = Callable[[set[int]], bool]
Rule = tuple[Constraint, Allowed]
LABELS = ["a", "b", "a", "c", "b", None, "a", "c"]
COSTS = [3.0, 1.0, 2.0, 2.0, 1.0, 4.0, 0.0, 2.0]


def labels(d: int) -> list:
    return [LABELS[j % 8] for j in range(d)]


def costs(d: int) -> np.ndarray:
    return np.array([COSTS[j % 8] for j in range(d)])


def numbers(support: set[int], d: int) -> Counter:
    """How many features of each group a support has; one without a group is none."""
    given = labels(d)
    return Counter(given[j] for j in support if given[j] is not None)


def sizes(support: set[int], d: int) -> dict:
    """The groups that a support touches, and how many features these have in all."""
    given = labels(d)
    own = [j if each is None else each for j, each in enumerate(given)]
    every = Counter(own)
    return {own[j]: every[own[j]] for j in support}


def few_of_each(d: int) -> Rule:
    return MaxPerGroup(
        labels(d), 1, 3
    ), lambda T: len(T) <= 3 and all(n <= 1 for n in numbers(T, d).values())


def few_of_some(d: int) -> Rule:
    most = {"a": 2, "c": 0}
    return MaxPerGroup(labels(d), most), lambda T: all(
        n <= most.get(name, n) for name, n in numbers(T, d).items()
    )


def whole(d: int) -> Rule:
    return WholeGroups(labels(d), 2), lambda T: len(sizes(T, d)) <= 2


def whole_within(d: int) -> Rule:
    return WholeGroups(
        labels(d), None, d // 2 + 1
    ), lambda T: sum(sizes(T, d).values()) <= d // 2 + 1


def whole_few_within(d: int) -> Rule:
    return WholeGroups(
        labels(d), 2, d // 2 + 1
    ), lambda T: len(sizes(T, d)) <= 2 and sum(sizes(T, d).values()) <= d // 2 + 1


def budget(d: int) -> Rule:
    return Budget(costs(d), 4.0), lambda T: costs(d)[list(T)].sum() <= 4.0


def odd_budget(d: int) -> Rule:
    odd = costs(d) * np.pi + 0.3
    return Budget(odd, 8.1, 3), lambda T: len(T) <= 3 and odd[list(T)].sum() <= 8.1


def without(rule: Callable[[int], Rule], features: tuple[int, ...]) -> Callable[[int], Rule]:
    def made(d: int) -> Rule:
        constraint, allows = rule(d)
        return Excluding(constraint, features), lambda T: not T & set(features) and allows(T)

    return made


def always(rule: Callable[[int], Rule], features: tuple[int, ...]) -> Callable[[int], Rule]:
    def made(d: int) -> Rule:
        constraint, allows = rule(d)
        return Requiring(constraint, features), lambda T: allows(T | set(features))

    return made


def at_most_three(d: int) -> Rule:
    return L0(3), lambda T: len(T) <= 3


RULES: dict[str, Callable[[int], Rule]] = {
    "cardinality": at_most_three,
    "few of each group": few_of_each,
    "few of some groups": few_of_some,
    "whole groups": whole,
    "whole groups within a number": whole_within,
    "few whole groups within a number": whole_few_within,
    "budget": budget,
    "budget of odd numbers": odd_budget,
    "excluding": without(at_most_three, (0, 3)),
    "excluding, few of each group": without(few_of_each, (2,)),
    "excluding, whole groups": without(whole, (0, 4)),
    "requiring": always(at_most_three, (1, 4)),
    "requiring all": always(at_most_three, (1, 2, 4)),
    "requiring, few of each group": always(few_of_each, (1,)),
    "requiring, whole groups": always(whole, (1,)),
    "requiring, whole groups within a number": always(whole_within, (5,)),
    "requiring, budget": always(budget, (0,)),
    "requiring and excluding": without(always(few_of_some, (0, 1)), (2, 5)),
}
ALL = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def with_sign(rule: Rule, nonnegative: bool) -> Rule:
    """The rule, nonnegative beside its exclusions if wanted."""
    constraint, allows = rule
    if not nonnegative:
        return rule
    if isinstance(constraint, Excluding):
        return Excluding(Nonnegative(constraint.inner), constraint.features), allows
    return Nonnegative(constraint), allows


SIGNS = pytest.mark.parametrize("nonnegative", [False, True], ids=["any-sign", "nonnegative"])


def best_by_search(w: np.ndarray, allows: Allowed, *, nonnegative: bool) -> float:
    """The largest ⟨w, v⟩ over all allowed supports."""
    found = -np.inf
    for size in range(1, w.size + 1):
        for support in combinations(range(w.size), size):
            if allows(set(support)):
                part = w[list(support)]
                if nonnegative:
                    value = np.linalg.norm(np.maximum(part, 0)) if (part > 0).any() else part.max()
                else:
                    value = np.linalg.norm(part)
                found = max(found, float(value))
    return found


def directions(d: int) -> list[np.ndarray]:
    rng = np.random.default_rng(d)
    drawn = [rng.standard_normal(d) for _ in range(6)]
    ties = rng.integers(-1, 2, d) + np.eye(d)[d // 2]
    return [*drawn, -np.abs(drawn[0]), np.ones(d), ties, np.where(drawn[1] > 0, drawn[1], 0.0)]


@ALL
@SIGNS
@pytest.mark.parametrize("d", [6, 8])
def test_the_step_is_the_best_of_all_supports(rule, nonnegative, d):
    constraint, allows = with_sign(rule(d), nonnegative)
    for w in directions(d):
        v = constraint.maximize(w)
        best = best_by_search(w, allows, nonnegative=nonnegative)
        assert v @ w == pytest.approx(best, abs=1e-12)
        assert constraint.contains(v)
        assert allows(set(np.flatnonzero(v).tolist()))


@ALL
@SIGNS
def test_no_random_feasible_vector_is_better(rule, nonnegative):
    constraint, allows = with_sign(rule(50), nonnegative)
    rng = np.random.default_rng(0)
    W = rng.standard_normal((10, 50))
    values = np.array([constraint.maximize(w) @ w for w in W])
    count = 0
    while count < 1000:
        support: list[int] = []
        for j in rng.permutation(50):
            if allows({*support, int(j)}):
                support.append(int(j))
            if len(support) >= 10:
                break
        v = np.zeros(50)
        chosen = rng.permutation(support)[: rng.integers(1, len(support) + 1)]
        # The best signs for one of the directions make it a rival that is worth the name.
        w = W[count % len(W)]
        v[chosen] = np.abs(rng.standard_normal(chosen.size)) * np.sign(w[chosen])
        v = np.abs(v) if nonnegative else v
        v /= np.linalg.norm(v)
        assert constraint.contains(v)
        assert (W @ v <= values + 1e-12).all()
        count += 1


@ALL
@SIGNS
def test_contains_knows_what_is_allowed(rule, nonnegative):
    constraint, allows = with_sign(rule(8), nonnegative)
    for size in range(1, 9):
        for support in combinations(range(8), size):
            v = np.zeros(8)
            v[list(support)] = 1.0 / np.sqrt(size)
            assert constraint.contains(v) == allows(set(support))
            assert not constraint.contains(1.1 * v)


@ALL
def test_what_may_enter_and_join_is_what_is_allowed(rule):
    constraint, allows = rule(8)
    rng = np.random.default_rng(1)
    for w in rng.standard_normal((6, 8)):
        support = np.flatnonzero(constraint.maximize(w))
        told = constraint.may_enter(support, 8)
        joining = constraint.may_join(support, 8)
        for new in set(range(8)) - set(support.tolist()):
            assert joining[new] == allows({*support.tolist(), new})
            for row, old in enumerate(support):
                others = set(support.tolist()) - {old} | {new}
                assert (told is None or told[row, new]) == allows(others)


@ALL
@SIGNS
def test_a_part_of_the_features_has_the_same_rule(rule, nonnegative):
    constraint, allows = with_sign(rule(8), nonnegative)
    rng = np.random.default_rng(2)
    for size in (3, 5, 7):
        features = np.sort(rng.permutation(8)[:size])
        part = constraint.restricted(features)
        smaller = part.restricted(np.arange(size - 1))
        for w in rng.standard_normal((4, size)):
            for each, kept in ((part, features), (smaller, features[:-1])):
                inside = lambda T, kept=kept: allows(set(kept[list(T)].tolist()))  # noqa: E731
                own = w[: kept.size]
                if not any(inside({j}) for j in range(kept.size)):
                    continue
                v = each.maximize(own)
                best = best_by_search(own, inside, nonnegative=nonnegative)
                assert v @ own == pytest.approx(best, abs=1e-12)


@ALL
@SIGNS
def test_the_step_over_weighted_cells_is_the_best_of_all_supports(rule, nonnegative):
    constraint, allows = with_sign(rule(8), nonnegative)
    rng = np.random.default_rng(3)
    for w in rng.standard_normal((5, 8)):
        curvature = rng.uniform(0.1, 3.0, 8)
        v = maximize_curved(constraint, w, curvature, np.zeros(8))
        # The least Σ a x² − 2⟨w, x⟩ along v; over all it is −max Σ w²/a on allowed supports.
        gained = (w @ v) ** 2 / ((curvature * v) @ v)
        best = best_by_search(w / np.sqrt(curvature), allows, nonnegative=nonnegative)
        if best > 0.0:
            assert gained == pytest.approx(best**2, rel=1e-9)


@ALL
@SIGNS
def test_fewer_features_are_an_exact_rule_too_but_not_of_whole_groups(rule, nonnegative):
    constraint, allows = with_sign(rule(8), nonnegative)
    if rule in [made for name, made in RULES.items() if "whole groups" in name]:
        with pytest.raises(ValueError, match="no exact step"):
            limited(constraint, 3)
        return
    name = next(name for name, made in RULES.items() if made is rule)
    required = {"requiring": {1, 4}, "requiring all": {1, 2, 4}, "requiring and excluding": {0, 1}}
    first = required.get(name, {1} if "few" in name else {0}) if "requiring" in name else set()
    for w in directions(8):
        v = constraint.at_most(3).maximize(w)
        best = best_by_search(
            w, lambda T: len(T | first) <= 3 and allows(T), nonnegative=nonnegative
        )
        assert v @ w == pytest.approx(best, abs=1e-12)


@ALL
@SIGNS
def test_zero_gives_zero_and_equal_rules_are_equal(rule, nonnegative):
    constraint, _ = with_sign(rule(8), nonnegative)
    again, _ = with_sign(rule(8), nonnegative)
    assert not constraint.maximize(np.zeros(8)).any()
    assert constraint == again
    assert hash(constraint) == hash(again)
    assert constraint != L0(4)


def test_l1_bounds_leave_out_features_too():
    w = np.array([3.0, -2.0, 1.0, 5.0, 0.5])
    v = Excluding(L1(1.3), (3,)).maximize(w)
    assert v[3] == 0.0
    np.testing.assert_allclose(np.delete(v, 3), L1(1.3).maximize(np.delete(w, 3)))


@pytest.mark.parametrize("kind", ["odd", "whole", "close"])
def test_knapsacks_are_solved_exactly(kind):
    rng = np.random.default_rng(4)
    for _ in range(150):
        n = int(rng.integers(1, 9))
        values = rng.random(n)
        weights = {
            "odd": rng.random(n),
            "whole": rng.integers(0, 5, n).astype(float),
            "close": values + 0.1,
        }[kind]
        limit = float(rng.random() * weights.sum() + 1e-3)
        most = None if rng.random() < 0.5 else int(rng.integers(1, n + 1))
        got = best_choice(values, weights, limit, most)
        assert weights[got].sum() <= limit * (1 + 1e-9)
        assert most is None or got.size <= most
        best = max(
            values[list(T)].sum()
            for size in range(n + 1 if most is None else most + 1)
            for T in combinations(range(n), size)
            if weights[list(T)].sum() <= limit
        )
        assert values[got].sum() == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Requiring(L0(2), (0, 1, 5)), "3 required features .* more than L0"),
        (lambda: Requiring(L1(2.0), (0,)), "Requiring.*no|only L0"),
        (lambda: Requiring(MaxPerGroup("aab", 1), (0, 1)), "required features"),
        (lambda: Excluding(L0(2), (-1,)), "position -1"),
        (lambda: MaxPerGroup("aab", {"x": 1}), "'x'"),
        (lambda: MaxPerGroup("aab", -1), "0 or more"),
        (lambda: WholeGroups("aabb", None, 1), "smallest group has 2"),
        (lambda: WholeGroups("aabb", 0), "max_groups=0"),
        (lambda: Budget([1.0, -1.0], 3.0), "costs"),
        (lambda: Budget([1.0, 2.0], 0.0), "budget=0"),
        (lambda: limited(Nonnegative(L1(2.0)), 2), "no exact step"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_why(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
