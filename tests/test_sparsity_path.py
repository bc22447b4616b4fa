"""Paths of solutions: nothing falls along them, and every row of the table is what it says."""

import re
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import KFold, ShuffleSplit

from helpers import assert_same_loadings
from redac import SparsePCA, SparsityPath, metrics, sparsity_path
from redac.choose.criteria import Candidate, choose, ebic
from redac.choose.grid import Grid
from redac.choose.press import press_of_rows
from redac.choose.sparsity import fold_numbers
from redac.disk import DataFileError
from redac.model.running import problem_of
from redac.sources import as_data, as_source

RNG = np.random.default_rng(0)
BLOCKS = RNG.standard_normal((60, 12)) + np.repeat(3 * RNG.standard_normal((60, 3)), 4, axis=1)
WIDE = RNG.standard_normal((20, 50)) + np.repeat(2 * RNG.standard_normal((20, 5)), 10, axis=1)


def assert_never_falls(path):
    grid = path.table.pivot(index="n_components", columns="cardinality", values="pev").to_numpy()
    assert (np.diff(grid, axis=0) >= -1e-8).all()
    assert (np.diff(grid, axis=1) >= -1e-8).all()


@pytest.mark.parametrize(
    ("X", "standardize"),
    [(load_wine().data, True), (load_breast_cancer().data, True), (WIDE, False)],
    ids=["wine", "breast cancer", "wide"],
)
def test_explained_variance_never_falls_along_the_path(X, standardize):
    path = sparsity_path(
        X, n_components=(1, 2, 4), cardinality=(1, 2, 4, 6, 9), cv=None, standardize=standardize
    )
    assert len(path.table) == 15
    assert_never_falls(path)
    assert (path.table.pev <= path.table.pev_pca + 1e-8).all()


def test_the_table_is_what_the_models_are():
    path = sparsity_path(BLOCKS, n_components=(1, 3), cardinality=(2, 4))
    for row in path.table.itertuples():
        model = path.model(row.n_components, row.cardinality)
        assert isinstance(model, SparsePCA)
        assert np.count_nonzero(model.components_) == row.nonzeros
        assert metrics.pev(BLOCKS, model.components_) == pytest.approx(row.pev)
        assert model.score(BLOCKS) == pytest.approx(row.pev / 100)
        assert model.n_components == row.n_components
        share = 1 - row.nonzeros / model.components_.size
        assert row.index_of_sparseness == pytest.approx(row.pev * row.pev_pca * share / 1e4)
    values = np.linalg.eigvalsh(np.cov(BLOCKS.T))[::-1]
    assert path.table.pev_pca[3] == pytest.approx(100 * values[:3].sum() / values.sum())


def test_q2_is_what_fits_without_the_fold_predict_of_its_cells():
    path = sparsity_path(BLOCKS, n_components=3, cardinality=4, cv=4)
    for f, found in enumerate(path.fold_scores.to_numpy()[0]):
        is_out = np.arange(len(BLOCKS)) % 4 == f
        model = SparsePCA(3, cardinality=4).fit(BLOCKS[~is_out])
        Z = BLOCKS[is_out] - model.mean_
        expected = 1 - press_of_rows(Z, model.components_.T).sum() / (Z**2).sum()
        assert found == pytest.approx(expected, abs=1e-3)
    assert path.table.q2[0] == pytest.approx(path.fold_scores.to_numpy().mean())


def test_a_path_from_a_covariance_matrix_is_that_of_the_data():
    of_data = sparsity_path(BLOCKS, n_components=(1, 2), cardinality=(2, 4), cv=None)
    of_matrix = sparsity_path(
        np.cov(BLOCKS.T), n_components=(1, 2), cardinality=(2, 4), covariance=True, n_samples=60
    )
    np.testing.assert_allclose(of_matrix.table, of_data.table, rtol=1e-7)
    without = sparsity_path(np.cov(BLOCKS.T), n_components=1, cardinality=2, covariance=True)
    assert "ebic" not in without.table
    assert "q2" not in without.table


def test_a_useless_column_changes_nothing():
    X = np.column_stack([BLOCKS, np.ones(len(BLOCKS))])
    plain = sparsity_path(BLOCKS, n_components=(1, 3), cardinality=(2, 4)).table
    padded = sparsity_path(X, n_components=(1, 3), cardinality=(2, 4)).table
    for name in ("pev", "q2", "q2_se", "ebic"):
        np.testing.assert_allclose(padded[name], plain[name], atol=1e-8)


