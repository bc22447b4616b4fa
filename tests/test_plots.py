"""Pictures: what is drawn, looked at piece by piece."""

import sys
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from redac import SparsePCA, SparsePCACV, plots, sparsity_path, stability
from redac.datasets import load_pitprops
from redac.show.structure import leading_features, structure_coefficients

mpl.use("Agg")
import matplotlib.pyplot as plt

WINE = load_wine(as_frame=True)
X = WINE.data
GROUPS = pd.Series(WINE.target_names[WINE.target], name="cultivar")
HOSTILE = ["<b>&", "$x_1$", "a" * 200, "two\nlines", "\u202eevil", "größe", "[y]", "$"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return SparsePCA(3, cardinality=5, standardize=True).fit(X)


@pytest.fixture(scope="module")
def single():
    return SparsePCA(1, cardinality=5, standardize=True).fit(X)


@pytest.fixture(scope="module")
def pitprops():
    bunch = load_pitprops()
    return SparsePCA(6, cardinality=4).fit_covariance(
        bunch.correlation, feature_names=bunch.feature_names
    )


@pytest.fixture(scope="module")
def robust():
    spoilt = X.to_numpy().copy()
    spoilt[7] = spoilt.max(axis=0) * 6
    spoilt[20, 3] = 400.0
    return SparsePCA(2, cardinality=5, standardize=True, robust="both").fit(spoilt)


def draw(axes):
    """Draw to the end: whatever cannot be drawn raises or warns now."""
    first = axes[0] if isinstance(axes, np.ndarray) else axes
    first.figure.canvas.draw()
    return axes


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def colour(patch):
    return mpl.colors.to_hex(patch.get_facecolor())


def grey(name):
    """How light a colour is in print, by the weights of Rec. 601."""
    return float(np.dot(mpl.colors.to_rgb(name), (0.299, 0.587, 0.114)))


def cut_off(ax):
    """Texts of a picture that do not lie within it."""
    whole = ax.figure.bbox
    every = [
        *ax.texts,
        ax.xaxis.label,
        ax.yaxis.label,
        *ax.get_xticklabels(),
        *ax.get_yticklabels(),
    ]
    boxes = [(text.get_text(), text.get_window_extent()) for text in every if text.get_text()]
    return [
        text
        for text, box in boxes
        if box.x0 < -1 or box.x1 > whole.x1 + 1 or box.y0 < -1 or box.y1 > whole.y1 + 1
    ]


# ------------------------------------------------------------ loadings


@pytest.mark.parametrize("name", ["model", "single", "pitprops"])
def test_bars_are_the_loadings_sorted(name, request):
    model = request.getfixturevalue(name)
    panels = draw(plots.plot_loadings(model))
    assert len(panels) == model.n_components_
    names = np.array(model._feature_names())
    for ax, loadings, share in zip(
        panels, model.components_, model.explained_variance_ratio_, strict=True
    ):
        order = np.argsort(-np.abs(loadings), kind="stable")[: np.count_nonzero(loadings)]
        widths = [bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(widths, loadings[order])
        assert labels(ax.yaxis) == names[order].tolist()
        assert [colour(bar) == plots.canvas.POSITIVE for bar in ax.patches] == [
            width > 0 for width in widths
        ]
        assert f"{100 * share:.1f} %" in ax.get_title()
        low, high = ax.get_xlim()
        assert low < min(widths)
        assert high > max(widths)


def test_of_many_loadings_the_largest_are_drawn_and_the_rest_counted():
    components = np.zeros((20, 2000))
    rng = np.random.default_rng(0)
    for row in components:
        row[rng.choice(2000, 50, replace=False)] = rng.standard_normal(50)
    panels = plots.plot_loadings(components, max_features=10)
    assert len(panels) == 20
    for ax, row in zip(panels, components, strict=True):
        assert len(ax.patches) == 10
        assert ax.get_xlabel() == "and 40 smaller loadings"
        assert np.abs([bar.get_width() for bar in ax.patches]).min() >= np.sort(np.abs(row))[-10]


def test_panels_take_the_place_of_given_axes(model):
    figure, axes = plt.subplots(1, 2)
    panels = plots.plot_loadings(model, ax=axes[1])
    assert {ax.figure for ax in panels} == {figure}
    left = axes[0].get_position().x1
    assert min(ax.get_position().x0 for ax in panels) > left


def test_signs_are_told_apart_in_grey():
    assert abs(grey(plots.canvas.POSITIVE) - grey(plots.canvas.NEGATIVE)) > 0.25


def test_names_are_drawn_to_the_letter():
    components = np.full((1, len(HOSTILE)), 1 / np.sqrt(len(HOSTILE)))
    ax = draw(plots.plot_loadings(components, HOSTILE))[0]
    drawn = labels(ax.yaxis)
    assert drawn[:2] == ["<b>&", r"\$x_1\$"]
    assert len(drawn[2]) <= 48
    assert drawn[3:5] == [r"two\nlines", r"\u202eevil"]


# ------------------------------------------------------------ heat map


def test_the_heat_map_has_used_features_only_with_their_values(model):
    ax = draw(plots.plot_heatmap(model))
    table = model.loadings_table()
    assert labels(ax.yaxis) == list(table.index)
    assert labels(ax.xaxis) == list(table.columns)
    values = table.to_numpy()
    cells = ax.collections[0].get_array()
    np.testing.assert_allclose(np.ma.filled(cells, np.nan), values)
    written = [text.replace("\N{MINUS SIGN}", "-") for text in texts(ax)]
    assert written == [f"{value:.2f}" for value in values[np.isfinite(values)]]
    left_out = X.shape[1] - len(table)
    assert left_out == 0
    assert ax.get_xlabel() == ""


def test_features_without_loadings_are_counted(single):
    ax = draw(plots.plot_heatmap(single))
    assert ax.get_xlabel().replace("\n", " ") == "8 features without any loading"


def test_a_table_is_not_drawn_transposed(model):
    table = model.loadings_table()
    for drawn in (table, table.T):
        ax = plots.plot_heatmap(drawn)
        assert labels(ax.xaxis) == ["PC1", "PC2", "PC3"]
        assert set(labels(ax.yaxis)) == set(table.index)


def test_a_heat_map_of_many_features_says_how_many_there_are():
    components = np.random.default_rng(0).standard_normal((20, 2000))
    components[:, 1000:] = 0
    ax = plots.plot_heatmap(components)
    assert labels(ax.yaxis) == []
    assert ax.get_ylabel() == "1000 features with a loading, of 2000"


def test_colours_without_numbers_are_explained_and_signs_seen_in_grey():
    components = np.zeros((3, 200))
    components[0, :70], components[1, 70:140], components[2, 140:150] = 0.1, -0.1, -0.9
    ax = plots.plot_heatmap(components)
    draw(ax)
    cells, lines = ax.collections
    assert cells.norm.vmax == pytest.approx(-cells.norm.vmin)
    assert 0.1 <= cells.norm.vmax <= 0.9
    assert "loading" in [other.get_ylabel() for other in ax.figure.axes if other is not ax]
    values = np.asarray(cells.get_array())
    marked = {tuple(segment[0]) for segment in lines.get_segments()}
    assert marked == {(j + 0.5, i) for i, j in np.argwhere(values < 0)}
    assert len(marked) == 80
    assert "line: negative" in ax.get_xlabel()


def test_few_loadings_of_many_components_have_their_numbers():
    components = np.zeros((20, 40))
    for i in range(20):
        components[i, 2 * i : 2 * i + 2] = 0.8, -0.6
    ax = draw(plots.plot_heatmap(components))
    assert texts(ax) == 20 * ["0.80", "\N{MINUS SIGN}0.60"]


# ------------------------------------------------------------ scree and path


def test_scree_bars_lines_and_bound(pitprops):
    proof = pitprops.certificate(time_limit=1)
    ax = draw(plots.plot_scree(pitprops, certificate=proof))
    added = 100 * pitprops.explained_variance_ratio_
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], added)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(lines["together (PEV)"], np.cumsum(added))
    correlation = load_pitprops().correlation
    leading = np.linalg.eigvalsh(correlation)[::-1][:6].cumsum() / 13 * 100
    np.testing.assert_allclose(lines["PCA, as many"], leading)
    assert (leading >= np.cumsum(added)).all()
    (bound,) = [line for label, line in lines.items() if label.startswith("proved bound")]
    assert bound[0] == proof.upper_bound
    assert ax.get_ylim()[1] > max(leading.max(), bound[0])


