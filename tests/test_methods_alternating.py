"""rSVD (Shen and Huang), EMPCA (Sigg and Buhmann) and NSPCA (Zass and Shashua)."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from helpers import assert_same_loadings
from redac.datasets import load_pitprops
from redac.exceptions import CardinalityWarning
from redac.methods import rsvd
from redac.methods.empca import empca, empca_nonnegative, iterate
from redac.methods.method_data import MethodData
from redac.methods.nspca import Ascent, best_entry, largest_root, nspca
from redac.methods.rsvd import rsvd_l0, rsvd_l1, rsvd_scad
from redac.methods.thresholds import threshold_to
from redac.metrics import pev
from redac.sources import as_data, as_source, covariance_source

SETTINGS = {"a": [8, 5, 6, 2, 3, 2], "b": [7, 4, 4, 1, 1, 1]}
RSVD = {"l0": rsvd_l0, "l1": rsvd_l1, "scad": rsvd_scad}
EMPCA = {"free": empca, "nonnegative": empca_nonnegative}


def seeded(method: Callable, seed: int = 0, **options: object) -> Callable:
    """A randomised method with its random numbers fixed, in the shape of the others."""

    def run(data: MethodData, cardinalities: list[int]) -> np.ndarray:
        return method(data, cardinalities, rng=np.random.RandomState(seed), **options)

    return run


ALL = RSVD | {f"empca-{name}": seeded(method) for name, method in EMPCA.items()}
ALL["nspca"] = seeded(nspca, n_restarts=10)


@pytest.fixture(scope="module")
def S() -> np.ndarray:
    return np.asarray(load_pitprops().correlation)


def given_covariance(S: np.ndarray) -> MethodData:
    return MethodData(covariance_source(S))


def given_data(X: np.ndarray) -> MethodData:
    return MethodData(as_source(as_data(X)))


def supports(V: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(v).tolist() for v in V.T]


def random_covariance(kind: str, seed: int, d: int = 30) -> np.ndarray:
    """A covariance matrix with one of several kinds of spectrum."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spectrum = {
        "flat": rng.uniform(0.8, 1.2, d),
        "factors": np.r_[20.0, 12.0, 7.0, 4.0, np.ones(d - 4)],
        "decaying": 0.7 ** np.arange(d),
        "deficient": np.r_[rng.uniform(1, 5, 8), np.zeros(d - 8)],
        "scaled": rng.uniform(0.5, 2, d),
    }[kind]
    C = (Q * spectrum) @ Q.T
    if kind == "scaled":
        units = 10.0 ** rng.uniform(-2, 2, d)
        C = C * np.multiply.outer(units, units)
    return (C + C.T) / 2


KINDS = ["flat", "factors", "decaying", "deficient", "scaled"]


# ------------------------------------------------------------ pitprops

# PEV and supports of the R functions that Shen published.
RSVD_SUPPORTS = {
    ("l0", "a"): [
        [0, 1, 3, 5, 6, 7, 8, 9],
        [2, 3, 9, 11, 12],
        [0, 1, 4, 5, 6, 12],
        [9, 10],
        [5, 7, 11],
        [4, 12],
    ],
    ("l0", "b"): [[0, 1, 5, 6, 7, 8, 9], [2, 3, 9, 11], [4, 5, 6, 12], [11], [10], [12]],
    ("l1", "a"): [
        [0, 1, 3, 5, 6, 7, 8, 9],
        [0, 2, 3, 5, 11],
        [0, 1, 4, 5, 6, 12],
        [7, 11],
        [0, 9, 10],
        [5, 7],
    ],
    ("l1", "b"): [[0, 1, 5, 6, 7, 8, 9], [0, 2, 3, 5], [4, 5, 6, 12], [11], [10], [12]],
    ("scad", "a"): [
        [0, 1, 3, 5, 6, 7, 8, 9],
        [2, 3, 5, 9, 11],
        [0, 1, 4, 5, 6, 12],
        [7, 11],
        [0, 9, 10],
        [5, 7],
    ],
    ("scad", "b"): [[0, 1, 5, 6, 7, 8, 9], [2, 3, 5, 9], [4, 5, 6, 12], [11], [10], [12]],
}
RSVD_PEV = {
    ("l0", "a"): 82.87,
    ("l0", "b"): 80.78,
    ("l1", "a"): 81.42,
    ("l1", "b"): 80.45,
    ("scad", "a"): 81.15,
    ("scad", "b"): 79.38,
}
# PEV of the R package nsprcomp. In setting a its nonnegative third component stops at four of six.
EMPCA_PEV = {
    ("free", "a"): 83.37,
    ("free", "b"): 80.78,
    ("nonnegative", "a"): 82.13,
    ("nonnegative", "b"): 81.08,
}
# The best of many starts of the authors' Matlab function nspca2.
NSPCA_PEV = {"a": 81.41, "b": 80.39}


