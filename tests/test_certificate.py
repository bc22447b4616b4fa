"""Certificates: bounds that nothing beats, and that are met where the optimum is known."""

import _thread
import itertools
import threading
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from helpers import factor_data, projector
from redac import SparsePCA, metrics
from redac.certificate import Certificate, certificate, cheap
from redac.certificate.dual import Term, evaluate, minimise
from redac.certificate.families import Family
from redac.certificate.flags import FlagNode, Subproblem
from redac.certificate.ownership import OwnershipNode
from redac.certificate.portions import Portion
from redac.certificate.power import best_of_power
from redac.certificate.roots import roots
from redac.certificate.rounding import eigenvalue_margin
from redac.certificate.rounds import on_supports
from redac.certificate.single import conditional, excluded, sparse_bound
from redac.certificate.splits import Own, Shared, Split, _SmoothSplit, best_split
from redac.certificate.tree import Incumbent
from redac.certificate.unions import Matrix, union_bound
from redac.datasets import load_pitprops

PITPROPS = load_pitprops().correlation
WINE = np.corrcoef(load_wine().data.T)
CANCER = np.corrcoef(load_breast_cancer().data.T)


# ------------------------------------------------------------ independent references


def covariance(d: int, seed: int, *, correlation: bool = False) -> np.ndarray:
    """A covariance matrix of data with factors, variances of every size."""
    X = factor_data(3 * d, d, seed)
    return np.corrcoef(X.T) if correlation else np.cov(X.T)


def explained(S: np.ndarray, V: np.ndarray) -> float:
    return float(np.trace(S @ projector(V)))


def sparse_eigenvalue(S: np.ndarray, k: int) -> tuple[float, np.ndarray]:
    """The largest k-sparse eigenvalue and its support, by all supports."""
    sets = np.array(list(itertools.combinations(range(len(S)), k)))
    values = np.linalg.eigvalsh(S[sets[:, :, None], sets[:, None, :]])[:, -1]
    return float(values.max()), sets[int(np.argmax(values))]


def eigenvector_on(S: np.ndarray, support: np.ndarray) -> np.ndarray:
    v = np.zeros(len(S))
    v[support] = np.linalg.eigh(S[np.ix_(support, support)])[1][:, -1]
    return v


def climb(
    S: np.ndarray, supports: tuple[tuple[int, ...], ...], rng: np.random.Generator, rounds: int
) -> np.ndarray:
    """Loadings for given supports, improved in turn: each solves an eigenproblem of its own."""
    d = len(S)
    V = np.zeros((d, len(supports)))
    for i, T in enumerate(supports):
        V[list(T), i] = rng.standard_normal(len(T))
    for _ in range(rounds):
        for i, T in enumerate(supports):
            basis = np.linalg.qr(np.delete(V, i, axis=1))[0]
            Q = np.eye(d)[:, list(T)] - basis @ basis[list(T)].T
            lengths, axes = np.linalg.eigh(Q.T @ Q)
            live = lengths > 1e-8
            if not live.any():
                continue
            axes = axes[:, live] / np.sqrt(lengths[live])
            x = axes @ np.linalg.eigh(axes.T @ Q.T @ S @ Q @ axes)[1][:, -1]
            V[:, i] = 0.0
            V[list(T), i] = x / np.linalg.norm(x)
    return V


def best_by_all_supports(S: np.ndarray, cardinalities: tuple[int, ...], seed: int) -> np.ndarray:
    """The best loadings over all choices of supports: short climbs first, long for few."""
    rng = np.random.default_rng(seed)
    choices = [itertools.combinations(range(len(S)), k) for k in cardinalities]
    tried = {}
    for supports in itertools.product(*choices):
        # Supports of equal size may change places.
        if all(len(T) != len(U) or T <= U for T, U in itertools.pairwise(supports)):
            tried[supports] = explained(S, climb(S, supports, rng, rounds=3))
    promising = sorted(tried, key=tried.__getitem__)[-5:]
    climbs = [climb(S, supports, rng, rounds=25) for supports in promising for _ in range(3)]
    return max(climbs, key=lambda V: explained(S, V))


# ------------------------------------------------------------ the lifted dual


def random_loadings(rng: np.random.Generator, d: int, r: int) -> tuple[np.ndarray, list[list[int]]]:
    supports = [sorted(rng.choice(d, rng.integers(1, d), replace=False).tolist()) for _ in range(r)]
    V = np.zeros((d, r))
    for i, T in enumerate(supports):
        V[T, i] = rng.standard_normal(len(T))
    return V, supports