def test_a_path_has_a_line_with_a_band_for_each_number_of_components():
    path = sparsity_path(X, n_components=(1, 2), cardinality=(2, 5, 13), standardize=True)
    ax = draw(path.plot())
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["1 component", "2 components"]
    solid = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 2]
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    for r, q2, pev in zip((1, 2), solid[:2], dashed, strict=True):
        rows = path.table[path.table["n_components"] == r]
        np.testing.assert_allclose(q2.get_xdata(), rows["nonzeros"])
        np.testing.assert_allclose(q2.get_ydata(), 100 * rows["q2"])
        np.testing.assert_allclose(pev.get_ydata(), rows["pev"])
    assert len(ax.collections) == 2
    assert ax.get_xscale() == "log"


def test_the_choice_is_marked():
    chosen = SparsePCACV((1, 2), (2, 5), standardize=True, cv=3).fit(X)
    ax = draw(plots.plot_path(chosen))
    table = chosen.path_.table
    row = table[
        (table["n_components"] == chosen.n_components_)
        & (table["cardinality"] == chosen.cardinality_)
    ]
    (mark,) = [line for line in ax.lines if str(line.get_label()).startswith("chosen")]
    assert mark.get_xdata()[0] == row["nonzeros"].item()
    assert mark.get_ydata()[0] == pytest.approx(100 * row["q2"].item())
    with pytest.raises(ValueError, match="not on the path"):
        plots.plot_path(chosen.path_, chosen=(9, 9))


