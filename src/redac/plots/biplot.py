"""Scores as points and features as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import LINE, QUIET, caption, drawable, new_axes
from redac.plots.score_points import axis_names, draw_points, name_axes, scores_of
from redac.plots.subject import Array, fitted
from redac.show.structure import leading_features, structure_coefficients

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ARROW = "#a3261b"


class BiplotDisplay:
    """Scores on two components, and how features go along with them.

    Arrows are structure coefficients, the correlations of features with the two scores, not raw
    loadings: those would put every arrow of a sparse fit on an axis.

    Parameters
    ----------
    scores : array of shape (n_samples, 2) or (n_samples, 1)
    arrows : array of shape (n_arrows, 2) or (n_arrows, 1)
    arrow_names : list of str
    axis_names : list of str
    labels, label_name : as in :class:`ScoresDisplay`

    Attributes
    ----------
    scaling_ : float
        What scores are divided by, so that points and arrows have room beside each other.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        scores: Array,
        arrows: Array,
        arrow_names: list[str],
        axis_names: list[str],
        labels: Any = None,
        label_name: str = "",
    ) -> None:
        self.scores = scores
        self.arrows = arrows
        self.arrow_names = arrow_names
        self.axis_names = axis_names
        self.labels = None if labels is None else np.asarray(labels)
        self.label_name = label_name

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        components: Any = None,
        features: Sequence[str] | Sequence[int] | None = None,
        max_features: int = 12,
        labels: Any = None,
    ) -> Self:
        """The display of a fitted model and its data."""
        scores, pair = scores_of(fitted(model, "plot_biplot"), X, components)
        names = model._feature_names()
        if features is None:
            shown = leading_features(model.components_, pair, max_features)
        else:
            shown = [_position(each, names) for each in features]
        arrows = structure_coefficients(X, shown, scores)[:, pair]
        label_name = str(getattr(labels, "name", None) or "")
        drawn = [names[j] for j in shown]
        return cls(scores[:, pair], arrows, drawn, axis_names(model, pair), labels, label_name)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax`` or in a new figure."""
        if ax is None:
            ax = new_axes(6.0, 6.0)
        self.ax_, self.figure_ = ax, ax.figure
        self.scaling_ = float(np.abs(self.scores).max() or 1.0)
        n, sides = self.scores.shape
        if sides == 2:
            draw_points(ax, self.scores / self.scaling_, self.labels, self.label_name)
            self._arrows(ax, np.zeros(len(self.arrows)), self.arrows[:, 1])
            turn = np.linspace(0.0, 2 * np.pi, 181)
            ax.plot(np.cos(turn), np.sin(turn), ":", color=QUIET, linewidth=0.8)
            ax.set_aspect("equal")
            ax.set_ylim(-1.16, 1.16)
        else:  # one component: rows from top to bottom, and arrows one under the other
            rows = np.linspace(1.0, -1.0, n)
            points = np.column_stack([self.scores[:, 0] / self.scaling_, rows])
            draw_points(ax, points, self.labels, self.label_name)
            heights = np.linspace(0.9, -0.9, len(self.arrows))
            self._arrows(ax, heights, heights)
            ax.set_yticks([])
        ax.set_xlim(-1.16, 1.16)
        caption(
            ax,
            f"Points: scores divided by {self.scaling_:.3g}. Arrows: correlations of features\n"
            "with the scores" + (" (the circle is 1)." if sides == 2 else "."),
        )
        name_axes(ax, self.axis_names)
        return self

    def _arrows(self, ax: Axes, starts: Any, ends: Any) -> None:
        tips = np.column_stack([self.arrows[:, 0], ends])
        for tip, start in zip(tips, starts, strict=True):
            arrow = {"arrowstyle": "-|>", "color": _ARROW, "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", xy=tip, xytext=(0.0, start), arrowprops=arrow)
        for (x, y), height, name in zip(tips, _spread(tips), self.arrow_names, strict=True):
            side = 1.0 if x >= 0 else -1.0
            ax.annotate(
                drawable(name),
                xy=(x, y),
                xytext=(x + 0.03 * side, height),
                ha="left" if side > 0 else "right",
                va="center",
                fontsize="small",
                color=LINE,
                bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.4},
            )


def _spread(tips: Array, least: float = 0.075) -> Array:
    """Heights of names beside the tips of arrows, moved apart on either side of the picture."""
    heights = tips[:, 1].astype(float).copy()
    for own in (tips[:, 0] >= 0, tips[:, 0] < 0):
        order = np.flatnonzero(own)[np.argsort(heights[own])]
        for _ in range(200):
            moved = False
            for low, high in pairwise(order):
                lack = least - (heights[high] - heights[low])
                if lack > 1e-9 and abs(tips[high, 0] - tips[low, 0]) < 0.6:
                    heights[low] -= lack / 2
                    heights[high] += lack / 2
                    moved = True
            if not moved:
                break
    return heights


def _position(feature: Any, names: list[str]) -> int:
    if isinstance(feature, str):
        if feature in names:
            return names.index(feature)
    elif isinstance(feature, (int, np.integer)) and 0 <= feature < len(names):
        return int(feature)
    raise ValueError(f"{feature!r} is no feature of this model; give names, or numbers from 0.")


def plot_biplot(
    model: Any,
    X: Any,
    *,
    components: Any = None,
    features: Sequence[str] | Sequence[int] | None = None,
    max_features: int = 12,
    labels: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Scores of X on a pair of components, and features as arrows.

    Arrows are the correlations of features with the scores (structure coefficients): the
    slope of a feature regressed on a score, both in standard deviations. A feature without a
    loading can have a long arrow. Scores are divided by their largest magnitude, which the caption
    states.

    Parameters
    ----------
    model : fitted model
    X : the data, as for ``model.transform``
    components : pair of components, default=None
        As in :func:`plot_scores`.
    features : sequence of str or int, default=None
        The features that have arrows; by default those with the largest loadings.
    max_features : int, default=12
        At most so many of those.
    labels : array of shape (n_samples,), default=None
        Groups or numbers to colour the rows by.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    return (
        BiplotDisplay.from_estimator(
            model,
            X,
            components=components,
            features=features,
            max_features=max_features,
            labels=labels,
        )
        .plot(ax)
        .ax_
    )
