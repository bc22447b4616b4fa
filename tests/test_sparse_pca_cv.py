"""The estimator that chooses its numbers of components and features."""

import warnings

import numpy as np
import pytest
from benchmarks.planted import hubert, planted
from scipy.sparse import csr_array

from helpers import Impatient, assert_same_loadings
from redac import SparsePCA, SparsePCACV
from redac.exceptions import FitInterruptedWarning, NoComponentsWarning
from redac.model.callbacks import watched

PLANTED = planted(np.random.default_rng(0), 120, 24, 6, (9, 6), 0)
GRID = {"n_components": (1, 2, 3), "cardinality": (2, 6, 12)}
FIT = {"tol": 1e-5}


@pytest.mark.parametrize("rule", ["best", "one_se", "ebic"])
def test_what_was_planted_is_chosen(rule):
    model = SparsePCACV(**GRID, **FIT, rule=rule).fit(PLANTED)
    assert (model.n_components_, model.cardinality_) == (2, 6)
    supports = {tuple(np.flatnonzero(row)) for row in model.components_}
    assert supports == {tuple(range(6)), tuple(range(6, 12))}
    assert "2 components of 6 features" in model.reason_


def test_unequal_variances_of_features_do_not_mislead():
    X = hubert(np.random.default_rng(1), 100, 10)
    model = SparsePCACV((1, 2, 3), (2, 4, 6, 10), **FIT).fit(X)
    assert (model.n_components_, model.cardinality_) == (2, 4)


def test_noise_has_no_components(tmp_path):
    X = np.random.default_rng(2).standard_normal((60, 12))
    with pytest.warns(NoComponentsWarning, match="no component predicts better than the mean"):
        model = SparsePCACV(**GRID, **FIT).fit(X)
    assert (model.n_components_, model.cardinality_) == (0, 0)
    assert model.components_.shape == (0, 12)
    assert model.transform(X).shape == (60, 0)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X.mean(0) + 0 * X)
    assert model.score(X) == 0.0
    assert model.reconstruction_error_ == 1.0
    assert model.get_feature_names_out().size == 0
    assert model.loadings_table().empty
    with pytest.raises(ValueError, match="No component was chosen"):
        model.certificate()
    model.save(tmp_path / "none.npz")
    assert SparsePCACV.load(tmp_path / "none.npz").transform(X).shape == (60, 0)
    assert SparsePCACV(1, 2, **FIT).fit(X).n_components_ == 1, "a number is no matter of choice"


def test_a_feature_that_outweighs_all_others_is_named():
    X = PLANTED * np.where(np.arange(24) == 3, 1e3, 1.0)
    with pytest.warns(NoComponentsWarning, match=r"'x3' alone has nearly all .* standardize=True"):
        SparsePCACV((1, 2), (2, 6), **FIT).fit(X)
    assert SparsePCACV((1, 2), (2, 6), **FIT, standardize=True).fit(X).n_components_ == 2


def test_the_choice_is_a_fit_and_never_explains_less_than_the_path(tmp_path):
    model = SparsePCACV(**GRID, **FIT).fit(PLANTED)
    alone = SparsePCA(2, cardinality=6, **FIT).fit(PLANTED)
    of_path = model.path_.model(2, 6)
    share = model.explained_variance_ratio_.sum()
    assert share >= max(m.explained_variance_ratio_.sum() for m in (alone, of_path)) - 1e-9
    assert_same_loadings(model.as_sparse_pca().transform(PLANTED), model.transform(PLANTED))
    assert model.certificate(time_limit=0).value == pytest.approx(100 * share)
    model.save(tmp_path / "model.npz")
    loaded = SparsePCACV.load(tmp_path / "model.npz")
    assert_same_loadings(loaded.components_, model.components_)
    assert (loaded.cardinality_, loaded.reason_) == (6, model.reason_)
    np.testing.assert_allclose(loaded.cv_results_["ebic"], model.cv_results_["ebic"])


def test_results_are_those_of_the_path():
    model = SparsePCACV(**GRID, **FIT, cv=3).fit(PLANTED)
    results, table = model.cv_results_, model.path_.table
    splits = np.column_stack([results[f"split{f}_test_score"] for f in range(3)])
    np.testing.assert_allclose(splits.mean(axis=1), results["mean_test_score"])
    np.testing.assert_allclose(results["mean_test_score"], table.q2)
    best = int(np.argmax(table.q2))
    assert results["rank_test_score"][best] == 1
    assert results["param_cardinality"][best] == table.cardinality[best]


