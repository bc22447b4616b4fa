"""One definition of each measure, tied to the others by identities."""

import numpy as np
import pytest
from scipy import sparse

from redac import metrics
from redac.datasets import load_pitprops

RNG = np.random.default_rng(5)
X = RNG.standard_normal((40, 7)) @ RNG.standard_normal((7, 7)) + 3
COVARIANCE = np.cov(X, rowvar=False)
COMPONENTS = RNG.standard_normal((3, 7)) * (RNG.random((3, 7)) < 0.6)


def reconstruction(X, components):
    centred = X - X.mean(axis=0)
    V = components.T
    return centred, centred @ V @ np.linalg.pinv(V.T @ V) @ V.T


def test_pev_is_the_variance_of_the_least_squares_reconstruction():
    centred, restored = reconstruction(X, COMPONENTS)
    expected = 100 * np.sum(restored**2) / np.sum(centred**2)
    assert metrics.pev(X, COMPONENTS) == pytest.approx(expected, rel=1e-12)


def test_rre_is_the_relative_length_of_the_residual():
    centred, restored = reconstruction(X, COMPONENTS)
    expected = np.linalg.norm(centred - restored) / np.linalg.norm(centred)
    assert metrics.rre(X, COMPONENTS) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("covariance", [False, True])
def test_pev_and_rre_say_the_same(covariance):
    source = COVARIANCE if covariance else X
    rre = metrics.rre(source, COMPONENTS, covariance=covariance)
    pev = metrics.pev(source, COMPONENTS, covariance=covariance)
    assert pev == pytest.approx(100 * (1 - rre**2), abs=1e-10)


@pytest.mark.parametrize("definition", ["projection", "qr", "raw"])
def test_data_and_covariance_agree(definition):
    from_data = metrics.explained_variance_ratio(X, COMPONENTS, definition=definition)
    from_covariance = metrics.explained_variance_ratio(
        COVARIANCE, COMPONENTS, covariance=True, definition=definition
    )
    np.testing.assert_allclose(from_data, from_covariance, rtol=1e-10)


def test_sparse_and_dense_agree():
    counts = RNG.poisson(0.5, size=(50, 9))
    components = RNG.standard_normal((2, 9))
    expected = metrics.pev(counts, components)
    for container in (sparse.csr_array, sparse.csc_matrix):
        assert metrics.pev(container(counts), components) == pytest.approx(expected, rel=1e-12)


def test_all_definitions_agree_on_principal_components():
    values, vectors = np.linalg.eigh(COVARIANCE)
    components = vectors[:, ::-1][:, :3].T
    expected = values[::-1][:3] / values.sum()
    for definition in ("projection", "qr", "raw"):
        ratio = metrics.explained_variance_ratio(X, components, definition=definition)
        np.testing.assert_allclose(ratio, expected, rtol=1e-10)


def test_projection_sums_to_pev_and_its_running_sum_is_the_cumulative_measure():
    ratio = metrics.explained_variance_ratio(X, COMPONENTS)
    assert 100 * ratio.sum() == pytest.approx(metrics.pev(X, COMPONENTS), rel=1e-12)
    expected = [metrics.pev(X, COMPONENTS[: i + 1]) for i in range(3)]
    np.testing.assert_allclose(metrics.cumulative_pev(X, COMPONENTS), expected, rtol=1e-10)


def test_qr_definition_is_the_squared_diagonal_of_r():
    scores = (X - X.mean(axis=0)) @ COMPONENTS.T
    diagonal = np.linalg.qr(scores, mode="r").diagonal() ** 2
    expected = diagonal / np.sum((X - X.mean(axis=0)) ** 2)
    ratio = metrics.explained_variance_ratio(X, COMPONENTS, definition="qr")
    np.testing.assert_allclose(ratio, expected, rtol=1e-10)


def test_raw_definition_counts_correlated_scores_more_than_once():
    unit = COMPONENTS / np.linalg.norm(COMPONENTS, axis=1, keepdims=True)
    raw = metrics.explained_variance_ratio(X, unit, definition="raw")
    qr = metrics.explained_variance_ratio(X, unit, definition="qr")
    assert (raw >= qr - 1e-12).all()
    assert raw[0] == pytest.approx(qr[0])
    np.testing.assert_allclose(raw, (unit * (unit @ COVARIANCE)).sum(axis=1) / np.trace(COVARIANCE))


def test_only_the_span_matters():
    mixed = RNG.standard_normal((3, 3)) @ COMPONENTS
    assert metrics.pev(X, mixed) == pytest.approx(metrics.pev(X, COMPONENTS), rel=1e-9)


def test_zero_and_repeated_components_add_nothing():
    expected = metrics.pev(X, COMPONENTS)
    with_extras = np.vstack([COMPONENTS, np.zeros(7), 2 * COMPONENTS[0]])
    assert metrics.pev(X, with_extras) == pytest.approx(expected, rel=1e-10)
    ratio = metrics.explained_variance_ratio(X, with_extras)
    np.testing.assert_array_equal(ratio[3:], 0)


def test_all_features_explain_everything():
    assert metrics.pev(X, np.eye(7)) == pytest.approx(100)
    assert metrics.rre(X, np.eye(7)) == pytest.approx(0, abs=1e-7)


def test_constant_data_have_nothing_to_explain():
    assert metrics.pev(np.ones((5, 3)), np.eye(3)) == 0


def test_a_single_component_may_be_a_plain_vector():
    expected = metrics.pev(X, COMPONENTS[:1])
    assert metrics.pev(X, COMPONENTS[0]) == pytest.approx(expected)


def test_separation_of_orthogonal_and_collapsed_components():
    assert metrics.separation(np.eye(4)[:2] * [[2.0], [5.0]]) == pytest.approx(1)
    assert metrics.separation([[1, 0], [1, 0]]) == 0
    angle = 0.3
    components = [[1, 0], [np.cos(angle), np.sin(angle)]]
    assert metrics.separation(components) == pytest.approx(1 - np.cos(angle))


def test_published_table_of_pitprops_is_reproduced_for_principal_components():
    correlation = load_pitprops().correlation
    vectors = np.linalg.eigh(correlation)[1][:, ::-1]
    # Jeffers (1967): six components account for 87 per cent of the variance.
    assert metrics.pev(correlation, vectors[:, :6].T, covariance=True) == pytest.approx(
        87.0, abs=0.01
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.pev(X, np.ones((2, 5))), "5 entries.*7 features"),
        (lambda: metrics.pev(X, np.full((2, 7), np.nan)), "NaN or infinity"),
        (lambda: metrics.pev(X, COMPONENTS, covariance=True), "square"),
        (lambda: metrics.pev(X[0], COMPONENTS), "two dimensions"),
        (
            lambda: metrics.explained_variance_ratio(X, COMPONENTS, definition="r2"),
            "definition='r2'",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_violation_of_orthogonality_is_the_sum_of_cosines():
    components = np.array([[1.0, 0, 0], [3, 4, 0], [0, 0, -2], [0, 0, 0]])
    assert metrics.orthogonality_violation(components) == pytest.approx(0.6)
    assert metrics.orthogonality_violation(-components[:2] * 7) == pytest.approx(0.6)


def test_of_orthogonal_components_pev_is_the_sum_of_raw_shares():
    components = np.linalg.qr(COMPONENTS.T)[0].T
    assert metrics.orthogonality_violation(components) == pytest.approx(0, abs=1e-12)
    raw = metrics.explained_variance_ratio(X, components, definition="raw").sum()
    assert metrics.pev(X, components) == pytest.approx(100 * raw, rel=1e-12)
