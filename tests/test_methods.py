"""All comparison methods in one shape; what is particular to a family is tested beside it."""

import re
import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers import assert_same_loadings
from redac import metrics
from redac.cli import main
from redac.datasets import load_pitprops
from redac.exceptions import CardinalityWarning
from redac.methods import MethodPCA, available_methods, describe_method, sparse_pca
from redac.methods.comparison import compare, methods_to_compare
from redac.methods.registry import METHODS

PITPROPS = load_pitprops().correlation
CARDINALITIES = (8, 5, 6, 2, 3, 2)
CONTRACT = [
    *("redac_l0", "redac_l1", "pca", "thresholding", "spca", "dspca", "pathspca"),
    *("rsvd_l0", "rsvd_l1", "rsvd_scad", "empca", "gpower_l0", "gpower_l1"),
    *("gpower_l0_block", "gpower_l1_block", "alspca", "pmd"),
    *("rotation", "scotlass", "gspca", "dcpca", "tpower", "orthogonal", "rspca"),
    *("redac_l0_nonnegative", "redac_l1_nonnegative", "nspca", "empca_nonnegative"),
]
SPARSE = [name for name in CONTRACT if name != "pca"]


def sparse_factors(rng, d):
    """Covariances of a few sparse factors and noise, variables of different scales."""
    factors = rng.standard_normal((5, d)) * (rng.random((5, d)) < 0.3)
    scale = np.exp(0.3 * rng.standard_normal(d))
    X = rng.standard_normal((3 * d, 5)) * [4, 3, 2.5, 2, 1] @ factors
    return np.cov((X + rng.standard_normal(X.shape)) * scale, rowvar=False)


def dense_factors(rng, d):
    """Correlations of variables with six common factors and noise."""
    X = rng.standard_normal((60, 6)) @ rng.standard_normal((6, d)) + rng.standard_normal((60, d))
    return np.corrcoef(X, rowvar=False)


def no_structure(rng, d):
    """Covariances of independent variables."""
    return np.cov(rng.standard_normal((60, d)), rowvar=False)


def decaying_spectrum(rng, d):
    """Eigenvalues that fall by a fifth each, in random directions."""
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return Q * 0.8 ** np.arange(d) @ Q.T


FAMILIES = [sparse_factors, dense_factors, no_structure, decaying_spectrum]


def samples_of(S):
    """Samples whose covariance matrix is S, in directions of no meaning."""
    values, vectors = np.linalg.eigh(S)
    noise = np.random.default_rng(0).standard_normal((3 * len(S), len(S)))
    Q = np.linalg.qr(noise - noise.mean(axis=0))[0]
    return Q * np.sqrt((len(Q) - 1) * np.maximum(values, 0)) @ vectors.T


def found_in(S, name, r, cardinality, **options):
    """Components from a covariance matrix, or from samples that have it."""
    if METHODS[name].needs_samples:
        return sparse_pca(samples_of(S), name, r, cardinality=cardinality, **options)
    return sparse_pca(S, name, r, cardinality=cardinality, covariance=True, **options)


# These give loadings that are shrunk and not fitted anew. What they explain may fall behind even
# thresholding (docs/methods.md), so only their feasibility is held here.
SHRINKING = ["redac_l1", "spca", "dspca", "rsvd_l1", "rsvd_scad", "alspca", "pmd"]


def random_matrices(family, count=5, d=30):
    return [family(np.random.default_rng(seed), d) for seed in range(count)]


def test_the_names_are_those_of_the_contract():
    assert sorted(available_methods()) == sorted(CONTRACT)


@pytest.mark.parametrize("name", CONTRACT)
def test_every_method_says_what_it_does(name):
    text = METHODS[name].run.__doc__
    assert text is not None
    assert len(text.split()) > 15