@pytest.mark.parametrize(("penalty", "setting"), RSVD_PEV)
def test_rsvd_on_pitprops(S: np.ndarray, penalty: str, setting: str) -> None:
    V = RSVD[penalty](given_covariance(S), SETTINGS[setting])
    tolerance = 0.3 if penalty == "scad" else 0.05
    assert pev(S, V.T, covariance=True) == pytest.approx(RSVD_PEV[penalty, setting], abs=tolerance)
    assert supports(V) == RSVD_SUPPORTS[penalty, setting]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("kind", "setting"), EMPCA_PEV)
def test_empca_on_pitprops(S: np.ndarray, kind: str, setting: str, seed: int) -> None:
    V = seeded(EMPCA[kind], seed)(given_covariance(S), SETTINGS[setting])
    slack = 0.1 if kind == "nonnegative" else 0.05
    assert pev(S, V.T, covariance=True) >= EMPCA_PEV[kind, setting] - slack
    found = np.count_nonzero(V, axis=0).tolist()
    if (kind, setting) == ("nonnegative", "a"):
        assert found == [8, 5, 4, 2, 3, 2]
    else:
        assert found == SETTINGS[setting]
    assert kind == "free" or (V >= 0).all()


@pytest.mark.parametrize("setting", SETTINGS)
def test_nspca_on_pitprops(S: np.ndarray, setting: str) -> None:
    V = seeded(nspca)(given_covariance(S), SETTINGS[setting])
    assert pev(S, V.T, covariance=True) >= NSPCA_PEV[setting] - 0.5
    assert np.count_nonzero(V) == sum(SETTINGS[setting])
    assert (V >= 0).all()


# ------------------------------------------------------------ any covariance matrix


@pytest.mark.parametrize("name", ["l0", "l1", "scad", "empca-free"])
@pytest.mark.parametrize("kind", KINDS)
def test_cardinalities_are_met(kind: str, name: str) -> None:
    C = random_covariance(kind, seed=1)
    V = ALL[name](given_covariance(C), [6] * 4)
    assert np.count_nonzero(V, axis=0).tolist() == [6] * 4
    np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1.0, rtol=1e-12)
    # More than the best single feature: a component of six that does not is no component.
    alone = np.sort(C.diagonal())[-1] / np.trace(C) * 100
    assert pev(C, V.T, covariance=True) > alone


@pytest.mark.parametrize("kind", KINDS)
def test_nonnegative_methods_are_feasible(kind: str) -> None:
    C = random_covariance(kind, seed=2)
    V = ALL["empca-nonnegative"](given_covariance(C), [6] * 4)
    counts = np.count_nonzero(V, axis=0)
    assert (V >= 0).all()
    assert (counts >= 1).all()
    assert (counts <= 6).all()
    V = ALL["nspca"](given_covariance(C), [6] * 4)
    assert (V >= 0).all()
    assert np.count_nonzero(V) == 24