def test_no_multiplier_gives_a_bound_below_any_loadings():
    rng = np.random.default_rng(0)
    tested = 0
    while tested < 3000:
        d, r = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        V, supports = random_loadings(rng, d, r)
        if np.linalg.matrix_rank(V) < r:
            continue
        A = rng.standard_normal((rng.integers(1, d + 2), d)) * rng.exponential(1.0, d)
        S = A.T @ A
        terms = []
        for count in range(1, r + 1):
            for which in itertools.combinations(range(r), count):
                union = np.unique(np.concatenate([supports[i] for i in which]))
                others = [np.sort(rng.choice(d, union.size, replace=False)) for _ in range(2)]
                sets = np.array([union, *others[: rng.integers(0, 3)]])
                terms.append(Term.of(count, sets))
        factors = rng.standard_normal((len(terms), d, d)) * rng.choice([0.01, 1.0, 3.0])
        factors *= rng.random((len(terms), 1, 1)) < 0.7
        # Multipliers of low rank, aimed at the loadings, come near to equality.
        if rng.random() < 0.5:
            factors = factors @ (np.eye(d) - projector(V))
            factors = factors.transpose(0, 2, 1)
        assert evaluate(S, r, terms, factors) >= explained(S, V) - 1e-12 * np.trace(S)
        tested += 1


def test_minimised_dual_meets_the_best_loadings_of_fixed_supports():
    supports = ((0, 1), (2, 3, 6), (1, 4, 5))
    S = covariance(8, 5, correlation=True)
    rng = np.random.default_rng(0)
    best = max(explained(S, climb(S, supports, rng, rounds=20)) for _ in range(10))
    terms = []
    for count in (1, 2, 3):
        for which in itertools.combinations(supports, count):
            union = np.unique(np.concatenate(which))
            if union.size < 8 - 3 + count:
                terms.append(Term.of(count, union[None]))
    bound = minimise(S, 3, terms).value
    assert best <= bound <= best * 1.04
    assert bound < np.linalg.eigvalsh(S)[-3:].sum()


def test_reported_dual_bound_is_the_one_its_multipliers_prove():
    sets = np.array(list(itertools.combinations(range(6), 2)))
    S = covariance(6, 1)
    found = minimise(S, 2, [Term.of(1, sets)])
    assert evaluate(S, 2, [Term.of(1, sets)], found.factors) == pytest.approx(
        found.value, rel=1e-12
    )
    assert sum(found.weights[0]) == pytest.approx(1.0)


# ------------------------------------------------------------ unions, families, cheap bounds


@pytest.mark.parametrize("seed", range(30))
def test_union_bound_is_beaten_by_no_union(seed):
    rng = np.random.default_rng(seed)
    d = 8
    S = covariance(d, seed, correlation=bool(seed % 2))
    matrix = Matrix(S)
    order = rng.permutation(d)
    inside, free = order[: rng.integers(0, 3)], order[3:]
    for rank in (1, 2, 3):
        for size in range(max(inside.size, rank), d):
            bound = union_bound(matrix, rank, size, inside, free)
            missing = min(size - inside.size, free.size)
            for more in itertools.combinations(free, missing):
                U = np.array([*inside, *more], dtype=int)
                value = np.linalg.eigvalsh(S[np.ix_(U, U)])[-rank:].sum()
                assert bound >= value - 1e-12 * np.trace(S)


@pytest.mark.parametrize("seed", range(5))
def test_mixture_is_below_both_its_ends_and_above_every_union(seed):
    S = covariance(9, seed)
    r, count = 2, 5
    bound = cheap.mixed_bound(S, r, count)
    eigenvalues = cheap.eigenvalue_bound(np.linalg.eigvalsh(S), r)
    variances = cheap.trace_bound(S.diagonal(), count)
    assert bound <= min(eigenvalues, variances) * (1 + 1e-3)
    for U in itertools.combinations(range(9), count):
        assert bound >= np.linalg.eigvalsh(S[np.ix_(U, U)])[-r:].sum() - 1e-12 * np.trace(S)


def test_a_split_family_keeps_every_support_once(monkeypatch):
    for listed in (1000, 5):
        monkeypatch.setattr("redac.certificate.families.LISTED", listed)
        open_families, found = [Family.all_supports(6, 3)], []
        while open_families:
            family = open_families.pop()
            if family.is_empty:
                continue
            if family.is_decided:
                found.append(tuple(family.sets[0].tolist()))
                continue
            x = family.branching_variable(None, np.arange(6.0))
            open_families.extend(family.split(x))
        assert sorted(found) == list(itertools.combinations(range(6), 3))


def test_children_cover_loadings_of_their_parent():
    """A good solution lies in a child of every node on its way, so no bound falls below it."""
    S = covariance(6, 2, correlation=True)
    S /= np.trace(S)
    V = best_by_all_supports(S, (2, 3), 0)
    incumbent = Incumbent(S, np.zeros((6, 2)), 0.0, np.inf)
    nodes = [FlagNode.root(Subproblem.of(S, (2, 3), 0.0))]
    for _ in range(30):
        node = max(nodes, key=lambda node: node.bound)
        assert node.bound >= explained(S, V) - 1e-12
        children = node.branch(incumbent)
        if children is None:
            break
        assert all(child.bound <= node.bound for child in children)
        nodes.remove(node)
        nodes.extend(children)


