"""Rotation, SCoTLASS, DCPCA, GSPCA, RSPCA, TPower and orthogonal components: what each promises."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from helpers import assert_same_loadings, factor_data, projector, soft
from redac.constraints import normalized
from redac.datasets import load_pitprops
from redac.exceptions import CardinalityWarning
from redac.methods import sparse_pca
from redac.methods.dcpca import dc_ascent, dcpca
from redac.methods.gspca import backward_support, forward_support, gspca, without_one
from redac.methods.method_data import MethodData
from redac.methods.orthogonal import OrthogonalProblem, orthogonal
from redac.methods.pathspca import pathspca
from redac.methods.pmd import rank_one
from redac.methods.rotation import oblimin, overlap, rotation
from redac.methods.rspca import DeflatedSamples, sign_steps
from redac.methods.scotlass import Ascension, best_orthogonal, scotlass, within
from redac.methods.tpower import tpower, truncated_power
from redac.metrics import pev
from redac.solver.orthomax import orthomax
from redac.sources import as_data, covariance_source

PITPROPS = load_pitprops().correlation
METHODS = [rotation, scotlass, dcpca, gspca, tpower, orthogonal]


def of_covariance(S):
    return MethodData(covariance_source(S))


def never_falls(values):
    return all(after >= before - 1e-12 * abs(before) for before, after in pairwise(values))


# ------------------------------------------------------------ all of them


@pytest.mark.filterwarnings("ignore::redac.exceptions.CardinalityWarning")
@pytest.mark.parametrize("method", METHODS)
def test_odd_input(method):
    """Nothing at all, one feature, less rank than components, and units of any size."""
    assert not method(of_covariance(np.zeros((3, 3))), [2, 1]).any()
    np.testing.assert_allclose(np.abs(method(of_covariance(np.array([[4.0]])), [1])), [[1.0]])
    v = normalized(np.array([3.0, 2.0, 1.0, 0.0]))
    V = method(of_covariance(np.outer(v, v)), [3, 2])
    np.testing.assert_array_equal(V[:, 0] != 0, v != 0)
    if method is not scotlass:  # whose loadings are shrunk
        np.testing.assert_allclose(np.abs(normalized(V[:, 0])), v, atol=1e-7)
    assert np.isfinite(V).all()
    S = np.cov(factor_data(40, 8, seed=1), rowvar=False)
    V, W = (method(of_covariance(scale * S), [4, 4]) for scale in (1.0, 2.0**60))
    np.testing.assert_allclose(np.abs(W), np.abs(V), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("rotation", {"rotation": "promax"}, "rotation='promax' is unknown; choose one of varimax"),
        ("scotlass", {"l1_bound": 0.5}, "l1_bound=0.5 must be 1 or more"),
        ("dcpca", {"epsilon": 0}, "epsilon=0 must be positive"),
        ("tpower", {"stages": (4, 2)}, "must end with 1"),
        ("orthogonal", {"between": "rows"}, "between='rows' is unknown"),
        ("orthogonal", {"tol": 0}, "tol=0 must be positive"),
        ("rspca", {}, "rspca needs the samples"),
    ],
)
def test_wrong_options_are_named(name, option, message):
    with pytest.raises(ValueError, match=message):
        sparse_pca(PITPROPS, name, 2, cardinality=3, covariance=True, **option)


# ------------------------------------------------------------ figures that papers print


@pytest.mark.parametrize("name", ["gspca", "dcpca"])
def test_components_of_pitprops_explain_what_is_printed(name):
    """77.1 % of the variance for both, in the table of Sriperumbudur, Torres and Lanckriet."""
    V = sparse_pca(PITPROPS, name, 6, cardinality=(6, 2, 2, 1, 1, 1), covariance=True)
    assert pev(PITPROPS, V, covariance=True) == pytest.approx(77.1, abs=0.05)


@pytest.mark.parametrize("name", ["gspca", "dcpca", "tpower", "pathspca"])
@pytest.mark.parametrize(("k", "optimum"), [(5, 3.406), (10, 4.173)])
def test_the_first_component_of_pitprops_is_the_published_optimum(name, k, optimum):
    v = sparse_pca(PITPROPS, name, 1, cardinality=k, covariance=True)[0]
    assert v @ PITPROPS @ v == pytest.approx(optimum, abs=5e-4)


def test_orthogonal_components_have_the_variance_that_is_published():
    """msPCA 0.5.1 prints 79.1 % for six components of four features, the sum of their variances."""
    V = sparse_pca(PITPROPS, "orthogonal", 6, cardinality=4, covariance=True)
    assert 100 * np.trace(V @ PITPROPS @ V.T) / 13 >= 79.1
    assert np.abs(V @ V.T - np.eye(6)).max() <= 1e-3


# ------------------------------------------------------------ rotation


def test_quartimax_raises_its_own_criterion():
    L = factor_data(20, 3, seed=1)
    rotated = orthomax(L, 0.0, 500, 1e-12)
    assert (rotated**4).sum() > (orthomax(L, 1.0, 500, 1e-12) ** 4).sum() > 0
    assert (rotated**4).sum() > (L**4).sum()
    np.testing.assert_allclose(rotated @ rotated.T, L @ L.T, atol=1e-9)


def test_oblimin_finds_a_simple_structure_that_is_oblique():
    simple = np.kron(np.eye(3), np.array([[1.0], [0.8], [0.9], [0.7]]))
    T = np.linalg.cholesky([[1.0, 0.4, 0.2], [0.4, 1.0, 0.3], [0.2, 0.3, 1.0]]).T
    L = oblimin(simple @ T.T)
    assert overlap(L) < 1e-6 < overlap(simple @ T.T)
    np.testing.assert_allclose(np.sort(np.abs(L).ravel()), np.sort(simple.ravel()), atol=1e-3)


@pytest.mark.parametrize("kind", ["varimax", "quartimax", "oblimin"])
def test_rotations_that_cut_nothing_keep_the_principal_subspace(kind):
    V = rotation(of_covariance(PITPROPS), [13] * 4, rotation=kind)
    axes = np.linalg.eigh(PITPROPS)[1][:, -4:]
    np.testing.assert_allclose(projector(V), projector(axes), atol=1e-8)


# ------------------------------------------------------------ SCoTLASS


@pytest.mark.parametrize("bound", [1.5, 2.0, 2.5])
def test_the_first_component_of_scotlass_is_that_of_pmd(bound):
    data = of_covariance(PITPROPS)
    axis = np.linalg.eigh(PITPROPS)[1][:, -1]
    expected = rank_one(data.A, axis, bound, max_iter=5000, tol=1e-10).v
    found = scotlass(data, [13], l1_bound=bound, tol=1e-10, max_iter=5000)[:, 0]
    assert_same_loadings(found * np.sign(found @ expected), expected)


@pytest.mark.parametrize("bound", [1.75, 2.5])
def test_scotlass_is_orthogonal_and_within_the_bound(bound):
    V = scotlass(of_covariance(PITPROPS), [13] * 4, l1_bound=bound)
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-9)
    assert (np.abs(V).sum(axis=0) <= bound * (1 + 1e-8)).all()
    assert np.count_nonzero(V) < V.size


def test_scotlass_of_data_is_that_of_their_covariance_matrix():
    X = factor_data(40, 9, seed=3)
    S = np.cov(X, rowvar=False)
    V = sparse_pca(X, "scotlass", 3, cardinality=9, l1_bound=1.8)
    W = sparse_pca(S, "scotlass", 3, cardinality=9, l1_bound=1.8, covariance=True)
    np.testing.assert_allclose(V, W, atol=1e-5)


def test_the_step_of_scotlass_is_unbeaten():
    """No feasible vector near the answer, or anywhere at random, has a larger inner product."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        V = np.linalg.qr(rng.standard_normal((8, 2)))[0]
        w, bound = rng.standard_normal(8), 2.0
        best = best_orthogonal(w, bound, V)
        assert np.abs(V.T @ best).max() < 1e-8
        assert np.abs(best).sum() <= bound * (1 + 1e-8)
        for spread in (0.03, 0.3, 3.0):
            others = best + spread * rng.standard_normal((500, 8))
            others -= others @ V @ V.T
            lengths = np.maximum(np.linalg.norm(others, axis=1), np.abs(others).sum(axis=1) / bound)
            assert (others @ w / lengths).max() <= best @ w + 1e-9