@pytest.mark.parametrize("method", [empca, empca_nonnegative, partial(nspca, beta=0.2)])
def test_a_seed_repeats_a_run(method: Callable) -> None:
    data = given_covariance(random_covariance("flat", seed=3))
    first, again = (seeded(method, 5, n_restarts=3)(data, [6] * 4) for _ in range(2))
    assert_same_loadings(first, again)
    # A flat spectrum has many local optima: another seed with one start ends elsewhere.
    others = [seeded(method, seed, n_restarts=1)(data, [6] * 4) for seed in range(3)]
    assert any(not np.allclose(others[0], other, atol=1e-3) for other in others[1:])


@pytest.mark.parametrize("n", [80, 20])
@pytest.mark.parametrize("name", ALL)
def test_data_and_their_covariance_matrix_give_the_same(name: str, n: int) -> None:
    """The random starts are loadings, so with the same seed they are the same as well."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 5)) * [5, 4, 3, 2, 1.5] @ rng.standard_normal((5, 30))
    X += 0.5 * rng.standard_normal(X.shape) + 3.0
    from_data = ALL[name](given_data(X), [6] * 4)
    from_covariance = ALL[name](given_covariance(np.cov(X.T)), [6] * 4)
    signs = np.where((from_data * from_covariance).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(from_data * signs, from_covariance, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore::redac.exceptions.CardinalityWarning")
def test_awkward_data(name: str) -> None:
    """Constant columns, more columns than samples, one column, nothing at all, odd units."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((6, 40))
    X[:, ::2] = 1.0
    V = ALL[name](given_data(X), [5, 5, 5])
    assert np.isfinite(V).all()
    assert not V[::2].any()
    assert V.any()
    np.testing.assert_allclose(np.abs(ALL[name](given_data(X[:, 1:2]), [1])), [[1.0]])
    assert not ALL[name](given_covariance(np.zeros((3, 3))), [2, 1]).any()
    rescaled = ALL[name](given_data(X * 2.0**60), [5, 5, 5])
    np.testing.assert_allclose(np.abs(rescaled), np.abs(V), atol=1e-9)


def test_components_beyond_the_rank_are_zero() -> None:
    C = np.zeros((5, 5))
    C[:2, :2] = [[2.0, 1.0], [1.0, 2.0]]
    for name in ("l0", "empca-free", "empca-nonnegative"):
        V = ALL[name](given_covariance(C), [2, 2, 2])
        assert np.isfinite(V).all()
        assert not V[:, 2].any()
        assert not V[2:].any()
        if name != "empca-nonnegative":
            assert pev(C, V.T, covariance=True) == pytest.approx(100.0)


# ------------------------------------------------------------ rSVD: the pieces


def test_thresholding_keeps_the_largest_and_breaks_ties_by_index() -> None:
    y = np.array([1.0, -4.0, 3.0, -3.0 + 1e-15, 2.0])
    np.testing.assert_allclose(threshold_to(y, 3, rsvd.soft), [0, -2, 1, -1, 0])
    # 3 and −3 are equal but for rounding: the first is kept, and the threshold is below both.
    np.testing.assert_allclose(threshold_to(y, 2, rsvd.soft), [0, -2, 1, 0, 0])
    np.testing.assert_allclose(threshold_to(y[::-1], 2, rsvd.soft), [0, -1, 0, -2, 0])
    np.testing.assert_array_equal(threshold_to(y, 5, rsvd.soft), y)
    np.testing.assert_allclose(threshold_to(np.ones(3), 2, rsvd.soft), [1, 1, 0])


def test_scad_is_soft_below_and_exact_above() -> None:
    y = np.array([0.5, 1.0, -1.5, 2.0, 2.85, -3.7, 9.0])
    between = (2.7 * 2.85 - 3.7) / 1.7
    np.testing.assert_allclose(rsvd._scad(y, 1.0), [0, 0, -0.5, 1.0, between, -3.7, 9.0])