# ------------------------------------------------------------ own and shared variables


def cells_of(supports: list[set[int]]) -> tuple[list[set[int]], set[int]]:
    """The own variables of each component, and those of several."""
    shared = {j for T, U in itertools.combinations(supports, 2) for j in T & U}
    return [T - shared for T in supports], shared


def test_no_split_gives_a_bound_below_any_loadings():
    rng = np.random.default_rng(1)
    tested = 0
    while tested < 2000:
        d, r = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        V, supports = random_loadings(rng, d, r)
        if np.linalg.matrix_rank(V) < r:
            continue
        tested += 1
        A = rng.standard_normal((rng.integers(1, d + 2), d)) * rng.exponential(1.0, d)
        S = A.T @ A
        own, shared = cells_of([set(T) for T in supports])
        # Far from S, near to it, or what the loadings leave of it.
        L = rng.standard_normal((d, d)) * rng.choice([0.0, 0.3, 1.0])
        if rng.random() < 0.6:
            L = np.hstack([A.T, np.zeros((d, d))])[:, :d] if len(A) <= d else L
            L = projector(V) @ L if rng.random() < 0.5 else L
        prices = rng.exponential(rng.choice([0.0, 0.1, 1.0]) * np.trace(S), d)
        prices[rng.random(d) < 0.3] = 0.0
        alone = [set(whole) == T for T, whole in zip(own, supports, strict=True)]
        taken_out = sum(alone) if rng.random() < 0.5 else 0
        split = Split.of(S, r, L, prices, taken_out=taken_out)
        used = len(shared) + sum(map(len, own))
        bound = split.rest + split.paid(np.arange(d), used)
        bound += sum(split.priced.diagonal(np.array(sorted(shared), dtype=np.intp)))
        for T, is_alone in zip(own, alone, strict=True):
            part = Portion(len(T), (), tuple(range(d)))
            part = part.listed() if rng.random() < 0.7 else part
            bound += part.bound(split.alone if is_alone else split.priced)
        assert bound >= explained(S, V) - 1e-12 * np.trace(S)


@pytest.mark.parametrize(
    ("d", "cardinalities"), [(6, (2, 3)), (6, (3, 3)), (6, (2, 2, 2)), (7, (3, 2, 2))]
)
def test_regions_of_cells_cover_all_supports(d, cardinalities):
    """Divide until all is known: at any moment every choice of supports lies in some region."""
    S = covariance(d, 1)
    rng = np.random.default_rng(0)
    nodes = list(roots(S, cardinalities))
    assert all(isinstance(node, OwnershipNode) for node in nodes)
    nothing = Incumbent(S, np.zeros((d, len(cardinalities))), -1.0, np.inf)
    choices = [
        [set(rng.choice(d, k, replace=False).tolist()) for k in cardinalities] for _ in range(60)
    ]
    for _ in range(8):
        assert all(any(lies_in(node, chosen) for node in nodes) for chosen in choices)
        nodes = [child for node in nodes for child in children_of(node, nothing)]


def children_of(node, incumbent):
    if node.bound <= incumbent.threshold:  # nothing is left of it
        return []
    if isinstance(node, OwnershipNode) and (node.split is None or node.pivot is not None):
        return node.branch(incumbent)
    return [node]


def lies_in(node, supports):
    """Components of equal cardinality may change places."""
    for order in itertools.permutations(range(len(supports))):
        chosen = [supports[i] for i in order]
        if [len(T) for T in chosen] != list(node.cardinalities):
            continue
        own, shared = cells_of(chosen)
        *parts, common = node.parts
        if not set(common.inside) <= shared <= {*common.inside, *common.free}:
            continue
        if len(shared) <= common.size and all(
            len(T) == part.size
            and set(part.inside) <= T <= {*part.inside, *part.free}
            and (part.sets is None or sorted(T) in part.sets.tolist())
            for T, part in zip(own, parts, strict=True)
        ):
            return True
    return False


def test_a_wrong_split_would_be_seen(monkeypatch):
    S = covariance(7, 0, correlation=True)
    V = best_by_all_supports(S, (2, 3), 0)

    def too_low(*given, **more):
        found = honest(*given, **more)
        return replace(found, rest=found.rest - 0.6 * np.trace(S))

    honest = Split.of
    monkeypatch.setattr("redac.certificate.splits.Split.of", too_low)
    monkeypatch.setattr("redac.certificate.api._Work._improve", lambda self: None)
    result = certificate(S, np.eye(7)[:2], cardinality=(2, 3), time_limit=60)
    assert result.upper_bound < 100 * explained(S, V) / 7 - 1e-3