# Nonnegative loadings may be fewer than allowed: there may be no further positive entry.
@pytest.mark.filterwarnings("ignore:empca_nonnegative.*:redac.exceptions.CardinalityWarning")
@pytest.mark.filterwarnings("ignore:scotlass.*:redac.exceptions.CardinalityWarning")
@pytest.mark.parametrize("name", CONTRACT)
def test_components_are_unit_rows_of_the_wanted_cardinality(name):
    components = found_in(PITPROPS, name, 6, CARDINALITIES, random_state=0)
    assert components.shape == (6, 13)
    np.testing.assert_allclose(np.linalg.norm(components, axis=1), 1)
    assert (components[np.arange(6), np.abs(components).argmax(axis=1)] > 0).all()
    counts = np.count_nonzero(components, axis=1)
    if METHODS[name].total:
        assert counts.sum() == sum(CARDINALITIES)
    elif METHODS[name].nonnegative:
        assert (counts <= CARDINALITIES).all()
    elif name == "scotlass":  # small ones are out of its reach where components must be orthogonal
        assert counts[:3].tolist() == list(CARDINALITIES[:3])
    elif METHODS[name].sparse:
        assert counts.tolist() == list(CARDINALITIES)
    if METHODS[name].nonnegative:
        assert (components >= 0).all()
    if METHODS[name].orthogonal:
        np.testing.assert_allclose(components @ components.T, np.eye(6), atol=1e-3)


@pytest.mark.parametrize("name", [name for name in CONTRACT if METHODS[name].randomised])
def test_same_seed_same_components(name):
    first, second = (
        sparse_pca(PITPROPS, name, 3, cardinality=4, covariance=True, random_state=5)
        for _ in range(2)
    )
    assert_same_loadings(first, second)


SLOW = ["gspca", "dcpca"]
FREE = [name for name in SPARSE if not (METHODS[name].nonnegative or METHODS[name].orthogonal)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", FREE)
def test_feasible_on_random_matrices_and_better_than_thresholding_unless_it_shrinks(name, family):
    gains = []
    for S in random_matrices(family, count=2 if name in SLOW else 5):
        found, plain = (found_in(S, each, 4, 6, random_state=0) for each in (name, "thresholding"))
        counts = np.count_nonzero(found, axis=1)
        assert counts.sum() == 24 if METHODS[name].total else (counts == 6).all()
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
        gains.append(
            metrics.pev(S, found, covariance=True) - metrics.pev(S, plain, covariance=True)
        )
    if name not in (*SHRINKING, "thresholding"):
        assert np.median(gains) > 0


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", [name for name in SPARSE if METHODS[name].orthogonal])
def test_orthogonal_methods_are_feasible_on_random_matrices(name, family):
    (S,) = random_matrices(family, count=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = sparse_pca(S, name, 4, cardinality=6, covariance=True)
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-3)
    counts = np.count_nonzero(found, axis=1)
    assert counts[0] == 6
    assert (counts == 6).all() or any("instead of [6, 6, 6, 6]" in str(w.message) for w in caught)


@pytest.mark.filterwarnings("ignore::redac.exceptions.CardinalityWarning")
@pytest.mark.parametrize("name", [name for name in SPARSE if METHODS[name].nonnegative])
def test_nonnegative_methods_are_feasible_on_random_matrices(name):
    for S in random_matrices(dense_factors, count=3):
        found = sparse_pca(S, name, 4, cardinality=6, covariance=True, random_state=0)
        assert (found >= 0).all()
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
        counts = np.count_nonzero(found, axis=1)
        assert counts.sum() <= 24
        assert METHODS[name].total or (counts <= 6).all()


def test_redac_is_the_best_with_given_cardinalities_on_pitprops():
    def pev(name):
        components = found_in(PITPROPS, name, 6, CARDINALITIES, random_state=0)
        return metrics.pev(PITPROPS, components, covariance=True)

    rivals = [name for name in FREE if not METHODS[name].total]
    best = max(rivals, key=pev)
    assert best == "redac_l0"


@pytest.mark.parametrize(
    "name",
    [
        "redac_l0",
        "thresholding",
        "pathspca",
        "rsvd_l0",
        "rotation",
        "gspca",
        "dcpca",
        "tpower",
        "orthogonal",
    ],
)
def test_data_and_covariance_give_the_same(name):
    X = np.random.default_rng(1).standard_normal((40, 9)) * np.arange(1, 10)
    from_data = sparse_pca(X, name, 3, cardinality=3)
    from_covariance = sparse_pca(np.cov(X, rowvar=False), name, 3, cardinality=3, covariance=True)
    np.testing.assert_allclose(from_data, from_covariance, atol=1e-6)


def test_dspca_declines_data_that_are_too_wide():
    X = np.random.default_rng(0).standard_normal((20, 2000))
    with pytest.raises(ValueError, match="2000"):
        sparse_pca(X, "dspca", 2, cardinality=5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sparse_pca(PITPROPS, "lasso", 2, cardinality=3), ValueError, "method='lasso'"),
        (
            lambda: sparse_pca(PITPROPS, "pmd", 2, cardinality=3, covariance=True, rho=1),
            TypeError,
            "pmd has no option 'rho'",
        ),
        (
            lambda: sparse_pca(PITPROPS, "pmd", 20, cardinality=3, covariance=True),
            ValueError,
            "n_components=20",
        ),
        (
            lambda: sparse_pca(PITPROPS, "pmd", 2, cardinality=0, covariance=True),
            ValueError,
            "cardinality=0",
        ),
    ],
)
def test_wrong_calls_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_cardinality_that_cannot_be_reached_is_said():
    S = np.diag([3.0, 2.0, 1.0])
    with pytest.warns(CardinalityWarning, match="rsvd_l1"):
        sparse_pca(S, "rsvd_l1", 1, cardinality=2, covariance=True)


