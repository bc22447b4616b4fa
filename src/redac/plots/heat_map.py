"""Loadings as a heat map: features × components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import (
    LINE,
    caption,
    grid_of_cells,
    minus,
    new_axes,
    signed_colours,
    write_values,
)
from redac.plots.subject import Array, Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Cells of more columns than this are too narrow to hold numbers.
_MOST_COLUMNS = 25
# Where no loading is larger than this, the largest has the darkest colour, which otherwise is 1.
_PALE = 0.5
# Where there are no numbers this share of all loadings is told apart, and those beyond are as dark.
_USUAL = 0.98


class HeatmapDisplay:
    """Loadings as a table of coloured cells, features down and components across.

    Zeros are white; the features of a component stand together. Numbers are written into the cells
    where there is room; elsewhere a bar beside the picture says what the colours mean, and negative
    cells have a line, so that signs are seen in grey.

    Parameters
    ----------
    components : array of shape (n_components, n_features)
    feature_names : list of str
    features : positions of the features that are drawn, in order; None: those with any loading

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        components: Array,
        feature_names: Sequence[str],
        features: Sequence[int] | None = None,
    ) -> None:
        self.components = components
        self.feature_names = list(feature_names)
        subject = Subject(components, self.feature_names)
        self.features = subject.used() if features is None else np.asarray(features, dtype=np.intp)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        feature_names: Sequence[str] | None = None,
        *,
        features: Sequence[int] | None = None,
    ) -> Self:
        """The display of a fitted model, of a table of loadings, or of an array of components."""
        subject = Subject.of(model, feature_names)
        return cls(subject.components, subject.features, features)

    def plot(
        self, ax: Axes | None = None, *, max_names: int = 60, title: str | None = None
    ) -> Self:
        """Draw; with more than ``max_names`` features without their names."""
        values = self.components[:, self.features].T
        n, r = values.shape
        many = n > max_names
        if ax is None:
            height = 1.2 + (6.0 if many else 0.24 * max(n, 3))
            ax = new_axes(min(2.6 + 0.55 * r, 12.0), height)
        self.ax_, self.figure_ = ax, ax.figure
        has_numbers = not many and r <= _MOST_COLUMNS
        lines: Any = {"linewidth": 0.0} if many else {"edgecolors": "#d8dee4", "linewidth": 0.5}
        cells = np.ma.masked_equal(values, 0.0)
        edges = np.arange(r + 1), np.arange(n + 1)
        limit = _limit(np.abs(cells.compressed()), has_numbers)
        limits: Any = {"vmin": -limit, "vmax": limit}
        drawn = ax.pcolormesh(
            *edges, cells, cmap=signed_colours(), rasterized=many, **limits, **lines
        )
        names = [self.feature_names[j] for j in self.features]
        grid_of_cells(ax, values, names, [f"PC{i + 1}" for i in range(r)])
        if many:
            ax.set_yticks([])
            ax.set_ylabel(f"{n} features with a loading, of {len(self.feature_names)}")
        if has_numbers:
            texts = [[minus(f"{v:.2f}") if v else "" for v in row] for row in values]
            write_values(ax, values, texts, 0.62 * limit)
        else:
            self._explain_colours(ax, drawn, values)
        left_out = len(self.feature_names) - n
        if left_out and not many:
            caption(ax, f"{left_out} features without any loading", r)
        if title is not None:
            ax.set_title(title)
        return self

    def _explain_colours(self, ax: Axes, drawn: Any, values: Array) -> None:
        """A bar of colours beside the picture, and lines in the cells that are negative."""
        beyond = "both" if np.abs(values).max(initial=0.0) > drawn.norm.vmax else "neither"
        style: Any = {"fraction": 0.05, "pad": 0.02, "extend": beyond, "label": "loading"}
        ax.figure.colorbar(drawn, ax=ax, **style)
        down, across = np.nonzero(values < 0)
        if down.size:
            ax.vlines(across + 0.5, down, down + 1, color=LINE, linewidth=0.8, rasterized=True)
            caption(ax, "with a line: negative loadings")


def _limit(sizes: Array, has_numbers: bool) -> float:
    """The loading that has the darkest colour: 1, or less where that would leave all pale."""
    largest = float(sizes.max(initial=0.0))
    if has_numbers:
        return largest if 0.0 < largest < _PALE else 1.0
    return float(np.quantile(sizes, _USUAL)) if largest else 1.0


def plot_heatmap(
    model: Any,
    feature_names: Sequence[str] | None = None,
    *,
    features: Sequence[int] | None = None,
    ax: Axes | None = None,
    max_names: int = 60,
    title: str | None = None,
) -> Axes:
    """Loadings as a heat map, features down and components across; zeros are left white.

    Parameters
    ----------
    model : fitted model, DataFrame of loadings, or array of shape (n_components, n_features)
    feature_names : sequence of str, default=None
        In place of the names that the model has.
    features : sequence of int, default=None
        Positions of the features to draw; by default those with any loading.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    max_names : int, default=60
        With more features than this no names are written: they could not be read.
    title : str, default=None

    Returns
    -------
    matplotlib Axes
    """
    display = HeatmapDisplay.from_estimator(model, feature_names, features=features)
    return display.plot(ax, max_names=max_names, title=title).ax_
