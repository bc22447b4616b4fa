"""Loadings as bars: one panel for each component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import LINE, NEGATIVE, POSITIVE, QUIET, drawable, new_axes
from redac.plots.subject import Array, Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS_ABREAST = 4
_BAR, _MARGIN = 0.21, 0.9  # heights in inches


class LoadingsDisplay:
    """Loadings of each component as bars, sorted by size; features without a loading are left out.

    Parameters
    ----------
    components : array of shape (n_components, n_features)
    feature_names : list of str
    shares : array of shape (n_components,) or None
        What each component adds to the explained variance, for the titles.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes, one for each component
    figure_ : matplotlib Figure
    """

    def __init__(
        self, components: Array, feature_names: Sequence[str], shares: Array | None = None
    ) -> None:
        self.components = components
        self.feature_names = list(feature_names)
        self.shares = shares

    @classmethod
    def from_estimator(cls, model: Any, feature_names: Sequence[str] | None = None) -> Self:
        """The display of a fitted model, of a table of loadings, or of an array of components."""
        subject = Subject.of(model, feature_names)
        return cls(
            subject.components, subject.features, getattr(model, "explained_variance_ratio_", None)
        )

    def plot(self, ax: Axes | None = None, *, max_features: int = 20) -> Self:
        """Draw; in the place of ``ax``, which is divided, or in a new figure.

        Of more than ``max_features`` loadings the largest are drawn, and the others counted.
        """
        r = len(self.components)
        across = min(r, _PANELS_ABREAST)
        down = -(-r // across)
        counts = [min(int(np.count_nonzero(row)), max_features) for row in self.components]
        tallest = [max(counts[i * across : (i + 1) * across]) for i in range(down)]
        heights = [_MARGIN + _BAR * max(count, 2) for count in tallest]
        if ax is None:
            ax = new_axes(max(4.0, 3.3 * across), sum(heights))
        place = ax.get_subplotspec()
        if place is None:
            raise ValueError("ax is not part of a grid of subplots; take one from plt.subplots().")
        ax.set_axis_off()
        self.figure_ = ax.figure
        grid = place.subgridspec(down, across, height_ratios=heights)
        limit = 1.08 * float(np.abs(self.components).max() or 1.0)
        panels = [self.figure_.add_subplot(grid[divmod(i, across)]) for i in range(r)]
        for number, panel in enumerate(panels):
            self._panel(panel, number, max_features, limit)
        self.ax_ = np.array(panels, dtype=object)
        return self

    def _panel(self, ax: Axes, number: int, most: int, limit: float) -> None:
        loadings = self.components[number]
        used = np.flatnonzero(loadings)
        order = used[np.argsort(-np.abs(loadings[used]), kind="stable")]
        shown = order[:most]
        colours = [POSITIVE if loadings[j] > 0 else NEGATIVE for j in shown]
        places = np.arange(shown.size)
        ax.barh(places, loadings[shown], color=colours, edgecolor=LINE, linewidth=0.4)
        ax.set_yticks(places, [drawable(self.feature_names[j]) for j in shown], fontsize="small")
        ax.set_ylim(max(shown.size, 2) - 0.5, -0.5)
        ax.set_xlim(-limit if (self.components < 0).any() else 0.0, limit)
        ax.axvline(0.0, color=LINE, linewidth=0.8)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        share = "" if self.shares is None else f", {100 * self.shares[number]:.1f} %"
        ax.set_title(f"PC{number + 1}{share}", fontsize="medium")
        if order.size > shown.size:
            text = f"and {order.size - shown.size} smaller loadings"
            ax.set_xlabel(text, fontsize="small", color=QUIET)


def plot_loadings(
    model: Any,
    feature_names: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    max_features: int = 20,
) -> Any:
    """Loadings as bars, one panel for each component, the largest on top.

    Blue bars are positive, orange ones negative.

    Parameters
    ----------
    model : fitted model, DataFrame of loadings, or array of shape (n_components, n_features)
    feature_names : sequence of str, default=None
        In place of the names that the model has.
    ax : matplotlib Axes, default=None
        Axes whose place is divided into panels; a new figure by default.
    max_features : int, default=20
        Of more loadings than this in a component the largest are drawn, and the others counted.

    Returns
    -------
    ndarray of matplotlib Axes, one for each component
    """
    display = LoadingsDisplay.from_estimator(model, feature_names)
    return display.plot(ax, max_features=max_features).ax_
