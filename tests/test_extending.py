"""The examples of docs/extending: what their pages say of them. ``Never`` has a file of its own."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

from feature_use import FeatureUseDisplay
from helpers import assert_same_loadings
from neighbours import neighbours
from redac import SparsePCA
from redac.datasets import load_pitprops
from redac.exceptions import BlockError
from redac.methods import sparse_pca
from redac.methods.registry import METHODS, Method
from redac.metrics import pev
from stacked_files import StackedFiles

PITPROPS = load_pitprops().correlation
WINE = load_wine(as_frame=True).data


@pytest.fixture
def files(tmp_path):
    """Wine in three files of unequal length."""
    parts = np.split(WINE.to_numpy(), [50, 51])
    paths = [tmp_path / f"{number}.npy" for number in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        np.save(path, part)
    return paths


def test_stacked_files_are_fitted_like_the_whole(files):
    table = StackedFiles(files)
    assert table.shape == WINE.shape
    found = SparsePCA(3, cardinality=4, standardize=True).fit(table)
    whole = SparsePCA(3, cardinality=4, standardize=True).fit(WINE.to_numpy())
    assert_same_loadings(found.components_, whole.components_)
    np.testing.assert_allclose(found.transform(table), whole.transform(WINE.to_numpy()), atol=1e-6)


def test_blocks_are_as_low_as_asked_for(files):
    heights = [len(block) for block in StackedFiles(files).row_blocks(20)]
    assert heights == [20, 20, 10, 1, 20, 20, 20, 20, 20, 20, 7]


def test_files_that_do_not_go_together_are_an_error(files, tmp_path):
    np.save(tmp_path / "other.npy", np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"\[2, 13\] columns"):
        StackedFiles([*files, tmp_path / "other.npy"])


def test_a_file_that_becomes_shorter_is_an_error(files):
    table = StackedFiles(files)
    np.save(files[2], WINE.to_numpy()[51:90])
    with pytest.raises(BlockError, match="says it has 178 rows"):
        SparsePCA(2, cardinality=4).fit(table)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(METHODS, "neighbours", Method("neighbours", neighbours))


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("by_correlation", [False, True])
def test_the_rival_has_unit_rows_of_the_wanted_cardinality(by_correlation):
    cardinalities = (8, 5, 6, 2, 3, 2)
    components = sparse_pca(
        PITPROPS,
        "neighbours",
        6,
        cardinality=cardinalities,
        covariance=True,
        by_correlation=by_correlation,
    )
    assert np.count_nonzero(components, axis=1).tolist() == list(cardinalities)
    np.testing.assert_allclose(np.linalg.norm(components, axis=1), 1)
    redac = sparse_pca(PITPROPS, "redac_l0", 6, cardinality=cardinalities, covariance=True)
    rival, best = (pev(PITPROPS, each, covariance=True) for each in (components, redac))
    assert 40 < rival < best


@pytest.mark.usefixtures("registered")
def test_the_rival_finds_one_group_of_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    X[:, 2:6] += 3 * rng.standard_normal((200, 1))
    X[:, 7] *= 2.0  # varies more than other noise does, but goes along with nothing
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (component,) = sparse_pca(X, "neighbours", 1, cardinality=4)
    assert np.flatnonzero(component).tolist() == [2, 3, 4, 5]


def test_the_picture_shows_the_features_in_use():
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    model = SparsePCA(3, cardinality=4, standardize=True).fit(WINE)
    display = FeatureUseDisplay.from_estimator(model).plot()
    display.figure_.canvas.draw()
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    widths = [bar.get_width() for bar in display.ax_.patches]
    plt.close("all")
    assert sorted(shown) == sorted(model.loadings_table().index)
    assert widths == sorted(widths, reverse=True)
    assert sum(widths) == pytest.approx(3)
