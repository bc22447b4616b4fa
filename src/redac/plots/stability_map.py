"""How often features are chosen again: features × components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import LINE, QUIET, caption, grid_of_cells, new_axes, write_values
from redac.plots.subject import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class StabilityDisplay:
    """The share of half-samples in which each component uses each feature.

    Parameters
    ----------
    frequencies : array of shape (n_features, n_components)
    used : array of bools of the same shape
        Which features the components of all rows use: their cells have a frame.
    feature_names : list of str
    n_resamples : int
    index : float
        The index of stability.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        frequencies: Array,
        used: Any,
        feature_names: Sequence[str],
        n_resamples: int,
        index: float,
    ) -> None:
        self.frequencies = frequencies
        self.used = used
        self.feature_names = list(feature_names)
        self.n_resamples = n_resamples
        self.index = index

    @classmethod
    def from_estimator(cls, stability: Any) -> Self:
        """The display of what ``redac.stability`` has returned."""
        if not hasattr(stability, "frequencies"):
            raise TypeError(
                "plot_stability takes what redac.stability(X, n_components, cardinality) returns; "
                f"this is of the type {type(stability).__name__}."
            )
        table = stability.frequencies
        used = stability.model.components_.T != 0
        names = [str(name) for name in table.index]
        return cls(table.to_numpy(), used, names, stability.n_resamples, stability.index)

    def plot(self, ax: Axes | None = None, *, max_features: int = 30) -> Self:
        """Draw on ``ax`` or in a new figure; of more features those that are chosen most often."""
        shown, found = self._order(max_features)
        values = self.frequencies[shown]
        n, r = values.shape
        if ax is None:
            ax = new_axes(min(2.8 + 0.55 * r, 12.0), 1.4 + 0.24 * max(n, 3))
        self.ax_, self.figure_ = ax, ax.figure
        edges = np.arange(r + 1), np.arange(n + 1)
        ax.pcolormesh(*edges, values, cmap="Blues", vmin=0, vmax=1, edgecolors="white", lw=0.6)
        names = [self.feature_names[j] for j in shown]
        grid_of_cells(ax, values, names, [f"PC{i + 1}" for i in range(r)])
        texts = [[f"{100 * v:.0f}" if v > 0 else "" for v in row] for row in values]
        write_values(ax, values, texts, 0.6)
        for i, j in np.argwhere(self.used[shown]):
            frame = np.array([[j, i], [j + 1, i], [j + 1, i + 1], [j, i + 1], [j, i]])
            ax.plot(*frame.T, color=LINE, linewidth=1.1, clip_on=False)
        if found > n:
            ax.set_ylabel(f"and {found - n} features that were chosen less often", color=QUIET)
        caption(
            ax,
            f"Percent of {self.n_resamples} half-samples; framed: used in all rows. "
            f"Stability {self.index:.2f}.",
            r,
        )
        return self

    def _order(self, most: int) -> tuple[Any, int]:
        """The features to draw, those of a component together; and how many were ever chosen."""
        ever = np.flatnonzero(self.frequencies.any(axis=1) | self.used.any(axis=1))
        weight = self.frequencies[ever].max(axis=1) + self.used[ever].any(axis=1)
        shown = ever[np.argsort(-weight, kind="stable")[:most]]
        of_shown = self.frequencies[shown]
        return shown[np.lexsort((-of_shown.max(axis=1), of_shown.argmax(axis=1)))], ever.size


def plot_stability(stability: Any, *, ax: Axes | None = None, max_features: int = 30) -> Axes:
    """How often half of the rows lead to the same features, features down and components across.

    Parameters
    ----------
    stability : Stability
        What ``redac.stability`` has returned.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    max_features : int, default=30
        Of more features those are drawn that are chosen most often, and the others counted.

    Returns
    -------
    matplotlib Axes
    """
    return StabilityDisplay.from_estimator(stability).plot(ax, max_features=max_features).ax_