def test_paths_are_kept_in_files(tmp_path):
    path = sparsity_path(BLOCKS, n_components=(1, 3), cardinality=(2, 4))
    path.save(tmp_path / "path.redac")
    loaded = SparsityPath.load(tmp_path / "path.redac")
    np.testing.assert_allclose(loaded.table, path.table)
    np.testing.assert_allclose(loaded.fold_scores, path.fold_scores)
    assert not loaded.interrupted
    for r, k in ((1, 2), (3, 4)):
        assert_same_loadings(loaded.model(r, k).components_, path.model(r, k).components_)
        np.testing.assert_allclose(loaded.model(r, k).mean_, path.model(r, k).mean_)


def test_damaged_files_are_one_error(tmp_path):
    file = tmp_path / "path.redac"
    sparsity_path(BLOCKS, n_components=1, cardinality=(2, 4), cv=None).save(file)
    content = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for change in (
        {"path.json": b"{}"},
        {"path.json": parts["path.json"].replace(b"redac-path-1", b"redac-path-9")},
        {
            "path.json": parts["path.json"].replace(
                b'"cardinality": [2, 4]', b'"cardinality": [2,9]'
            )
        },
        {"r1-k2.npz": parts["r1-k4.npz"]},
    ):
        with zipfile.ZipFile(file, "w") as archive:
            for name, part in (parts | change).items():
                archive.writestr(name, part)
        with pytest.raises(DataFileError, match=r"path\.redac"):
            SparsityPath.load(file)
    SparsePCA(1, cardinality=2).fit(BLOCKS).save(file)
    with pytest.raises(DataFileError, match="not a path saved by redac"):
        SparsityPath.load(file)
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataFileError, match=r"path\.redac"):
        SparsityPath.load(file)


def test_an_interruption_keeps_what_is_done():
    source = as_source(as_data(BLOCKS))

    def problem_at(r, k):
        if (r, k) == (2, 4):
            raise KeyboardInterrupt
        return problem_of(SparsePCA(r, cardinality=k), source)

    grid = Grid(source, problem_at, (1, 2), (2, 4))
    assert not grid.solve()
    assert set(grid.points) == {(1, 2), (1, 4), (2, 2)}


def test_a_picture_has_a_line_for_each_number_of_components():
    path = sparsity_path(BLOCKS, n_components=(1, 3), cardinality=(2, 4))
    ax = path.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "1 component",
        "3 components",
    ]
    np.testing.assert_allclose(ax.lines[2].get_ydata(), 100 * path.table.q2[2:])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_components": 13, "cardinality": 2}, "n_components=13"),
        ({"n_components": (), "cardinality": 2}, "n_components is an empty"),
        ({"n_components": 2, "cardinality": 0}, "cardinality=0"),
        ({"n_components": 2, "cardinality": 2, "cv": 1}, "cv=1"),
        ({"n_components": 2, "cardinality": 2, "cv": 61}, "cv=61"),
        ({"n_components": 2, "cardinality": 2, "cv": ShuffleSplit(3)}, "each row exactly once"),
        ({"n_components": 2, "cardinality": 2, "stability": 1}, "stability=1"),
    ],
)
def test_wrong_requests_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sparsity_path(BLOCKS, **arguments)


@pytest.mark.parametrize(
    ("n_rows", "cv", "message"),
    [
        (2, 2, "n_samples=2 rows are too few to hold any out; at least 3"),
        (3, 2, "cv=2 folds of n_samples=3 rows leave 1 to fit to; give 3"),
        (4, 5, "cv=5 is more folds than there are rows, n_samples=4; give at most 4"),
    ],
)
def test_too_few_rows_for_the_folds_are_refused_with_a_way_out(n_rows, cv, message):
    with pytest.raises(ValueError, match=message):
        sparsity_path(BLOCKS[:n_rows], n_components=1, cardinality=2, cv=cv)
    if found := re.search(r"give (?:at most )?(\d+)", message):
        sparsity_path(BLOCKS[:n_rows], n_components=1, cardinality=2, cv=int(found[1]))


def test_a_path_shows_its_table():
    path = sparsity_path(BLOCKS, n_components={3, 1}, cardinality=(2, 4), cv=None)
    assert repr(path).splitlines()[0] == "Sparsity path of 4 solutions"
    assert f"{path.table.pev[3]:.3f}".rstrip("0") in repr(path)
    assert "<td>3</td>" in path._repr_html_()


def test_unknown_options_and_places_are_refused():
    with pytest.raises(TypeError, match="l1_bound is no option"):
        sparsity_path(BLOCKS, n_components=1, cardinality=2, l1_bound=1.5)
    path = sparsity_path(BLOCKS, n_components=1, cardinality=2, cv=None)
    with pytest.raises(ValueError, match=r"cardinality=5 is not on the path; there are \(1, 2\)"):
        path.model(1, 5)


