"""Scores of a pair of components as points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import MARKERS, POSITIVE, QUIET, SERIES, caption, drawable, new_axes
from redac.plots.subject import Array, fitted
from redac.show.structure import component_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Groups beyond the colours that can be told apart are drawn as one.
_MOST_GROUPS = len(SERIES)
_OTHERS = "others"


class ScoresDisplay:
    """Scores on two components, coloured by a label; with one component, row by row.

    Parameters
    ----------
    scores : array of shape (n_samples, 2) or (n_samples, 1)
    axis_names : list of str
        The names of the components with what they add.
    labels : array of shape (n_samples,) or None
        Groups, or numbers, to colour the points by.
    label_name : str
    max_points : int
        More points than this are drawn as their density, or if they have labels, in part.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        scores: Array,
        axis_names: list[str],
        labels: Any = None,
        label_name: str = "",
        max_points: int = 5000,
    ) -> None:
        self.scores = scores
        self.axis_names = axis_names
        self.labels = None if labels is None else np.asarray(labels)
        self.label_name = label_name
        self.max_points = max_points
        if self.labels is not None and self.labels.shape != (len(scores),):
            raise ValueError(
                f"labels has the shape {self.labels.shape}; {len(scores)} are expected, one for "
                "each row of X."
            )

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        components: Any = None,
        labels: Any = None,
        max_points: int = 5000,
    ) -> Self:
        """The display of the scores that a fitted model gives X."""
        scores, pair = scores_of(fitted(model, "plot_scores"), X, components)
        names = axis_names(model, pair)
        name = str(getattr(labels, "name", None) or "")
        return cls(scores[:, pair], names, labels, name, max_points)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax`` or in a new figure."""
        if ax is None:
            ax = new_axes(5.4, 4.4)
        self.ax_, self.figure_ = ax, ax.figure
        n = len(self.scores)
        places = self._places()
        if self.labels is None and n > self.max_points:
            ax.hexbin(*places.T, gridsize=60, bins="log", mincnt=1, cmap="Blues")
            caption(ax, f"{n:,} rows: the darker, the more.")
        else:
            shown = np.arange(n)
            if n > self.max_points:
                shown = np.linspace(0, n - 1, self.max_points).astype(int)
                caption(ax, f"{self.max_points:,} of {n:,} rows, evenly spaced.")
            draw_points(
                ax,
                places[shown],
                None if self.labels is None else self.labels[shown],
                self.label_name,
            )
        name_axes(ax, self.axis_names)
        return self

    def _places(self) -> Array:
        if self.scores.shape[1] == 2:
            return self.scores
        return np.column_stack([self.scores[:, 0], np.arange(len(self.scores))])


def scores_of(model: Any, X: Any, components: Any) -> tuple[Array, list[int]]:
    """All scores of X, and the positions of the pair to draw (one, where there is one only)."""
    r = model.n_components_
    wanted: Any = range(min(r, 2)) if components is None else components
    if isinstance(wanted, (str, int, np.integer)):
        wanted = (wanted,)
    pair = [component_number(each, r) for each in wanted]
    if len(pair) not in (1, 2):
        raise ValueError(f"components={components!r} must name two components, or one.")
    scores = model.transform(X)
    scores = scores.compute() if hasattr(scores, "compute") else scores
    return np.asarray(scores, dtype=np.float64), pair


def axis_names(model: Any, pair: list[int]) -> list[str]:
    """PC1 (23.7 %), …"""
    shares = 100 * model.explained_variance_ratio_
    return [f"PC{i + 1} ({shares[i]:.1f} %)" for i in pair]


def name_axes(ax: Axes, names: list[str]) -> None:
    """The names of the components at the axes, and lines through the mean."""
    below = ax.get_xlabel()
    ax.set_xlabel(f"{names[0]}\n{below}".strip())
    ax.set_ylabel(names[1] if len(names) == 2 else "row")
    ax.axvline(0.0, color=QUIET, linewidth=0.6, zorder=0)
    if len(names) == 2:
        ax.axhline(0.0, color=QUIET, linewidth=0.6, zorder=0)
    ax.spines[["top", "right"]].set_visible(False)


def draw_points(ax: Axes, places: Array, labels: Any, label_name: str) -> None:
    """Points, coloured by numbers or by groups, with a legend."""
    size = 22 if len(places) < 800 else 9
    style: Any = {"s": size, "alpha": 0.85, "linewidths": 0.3, "edgecolors": "white"}
    if labels is None:
        ax.scatter(*places.T, color=POSITIVE, **style)
    elif _is_quantity(labels):
        values = labels.astype(float)
        drawn = ax.scatter(places[:, 0], places[:, 1], c=values, cmap="viridis", **style)
        ax.figure.colorbar(drawn, ax=ax, label=drawable(label_name))
    else:
        groups = grouped(labels)
        for number, group in enumerate(dict.fromkeys(sorted(groups, key=_last))):
            own = places[groups == group]
            marker, colour = MARKERS[number % _MOST_GROUPS], SERIES[number % _MOST_GROUPS]
            ax.scatter(*own.T, color=colour, marker=marker, label=drawable(group), **style)
        title = drawable(label_name) or None
        ax.legend(frameon=False, fontsize="small", title=title, title_fontsize="small")


def _last(group: str) -> tuple[bool, str]:
    return group == _OTHERS, group


def grouped(labels: Any) -> Any:
    """Labels as text; where there are too many groups, the smaller ones are "others"."""
    texts = np.array(["missing" if _is_missing(each) else str(each) for each in labels.tolist()])
    names, counts = np.unique(texts, return_counts=True)
    if len(names) > _MOST_GROUPS:
        kept = names[np.argsort(-counts, kind="stable")[: _MOST_GROUPS - 1]]
        texts = np.where(np.isin(texts, kept), texts, _OTHERS)
    return texts.astype(object)


def _is_missing(label: Any) -> bool:
    return label is None or bool(label != label)


def _is_quantity(labels: Any) -> bool:
    return labels.dtype.kind in "iuf" and len(np.unique(labels)) > _MOST_GROUPS


def plot_scores(
    model: Any,
    X: Any,
    *,
    components: Any = None,
    labels: Any = None,
    max_points: int = 5000,
    ax: Axes | None = None,
) -> Axes:
    """Scores of X on a pair of components, with what they add in percent on the axes.

    Parameters
    ----------
    model : fitted model
    X : the data, as for ``model.transform``
    components : pair of components, default=None
        Their names or numbers, such as ``("PC1", "PC3")`` or ``(0, 2)``; the first two by default.
        With one component its scores are drawn row by row.
    labels : array of shape (n_samples,), default=None
        Groups or numbers to colour the rows by. Of more than seven groups the smaller ones are
        drawn as one.
    max_points : int, default=5000
        More rows than this are drawn as their density, or, with labels, in part.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    return (
        ScoresDisplay.from_estimator(
            model, X, components=components, labels=labels, max_points=max_points
        )
        .plot(ax)
        .ax_
    )
