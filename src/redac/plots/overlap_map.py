"""Which components say the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import (
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


class OverlapDisplay:
    """Above the diagonal correlations of scores, below it inner products of loadings (VᵀV).

    Parameters
    ----------
    components : array of shape (n_components, n_features)
    correlations : array of shape (n_components, n_components) or None
        Of the scores; None where not known.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, components: Array, correlations: Array | None = None) -> None:
        self.components = components
        self.correlations = correlations

    @classmethod
    def from_estimator(cls, model: Any) -> Self:
        """The display of a fitted model, of a table of loadings, or of an array of components."""
        return cls(Subject.of(model).components, getattr(model, "score_correlations_", None))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax`` or in a new figure."""
        V = self.components.T
        r = V.shape[1]
        if ax is None:
            side = min(2.2 + 0.5 * r, 9.0)
            ax = new_axes(side, side)
        self.ax_, self.figure_ = ax, ax.figure
        gram = V.T @ V
        above = gram if self.correlations is None else self.correlations
        values = np.where(np.triu(np.ones((r, r), dtype=bool), 1), above, gram)
        on_diagonal = np.eye(r, dtype=bool)
        cells = np.ma.array(values, mask=on_diagonal)
        colours = signed_colours()
        edges = np.arange(r + 1), np.arange(r + 1)
        ax.pcolormesh(*edges, cells, cmap=colours, vmin=-1, vmax=1, edgecolors="#d8dee4", lw=0.5)
        names = [f"PC{i + 1}" for i in range(r)]
        grid_of_cells(ax, values, names, names)
        texts = [
            ["" if i == j else minus(f"{values[i, j]:.2f}") for j in range(r)] for i in range(r)
        ]
        if r > 12:  # where there is little room, only what is worth a look
            texts = [
                [text if abs(values[i, j]) >= 0.3 else "" for j, text in enumerate(row)]
                for i, row in enumerate(texts)
            ]
        write_values(ax, values, texts, 0.62)
        ax.set_aspect("equal")
        upper = "correlations of scores" if self.correlations is not None else "VᵀV"
        said = f"Above the diagonal: {upper}. Below: inner products of loadings (VᵀV)."
        caption(ax, said if r > 1 else "One component has nothing to overlap with.", r)
        return self


def plot_overlap(model: Any, *, ax: Axes | None = None) -> Axes:
    """Which components say the same thing: correlations of scores, and VᵀV, as one table.

    Parameters
    ----------
    model : fitted model, DataFrame of loadings, or array of shape (n_components, n_features)
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    return OverlapDisplay.from_estimator(model).plot(ax).ax_
