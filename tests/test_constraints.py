"""``maximize`` returns the best feasible vector: by independent optimisers, properties, edges."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import (
    CONSTRAINTS,
    assert_same_loadings,
    best_value,
    random_feasible,
    theorem_3_as_printed,
)
from redac.constraints import L0, L1, Nonnegative

ULP = np.finfo(float).eps
KINDS = pytest.mark.parametrize("kind", CONSTRAINTS)
SHARES = st.floats(min_value=0.0, max_value=1.0)
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
# Moderate entries of either sign, exact zeros and exact ties among them; none whose square
# underflows, because the plain formulas of the references would not survive it.
ENTRIES = st.one_of(
    st.floats(min_value=-10.0, max_value=10.0).filter(lambda x: x == 0 or abs(x) > 1e-100),
    st.integers(min_value=-2, max_value=2).map(float),
)
SMALL = arrays(np.float64, st.integers(min_value=1, max_value=8), elements=ENTRIES)
VECTORS = arrays(np.float64, st.integers(min_value=1, max_value=60), elements=ENTRIES)


def spread_vector(d: int, seed: int) -> np.ndarray:
    """Entries of either sign whose magnitudes are far from ties."""
    rng = np.random.default_rng(seed)
    magnitudes = rng.permutation(np.arange(1, d + 1)) + rng.uniform(-0.3, 0.3, d)
    return magnitudes * rng.choice([-1.0, 1.0], d)


# Vectors at which formulas break, each crossed with every bound below.
EDGE_VECTORS = {
    "single": np.array([-3.0]),
    "two-equal": np.array([1.0, -1.0]),
    "two-apart": np.array([2.0, 1.0]),
    "all-equal-3": np.full(3, 0.1),
    "all-equal-7": np.full(7, -3.0),
    "all-equal-12": np.full(12, 0.1),
    "leading-tie": np.array([1.0, 5.0, -5.0, 5.0, 2.0]),
    "leading-tie-of-nine": np.append(np.full(9, 3.0), [0.04, 0.08, 0.06, 0.09]),
    "duplicated-in-pairs": np.repeat([4.0, -3.0, 2.0, 1.0], 2),
    "tie-at-the-end": np.array([3.0, 2.0, 1.0, 1.0, 1.0, -1.0]),
    "with-zeros": np.array([0.0, 2.0, 0.0, -1.0, 0.0, 0.5]),
    "one-non-zero": np.array([0.0, 0.0, -7.0, 0.0]),
    "range-1e-150-to-1e150": np.array([1e-150, -1e150, 1e100, 1.0, -1e-100, 9e149]),
    "tiny": np.array([1e-150, -3e-150, 2e-150, 1e-160]),
    "smallest-normal": np.array([3.0, -1.0, 2.0]) * np.finfo(float).tiny,
    "huge": np.array([1e300, -3e299, 1e299, 2e300]),
    "near-ties": np.array([1.0, 1.0 - ULP / 2, 1.0 + ULP, 1.0 + 2 * ULP, -1.0 - 3 * ULP]),
    "near-ties-and-rest": np.array([1.0, 1.0 - ULP, 1.0 + ULP, 0.3, 0.3 + ULP, -0.1]),
    "flat": 1e6 + np.array([1e-9, 3e-10, -2e-9, 5e-10, 0.0, 1e-9]),
    "flat-wide": 1e6 + np.random.default_rng(0).uniform(-1e-7, 1e-7, 40),
    "spread": spread_vector(8, 3),
    "no-positive-entry": np.array([-3.0, -1.0, -2.0, -1.5]),
    "no-positive-entry-with-zero": np.array([-3.0, 0.0, -2.0]),
    "one-positive-entry": np.array([-3.0, -1.0, 1e-8, -1.5]),
}
EDGE_BOUNDS = {
    "k=1": lambda d: L0(1),
    "k=2": lambda d: L0(2),
    "k=d-1": lambda d: L0(max(d - 1, 1)),
    "k=d": lambda d: L0(d),
    "k>d": lambda d: L0(d + 5),
    "t=1": lambda d: L1(1.0),
    "t=1+ulp": lambda d: L1(1.0 + ULP),
    "t=1.2": lambda d: L1(1.2),
    "t=sqrt2": lambda d: L1(math.sqrt(2.0)),
    "t=sqrt3+ulp": lambda d: L1(math.nextafter(math.sqrt(3.0), 2.0)),
    "t=3": lambda d: L1(3.0),
    "t=3+ulp": lambda d: L1(math.nextafter(3.0, 4.0)),
    "t=sqrt(d)-ulp": lambda d: L1(max(math.nextafter(math.sqrt(d), 0.0), 1.0)),
    "t=sqrt(d)": lambda d: L1(math.sqrt(d)),
    "t=sqrt(d)+ulp": lambda d: L1(math.nextafter(math.sqrt(d), math.inf)),
    "t>sqrt(d)": lambda d: L1(2.0 * math.sqrt(d)),
    "t=inf": lambda d: L1(math.inf),
}


# ------------------------------------------------------------ the optimum, small d


@KINDS
@settings(max_examples=60, deadline=None)
@given(w=SMALL, share=SHARES)
def test_no_feasible_vector_of_small_dimension_beats_the_answer(kind, w, share):
    constraint = CONSTRAINTS[kind](w.size, share)
    scale = max(float(np.linalg.norm(w)), 1e-300)
    assert constraint.maximize(w) @ w >= best_value(constraint, w) - 1e-9 * scale


@KINDS
@pytest.mark.parametrize("share", [0.0, 0.15, 0.4, 0.7, 1.0])
def test_the_answer_reaches_the_independent_optimum_exactly(kind, share):
    for seed in range(5):
        w = spread_vector(7, seed)
        constraint = CONSTRAINTS[kind](7, share)
        gap = constraint.maximize(w) @ w - best_value(constraint, w)
        assert abs(gap) <= 1e-9 * np.linalg.norm(w)


# ------------------------------------------------------------ properties, larger d


@KINDS
@settings(max_examples=60, deadline=None)
@given(w=VECTORS, share=SHARES)
def test_the_answer_is_a_unit_vector_of_the_set(kind, w, share):
    assume(w.any())
    constraint = CONSTRAINTS[kind](w.size, share)
    v = constraint.maximize(w)
    assert constraint.contains(v)
    assert abs(np.linalg.norm(v) - 1) <= 1e-12


@KINDS
@settings(max_examples=40, deadline=None)
@given(w=VECTORS, share=SHARES, seed=SEEDS)
def test_the_answer_is_unbeaten_by_random_feasible_vectors(kind, w, share, seed):
    assume(w.any())
    constraint = CONSTRAINTS[kind](w.size, share)
    rng = np.random.default_rng(seed)
    value = constraint.maximize(w) @ w
    for _ in range(10):
        rival = random_feasible(constraint, w.size, rng)
        assert constraint.contains(rival)
        assert rival @ w <= value + 1e-12 * np.linalg.norm(w)


@KINDS
@settings(max_examples=40, deadline=None)
@given(d=st.integers(2, 60), seed=SEEDS, share=SHARES, scale=st.floats(1e-140, 1e140))
def test_the_answer_does_not_depend_on_the_scale(kind, d, seed, share, scale):
    w = spread_vector(d, seed)
    constraint = CONSTRAINTS[kind](d, share)
    np.testing.assert_allclose(
        constraint.maximize(w * scale), constraint.maximize(w), rtol=1e-9, atol=1e-12
    )


@KINDS
@settings(max_examples=40, deadline=None)
@given(w=VECTORS, share=SHARES, exponent=st.integers(-400, 400))
def test_a_power_of_two_as_scale_changes_nothing(kind, w, share, exponent):
    constraint = CONSTRAINTS[kind](w.size, share)
    scaled = constraint.maximize(np.ldexp(w, exponent))
    assert_same_loadings(scaled, constraint.maximize(w), atol=1e-15)


@KINDS
@settings(max_examples=40, deadline=None)
@given(d=st.integers(2, 60), seed=SEEDS, share=SHARES)
def test_permuting_the_entries_permutes_the_answer(kind, d, seed, share):
    w = spread_vector(d, seed)
    permutation = np.random.default_rng(seed).permutation(d)
    constraint = CONSTRAINTS[kind](d, share)
    np.testing.assert_allclose(
        constraint.maximize(w[permutation]), constraint.maximize(w)[permutation], atol=1e-12
    )


@pytest.mark.parametrize("kind", ["l0", "l1"])
@settings(max_examples=40, deadline=None)
@given(w=VECTORS, share=SHARES, seed=SEEDS)
def test_flipping_signs_flips_the_answer(kind, w, share, seed):
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], w.size)
    constraint = CONSTRAINTS[kind](w.size, share)
    flipped = constraint.maximize(signs * w)
    assert_same_loadings(flipped, signs * constraint.maximize(w), atol=1e-15)


@KINDS
@settings(max_examples=60, deadline=None)
@given(w=VECTORS, share=SHARES)
def test_signs_agree_and_zeros_stay_zero(kind, w, share):
    assume(not kind.startswith("nonnegative") or (w > 0).any())
    v = CONSTRAINTS[kind](w.size, share).maximize(w)
    assert (v * w >= 0).all()
    assert not v[w == 0].any()


@pytest.mark.parametrize("kind", ["l0", "l1"])
@settings(max_examples=40, deadline=None)
@given(w=VECTORS)
def test_the_loosest_bound_returns_the_direction_itself(kind, w):
    assume(w.any())
    v = CONSTRAINTS[kind](w.size, 1.0).maximize(w)
    np.testing.assert_allclose(v, w / np.linalg.norm(w), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(w=VECTORS)
def test_the_loosest_nonnegative_bound_returns_the_positive_part(w):
    assume((w > 0).any())
    positive = np.maximum(w, 0.0)
    v = Nonnegative(L0(w.size)).maximize(w)
    np.testing.assert_allclose(v, positive / np.linalg.norm(positive), atol=1e-12)


@KINDS
@settings(max_examples=40, deadline=None)
@given(w=VECTORS)
def test_a_looser_bound_never_gives_a_smaller_value(kind, w):
    values = [
        CONSTRAINTS[kind](w.size, share).maximize(w) @ w for share in np.linspace(0.0, 1.0, 12)
    ]
    assert (np.diff(values) >= -1e-12 * max(1.0, np.linalg.norm(w))).all()


@settings(max_examples=60, deadline=None)
@given(d=st.integers(2, 60), seed=SEEDS, share=SHARES)
def test_a_binding_l1_bound_is_met_with_equality(d, seed, share):
    w = spread_vector(d, seed)
    t = max(1.0, math.sqrt(share * d))
    assume(np.abs(w).sum() > t * np.linalg.norm(w))
    assert np.abs(L1(t).maximize(w)).sum() == pytest.approx(t, rel=1e-12)


@KINDS
@settings(max_examples=30, deadline=None)
@given(w=VECTORS, share=SHARES)
def test_the_argument_is_left_as_it_is(kind, w, share):
    before = w.copy()
    CONSTRAINTS[kind](w.size, share).maximize(w)
    np.testing.assert_array_equal(w, before)


# ------------------------------------------------------------ edges


@pytest.mark.parametrize("nonnegative", [False, True], ids=["any-sign", "nonnegative"])
@pytest.mark.parametrize("bound", EDGE_BOUNDS)
@pytest.mark.parametrize("vector", EDGE_VECTORS)
def test_edge_cases_are_feasible_and_optimal(vector, bound, nonnegative):
    w = EDGE_VECTORS[vector]
    constraint = EDGE_BOUNDS[bound](w.size)
    if nonnegative:
        constraint = Nonnegative(constraint)
    v = constraint.maximize(w)
    assert constraint.contains(v)
    scaled = np.ldexp(w, -math.frexp(np.abs(w).max())[1])  # so that no square overflows
    if w.size <= 12 or bound.startswith("t"):  # for p = 0 there are too many supports otherwise
        assert v @ scaled >= best_value(constraint, scaled) - 1e-9 * np.linalg.norm(scaled)


@pytest.mark.parametrize("nonnegative", [False, True], ids=["any-sign", "nonnegative"])
@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("bound", EDGE_BOUNDS)
def test_zero_gives_zero(bound, d, nonnegative):
    constraint = EDGE_BOUNDS[bound](d)
    if nonnegative:
        constraint = Nonnegative(constraint)
    np.testing.assert_array_equal(constraint.maximize(np.zeros(d)), np.zeros(d))


@pytest.mark.parametrize("ulps", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("rest", [0, 3], ids=["alone", "with-smaller-entries"])
def test_ties_with_a_bound_within_rounding_of_their_root_give_a_feasible_vector(ulps, rest):
    infeasible = []
    for ties in range(2, 60):
        t = math.sqrt(ties)
        for _ in range(abs(ulps)):
            t = math.nextafter(t, math.inf if ulps > 0 else 0.0)
        w = np.concatenate([np.full(ties, 0.1), 0.07 * np.ones(rest)])
        if not L1(t).contains(L1(t).maximize(w)):
            infeasible.append(ties)
    assert not infeasible


def test_among_equal_magnitudes_the_first_are_kept():
    v = L0(2).maximize(np.array([1.0, 3.0, -3.0, 3.0]))
    np.testing.assert_array_equal(np.flatnonzero(v), [1, 2])


@pytest.mark.parametrize(("t", "non_zeros"), [(1.0, 1), (1.3, 2), (1.6, 3), (2.0, 4)])
def test_a_face_of_ties_is_met_at_its_sparsest_point(t, non_zeros):
    v = L1(t).maximize(np.full(6, 2.0))
    assert np.count_nonzero(v) == non_zeros
    assert np.abs(v).sum() == pytest.approx(t, rel=1e-12)


@pytest.mark.parametrize("inner", [L0(3), L1(1.5)], ids=["l0", "l1"])
def test_without_a_positive_entry_the_least_negative_one_stands_alone(inner):
    v = Nonnegative(inner).maximize(np.array([-3.0, -1.0, -2.0]))
    np.testing.assert_array_equal(v, [0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: L0(0), r"cardinality=0 leaves no non-zero entry; it must be at least 1\."),
        (lambda: L0(-2), r"cardinality=-2 leaves no non-zero entry; it must be at least 1\."),
        (lambda: L1(0.999), r"l1_bound=0\.999 is infeasible: a unit vector has "),
        (lambda: L1(-1.0), r"l1_bound=-1\.0 is infeasible"),
        (lambda: L1(math.nan), r"l1_bound=nan is infeasible"),
    ],
    ids=["k=0", "k=-2", "t=0.999", "t=-1", "t=nan"],
)
def test_an_infeasible_bound_is_an_error_that_says_why(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("constraint", "v"),
    [
        (L0(2), [0.6, 0.8, 1e-300]),
        (L0(2), [0.6, 0.7, 0.0]),
        (L1(1.2), [0.6, 0.8, 0.0]),
        (L1(2.0), [0.3, 0.4, 0.0]),
        (L0(3), [math.nan, 0.0, 1.0]),
        (L0(3), [0.0, 0.0, 0.0]),
        (Nonnegative(L0(2)), [0.6, -0.8, 0.0]),
        (Nonnegative(L0(1)), [0.6, 0.8, 0.0]),
    ],
    ids=["support", "length", "l1-norm", "short", "nan", "zero", "sign", "inner-of-nonnegative"],
)
def test_contains_refuses_what_is_not_in_the_set(constraint, v):
    assert not constraint.contains(np.array(v))


# ------------------------------------------------------------ Theorem 3 as printed


@settings(max_examples=100, deadline=None)
@given(d=st.integers(2, 40), seed=SEEDS, share=st.floats(0.02, 0.98))
def test_theorem_3_as_printed_is_ours_where_its_threshold_is_positive(d, seed, share):
    w = spread_vector(d, seed)
    t = 1.0 + share * (math.sqrt(d) - 1.0)
    printed, threshold = theorem_3_as_printed(w, t)
    assume(threshold > 0)
    np.testing.assert_allclose(L1(t).maximize(w), printed, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(d=st.integers(2, 40), seed=SEEDS, share=st.floats(0.05, 0.95))
def test_where_the_printed_threshold_is_negative_ours_is_the_direction_itself_and_no_worse(
    d, seed, share
):
    w = spread_vector(d, seed) ** 3
    inside = np.abs(w).sum() / np.linalg.norm(w)
    t = inside + share * (math.sqrt(d) - inside)
    printed, threshold = theorem_3_as_printed(w, t)
    assert threshold < 0
    ours = L1(t).maximize(w)
    np.testing.assert_allclose(ours, w / np.linalg.norm(w), atol=1e-12)
    assert ours @ w >= printed @ w