def test_a_price_paid_too_late_would_be_seen(monkeypatch):
    """Parts that pay, while nothing is added for that, bound less than there is."""
    S = covariance(7, 0, correlation=True)
    V = best_by_all_supports(S, (2, 3), 0)
    monkeypatch.setattr("redac.certificate.splits.Split.paid", lambda self, allowed, count: 0.0)
    monkeypatch.setattr("redac.certificate.api._Work._improve", lambda self: None)
    result = certificate(S, np.eye(7)[:2], cardinality=(2, 3), time_limit=60)
    assert result.upper_bound < 100 * explained(S, V) / 7 - 1e-3


@pytest.mark.parametrize("alone", [False, True])
def test_slopes_of_a_priced_split_are_those_of_its_value(alone):
    rng = np.random.default_rng(3)
    d, S = 6, covariance(6, 2)
    sets = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
    parts = [Own(lambda priced: sets, 1, alone), Own(lambda priced: sets, 2, alone=False)]
    shared = Shared(np.array([0]), np.array([2, 3, 5]), 2, 5)
    smooth = _SmoothSplit(S, 2, parts, [sets, sets], shared, 0.1, priced=True)
    x = rng.standard_normal(d * d + d)
    slope = smooth(x)[1]
    for direction in rng.standard_normal((5, x.size)):
        step = 1e-6 * direction
        change = (smooth(x + step)[0] - smooth(x - step)[0]) / 2e-6
        assert change == pytest.approx(slope @ direction, rel=1e-5, abs=1e-7)


def test_prices_keep_components_from_using_the_same_variables():
    """Two components, each best on the same variables, one of which may have them."""
    rng = np.random.default_rng(8)
    A = rng.standard_normal((4, 6))
    S = A.T @ A / np.trace(A.T @ A)
    part = Portion(3, (), tuple(range(6))).listed()
    nothing = np.zeros(0, dtype=np.intp)
    shared = Shared(nothing, nothing, 0, 6)
    start = Split.clipped(S, 2, np.linalg.norm(S), 0.0)
    bounds = []
    for priced, alone in ((False, False), (True, False), (True, True)):
        own = [Own(part.binding, 2, alone)]
        split = best_split(S, 2, own, shared, start, fresh=True, priced=priced)
        each = part.bound(split.alone if alone else split.priced)
        bounds.append(split.rest + split.paid(np.arange(6), 6) + 2 * each)
    best = max(
        sum(np.linalg.eigvalsh(S[np.ix_(T, T)])[-1] for T in (T, np.setdiff1d(range(6), T)))
        for T in itertools.combinations(range(6), 3)
    )
    free, *with_prices = bounds
    assert all(best <= bound < free - 0.2 * (free - best) for bound in with_prices)


def test_disjoint_components_are_solved():
    S = np.zeros((8, 8))
    S[:4, :4] = covariance(4, 4)
    S[4:, 4:] = covariance(4, 5)
    best = sparse_eigenvalue(S[:4, :4], 3)[0] + sparse_eigenvalue(S[4:, 4:], 2)[0]
    result = certificate(S, np.eye(8)[:2], cardinality=(3, 2), time_limit=60)
    assert result.upper_bound >= 100 * best / np.trace(S) - 1e-9


def test_loadings_on_supports_are_as_good_as_the_best_of_many_starts():
    S = covariance(8, 5, correlation=True)
    supports = [np.array(T) for T in ((0, 1, 2), (2, 3, 6), (1, 4, 5, 7))]
    rng = np.random.default_rng(0)
    best = max(
        explained(S, climb(S, tuple(map(tuple, supports)), rng, rounds=30)) for _ in range(5)
    )
    V = on_supports(S, supports)
    assert [np.flatnonzero(v).tolist() for v in V.T] == [T.tolist() for T in supports]
    assert explained(S, V) == pytest.approx(best, rel=1e-3)


# ------------------------------------------------------------ rounding


