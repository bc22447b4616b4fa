"""A picture of how much of each feature the components use together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import POSITIVE, drawable, new_axes
from redac.plots.subject import Array, Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FeatureUseDisplay:
    """Sums of squared loadings of the features in use, the largest on top.

    Parameters
    ----------
    names : names of the features in use
    sums : array of as many sums of squares

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, names: list[str], sums: Array) -> None:
        self.names = names
        self.sums = sums

    @classmethod
    def from_estimator(cls, model: Any) -> Self:
        """The display of a fitted model, of a table of loadings, or of an array of components."""
        subject = Subject.of(model)
        sums = (subject.components**2).sum(axis=0)
        order = [j for j in np.argsort(-sums, kind="stable") if sums[j] > 0]
        return cls([subject.features[j] for j in order], sums[order])

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax`` or in a new figure."""
        if ax is None:
            ax = new_axes(5.0, 1.0 + 0.25 * len(self.names))
        self.ax_, self.figure_ = ax, ax.figure
        ax.barh(range(len(self.sums)), self.sums, color=POSITIVE)
        ax.set_yticks(range(len(self.names)), [drawable(name) for name in self.names])
        ax.invert_yaxis()
        ax.set_xlabel("sum of squared loadings over all components")
        ax.spines[["top", "right"]].set_visible(False)
        return self
