"""What components have in common: correlated scores, shared features, sentences on them."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from redac import SparsePCA
from redac.methods import MethodPCA
from redac.model.apart import separation_sentence
from redac.show.report import html_report
from redac.show.stories import stories, variance_sentence

RNG = np.random.default_rng(0)
# Two groups of four features that follow one score, and four that follow another.
STORY = RNG.standard_normal((80, 1))
OTHER = RNG.standard_normal((80, 1))
X = np.hstack([STORY] * 8 + [OTHER] * 4) * np.linspace(2, 1, 12) + RNG.normal(0, 0.1, (80, 12))
WINE = load_wine()


@pytest.mark.parametrize(
    "model",
    [
        SparsePCA(3, cardinality=4),
        SparsePCA(3, cardinality=7),
        SparsePCA(4, cardinality=6, standardize=True),
        MethodPCA(3, method="gpower_l0", cardinality=5),
    ],
    ids=str,
)
def test_correlations_and_regression_are_those_of_the_scores(model):
    Z = (X - model.fit(X).mean_) / model.scale_
    U = model.transform(X)
    np.testing.assert_allclose(model.score_correlations_, np.corrcoef(U.T), atol=1e-9)
    fitted = U @ np.linalg.lstsq(U, Z, rcond=None)[0]
    share = (fitted**2).sum() / (Z**2).sum()
    assert model.regressed_variance_ratio_ == pytest.approx(share, abs=1e-9)
    assert model.regressed_variance_ratio_ >= model.explained_variance_ratio_.sum() - 1e-12
    used = model.components_ != 0
    assert model.loading_overlaps_[0, 1] == np.count_nonzero(used[0] & used[1])


def test_a_component_without_scores_is_correlated_with_nothing():
    S = np.diag([2.0, 1.0, 0.0, 0.0])
    with pytest.warns(UserWarning, match="Nothing is left"):
        model = SparsePCA(3, cardinality=2).fit_covariance(S)
    assert np.isfinite(model.score_correlations_).all()
    np.testing.assert_allclose(model.score_correlations_[2], [0, 0, 1], atol=1e-9)


def test_components_that_tell_the_same_story_are_named():
    model = SparsePCA(3, cardinality=4).fit(X)
    [sentence] = [text for text in stories(model) if "same story" in text]
    groups = [set(np.flatnonzero(row) // 4) for row in model.components_]
    alike = [f"PC{i + 1}" for i, group in enumerate(groups) if group <= {0, 1}]
    assert sentence.startswith(f"{alike[0]} and {alike[1]} tell the same story")


def test_uncorrelated_components_are_passed_over_in_silence():
    assert stories(SparsePCA(2, cardinality=8).fit(X)) == []


def test_shared_features_are_named_where_a_component_adds_more_than_the_one_before():
    model = SparsePCA(4, cardinality=4, standardize=True)
    model.fit(WINE.data, feature_names=list(WINE.feature_names))
    added = model.explained_variance_ratio_
    assert added[3] > added[2], "the case that is tested"
    [sentence] = stories(model)
    assert sentence.startswith("PC4 adds more")
    assert "ash (" in sentence
    assert "with PC3" in sentence
    cost = separation_sentence(model)
    assert "min_separation=" in cost
    assert "points of PEV" in cost
    assert separation_sentence(SparsePCA(2, cardinality=8).fit(X)) is None


def test_of_many_components_the_most_is_told_in_few_words():
    """Ten components that share all of their features, some of which add more than others."""
    rng = np.random.default_rng(1)
    model = SparsePCA(10).fit_covariance(np.diag(np.arange(12.0, 0.0, -1.0)))
    model.components_ = rng.uniform(0.5, 1.0, (10, 12)) / 3
    model.explained_variance_ratio_ = np.array([5, 1, 2, 1, 4, 1, 3, 1, 9, 10]) / 100
    model.score_correlations_ = np.full((10, 10), 0.9)
    model.score_correlations_[7] = model.score_correlations_[:, 7] = 0.0
    first, *sentences = stories(model)
    assert first.startswith("PC1 to PC7, PC9 and PC10 tell the same story")
    assert [text.split()[0] for text in sentences] == ["PC5", "PC7", "PC9", "PC3"]
    assert sentences[-1] == "PC3 and PC10 also add more than the one before them."
    assert "others with 6 more components." in sentences[2]
    assert max(map(len, sentences)) < 400


def test_pev_stands_beside_pca_and_regression_also_in_the_report():
    model = SparsePCA(3, cardinality=4).fit(X)
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    sentence = variance_sentence(model)
    assert f"PCA explains {100 * values[:3].sum() / values.sum():.2f} %" in sentence
    assert f"regressed on these scores: {100 * model.regressed_variance_ratio_:.2f} %" in sentence
    report = html_report(model, title="X", remarks=["One < two."])
    assert sentence in report
    assert "same story" in report
    assert "One &lt; two." in report


def test_models_of_earlier_files_have_less_to_say(tmp_path):
    model = SparsePCA(3, cardinality=4).fit(X)
    del model.score_correlations_, model.regressed_variance_ratio_
    model.save(tmp_path / "old.npz")
    old = SparsePCA.load(tmp_path / "old.npz")
    assert not any("same story" in text for text in stories(old))
    assert "regressed" not in variance_sentence(old)