@pytest.mark.parametrize("d", [2, 5, 30, 200])
def test_margin_covers_the_error_of_known_eigenvalues(d):
    """The second-difference matrix has eigenvalues 2 − 2cos(jπ/(d+1))."""
    A = 2 * np.eye(d) - np.eye(d, k=1) - np.eye(d, k=-1)
    j = np.arange(1, d + 1, dtype=np.longdouble)
    exact = 2 - 2 * np.cos(j * np.arctan(np.longdouble(1)) * 4 / (d + 1))
    for count in (1, d // 2, d):
        error = abs(np.linalg.eigvalsh(A)[-count:].sum() - exact[-count:].sum())
        assert error < eigenvalue_margin(A, count) < 1e-8 * exact.sum()


@pytest.mark.parametrize("seed", range(40))
def test_bound_stays_above_an_optimum_that_it_meets(seed):
    """One dense component: value and bound are the same number, computed in two ways."""
    S = covariance(6, seed) * 10.0 ** (seed - 20)
    result = certificate(S, np.linalg.eigh(S)[1][:, -1:].T)
    assert 0 < result.upper_bound - result.value < 1e-9


# ------------------------------------------------------------ the optimum of small problems


@pytest.mark.parametrize("S", [PITPROPS, WINE], ids=["pitprops", "wine"])
def test_one_component_is_solved(S):
    for k in range(2, 11):
        best, support = sparse_eigenvalue(S, k)
        result = certificate(S, eigenvector_on(S, support), time_limit=300)
        assert result.value == pytest.approx(100 * best / 13, rel=1e-12)
        assert result.value <= result.upper_bound <= result.value + 1e-6
        assert result.proved
        assert result.better_components is None


@pytest.mark.parametrize("k", [2, 3])
def test_one_component_is_solved_from_any_solution(k):
    """The best support need not have the variable that looks best."""
    for seed in range(40):
        A = np.random.default_rng(seed).standard_normal((5, 8))
        S = A.T @ A
        best, _ = sparse_eigenvalue(S, k)
        result = certificate(S, np.eye(8)[:1], cardinality=k)
        assert result.upper_bound == pytest.approx(100 * best / np.trace(S), abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_one_component_is_solved_by_any_spread_of_variances(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rng.integers(2, 12), 9)) * rng.lognormal(sigma=seed / 6, size=9)
    S = A.T @ A
    for k in range(1, 10):
        best, _ = sparse_eigenvalue(S, k)
        result = certificate(S, np.eye(9)[-1:], cardinality=k)
        assert result.upper_bound == pytest.approx(100 * best / np.trace(S), abs=1e-6)
        assert max(result.value, result.better_value or 0) <= result.upper_bound + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_bounds_of_one_component_are_beaten_by_no_support(seed):
    """Whatever is known of the support, and whatever level is tested."""
    rng = np.random.default_rng(seed)
    d, k = 8, 4
    S = covariance(d, seed, correlation=bool(seed % 2))
    order = rng.permutation(d)
    inside, free = order[: seed % 3], order[seed % 3 :]
    count = k - inside.size
    unions = [np.append(inside, more) for more in itertools.combinations(free, count)]
    values = np.array([np.linalg.eigvalsh(S[np.ix_(U, U)])[-1] for U in unions])
    for t in np.linspace(values.min(), values.max() * 1.2, 12):
        lifted = conditional(S, inside, free, t)
        if lifted is None:
            assert values.max() > t
            continue
        if sparse_bound(lifted, count) <= t:
            assert values.max() <= t * (1 + 1e-12)
        out = free[excluded(lifted, count, t)]
        uses = np.array([np.isin(out, U).any() for U in unions])
        assert values[uses].max(initial=0.0) <= t * (1 + 1e-12)
    most = [np.linalg.eigvalsh(S[np.ix_(T, T)])[-1] for T in itertools.combinations(free, 3)]
    assert sparse_bound(S[np.ix_(free, free)], 3) >= max(most) * (1 - 1e-12)


def test_a_wrong_bound_would_be_seen(monkeypatch):
    """A bound that is too low leaves the optimum out, and tests like these notice."""
    S = covariance(9, 3, correlation=True)
    best, _ = sparse_eigenvalue(S, 4)

    def too_low(T, count):
        return 0.7 * sparse_bound(T, count)

    monkeypatch.setattr("redac.certificate.single.sparse_bound", too_low)
    monkeypatch.setattr("redac.certificate.api.best_of_power", lambda *_: np.eye(9)[:, :1])
    result = certificate(S, np.eye(9)[:1], cardinality=4)
    assert result.upper_bound < 100 * best / 9 - 1e-3


def test_a_search_from_every_variable_finds_the_best_of_few():
    found = 0
    for seed in range(20):
        S = covariance(9, seed, correlation=bool(seed % 2))
        best, _ = sparse_eigenvalue(S, 3)
        v = best_of_power(S, 3)
        assert np.count_nonzero(v) <= 3
        assert np.linalg.norm(v) == pytest.approx(1.0)
        found += explained(S, v) > best * (1 - 1e-9)
    assert found >= 18


def test_one_component_of_hundreds_of_unequal_features_is_solved():
    rng = np.random.default_rng(5)
    S = np.cov((rng.standard_normal((200, 120)) * rng.lognormal(sigma=0.6, size=120)).T)
    result = certificate(S, np.eye(120)[:1], cardinality=5, time_limit=300)
    assert result.upper_bound == pytest.approx(result.better_value, abs=1e-6)
    assert result.nodes < 100


def test_published_optima_of_one_component():
    """Figures as printed in the source of ScalableSPCA.jl."""
    for S, k, value in [(PITPROPS, 5, 3.406), (PITPROPS, 10, 4.173), (WINE, 5, 3.43978)]:
        start = np.eye(13)[:1]
        result = certificate(S, start, cardinality=k)
        assert result.upper_bound * 0.13 == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize("k", [5, 10])
def test_breast_cancer_is_solved_from_a_poor_solution(k):
    support = np.arange(k)
    result = certificate(CANCER, eigenvector_on(CANCER, support), time_limit=300)
    assert not result.proved
    assert result.better_value == pytest.approx(result.upper_bound, abs=1e-6)
    better = result.better_components
    assert np.count_nonzero(better) <= k
    assert metrics.pev(CANCER, better, covariance=True) == pytest.approx(result.better_value)


@pytest.mark.parametrize(
    ("d", "cardinalities"),
    [
        (6, (2, 2)),
        (6, (3, 3)),
        (7, (2, 4)),
        (7, (1, 3)),
        (5, (2, 2, 2)),
        (6, (1, 2, 2)),
        (6, (4, 2)),
    ],
)
def test_bound_is_not_below_the_best_of_all_supports(d, cardinalities):
    for seed in (0, 1):
        S = covariance(d, seed, correlation=bool(seed))
        V = best_by_all_supports(S, cardinalities, seed)
        result = certificate(S, V.T, cardinality=cardinalities, time_limit=60)
        assert result.upper_bound >= result.value
        assert result.value == pytest.approx(100 * explained(S, V) / np.trace(S))
        assert result.gap < 5.0


def test_poor_components_get_the_same_bound():
    S = covariance(6, 1, correlation=True)
    V = best_by_all_supports(S, (2, 2), 0)
    poor = certificate(S, np.eye(6)[:2], cardinality=2, time_limit=60)
    assert poor.upper_bound >= 100 * explained(S, V) / np.trace(S) - 1e-9
    assert poor.better_value is not None
    assert poor.better_value > poor.value


def test_bound_of_a_supremum_that_is_not_attained():
    """Components that become parallel explain everything in the limit, and never quite."""
    w = np.array([0, 1, 1, 1, -1, -1, -1]) / np.sqrt(6)
    S = np.outer(w, w)
    S[0, 0] = 0.5
    near = np.zeros((2, 7))
    near[:, 0] = 1.0
    near[0, 1:4] = 1e-3
    near[1, 4:] = 1e-3
    result = certificate(S, near, cardinality=4, time_limit=3)
    assert result.value > 99.99
    assert result.upper_bound >= 100 - 1e-9


def test_pitprops_of_the_paper():
    """7-2-3-1-1-1: the best known loadings are within a hundredth of a percent of the optimum."""
    model = SparsePCA(6, cardinality=(7, 2, 3, 1, 1, 1), n_perturbations=60, random_state=0)
    result = model.fit_covariance(PITPROPS).certificate(time_limit=300)
    assert result.proved
    assert result.upper_bound < 80.49
    assert result.better_value is None
    assert result.method == "lifted dual"


def test_two_components_on_few_of_many_variables():
    model = SparsePCA(2, cardinality=5, n_perturbations=30, random_state=0).fit_covariance(CANCER)
    result = model.certificate(time_limit=300)
    assert result.gap < 0.5
    assert result.upper_bound < cheap.trace_bound(CANCER.diagonal(), 10) / 30 * 100 - 1


# ------------------------------------------------------------ relations


def test_more_non_zeros_never_lower_the_bound():
    bounds = [
        certificate(PITPROPS, np.eye(13)[:1], cardinality=k).upper_bound for k in range(1, 14)
    ]
    assert all(a <= b + 1e-9 for a, b in itertools.pairwise(bounds))
    assert bounds[0] == pytest.approx(100 / 13)
    assert bounds[-1] == pytest.approx(100 * np.linalg.eigvalsh(PITPROPS)[-1] / 13)


@pytest.mark.parametrize("factor", [2.0**-600, 1e-9, 1e12])
def test_scale_changes_nothing(factor):
    V = eigenvector_on(WINE, np.arange(4))
    expected = certificate(WINE, V)
    result = certificate(WINE * factor, V)
    assert result.value == pytest.approx(expected.value, rel=1e-9)
    assert result.upper_bound == pytest.approx(expected.upper_bound, rel=1e-9)


def test_free_cardinalities_leave_the_eigenvalue_bound():
    S = covariance(6, 3)
    values, vectors = np.linalg.eigh(S)
    result = certificate(S, vectors[:, -3:].T, time_limit=60)
    assert result.proved
    assert result.upper_bound == pytest.approx(100 * values[-3:].sum() / np.trace(S))
    # Four of six: a space of three dimensions has vectors that vanish on any two coordinates.
    sparse = np.linalg.inv(vectors[:3, -3:].T) @ vectors[:, -3:].T
    sparse[np.abs(sparse) < 1e-9] = 0.0
    assert certificate(S, sparse, cardinality=4, time_limit=60).proved


def test_slightly_indefinite_matrix_is_bounded():
    S = covariance(6, 2, correlation=True)
    values, vectors = np.linalg.eigh(S)
    values[0] = -5e-4
    S = (vectors * values) @ vectors.T
    best, support = sparse_eigenvalue(S, 3)
    result = certificate(S, eigenvector_on(S, support))
    assert result.upper_bound >= result.value == pytest.approx(100 * best / np.trace(S))


def test_zero_variance_is_explained_by_nothing():
    result = certificate(np.zeros((3, 3)), np.eye(3)[:2])
    assert (result.value, result.upper_bound, result.proved) == (0.0, 0.0, True)


def test_every_number_of_shared_variables_has_a_region():
    """What one component shares the other does too."""
    kinds = {tuple(part.size for part in node.parts) for node in roots(covariance(10, 0), (3, 3))}
    assert kinds == {(3 - n, 3 - n, n) for n in range(4)}


# ------------------------------------------------------------ wrong input, time, interrupts


@pytest.mark.parametrize(
    ("components", "cardinality", "complaint"),
    [
        (np.ones((2, 13)), (13, 5), "Component 1, counted from 0, has 13 non-zeros"),
        (np.ones((1, 12)), None, r"shape \(1, 12\)"),
        (np.ones((14, 13)), None, r"shape \(14, 13\)"),
        (np.full((2, 13), np.nan), None, "NaN or infinity: row 0"),
        (np.eye(13)[:2], (1, 1, 1), "3 values for n_components=2"),
        (np.eye(13)[:2], 0, "cardinality=0"),
    ],
)
def test_wrong_components_are_refused(components, cardinality, complaint):
    with pytest.raises(ValueError, match=complaint):
        certificate(PITPROPS, components, cardinality=cardinality)


@pytest.mark.parametrize("limit", [-1, np.nan])
def test_wrong_time_limit_is_refused(limit):
    with pytest.raises(ValueError, match="time_limit"):
        certificate(PITPROPS, np.eye(13)[:1], time_limit=limit)


def test_value_does_not_depend_on_lengths_and_signs():
    V = SparsePCA(2, cardinality=3).fit_covariance(PITPROPS).components_
    expected = metrics.pev(PITPROPS, V, covariance=True)
    result = certificate(PITPROPS, V * [[-7.0], [0.01]], time_limit=0)
    assert result.value == pytest.approx(expected)


@pytest.mark.parametrize("limit", [0, 1.0])
def test_time_limit_is_obeyed(limit):
    began = time.process_time()  # which does not run while a busy machine does other things
    result = certificate(WINE, np.eye(13)[:4], cardinality=5, time_limit=limit)
    assert time.process_time() - began < 2 * limit + 3  # BLAS may use a second thread
    assert result.value < result.upper_bound < 100


@pytest.mark.parametrize(("spike", "k", "wins"), [(5000, 1000, "norms"), (0, 5, "variances")])
def test_time_limit_is_obeyed_by_large_matrices(spike, k, wins):
    """Where eigenvalues take many times as long, a bound without them holds all the same."""
    d, r = 3000, 2
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((d, r)))[0]
    variances = np.linspace(0.5, 1.5, d)
    S = np.diag(variances) + spike * Q @ Q.T
    V = np.zeros((r, d))
    V[0, -2 * k : -k] = V[1, -k:] = 1.0
    began = time.monotonic()
    result = certificate(S, V, cardinality=k, time_limit=1)
    assert time.monotonic() - began < 15  # the eigenvalues take 10 seconds or more
    assert result.method == wins
    assert result.value <= result.upper_bound < 80
    # What these directions, or the largest variances, explain is possible.
    possible = np.trace(Q.T @ S @ Q) if spike else variances[-r:].sum()
    assert 100 * possible / np.trace(S) <= result.upper_bound


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("r", [1, 3, 12])
def test_norms_bound_the_largest_eigenvalues(seed, r):
    S = covariance(12, seed)
    assert cheap.norm_bound(S, r) >= np.linalg.eigvalsh(S)[-r:].sum()
    even = np.eye(12)  # here it is exact
    assert cheap.norm_bound(even, r) == pytest.approx(r, rel=1e-5)