# The estimator


@parametrize_with_checks(
    [
        MethodPCA(method=name, cardinality=2)
        for name in ("redac_l0", "pca", "gpower_l1", "rsvd_scad", "empca_nonnegative", "spca")
    ]
)
@pytest.mark.filterwarnings("ignore::redac.exceptions.CardinalityWarning")
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_the_estimator_agrees_with_the_function(tmp_path):
    X = np.random.default_rng(1).standard_normal((40, 9)) * np.arange(1, 10)
    model = MethodPCA(3, method="gpower_l1", cardinality=3).fit(X)
    assert_same_loadings(model.components_, sparse_pca(X, "gpower_l1", 3, cardinality=3))
    assert 100 * model.explained_variance_ratio_.sum() == pytest.approx(
        metrics.pev(X, model.components_)
    )
    assert model.score(X) == pytest.approx(model.explained_variance_ratio_.sum())
    model.save(tmp_path / "model.npz")
    loaded = MethodPCA.load(tmp_path / "model.npz")
    np.testing.assert_allclose(loaded.transform(X), model.transform(X), atol=1e-12)


def test_options_reach_the_method():
    model = MethodPCA(2, method="empca", cardinality=3, options={"n_restarts": 2}, random_state=0)
    model.fit_covariance(PITPROPS)
    expected = sparse_pca(
        PITPROPS, "empca", 2, cardinality=3, covariance=True, random_state=0, n_restarts=2
    )
    assert_same_loadings(model.components_, expected)


# The command


def test_compare_prints_figures_of_the_metrics(capsys):
    status = main(
        [
            "compare",
            "pitprops",
            "--methods",
            "redac_l0,pathspca,pca",
            "--cardinality",
            "8,5,6,2,3,2",
        ]
    )
    assert status == 0
    rows = {
        line.split()[0]: line.split()[1:]
        for line in capsys.readouterr().out.splitlines()
        if line.split()[:1] and line.split()[0] in METHODS
    }
    assert list(rows) == ["redac_l0", "pathspca", "pca"]
    components = sparse_pca(PITPROPS, "pathspca", 6, cardinality=CARDINALITIES, covariance=True)
    assert rows["pathspca"][0] == f"{metrics.pev(PITPROPS, components, covariance=True):.2f}"
    assert rows["pathspca"][1] == f"{metrics.rre(PITPROPS, components, covariance=True):.4f}"
    assert rows["pathspca"][4:] == ["8", "5", "6", "2", "3", "2"]