def test_a_covariance_matrix_is_judged_by_ebic():
    S = np.cov(PLANTED.T)
    of_matrix = SparsePCACV(**GRID, **FIT, rule="ebic").fit_covariance(S, n_samples=120)
    of_data = SparsePCACV(**GRID, **FIT, rule="ebic").fit(PLANTED)
    assert_same_loadings(of_matrix.components_, of_data.components_)
    with pytest.raises(ValueError, match="rule='one_se' holds rows out"):
        SparsePCACV(**GRID).fit_covariance(S, n_samples=120)
    with pytest.raises(ValueError, match="n_samples=None"):
        SparsePCACV(**GRID, rule="ebic").fit_covariance(S)


class Rows:
    """Rows that something else keeps, and a count of how often they were read."""

    def __init__(self, X):
        self.X, self.shape, self.dtype, self.n_read = X, X.shape, X.dtype, 0

    def __getitem__(self, rows):
        self.n_read += self.X[rows].shape[0]
        return self.X[rows]


def test_one_pass_over_the_data_serves_all_folds():
    rows = Rows(PLANTED)
    model = SparsePCACV(**GRID, **FIT).fit(rows)
    assert rows.n_read == len(PLANTED)
    assert model.n_passes_ == 1
    assert_same_loadings(model.components_, SparsePCACV(**GRID, **FIT).fit(PLANTED).components_)


def test_sparse_and_wide_data_are_judged_as_dense_ones():
    X = PLANTED[:20] * (np.abs(PLANTED[:20]) > 0.5)
    grid = {"n_components": (1, 2), "cardinality": (6,)}
    dense, sparse = (SparsePCACV(**grid, **FIT).fit(each) for each in (X, csr_array(X)))
    scores = dense.cv_results_["mean_test_score"]
    np.testing.assert_allclose(sparse.cv_results_["mean_test_score"], scores, atol=1e-6)


def test_an_interruption_leaves_a_choice_from_what_is_done():
    patient = Impatient(10**6)
    with watched(patient):
        SparsePCACV(**GRID, **FIT).fit(PLANTED)
    n_tasks = 10**6 - patient.patience
    done = []
    for patience in (n_tasks // 10, 2 * n_tasks // 3):
        with watched(Impatient(patience)), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SparsePCACV(**GRID, **FIT).fit(PLANTED)
        assert any(issubclass(each.category, FitInterruptedWarning) for each in caught)
        assert model.interrupted_
        assert model.path_.interrupted
        done.append(len(model.path_.table))
    assert done[0] < 9 == done[1]


def test_an_interruption_before_anything_is_done_is_passed_on():
    with watched(Impatient(1)), pytest.raises(KeyboardInterrupt):
        SparsePCACV(**GRID).fit(PLANTED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "worst"}, "rule='worst' is not one of"),
        ({"rule": "share", "share": 1.5}, r"share=1\.5"),
        ({"cv": None}, "cv=None"),
    ],
)
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SparsePCACV(**arguments).fit(PLANTED)


def test_zero_may_be_listed_and_is_a_candidate_all_the_same():
    plain = SparsePCACV((1, 2), 6, **FIT).fit(PLANTED)
    listed = SparsePCACV(range(3), 6, **FIT).fit(PLANTED)
    assert listed.n_components_ == plain.n_components_ == 2
    assert len(listed.path_.table) == 2
    with pytest.raises(ValueError, match="n_components=0"):
        SparsePCACV(0, 6).fit(PLANTED)


def test_the_usual_grid_has_room_for_required_features():
    model = SparsePCACV((1, 2), require=[20, 21, 22], **FIT).fit(PLANTED)
    assert model.path_.table.cardinality.min() == 3


def test_a_choice_at_the_edge_of_the_grid_says_so():
    model = SparsePCACV((1, 2), (2, 4), **FIT, rule="best").fit(PLANTED)
    assert (model.n_components_, model.cardinality_) == (2, 4)
    assert "No more components or features were tried; more may be better." in model.reason_
    assert "were tried" not in SparsePCACV(**GRID, **FIT).fit(PLANTED).reason_