def test_scotlass_says_when_a_bound_is_too_tight():
    """Across (1, 1, 1) no unit vector has an l1 norm below the root of two."""
    ascent = Ascension(of_covariance(PITPROPS[:3, :3]).A, np.full((3, 1), 3**-0.5), 1e-6, 200)
    with pytest.warns(ConvergenceWarning, match="found no unit vector with l1_bound=1.2"):
        assert not within(ascent, 1.2, np.eye(3), "scotlass, component 2").any()
    found = within(ascent, 1.5, np.eye(3), "scotlass, component 2")
    assert abs(found.sum()) < 1e-9
    assert np.abs(found).sum() <= 1.5 * (1 + 1e-8)


# ------------------------------------------------------------ DCPCA


@pytest.mark.parametrize("penalty", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("epsilon", [1e-3, 1e-1])
def test_dcpca_never_lowers_its_objective(penalty, epsilon):
    A = factor_data(30, 12, seed=4)
    A = A / np.linalg.norm(A, ord=2)
    start = np.linalg.svd(A)[2][0]

    def objective(v):
        logs = np.log1p(np.abs(v) / epsilon).sum() / np.log1p(1 / epsilon)
        return float(np.square(A @ v).sum() - penalty * logs)

    ends = [dc_ascent(A, start, penalty, epsilon, tol=0.0, max_iter=n) for n in range(15)]
    values = [objective(v) for v in ends]
    assert never_falls(values)
    assert values[-1] > values[0]
    # The last is a fixed point of the step that the paper states.
    v = dc_ascent(A, start, penalty, epsilon, tol=1e-14, max_iter=5000)
    half = penalty / np.log1p(1 / epsilon) / 2
    step = soft(A.T @ (A @ v), half / (np.abs(v) + epsilon))
    np.testing.assert_allclose(v, normalized(step), atol=1e-7)


def test_dcpca_without_refit_shrinks_and_explains_less():
    plain, fitted = (
        dcpca(of_covariance(PITPROPS), [5], refit=refit)[:, 0] for refit in (False, True)
    )
    np.testing.assert_array_equal(plain != 0, fitted != 0)
    assert plain @ PITPROPS @ plain < fitted @ PITPROPS @ fitted


# ------------------------------------------------------------ GSPCA


def largest_eigenvalue(S, support):
    return float(np.linalg.eigvalsh(S[np.ix_(support, support)])[-1])


@pytest.mark.parametrize("k", [2, 4, 6])
@pytest.mark.parametrize("seed", range(3))
def test_gspca_is_between_its_ways_and_the_exhaustive_optimum(seed, k):
    S = np.cov(factor_data(30, 9, seed=seed), rowvar=False)
    data = of_covariance(S)
    v = gspca(data, [k])[:, 0]
    value = float(v @ S @ v)
    ways = [
        largest_eigenvalue(S, support)
        for support in (forward_support(data.A, k), backward_support(S, k))
    ]
    best = max(largest_eigenvalue(S, list(each)) for each in combinations(range(9), k))
    assert value == pytest.approx(max(ways))
    assert value <= best * (1 + 1e-12)
    path = pathspca(data, [k])[:, 0]
    if set(np.flatnonzero(path)) == set(np.flatnonzero(v)):
        assert path @ S @ path == pytest.approx(value)


def test_greedy_steps_are_the_best_by_exact_eigenvalues():
    S = np.cov(factor_data(40, 10, seed=5), rowvar=False)
    A = of_covariance(S).A
    path = forward_support(A, 6).tolist()
    for size in range(6):
        outside = [i for i in range(10) if i not in path[:size]]
        best = max(outside, key=lambda i: largest_eigenvalue(S, [*path[:size], i]))
        assert path[size] == best
    kept = set(range(10))
    for size in range(9, 3, -1):
        kept = max((kept - {i} for i in kept), key=lambda each: largest_eigenvalue(S, sorted(each)))
        assert set(backward_support(S, size).tolist()) == kept


def test_eigenvalues_without_a_feature_where_some_repeat():
    for S in (np.eye(4), np.diag([3.0, 3.0, 2.0, 1.0]), np.ones((4, 4)), PITPROPS):
        rest = [np.delete(np.arange(len(S)), i) for i in range(len(S))]
        expected = [largest_eigenvalue(S, each) for each in rest]
        np.testing.assert_allclose(without_one(S), expected, atol=1e-12)


# ------------------------------------------------------------ TPower


@pytest.mark.parametrize("cardinalities", [(8, 5, 6, 2, 3, 2), (7, 4, 4, 1, 1, 1)])
def test_plain_tpower_is_pathspca_on_pitprops(cardinalities):
    """As runs of the authors' toolbox are, from the best single feature."""
    data = of_covariance(PITPROPS)
    V, W = tpower(data, cardinalities, stages=(1,)), pathspca(data, cardinalities)
    np.testing.assert_allclose(np.abs(V), np.abs(W), atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 12])