def test_compare_says_what_is_comparable(capsys):
    names = ["redac_l0", "nspca", "pathspca", "orthogonal", "redac_l1_nonnegative", "alspca", "pca"]
    arguments = ["compare", "pitprops", "--components", "2", "--cardinality", "3"]
    assert main([*arguments, "--methods", ",".join(names)]) == 0
    out = capsys.readouterr().out
    lines = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert lines[2:-1] == [
        *("(redac)", "redac_l0", "redac_l1_nonnegative", "(nonnegative)", "nspca"),
        *("(same", "pathspca", "(orthogonal)", "orthogonal"),
        *("(total", "alspca", "(not", "pca"),
    ]
    assert "not comparable" in out
    assert main([*arguments, "--methods", "thresholding,pathspca"]) == 0
    assert "comparable" not in capsys.readouterr().out


def test_a_comparison_says_which_options_methods_had():
    asked = {"n_components": 2, "cardinality": 3, "covariance": True}
    found = compare(PITPROPS, ["dcpca", "pathspca", "alspca"], **asked).set_index("method")
    assert found.loc["dcpca", "options"] == "epsilon=0.01, refit=True, tol=1e-06, max_iter=1000"
    assert found.loc["pathspca", "options"] == ""
    assert found.loc["alspca", "group"] == "total cardinality"
    everything = methods_to_compare(None)
    assert "rspca" in everything
    assert set(everything) - set(methods_to_compare(None, covariance=True)) == {"rspca"}


def test_compare_goes_on_when_a_method_declines(tmp_path, capsys):
    path = tmp_path / "wide.npy"
    np.save(path, np.random.default_rng(0).standard_normal((10, 600)))
    arguments = ["compare", str(path), "--components", "2", "--cardinality", "5"]
    assert main([*arguments, "--methods", "dspca,thresholding"]) == 0
    captured = capsys.readouterr()
    assert "failed" in captured.out
    assert "note: dspca:" in captured.err
    assert main([*arguments, "--methods", "dspca"]) == 1


def test_compare_names_an_unknown_method(capsys):
    assert main(["compare", "pitprops", "--methods", "x", "--cardinality", "3"]) == 2
    assert "method='x' is unknown; choose one of" in capsys.readouterr().err


def test_compare_on_standardized_data_scores_standardized_data(tmp_path, capsys):
    X = np.random.default_rng(2).standard_normal((30, 6)) * [1, 10, 100, 1, 1, 1]
    np.save(tmp_path / "X.npy", X)
    arguments = ["--standardize", "--methods", "redac_l0", "--components", "2"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["compare", str(tmp_path / "X.npy"), "--cardinality", "2", *arguments]) == 0
    line = next(row for row in capsys.readouterr().out.splitlines() if "redac_l0" in row)
    model = MethodPCA(2, cardinality=2, standardize=True).fit(X)
    assert line.split()[1] == f"{100 * model.explained_variance_ratio_.sum():.2f}"


@pytest.mark.parametrize("name", available_methods())
def test_every_method_describes_itself_and_its_options(name):
    text = describe_method(name)
    assert text.startswith(f"{name}: ")
    options = text.splitlines()[-1].removeprefix("Options: ")
    assert re.findall(r"(\w+)=", options) == METHODS[name].options
    assert METHODS[name].options or options == "none"


def test_an_unknown_method_is_refused_with_the_list_of_names():
    with pytest.raises(ValueError, match="choose one of redac_l0"):
        describe_method("svd")