@pytest.mark.parametrize("penalty", RSVD)
def test_rsvd_ends_at_a_fixed_point(S: np.ndarray, penalty: str) -> None:
    """v is parallel to the thresholded Sv, and not to one with another cardinality."""
    V = RSVD[penalty](given_covariance(S), [5], tol=1e-13)
    shrink = {"l0": rsvd._hard, "l1": rsvd.soft, "scad": rsvd._scad}[penalty]

    def distance(k: int) -> float:
        w = threshold_to(S @ V[:, 0], k, shrink)
        return float(np.linalg.norm(w / np.linalg.norm(w) - V[:, 0]))

    assert distance(5) < 1e-8
    assert distance(6) > 1e-3


def test_hard_thresholded_fits_never_get_worse() -> None:
    A = given_covariance(random_covariance("flat", seed=6)).A
    losses = []
    for steps in range(1, 15):
        u, v = rsvd._rank_one_fit(A, 6, rsvd._hard, tol=0.0, max_iter=steps)
        losses.append(float(((A - np.outer(u, v)) ** 2).sum()))
    assert (np.diff(losses) <= 1e-12).all()
    assert losses[-1] < losses[0]


# ------------------------------------------------------------ EMPCA: the pieces


@pytest.mark.parametrize("kind", EMPCA)
def test_empca_is_optimal_on_its_support(kind: str) -> None:
    C = random_covariance("factors", seed=7)
    v = seeded(EMPCA[kind])(given_covariance(C), [6])[:, 0]
    support = np.flatnonzero(v)
    block = C[np.ix_(support, support)]
    value = v @ C @ v
    np.testing.assert_allclose(block @ v[support], value * v[support], atol=1e-4 * value)
    if kind == "free":
        assert value == pytest.approx(np.linalg.eigvalsh(block)[-1])


def test_em_without_threshold_is_the_power_method(S: np.ndarray) -> None:
    A = given_covariance(S).A
    start = np.ones(13) / np.sqrt(13)

    def loadings(z: np.ndarray) -> np.ndarray:
        return A.T @ z / np.linalg.norm(A.T @ z)

    variances = [
        float(np.sum((A @ iterate(loadings, A, start, 0.0, steps)) ** 2)) for steps in range(60)
    ]
    assert (np.diff(variances) >= -1e-12).all()
    assert variances[0] < variances[-1] == pytest.approx(np.linalg.eigvalsh(S)[-1])


def test_later_components_add_variance_of_their_own() -> None:
    """Two pairs of equal blocks: the second component takes the other pair, not the first again."""
    block = np.array([[2.0, 1.9], [1.9, 2.0]])
    C = np.zeros((4, 4))
    C[:2, :2], C[2:, 2:] = 1.5 * block, block
    for name in ("empca-free", "empca-nonnegative"):
        assert supports(ALL[name](given_covariance(C), [2, 2])) == [[0, 1], [2, 3]]


# ------------------------------------------------------------ NSPCA: the pieces


def test_the_best_entry_beats_a_fine_grid() -> None:
    rng = np.random.default_rng(8)
    grid = np.linspace(0, 1, 2001)
    zeros = 0
    for p, q in rng.standard_normal((300, 2)) * 10.0 ** rng.uniform(-2, 2, (300, 2)):
        t = best_entry(p, q)
        reach = 2 * (np.sqrt(abs(p)) + np.cbrt(abs(q)))
        values = (grid * reach) ** 4 + 2 * p * (grid * reach) ** 2 + 4 * q * grid * reach
        assert t**4 + 2 * p * t**2 + 4 * q * t <= values.min() + 1e-9 * abs(values).max()
        assert t == 0 or t**3 + p * t + q == pytest.approx(0, abs=1e-10 * reach**3)
        zeros += t == 0
    assert 30 < zeros < 270


def test_small_roots_keep_their_digits() -> None:
    assert largest_root(1e12, -1.0) == pytest.approx(1e-12, rel=1e-12)
    assert largest_root(0.0, -8.0) == pytest.approx(2.0)
    assert largest_root(-3.0, 2.0) == pytest.approx(1.0)  # a double root
    assert largest_root(-7.0, 6.0) == pytest.approx(2.0)  # (t − 1)(t − 2)(t + 3)
    assert largest_root(-7.0, -36.0) == pytest.approx(4.0)  # one real root
    assert largest_root(-7.0, 36.0) == pytest.approx(-4.0)