# ------------------------------------------------------------ stability


def test_stability_shows_percent_and_frames_what_is_used():
    found = stability(X, 2, 4, standardize=True, n_resamples=6, random_state=0)
    ax = draw(plots.plot_stability(found, max_features=5))
    cells = np.asarray(ax.collections[0].get_array())
    assert cells.shape == (5, 2)
    expected = found.frequencies.loc[labels(ax.yaxis)].to_numpy()
    np.testing.assert_allclose(cells, expected)
    used = found.model.components_.T != 0
    drawn = [list(found.frequencies.index).index(name) for name in labels(ax.yaxis)]
    assert len(ax.lines) == used[drawn].sum()
    n_ever = int((found.frequencies.any(axis=1) | used.any(axis=1)).sum())
    assert f"and {n_ever - 5} features" in ax.get_ylabel()
    assert "6 half-samples" in ax.get_xlabel()


# ------------------------------------------------------------ scores and biplot


def test_scores_are_where_transform_puts_them(model):
    ax = draw(plots.plot_scores(model, X, components=("PC3", "PC1"), labels=GROUPS))
    scores = model.transform(X)[:, [2, 0]]
    shares = 100 * model.explained_variance_ratio_
    assert ax.get_xlabel() == f"PC3 ({shares[2]:.1f} %)"
    assert ax.get_ylabel() == f"PC1 ({shares[0]:.1f} %)"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == sorted(set(GROUPS))
    assert ax.get_legend().get_title().get_text() == "cultivar"
    for drawn, group in zip(ax.collections, sorted(set(GROUPS)), strict=True):
        np.testing.assert_allclose(drawn.get_offsets(), scores[group == GROUPS])


def test_groups_have_markers_of_their_own():
    assert len(set(plots.canvas.MARKERS)) == len(plots.canvas.SERIES)


def test_scores_by_a_number_have_a_colour_bar(model):
    ax = draw(plots.plot_scores(model, X, labels=X["alcohol"]))
    np.testing.assert_allclose(ax.collections[0].get_array(), X["alcohol"])
    assert any(other.get_ylabel() == "alcohol" for other in ax.figure.axes)


def test_small_groups_are_drawn_as_one(model):
    many = np.arange(len(X)).astype(str)
    ax = draw(plots.plot_scores(model, X, labels=many))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(names) == 7
    assert names[-1] == "others"


def test_many_points_are_drawn_as_density_or_in_part(model):
    ax = draw(plots.plot_scores(model, X, max_points=50))
    assert ax.collections[0].get_array().sum() == len(X)  # what hexbin has counted
    assert "178 rows" in ax.get_xlabel()
    ax = draw(plots.plot_scores(model, X, labels=GROUPS, max_points=50))
    assert sum(len(drawn.get_offsets()) for drawn in ax.collections) == 50
    assert "50 of 178 rows" in ax.get_xlabel()


def test_one_component_is_drawn_row_by_row(single):
    ax = draw(plots.plot_scores(single, X))
    expected = np.column_stack([single.transform(X)[:, 0], np.arange(len(X))])
    np.testing.assert_allclose(ax.collections[0].get_offsets(), expected)
    display = plots.BiplotDisplay.from_estimator(single, X).plot()
    draw(display.ax_)
    assert len(display.arrows) == 5