def test_the_objective_of_tpower_rises(k):
    A = factor_data(30, 12, seed=6)
    start = np.eye(12)[3]
    ends = [truncated_power(A, k, start, tol=0.0, max_iter=n) for n in range(1, 15)]
    assert never_falls([float(np.square(A @ v).sum()) for v in ends])
    if k == 12:
        v = truncated_power(A, k, start, tol=1e-12)
        assert np.square(A @ v).sum() == pytest.approx(np.linalg.norm(A, ord=2) ** 2)


# ------------------------------------------------------------ orthogonal components


@pytest.mark.parametrize("between", ["loadings", "scores"])
@pytest.mark.parametrize("tol", [1e-6, 1e-2])
def test_orthogonal_components_are_so_to_the_tolerance(between, tol):
    X = factor_data(60, 12, seed=7)
    V = orthogonal(of_covariance(np.cov(X, rowvar=False)), [5, 4, 4], between=between, tol=tol)
    vectors = V if between == "loadings" else (X - X.mean(axis=0)) @ V
    cosines = np.corrcoef(vectors.T) if between == "scores" else V.T @ V
    assert np.abs(cosines - np.eye(3)).max() <= tol * (1 + 1e-6)
    assert (np.count_nonzero(V, axis=0) <= [5, 4, 4]).all()


