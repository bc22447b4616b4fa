"""SPCA, DSPCA and ALSPCA: published figures, and the optimality conditions of their problems."""

import warnings

import numpy as np
import pytest

from helpers import assert_same_loadings, factor_data
from redac.datasets import load_pitprops
from redac.methods.alspca import alspca, solve_alspca, without_smallest
from redac.methods.dspca import dspca, project_on_spectrahedron, solve_dspca
from redac.methods.method_data import MethodData
from redac.methods.spca import _elastic_net, spca
from redac.methods.thresholds import soft, threshold_to
from redac.metrics import pev
from redac.sources import as_data, as_source, covariance_source

SETTINGS = {"a": (8, 5, 6, 2, 3, 2), "b": (7, 4, 4, 1, 1, 1)}
PITPROPS = np.asarray(load_pitprops().correlation)
METHODS = {"spca": spca, "dspca": dspca, "alspca": alspca}


def of_covariance(S: np.ndarray) -> MethodData:
    return MethodData(covariance_source(S))


def of_data(X: np.ndarray) -> MethodData:
    return MethodData(as_source(as_data(X)))


def supports(V: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(v).tolist() for v in V.T]


def sizes(V: np.ndarray) -> list[int]:
    return np.count_nonzero(V, axis=0).tolist()