def test_arrows_are_the_regression_of_features_on_scores(model):
    display = plots.BiplotDisplay.from_estimator(model, X, labels=GROUPS).plot()
    ax = draw(display.ax_)
    scores = model.transform(X)[:, :2]
    for name, arrow in zip(display.arrow_names, display.arrows, strict=True):
        x = (X[name] - X[name].mean()) / X[name].std(ddof=0)
        for i in range(2):
            z = (scores[:, i] - scores[:, i].mean()) / scores[:, i].std()
            assert arrow[i] == pytest.approx(np.polyfit(z, x, 1)[0])
    assert (np.abs(display.arrows) > 0.02).all()  # none lies on an axis
    assert (np.hypot(*display.arrows.T) <= np.sqrt(2)).all()
    assert f"divided by {display.scaling_:.3g}" in ax.get_xlabel()
    points = np.concatenate([drawn.get_offsets() for drawn in ax.collections])
    assert np.abs(points).max() == pytest.approx(1.0)
    assert set(display.arrow_names) == set(texts(ax))
    assert ax.get_aspect() == 1.0


def test_chosen_features_have_arrows(model):
    display = plots.BiplotDisplay.from_estimator(model, X, features=["ash", 0])
    assert display.arrow_names == ["ash", "alcohol"]
    with pytest.raises(ValueError, match="'asch' is no feature"):
        plots.plot_biplot(model, X, features=["asch"])


def test_arrows_are_of_both_components():
    """The loadings of one may all be larger than those of the other."""
    components = np.zeros((2, 30))
    components[0, :5], components[1, 5:] = 0.447, 0.2
    shown = leading_features(components, [0, 1], 8)
    assert sum(j < 5 for j in shown) == 4
    assert leading_features(components, [0], 8) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("angles", [np.linspace(60, 70, 12), np.linspace(0, 330, 12), [90] * 12])
def test_names_of_arrows_are_apart_and_within_the_picture(angles):
    turn = np.deg2rad(np.asarray(angles, dtype=float))
    lengths = np.linspace(0.5, 1.1, 12)
    tips = lengths[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    names = [f"a feature of the name {number}" for number in range(12)]
    axes = ["PC1", "PC2"]
    for ax in (None, plt.subplots(1, 2, figsize=(11, 5), layout="constrained")[1][0]):
        drawn = draw(plots.BiplotDisplay(np.eye(2), tips, names, axes).plot(ax).ax_)
        boxes = [text.get_window_extent() for text in drawn.texts if text.get_text()]
        assert len(boxes) == 12
        apart = [not one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i]]
        assert all(apart)
        assert cut_off(drawn) == []


@pytest.mark.parametrize("kind", ["array", "list", "sparse", "polars", "dask", "rows"])
def test_structure_coefficients_of_every_container(kind, model, tmp_path):
    values = X.to_numpy()
    if kind == "sparse":
        from scipy.sparse import csr_array

        data = csr_array(values)
    elif kind == "polars":
        import polars as pl

        data = pl.DataFrame({name: values[:, j] for j, name in enumerate(X.columns)})
    elif kind == "dask":
        import dask.array

        data = dask.array.from_array(values, chunks=(50, 13))
    elif kind == "rows":

        class Rows:
            shape, dtype = values.shape, values.dtype

            def __getitem__(self, rows):
                return values[rows]

        data = Rows()
    else:
        data = values if kind == "array" else values.tolist()
    scores = model.transform(X)
    found = structure_coefficients(data, [5, 2], scores)
    expected = np.corrcoef(np.column_stack([values[:, [5, 2]], scores]).T)[:2, 2:]
    np.testing.assert_allclose(found, expected)


def test_structure_coefficients_with_gaps_and_without_variance():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((50, 2))
    data = np.column_stack([scores[:, 0], np.ones(50), np.full(50, np.nan)])
    data[::3, 0] = np.nan
    found = structure_coefficients(data, [0, 1, 2], scores)
    there = np.isfinite(data[:, 0])
    assert found[0, 0] == pytest.approx(1.0)
    assert found[0, 1] == pytest.approx(np.corrcoef(data[there, 0], scores[there, 1])[0, 1])
    assert (found[1:] == 0).all()


# ------------------------------------------------------------ overlap and outliers


def test_overlap_has_correlations_above_and_products_below(model):
    ax = draw(plots.plot_overlap(model))
    cells = ax.collections[0].get_array()
    assert cells.mask.diagonal().all()
    gram = model.components_ @ model.components_.T
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert cells[i, j] == pytest.approx(model.score_correlations_[i, j])
        assert cells[j, i] == pytest.approx(gram[j, i])
    assert len(texts(ax)) == 6
    assert "VᵀV" in ax.get_xlabel()