def test_folds_are_dealt_in_turn_shuffled_or_split():
    np.testing.assert_array_equal(fold_numbers(3, 7, None), [0, 1, 2, 0, 1, 2, 0])
    shuffled = fold_numbers(3, 30, 1)
    np.testing.assert_array_equal(np.bincount(shuffled), [10, 10, 10])
    assert (shuffled != fold_numbers(3, 30, None)).any()
    np.testing.assert_array_equal(fold_numbers(KFold(2), 4, None), [0, 0, 1, 1])


# Rules


def candidates():
    """Scores of folds that differ much between folds, little between models."""
    folds = np.array([0.1, 0.3, 0.5, 0.2])
    return [
        Candidate(0, 0, 0, np.zeros(4), 0.0),
        Candidate(1, 4, 4, folds, -5.0),
        Candidate(2, 4, 8, folds + np.array([0.20, 0.22, 0.21, 0.20]), -30.0),
        Candidate(2, 8, 16, folds + np.array([0.21, 0.21, 0.22, 0.20]), -20.0),
        Candidate(3, 8, 24, folds + 0.1, -40.0),
    ]


@pytest.mark.parametrize(
    ("rule", "place"),
    [("best", (2, 8)), ("one_se", (2, 4)), ("share", (2, 4)), ("ebic", (3, 8))],
)
def test_rules_choose(rule, place):
    choice = choose(candidates(), rule, 0.9)
    assert (choice.candidate.n_components, choice.candidate.cardinality) == place
    assert f"{place[0]} components of {place[1]} features" in choice.reason


def test_a_smaller_share_allows_fewer_loadings():
    assert choose(candidates(), "share", 0.5).candidate.nonzeros == 4
    assert choose(candidates(), "share", 0.0).candidate.nonzeros == 0


@pytest.mark.parametrize("rule", ["best", "one_se", "share", "ebic"])
def test_no_component_is_a_possible_answer(rule):
    worse = [Candidate(0, 0, 0, np.zeros(3), 0.0), Candidate(1, 2, 2, np.full(3, -0.1), 4.0)]
    choice = choose(worse, rule, 0.9)
    assert choice.candidate.n_components == 0
    because = {"ebic": "by EBIC none explains enough for its loadings"}
    usual = "no component predicts better than the mean"
    assert choice.reason == f"No component: {because.get(rule, usual)}."


def test_a_component_that_is_better_than_none_only_by_chance_is_told_of():
    by_chance = Candidate(1, 2, 2, np.array([0.3, -0.2, 0.0]))
    candidates = [Candidate(0, 0, 0, np.zeros(3)), by_chance]
    assert choose(candidates, "one_se", 0.9).reason == (
        "No component: none predicts better than the mean by more than one standard error "
        "(Q² is 0.033 at best, 1 component of 2 features)."
    )
    assert "had without any (Q² is 0.033 at best" in choose(candidates, "share", 0.0).reason


def test_features_that_are_allowed_and_not_used_are_not_counted():
    fewer = Candidate(2, 6, 9, np.full(3, 0.5), -9.0)
    for rule in ("best", "one_se", "share", "ebic"):
        reason = choose([fewer], rule, 0.9).reason
        assert reason.startswith("2 components of at most 6 features: no other numbers were tried")


@pytest.mark.parametrize("rule", ["best", "one_se", "share", "ebic"])
def test_a_choice_without_the_one_of_no_component_says_what_it_is_worth(rule):
    worse = [Candidate(1, k, k, np.full(3, -0.1 * k), 4.0 * k) for k in (1, 2)]
    choice = choose(worse, rule, 0.9)
    assert choice.candidate is worse[0]
    assert choice.reason.endswith(". That is worse than no component at all.")
    assert choice.reason.startswith("1 component of 1 feature ")
    assert not re.search("have|are|predict ", choice.reason), "one component, one verb"
    alone = choose(worse[1:], rule, 0.9)
    assert alone.reason.startswith("1 component of 2 features: no other numbers were tried (")


def test_ebic_is_zero_without_components_and_counts_loadings_and_scores():
    assert ebic(0.0, 0, 0, 20, 5) == 0.0
    assert ebic(0.5, 4, 1, 20, 5) - ebic(0.5, 3, 1, 20, 5) == pytest.approx(
        np.log(100) + 2 * np.log(5)
    )
    assert ebic(0.5, 4, 2, 20, 5) - ebic(0.5, 4, 1, 20, 5) == pytest.approx(60)
    assert np.isfinite(ebic(1.0, 4, 1, 20, 5))