def random_covariance(seed: int) -> np.ndarray:
    """Order 30: fast or slow decay, a spike, low rank, and features of very different variance."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    spectrum = [
        0.7 ** np.arange(30),
        np.linspace(2, 1, 30),
        np.r_[50.0, 20.0, np.ones(28)],
        np.r_[np.linspace(5, 1, 8), np.zeros(22)],
        1 / np.arange(1, 31),
    ][seed]
    S = (Q * spectrum) @ Q.T
    if seed == 4:
        scale = np.logspace(-1, 1, 30)
        S = S * np.multiply.outer(scale, scale)
    return (S + S.T) / 2


# ------------------------------------------------------------ pitprops

# R package elasticnet (Zou and Hastie), spca with sparse="varnum" on the correlation matrix.
SPCA_PEV = {"a": 82.6792, "b": 80.1697}
SPCA_SUPPORTS = {
    "a": [
        *([0, 1, 4, 6, 7, 8, 9, 10], [0, 2, 3, 7, 12], [1, 4, 5, 6, 7, 11]),
        *([9, 10], [4, 7, 11], [7, 12]),
    ],
    "b": [[0, 1, 4, 6, 7, 8, 9], [0, 2, 3, 7], [4, 5, 6, 7], [10], [11], [12]],
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_spca_is_the_published_one_on_pitprops(setting):
    V = spca(of_covariance(PITPROPS), SETTINGS[setting])
    assert supports(V) == SPCA_SUPPORTS[setting]
    assert pev(PITPROPS, V.T, covariance=True) == pytest.approx(SPCA_PEV[setting], abs=1e-3)


def test_spca_loadings_are_the_published_ones_on_pitprops():
    # The third component of setting a by elasticnet.
    published = np.zeros(13)
    published[[1, 4, 5, 6, 7, 11]] = [
        *(-0.0315110549043, -0.589861537161, -0.640765071023),
        *(-0.469127289317, 0.119789026632, -0.0778506240879),
    ]
    V = spca(of_covariance(PITPROPS), SETTINGS["a"])
    np.testing.assert_allclose(V[:, 2] * np.sign(V[4, 2] * published[4]), published, atol=1e-6)


# The same semidefinite programs by a general solver: 81.36 in setting a; in b the penalties with
# the right cardinalities give 78.7 to 79.9.
DSPCA_RANGE = {"a": (81.36 - 0.3, 81.36 + 0.3), "b": (78.7 - 0.3, 79.9 + 0.3)}


@pytest.mark.parametrize("setting", SETTINGS)
def test_dspca_on_pitprops(setting):
    V = dspca(of_covariance(PITPROPS), SETTINGS[setting])
    low, high = DSPCA_RANGE[setting]
    assert sizes(V) == list(SETTINGS[setting])
    assert low <= pev(PITPROPS, V.T, covariance=True) <= high
    # The support of the first component that the general solver found as well.
    first = {"a": [0, 1, 3, 5, 6, 7, 8, 9], "b": [0, 1, 5, 6, 7, 8, 9]}
    assert np.flatnonzero(V[:, 0]).tolist() == first[setting]


def test_dspca_takes_the_first_of_equal_variances():
    # After three components nothing has touched the features 10 and 11: both have variance one.
    V = dspca(of_covariance(PITPROPS), SETTINGS["b"])
    assert supports(V)[3:5] == [[10], [11]]


# Zhao, Meng and Xu, Table 2, by the authors' code, which is not to be had: 82.63 and 80.67. Our
# penalties with 26 non-zeros give 83.5, so a may lie above, not below.
@pytest.mark.parametrize(("setting", "low", "high"), [("a", 82.63, 84.0), ("b", 80.17, 81.17)])
def test_alspca_on_pitprops(setting, low, high):
    V = alspca(of_covariance(PITPROPS), SETTINGS[setting])
    assert np.count_nonzero(V) == sum(SETTINGS[setting])
    assert low <= pev(PITPROPS, V.T, covariance=True) <= high


# ------------------------------------------------------------ any covariance matrix


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_cardinalities_are_met_on_random_matrices(name, seed):
    S = random_covariance(seed)
    V = METHODS[name](of_covariance(S), [6] * 4)
    assert V.shape == (30, 4)
    assert np.isfinite(V).all()
    if name == "alspca":
        assert np.count_nonzero(V) == 24
        assert min(sizes(V)) >= 1
    else:
        assert sizes(V) == [6] * 4
    assert_same_loadings(V, METHODS[name](of_covariance(S), [6] * 4))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("shape", [(60, 12), (15, 20)], ids=["tall", "wide"])
def test_data_and_their_covariance_give_the_same(name, shape):
    X = factor_data(*shape, seed=7)
    S = np.cov(X, rowvar=False)
    # SPCA may go round in circles on such data, and in hundreds of sweeps rounding adds up.
    options = {"max_iter": 20} if name == "spca" else {}
    V = METHODS[name](of_data(X), [5, 4, 3], **options)
    W = METHODS[name](of_covariance(S), [5, 4, 3], **options)
    assert supports(V) == supports(W)
    np.testing.assert_allclose(np.abs(V), np.abs(W), atol=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_units_do_not_matter(name):
    S = random_covariance(4)
    V = METHODS[name](of_covariance(S), [6] * 3)
    W = METHODS[name](of_covariance(1e8 * S), [6] * 3)
    assert supports(V) == supports(W)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("S", "cardinalities"),
    [
        (np.zeros((4, 4)), [2, 1]),
        (np.array([[3.0]]), [1]),
        (np.diag([2.0, 1.0, 0.0, 0.0]), [1, 1, 1]),
        (np.ones((5, 5)), [3, 2]),
        (np.eye(5), [2, 2]),
    ],
    ids=["zero", "one feature", "zero features", "rank one", "identity"],
)
def test_degenerate_input_gives_finite_loadings(name, S, cardinalities):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # cardinalities that are out of reach
        V = METHODS[name](of_covariance(S), cardinalities)
    assert V.shape == (S.shape[0], len(cardinalities))
    assert np.isfinite(V).all()


# ------------------------------------------------------------ spca


@pytest.mark.parametrize("k", [1, 3, 6, 10])
def test_elastic_net_ends_where_the_next_feature_would_enter(k):
    S = random_covariance(0)
    w = S @ np.random.default_rng(0).normal(size=30)  # a feature leaves this path on the way to 10
    b = _elastic_net(S, 1e-6)(w, k)
    correlations = w - (S + 1e-6 * np.eye(30)) @ b
    assert (correlations * b >= 0).all()
    left = np.abs(correlations)
    active = b != 0
    # Equal correlations on the support, and one feature outside that has just caught up.
    assert active.sum() == k
    np.testing.assert_allclose(left[active], left[active].mean(), rtol=1e-8)
    assert left[~active].max() == pytest.approx(left[active].mean(), rel=1e-8)


def test_elastic_net_takes_what_there_is():
    # Two features only correlate with the response: a third never enters.
    assert np.count_nonzero(_elastic_net(np.eye(4), 0.0)(np.array([2.0, 1.0, 0.0, 0.0]), 3)) == 2


@pytest.mark.parametrize(
    ("w", "k", "expected"),
    [
        ([3.0, -2.0, 1.0, 0.5], 2, [2.0, -1.0, 0.0, 0.0]),
        ([3.0, -2.0, 2.0, 0.5], 2, [2.5, -1.5, 0.0, 0.0]),
        ([1.0, 1.0, 1.0], 2, [1.0, 1.0, 0.0]),
        ([0.0, -4.0, 0.0], 2, [0.0, -4.0, 0.0]),
        ([0.0, 0.0], 1, [0.0, 0.0]),
    ],
)
def test_soft_top_k(w, k, expected):
    np.testing.assert_allclose(threshold_to(np.array(w), k, soft), expected)


def test_spca_without_a_gram_matrix_on_wide_data():
    X = factor_data(20, 600, seed=5)
    V = spca(of_data(X), [10, 10])
    assert_same_loadings(V, spca(of_data(X), [10, 10], ridge=np.inf))
    assert sizes(V) == [10, 10]


def test_spca_refuses_a_negative_ridge():
    with pytest.raises(ValueError, match="ridge"):
        spca(of_covariance(PITPROPS), [2], ridge=-1.0)


# ------------------------------------------------------------ dspca


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.5, 1.5])
@pytest.mark.parametrize("seed", range(5))
def test_duality_gap_is_a_certificate(seed, share):
    S = random_covariance(seed)
    peak = S.diagonal().max()
    rho = share * peak
    found = solve_dspca(S, rho, tol=1e-4)
    assert np.linalg.eigvalsh(found.U)[0] >= -1e-12
    assert np.trace(found.U) == pytest.approx(1.0, abs=1e-12)
    assert np.abs(found.W).max(initial=0.0) <= rho * (1 + 1e-12)
    value = np.vdot(S, found.U) - rho * np.abs(found.U).sum()
    bound = np.linalg.eigvalsh(S + found.W)[-1]
    assert found.value == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert found.gap == pytest.approx(bound - value, abs=1e-9 * peak)
    assert -1e-12 * peak <= bound - value <= 1e-4 * peak


@pytest.mark.parametrize("seed", range(5))
def test_weak_duality_with_points_of_others(seed):
    # No unit vector, sparse or not, has a value above the dual bound.
    S = random_covariance(seed)
    rng = np.random.default_rng(seed)
    rho = 0.1 * S.diagonal().max()
    found = solve_dspca(S, rho)
    for k in range(1, 31):
        v = np.zeros(30)
        v[rng.permutation(30)[:k]] = rng.normal(size=k)
        v /= np.linalg.norm(v)
        assert v @ S @ v - rho * np.abs(v).sum() ** 2 <= found.value + found.gap + 1e-12


def test_without_penalty_dspca_is_the_largest_eigenvalue():
    assert solve_dspca(PITPROPS, 0.0, tol=1e-8).value == pytest.approx(
        np.linalg.eigvalsh(PITPROPS)[-1], rel=1e-7
    )


def test_a_start_shortens_the_way():
    cold = solve_dspca(PITPROPS, 0.1, tol=1e-6)
    warm = solve_dspca(PITPROPS, 0.101, tol=1e-3, max_iter=10, start=cold)
    assert warm.gap <= 1e-3
    assert solve_dspca(PITPROPS, 0.101, tol=1e-3, max_iter=9).gap > 1e-3


def test_projection_on_the_spectrahedron_is_the_nearest_point():
    rng = np.random.default_rng(1)
    M = rng.normal(size=(6, 6))
    M = M + M.T
    U = project_on_spectrahedron(M)
    assert np.trace(U) == pytest.approx(1.0)
    for _ in range(50):
        v = rng.normal(size=6)
        other = np.multiply.outer(v, v) / (v @ v)
        assert np.vdot(M - U, other - U) <= 1e-10  # the variational inequality of a projection


def test_dspca_declines_many_features():
    with pytest.raises(ValueError, match=r"semidefinite program.*d = 300 .*pathspca or redac_l0"):
        dspca(of_data(factor_data(10, 300, seed=1)), [5])


# ------------------------------------------------------------ alspca


def problem(S: np.ndarray, r: int, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = of_covariance(S)
    axes, eigenvalues = data.source.principal_axes(r)
    lengths = np.sqrt(eigenvalues / eigenvalues[0])
    A = data.A / np.linalg.norm(data.A, 2)
    return A, share * np.multiply.outer(lengths, lengths), axes


@pytest.mark.parametrize("rho", [0.02, 0.08, 0.15])
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_alspca_meets_its_constraints(rho, share):
    A, bound, axes = problem(PITPROPS, 6, share)
    found = solve_alspca(A, rho, bound, axes, tol=1e-4)
    V = found.V
    covariances = np.abs(V.T @ A.T @ A @ V) - bound
    excess = covariances[~np.eye(6, dtype=bool)].max()
    assert np.abs(V.T @ V - np.eye(6)).max() <= 1e-4
    assert excess <= 1e-4
    assert found.violation == pytest.approx(max(np.abs(V.T @ V - np.eye(6)).max(), excess))


@pytest.mark.parametrize("rho", [0.02, 0.08, 0.15])
def test_alspca_improves_on_its_start(rho):
    A, bound, axes = problem(PITPROPS, 6, 0.5)
    V = solve_alspca(A, rho, bound, axes).V

    def objective(V: np.ndarray) -> float:
        return np.sum((A @ V) ** 2) - rho * np.abs(V).sum()

    assert objective(V) > objective(axes) + 0.01


def test_without_penalty_alspca_stays_at_the_principal_axes():
    A, bound, axes = problem(PITPROPS, 4, 0.5)
    V = solve_alspca(A, 0.0, bound, axes).V
    np.testing.assert_allclose(V, axes, atol=1e-6)


def test_alspca_correlates_less_under_a_tighter_bound():
    correlations = []
    for share in (0.6, 0.2):
        A, bound, axes = problem(PITPROPS, 6, share)
        scores = A @ solve_alspca(A, 0.08, bound, axes).V
        correlations.append(np.abs(scores.T @ scores)[~np.eye(6, dtype=bool)].max())
    assert correlations[1] < correlations[0]


def test_alspca_refuses_a_negative_bound():
    with pytest.raises(ValueError, match="correlation_bound"):
        alspca(of_covariance(PITPROPS), [2], correlation_bound=-0.1)


def test_the_smallest_entries_go_and_no_column_dies():
    V = np.array([[0.9, 0.1], [0.3, 0.0], [0.3, 0.05]])
    np.testing.assert_array_equal(without_smallest(V, 1), [[0.9, 0.1], [0.3, 0.0], [0.3, 0.0]])
    np.testing.assert_array_equal(without_smallest(V, 2), [[0.9, 0.1], [0.3, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(without_smallest(V, 3), [[0.9, 0.1], [0.0, 0.0], [0.0, 0.0]])