def test_the_overlap_of_one_component_is_an_empty_cell(single):
    assert texts(draw(plots.plot_overlap(single))) == []


@pytest.mark.parametrize("r", [1, 2, 3, 6])
def test_nothing_is_cut_off_at_the_edge(r):
    """Few components make a picture narrow, and what is said below it is long."""
    short = X.set_axis([f"f{j}" for j in range(13)], axis=1)
    for data in (X, short):
        model = SparsePCA(r, cardinality=3, standardize=True).fit(data)
        steady = stability(data, r, 3, standardize=True, n_resamples=2, random_state=0)
        for ax in (
            plots.plot_heatmap(model),
            plots.plot_overlap(model),
            plots.plot_stability(steady),
            plots.plot_scree(model),
        ):
            assert cut_off(draw(ax)) == []


def test_names_of_outliers_do_not_lie_upon_each_other():
    """Rows that are far out, all at about the same place."""
    near = 5.0 + 0.01 * np.random.default_rng(0).standard_normal((2, 8))
    usual = np.ones((2, 20))
    score, orthogonal = np.hstack([near, usual])
    display = plots.OutliersDisplay(
        score,
        orthogonal,
        np.array([3.0, 3.0]),
        np.ones(28),
        np.zeros(28, dtype=int),
        [f"row {i}" for i in range(28)],
    )
    ax = draw(display.plot().ax_)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert 2 <= len(boxes) <= 8
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_outliers_are_beyond_the_limits_and_named(robust):
    ax = draw(plots.plot_outliers(robust, [f"row {i}" for i in range(len(X))]))
    n_points = sum(len(drawn.get_offsets()) for drawn in ax.collections)
    assert n_points == len(X)
    assert "row 7" in texts(ax)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    lost = int((robust.row_weights_ == 0).sum())
    assert f"rows that did not count: {lost}" in legend
    levels = {float(line.get_ydata()[0]) for line in ax.lines}
    assert robust.distance_cutoffs_[0] in levels
    table = robust.outliers_table()
    assert f"{table['feature'].notna().sum()} single cells" in ax.get_xlabel()


# ------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("name", [name for name in plots.__all__ if name.startswith("plot_")])
@pytest.mark.parametrize("given", [SparsePCA(), "text", None, SparsePCA])
def test_wrong_subjects_are_explained(name, given):
    draws_scores = name in ("plot_scores", "plot_biplot")
    with pytest.raises((TypeError, NotFittedError)) as caught:
        getattr(plots, name)(given, *([X] if draws_scores else []))
    assert "take" in str(caught.value)
    assert "SparsePCA" in str(caught.value) or "type" in str(caught.value)


def test_wrong_arguments_are_explained(model):
    with pytest.raises(ValueError, match="'PC9' is no component"):
        plots.plot_scores(model, X, components=("PC1", "PC9"))
    with pytest.raises(ValueError, match="two components"):
        plots.plot_scores(model, X, components=(0, 1, 2))
    with pytest.raises(ValueError, match="labels has the shape"):
        plots.plot_scores(model, X, labels=[1, 2])
    with pytest.raises(ValueError, match="2 names; 13 features"):
        plots.plot_loadings(model, ["a", "b"])
    with pytest.raises(ValueError, match="robust="):
        plots.plot_outliers(model)
    with pytest.raises(ValueError, match="not finite"):
        plots.plot_heatmap([[np.nan, 1.0]])


def test_without_matplotlib_the_error_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install redac\[plot\]"):
        plots.plot_loadings(model)


def test_displays_have_their_axes_and_figure(model):
    display = plots.LoadingsDisplay.from_estimator(model)
    assert not hasattr(display, "ax_")
    assert display.plot() is display
    assert display.figure_ is display.ax_[0].figure
    figure, ax = plt.subplots()
    for shown in (
        plots.ScreeDisplay.from_estimator(model),
        plots.OverlapDisplay.from_estimator(model),
        plots.HeatmapDisplay.from_estimator(model),
    ):
        shown.plot(ax)
        assert (shown.ax_, shown.figure_) == (ax, figure)


def test_components_of_zeros_are_drawn_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zeros = np.zeros((2, 4))
        draw(plots.plot_loadings(zeros))
        draw(plots.plot_heatmap(zeros))
        draw(plots.plot_overlap(zeros))