def test_a_search_without_time_for_all_its_regions_has_none():
    S = covariance(10, 0)
    assert roots(S, (3, 3), time.monotonic() - 1) == []
    assert roots(S, (1, 2), time.monotonic() - 1) == []
    assert len(roots(S, (3, 3), time.monotonic() + 60)) == len(roots(S, (3, 3)))


def test_a_negative_eigenvalue_is_refused():
    with pytest.raises(ValueError, match=r"no negative eigenvalue; here is one: -3"):
        certificate(np.diag([5.0, 1.0, -3.0]), np.eye(3)[:1])


def test_progress_falls_and_ends_at_the_result():
    seen = []

    def see(*told):
        seen.append(told)
        if len(seen) == 6:
            raise KeyboardInterrupt

    result = certificate(WINE, np.eye(13)[:3], cardinality=4, time_limit=60, on_progress=see)
    bounds, values, seconds = (list(column) for column in zip(*seen, strict=True))
    assert len(seen) >= 6
    assert bounds == sorted(bounds, reverse=True)
    assert values == sorted(values)
    assert seconds == sorted(seconds)
    assert result.upper_bound <= bounds[0]
    assert bounds[-1] == pytest.approx(result.upper_bound)


def test_interrupt_returns_the_bound_so_far():
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    began = time.monotonic()
    result = certificate(WINE, np.eye(13)[:3], cardinality=4, time_limit=300)
    assert time.monotonic() - began < 200
    assert result.interrupted
    assert result.upper_bound <= 100 * np.linalg.eigvalsh(WINE)[-3:].sum() / 13 + 1e-9
    assert "interrupted" in str(result)


