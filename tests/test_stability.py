"""Half-samples: what is counted, the index, and words for it."""

import numpy as np
import pytest
from benchmarks.planted import planted
from scipy.sparse import csr_array

from helpers import Impatient
from redac import SparsePCA, sparsity_path, stability
from redac.choose.stability import nogueira
from redac.exceptions import FitInterruptedWarning
from redac.model.callbacks import watched

PLANTED = planted(np.random.default_rng(0), 120, 20, 5, (12, 8), 0)


def test_components_that_are_there_are_stable_and_noise_is_not():
    there = stability(PLANTED, 2, 5, n_resamples=10, random_state=0)
    noise = np.random.default_rng(1).standard_normal((60, 20))
    absent = stability(noise, 2, 5, n_resamples=10, random_state=0)
    assert there.index > 0.9 > 0.5 > absent.index
    assert there.kept().tolist() == [5, 5]
    assert "PC1 keeps 5 of its 5 features in more than 80% of 10 half-samples." in there.summary()
    assert repr(there) == there.summary()


def test_frequencies_count_the_features_of_matched_components():
    found = stability(PLANTED, 2, 5, n_resamples=6, random_state=0)
    assert found.frequencies.shape == (20, 2)
    np.testing.assert_allclose(found.frequencies.sum(), 5)
    used = found.model.components_.T != 0
    assert (found.frequencies.to_numpy()[used] > 0.5).all()
    np.testing.assert_allclose(6 * found.frequencies % 1, 0, atol=1e-9)
    assert found.index == pytest.approx(found.indices.mean())


def test_the_same_seed_gives_the_same_and_sparse_is_as_dense():
    plain = stability(PLANTED, 2, 5, n_resamples=4, random_state=3)
    again = stability(csr_array(PLANTED), 2, 5, n_resamples=4, random_state=3)
    np.testing.assert_allclose(again.frequencies, plain.frequencies)


def test_names_and_options_reach_the_fits():
    names = [f"gene {j}" for j in range(20)]
    found = stability(
        PLANTED, 1, 5, n_resamples=2, nonnegative=True, feature_names=names, standardize=True
    )
    assert found.frequencies.index.tolist() == names
    assert (found.model.components_ >= 0).all()
    alone = SparsePCA(1, cardinality=5, nonnegative=True, standardize=True).fit(PLANTED)
    np.testing.assert_allclose(found.model.components_, alone.components_, atol=1e-6)


def test_the_index_is_one_for_equal_sets_and_zero_on_average_for_random_ones():
    assert nogueira(np.array([1.0, 1.0, 0.0, 0.0]), 9) == 1.0
    assert nogueira(np.ones(4), 9) == 1.0
    rng = np.random.default_rng(0)
    drawn = [np.mean([rng.permutation(8) < 3 for _ in range(20)], axis=0) for _ in range(300)]
    assert abs(np.mean([nogueira(each, 20) for each in drawn])) < 0.02


def test_an_interruption_keeps_the_half_samples_that_are_done():
    with (
        watched(Impatient(60)),
        pytest.warns(FitInterruptedWarning, match="of 50 half-samples, which are kept"),
    ):
        found = stability(PLANTED, 2, 5, random_state=0)
    assert 2 <= found.n_resamples < 50


def test_too_few_rows_and_resamples_are_refused():
    with pytest.raises(ValueError, match="n_samples=3"):
        stability(PLANTED[:3], 1, 2)
    with pytest.raises(ValueError, match="n_resamples=1"):
        stability(PLANTED, 1, 2, n_resamples=1)


def test_halves_of_data_with_gaps_are_fitted_to_the_cells_that_are_there():
    gaps = np.random.default_rng(2).random(PLANTED.shape) < 0.1
    found = stability(np.where(gaps, np.nan, PLANTED), 2, 5, n_resamples=4, random_state=0)
    assert found.model.n_missing_ == gaps.sum()
    assert found.index > 0.8


def test_a_path_has_the_index_of_each_place_where_that_is_asked_for():
    settings = {"cardinality": 5, "random_state": 0}
    path = sparsity_path(PLANTED, n_components=(1, 2), cv=None, stability=4, **settings)
    for row in path.table.itertuples():
        alone = stability(PLANTED, row.n_components, n_resamples=4, **settings)
        assert row.stability == pytest.approx(alone.index)
    plain = sparsity_path(PLANTED, n_components=1, cardinality=5, cv=None)
    assert "stability" not in plain.table
    with pytest.raises(ValueError, match="stability=4 draws rows"):
        sparsity_path(
            np.cov(PLANTED.T), n_components=1, cardinality=5, covariance=True, stability=4
        )


def test_an_interrupted_stability_leaves_a_path_without_it():
    path = sparsity_path(PLANTED, n_components=(1, 2), cardinality=5, cv=None)

    def interrupted(model):
        raise KeyboardInterrupt

    path.add_stability(interrupted)
    assert path.interrupted
    assert "stability" not in path.table
