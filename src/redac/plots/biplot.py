"""Scores as points and features as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.isotonic import isotonic_regression

from redac.plots.canvas import LINE, QUIET, caption, drawable, new_axes
from redac.plots.score_points import axis_names, draw_points, name_axes, scores_of
from redac.plots.subject import Array, fitted
from redac.show.structure import leading_features, structure_coefficients

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_ARROW = "#a3261b"
# The radius of the circle in a figure of its own.
_INCHES = 1.9
# How far a picture reaches beyond the centre at least; and with names, in given axes, at most.
_EDGE, _MOST = 1.16, 1.9
# The height of a line of names in inches.
_LINE = 0.17


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
        is_own = ax is None
        ax = new_axes(6.0, 5.8) if ax is None else ax
        inches = _INCHES if is_own else _radius_in(ax)
        self.ax_, self.figure_ = ax, ax.figure
        self.scaling_ = float(np.abs(self.scores).max() or 1.0)
        points = self.scores / self.scaling_
        is_flat = points.shape[1] == 2
        if is_flat:
            names = self._arrows(ax, np.zeros(len(self.arrows)), self.arrows[:, 1], inches)
            turn = np.linspace(0.0, 2 * np.pi, 181)
            ax.plot(np.cos(turn), np.sin(turn), ":", color=QUIET, linewidth=0.8)
        else:  # one component: rows from top to bottom, and arrows one under the other
            points = np.column_stack([points[:, 0], np.linspace(1.0, -1.0, len(points))])
            heights = np.linspace(0.9, -0.9, len(self.arrows))
            names = self._arrows(ax, heights, heights, inches)
            ax.set_yticks([])
        draw_points(ax, points, self.labels, self.label_name)
        low, high = _limits(names, inches)
        if is_own:
            figure: Any = ax.figure
            figure.set_size_inches(inches * (high - low) + [0.8, 1.0])
        else:
            low[0], high[0] = max(low[0], -_MOST), min(high[0], _MOST)
        steps = np.linspace(-1.0, 1.0, 5)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=steps)
        if is_flat:
            ax.set(yticks=steps, aspect="equal")
        caption(
            ax,
            f"Points: scores divided by {self.scaling_:.3g}. Arrows: correlations of features\n"
            "with the scores" + (" (the circle is 1)." if is_flat else "."),
        )
        name_axes(ax, self.axis_names)
        return self

    def _arrows(self, ax: Axes, starts: Any, ends: Any, inches: float) -> list[Text]:
        """Arrows with their names: around the circle, or, of one component, beside the tips."""
        tips = np.column_stack([self.arrows[:, 0], ends])
        is_flat = self.arrows.shape[1] == 2
        places = _around(tips, _LINE / inches) if is_flat else tips
        names = []
        for tip, start, place, name in zip(tips, starts, places, self.arrow_names, strict=True):
            arrow = {"arrowstyle": "-|>", "color": _ARROW, "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", xy=tip, xytext=(0.0, start), arrowprops=arrow, zorder=4)
            if is_flat:
                ax.plot(*zip(tip, place, strict=True), color=_ARROW, lw=0.5, alpha=0.6, zorder=3)
            side = 1.0 if tip[0] >= 0 else -1.0
            names.append(
                ax.text(
                    place[0] + 0.03 * side,
                    place[1],
                    drawable(name),
                    ha="left" if side > 0 else "right",
                    va="center",
                    fontsize="small",
                    color=LINE,
                    zorder=5,
                    bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.4},
                )
            )
        return names


def _radius_in(ax: Axes) -> float:
    """Inches of the radius of a circle that leaves room for names beside it."""
    box = ax.get_window_extent()
    return max(float(min(box.width / (2 * _MOST), box.height / 2.4)) / ax.figure.dpi, 0.3)


def _limits(names: list[Text], inches: float) -> tuple[Array, Array]:
    """The least and the greatest x and y of a picture that holds the circle and the names."""
    corners = [[-_EDGE, -_EDGE], [_EDGE, _EDGE]]
    for name in names:
        x, y = name.get_position()
        width = name.get_window_extent().width / name.figure.dpi / inches + 0.04
        width *= 1.0 if name.get_horizontalalignment() == "left" else -1.0
        corners += [[x + width, y - 0.08], [x + width, y + 0.08]]
    return np.min(corners, axis=0), np.max(corners, axis=0)


def _around(tips: Array, least: float) -> Array:
    """Places of names around the circle, each in the direction of its arrow and apart from the
    others on its side."""
    lengths = np.hypot(*tips.T)
    radius = max(1.0, *lengths) + 0.06
    wanted = radius * tips[:, 1] / np.where(lengths > 0.0, lengths, 1.0)
    right = tips[:, 0] >= 0
    heights = np.empty(len(tips))
    for own in (np.flatnonzero(right), np.flatnonzero(~right)):
        order = own[np.argsort(wanted[own], kind="stable")]
        steps = least * np.arange(order.size)
        if order.size:  # as near as can be to what is wanted, each at least a step from the last
            heights[order] = isotonic_regression(wanted[order] - steps) + steps
    across = np.sqrt(np.maximum(radius**2 - heights**2, 0.0))
    return np.column_stack([np.where(right, across, -across), heights])


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