# ------------------------------------------------------------ models and words


def test_model_certifies_after_saving_without_the_data(tmp_path):
    X = factor_data(40, 8, 1)
    model = SparsePCA(1, cardinality=3, standardize=True).fit(X)
    model.save(tmp_path / "model.npz")
    result = SparsePCA.load(tmp_path / "model.npz").certificate()
    best, _ = sparse_eigenvalue(np.corrcoef(X.T), 3)
    assert result.upper_bound == pytest.approx(100 * best / 8, abs=1e-6)
    assert result.value == pytest.approx(100 * model.explained_variance_ratio_.sum())


@pytest.mark.parametrize(("n", "d"), [(30, 250), (300, 250)])
def test_wide_model_keeps_the_bound_of_pca(n, d, tmp_path):
    X = factor_data(n, d, 3)
    model = SparsePCA(3, cardinality=40).fit(X)
    assert model.scaled_covariance_ is None
    model.save(tmp_path / "model.npz")
    result = SparsePCA.load(tmp_path / "model.npz").certificate()
    eigenvalues = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    limit = 100 * eigenvalues[:3].sum() / eigenvalues.sum()
    variances = np.sort(X.var(axis=0))[::-1]
    limit = min(limit, 100 * variances[:120].sum() / variances.sum())
    assert limit <= result.upper_bound <= limit + 1e-6
    assert result.value <= result.upper_bound
    # With the covariance matrix at hand more can be proved.

    def until_lower(bound, value, seconds):
        if bound < result.upper_bound - 1e-6:
            raise KeyboardInterrupt

    more = certificate(
        np.cov(X.T), model.components_, cardinality=40, time_limit=300, on_progress=until_lower
    )
    assert more.upper_bound < result.upper_bound - 1e-6
    assert more.value == pytest.approx(result.value)