def entrywise_sweep(S: np.ndarray, U: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """One sweep as the method is defined, each coefficient from U and S in full."""
    U = U.copy()
    for i, j in np.ndindex(U.shape):
        U[i, j] = 0.0
        a2 = alpha * ((U[i] ** 2).sum() + (U[:, j] ** 2).sum() - 1) - S[i, i]
        a1 = beta + alpha * U[i] @ (U.T @ U[:, j]) - S[i] @ U[:, j]
        roots = np.roots([alpha, 0.0, a2, a1])
        candidates = np.append(roots[np.abs(roots.imag) < 1e-9].real.clip(0), 0.0)
        values = alpha * candidates**4 + 2 * a2 * candidates**2 + 4 * a1 * candidates
        U[i, j] = candidates[values.argmin()]
    return U


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.1), (5.0, 0.5), (50.0, 1.0)])
def test_sweeps_are_exact_coordinate_ascent(S: np.ndarray, alpha: float, beta: float) -> None:
    U = np.random.default_rng(9).random((13, 6))
    ascent = Ascent(given_covariance(S).A, alpha, beta, U)
    values = [ascent.objective()]
    for _ in range(6):
        ascent.sweep()
        U = entrywise_sweep(S, U, alpha, beta)
        np.testing.assert_allclose(ascent.U, U, atol=1e-8)
        values.append(ascent.objective())
        error = np.eye(6) - U.T @ U
        expected = np.trace(U.T @ S @ U) / 2 - alpha / 4 * (error**2).sum() - beta * U.sum()
        assert values[-1] == pytest.approx(expected)
    assert (np.diff(values) > 0).all()
    assert 0 < np.count_nonzero(U) < U.size


def test_nspca_with_a_penalty_of_ones_own(S: np.ndarray) -> None:
    counts = [
        np.count_nonzero(seeded(nspca, beta=beta, n_restarts=2)(given_covariance(S), [5] * 6))
        for beta in (0.0, 0.5, 100.0)
    ]
    assert counts[0] > counts[1] > counts[2] == 0


def test_penalties_are_in_units_of_variance(S: np.ndarray) -> None:
    run = partial(seeded, nspca, 3, n_restarts=2)
    V = run(alpha=2.0, beta=0.3)(given_covariance(S), [5] * 6)
    scaled = run(alpha=800.0, beta=120.0)(given_covariance(400.0 * S), [5] * 6)
    np.testing.assert_allclose(V, scaled, atol=1e-9)


def test_a_feature_without_variance_is_not_used_to_fill_a_component() -> None:
    """Orthogonality alone would gain from a second component on the second feature."""
    V = seeded(nspca, beta=0.0)(given_covariance(np.diag([1.0, 0.0])), [1, 1])
    assert V[0].any()
    assert not V[1].any()


def test_larger_alpha_gives_less_overlap(S: np.ndarray) -> None:
    overlaps = []
    for alpha in (0.5, 500.0):
        V = seeded(nspca, alpha=alpha, beta=0.0, n_restarts=2)(given_covariance(S), [5] * 6)
        overlaps.append(np.abs(V.T @ V - np.eye(6)).max())
    assert overlaps[0] > 0.1 > 0.05 > overlaps[1]


def test_nspca_says_what_it_cannot_do(S: np.ndarray) -> None:
    with pytest.warns(CardinalityWarning, match="no penalty found that gives 78"):
        seeded(nspca, n_restarts=2)(given_covariance(S), [13] * 6)
    with pytest.raises(ValueError, match="alpha=0"):
        seeded(nspca, alpha=0.0)(given_covariance(S), [5])


@pytest.mark.parametrize("method", [empca, nspca])
def test_there_must_be_a_start(S: np.ndarray, method: Callable) -> None:
    with pytest.raises(ValueError, match="n_restarts=0"):
        seeded(method, n_restarts=0)(given_covariance(S), [5])