def test_steps_with_a_penalty_never_lower_the_penalised_objective():
    A = of_covariance(PITPROPS).A
    problem = OrthogonalProblem(A / np.linalg.norm(A, ord=2), (6, 6), of_scores=False)
    V = np.linalg.svd(problem.A)[2][:1].T @ np.ones((1, 2))

    def objective(V):
        return problem.variance(V) - (V[:, 0] @ V[:, 1]) ** 2

    values = []
    for _ in range(4):
        V = problem.penalised(V, 1.0)
        values.append(objective(V))
    assert never_falls(values)


def test_alignment_on_full_supports_gives_the_principal_axes_their_variance():
    A = of_covariance(PITPROPS).A
    problem = OrthogonalProblem(A, (13, 13, 13), of_scores=False)
    V = problem.aligned(np.linalg.qr(np.random.default_rng(0).standard_normal((13, 3)))[0])
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-9)
    assert problem.variance(V) == pytest.approx(np.linalg.eigvalsh(PITPROPS)[-3:].sum(), rel=1e-6)


def test_what_cannot_be_orthogonal_is_said():
    S = np.full((3, 3), 0.9) + 0.1 * np.eye(3)
    with pytest.warns(ConvergenceWarning, match="orthogonal: the largest cosine between scores"):
        orthogonal(of_covariance(S), [1, 1, 1], between="scores")


# ------------------------------------------------------------ RSPCA


def with_outliers(seed):
    """Samples of one factor on four features; nine of 300 are far away on four others."""
    rng = np.random.default_rng(seed)
    X = 0.3 * rng.standard_normal((300, 12))
    X[:, :4] += rng.standard_normal((300, 1)) * 2.0
    X[:9, 8:] += 12.0 * rng.choice([-1.0, 1.0], size=(9, 1))
    return X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("threshold", ["hard", "soft"])
def test_outliers_do_not_turn_rspca(seed, threshold):
    X = with_outliers(seed)
    found = sparse_pca(X, "rspca", 1, cardinality=4, threshold=threshold)
    assert np.flatnonzero(found[0]).tolist() == [0, 1, 2, 3]
    others = sparse_pca(X, "tpower", 1, cardinality=4)
    assert np.flatnonzero(others[0]).tolist() == [8, 9, 10, 11]


def test_sign_steps_never_lower_the_sum_of_magnitudes():
    X = factor_data(50, 10, seed=8)
    samples = DeflatedSamples(as_data(X), np.zeros((10, 0)))
    start = np.eye(10)[:, :3]
    values = np.array([sign_steps(samples, 4, start, max_iter=n)[1] for n in range(1, 8)])
    for column in values.T:
        assert never_falls(column)
    W, ends = sign_steps(samples, 4, start)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(np.abs(centred @ W).sum(axis=0), ends)
    assert (np.count_nonzero(W, axis=0) == 4).all()


def test_samples_are_deflated_as_if_they_had_been_formed():
    X = factor_data(20, 6, seed=9)
    V = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0][:, :2]
    V[:, 1] = normalized(V[:, 0] + V[:, 1])
    explicit = X - X.mean(axis=0)
    for v in V.T:
        explicit = explicit - np.outer(explicit @ v, v)
    samples = DeflatedSamples(as_data(X), V)
    np.testing.assert_allclose(samples.scores(np.eye(6)), explicit, atol=1e-12)
    signs = np.sign(explicit)
    np.testing.assert_allclose(samples.sums(signs), explicit.T @ signs, atol=1e-10)


def test_rspca_of_sparse_data_is_that_of_dense_data():
    X = factor_data(60, 9, seed=10) * (np.random.default_rng(2).random((60, 9)) < 0.4)
    dense, sparse = (sparse_pca(each, "rspca", 2, cardinality=4) for each in (X, csr_matrix(X)))
    np.testing.assert_allclose(dense, sparse, atol=1e-7)


def test_rspca_gives_up_where_nothing_is_left():
    scores = np.random.default_rng(3).standard_normal((20, 1))
    with pytest.warns(CardinalityWarning, match="rspca"):
        found = sparse_pca(scores * [3.0, 2.0, 1.0], "rspca", 2, cardinality=3)
    np.testing.assert_allclose(found[0], normalized(np.array([3.0, 2.0, 1.0])), atol=1e-9)
    assert not found[1].any()