def leading_share(S: np.ndarray, r: int) -> float:
    values = np.linalg.eigvalsh(S)
    return float(values[-r:].sum() / values.sum())


def test_limit_of_a_large_model_is_not_below_its_eigenvalues():
    """Beyond some order eigenvalues are computed approximately, from below: they prove nothing."""
    X = np.random.default_rng(1).standard_normal((800, 600))  # eigenvalues close to each other
    assert SparsePCA(3, cardinality=300, tol=1e-3).fit(X).variance_limits_[0] == 1.0
    few = X[:40]
    exact = leading_share(np.cov(few.T), 3)
    limit = SparsePCA(3, cardinality=300, tol=1e-3).fit(few).variance_limits_[0]
    assert exact <= limit <= exact * 1.0001


def test_models_with_other_constraints_say_what_the_bound_means():
    X = factor_data(40, 6, 2)
    softer = SparsePCA(2, l1_bound=1.5).fit(X).certificate()
    assert softer.method == "eigenvalues"
    assert "l1" in str(softer)
    signed = SparsePCA(2, cardinality=2, nonnegative=True).fit(X).certificate(time_limit=6)
    assert "negative" in str(signed)
    assert signed.better_components is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        free = SparsePCA(2, cardinality=2).fit(X).certificate(time_limit=6)
    assert signed.value <= free.upper_bound + 1e-9


def test_sentences_are_true_as_printed():
    text = str(Certificate(80.47255, 80.47289, "lifted dual", (7, 2, 3)))
    assert "explain 80.472 %" in text
    assert "at most 7, 2 and 3 non-zeros can explain more than 80.473 %" in text
    assert "optimal" in text
    assert "at most 4 non-zeros each" in str(Certificate(1.0, 2.0, "blocks", (4, 4)))
    assert "open" in str(Certificate(1.0, 2.0, "blocks", (4,)))
