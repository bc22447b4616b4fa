"""Rows by their distances from a robust model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import LINE, NEGATIVE, POSITIVE, caption, drawable, new_axes
from redac.plots.subject import Array, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many of the farthest rows are named.
_NAMED = 8
# Where a name may stand: right or left of its point, above or below. A letter is about so wide and
# a line so high, in points.
_PLACES = ((True, 1), (False, 1), (True, -1), (False, -1))
_WIDTH, _HEIGHT = 5.2, 9.0


class OutliersDisplay:
    """Score distance against orthogonal distance, with the limits beyond which a row is an outlier.

    Parameters
    ----------
    score_distances, orthogonal_distances : arrays of shape (n_samples,)
    cutoffs : (orthogonal, score)
    row_weights : array of shape (n_samples,)
        0 for rows that did not count.
    flagged_cells : array of shape (n_samples,)
        How many cells of each row lost more than half of their weight.
    sample_names : list of str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        score_distances: Array,
        orthogonal_distances: Array,
        cutoffs: Array,
        row_weights: Array,
        flagged_cells: Any,
        sample_names: Sequence[str],
    ) -> None:
        self.score_distances = score_distances
        self.orthogonal_distances = orthogonal_distances
        self.cutoffs = cutoffs
        self.row_weights = row_weights
        self.flagged_cells = flagged_cells
        self.sample_names = list(sample_names)

    @classmethod
    def from_estimator(cls, model: Any, sample_names: Sequence[str] | None = None) -> Self:
        """The display of a model that was fitted with ``robust``."""
        model = fitted(model, "plot_outliers")
        if not hasattr(model, "row_weights_"):
            raise ValueError(
                "This model tells nothing of outliers; fit it with robust='rows', 'cells' or "
                "'both'."
            )
        n = len(model.row_weights_)
        names = [str(i) for i in range(n)] if sample_names is None else list(sample_names)
        if len(names) != n:
            raise ValueError(f"sample_names has {len(names)} names for {n} rows.")
        flagged = np.zeros(n, dtype=np.intp)
        cells = model.outliers_table()
        for row in cells.loc[cells["feature"].notna(), "row"]:
            flagged[int(row)] += 1
        return cls(
            model.score_distances_,
            model.orthogonal_distances_,
            model.distance_cutoffs_,
            model.row_weights_,
            flagged,
            names,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax`` or in a new figure."""
        if ax is None:
            ax = new_axes(5.8, 4.4)
        self.ax_, self.figure_ = ax, ax.figure
        x, y = self.score_distances, self.orthogonal_distances
        lost = self.row_weights == 0.0
        cells = (self.flagged_cells > 0) & ~lost
        style: dict[str, Any] = {"linewidths": 0.4, "edgecolors": "white"}
        kinds = (
            ("rows", ~lost & ~cells, POSITIVE, "o", 20),
            ("rows with wild cells", cells, POSITIVE, "s", 26),
            ("rows that did not count", lost, NEGATIVE, "^", 38),
        )
        for label, chosen, colour, marker, size in kinds:
            if chosen.any():
                said = f"{label}: {int(chosen.sum())}"
                ax.scatter(
                    x[chosen], y[chosen], color=colour, marker=marker, s=size, label=said, **style
                )
        ax.axhline(self.cutoffs[0], color=LINE, linestyle="--", linewidth=0.9)
        ax.axvline(self.cutoffs[1], color=LINE, linestyle="--", linewidth=0.9)
        ax.set_xlim(0.0, 1.12 * max(float(x.max()), self.cutoffs[1]))
        ax.set_ylim(0.0, 1.12 * max(float(y.max()), self.cutoffs[0]))
        self._name_farthest(ax)
        ax.set_xlabel("score distance: from the mean, among the components")
        ax.set_ylabel("orthogonal distance: from the components")
        total = int(self.flagged_cells.sum())
        caption(ax, f"Dashed: the limits of usual rows. {total} single cells were flagged.")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
        return self

    def _name_farthest(self, ax: Axes) -> None:
        """Names of the rows farthest beyond the limits, each where it lies upon no other."""
        x, y = self.score_distances, self.orthogonal_distances
        far = np.maximum(x / (self.cutoffs[1] or 1.0), y / (self.cutoffs[0] or 1.0))
        points = ax.transData.transform(np.column_stack([x, y])) * 72.0 / ax.figure.dpi
        taken: list[tuple[float, float, float]] = []  # left, right, middle, in points
        for row in np.argsort(-far, kind="stable")[:_NAMED]:
            if far[row] <= 1.0:
                return
            name = drawable(self.sample_names[row])
            width = _WIDTH * len(name)
            for right, up in _PLACES:
                left, middle = points[row] + (4.0 if right else -4.0 - width, 6.0 * up)
                if all(
                    left > other[1] or left + width < other[0] or abs(middle - other[2]) > _HEIGHT
                    for other in taken
                ):
                    taken.append((left, left + width, middle))
                    ax.annotate(
                        name,
                        (x[row], y[row]),
                        (4 if right else -4, 6 * up),
                        textcoords="offset points",
                        fontsize="small",
                        ha="left" if right else "right",
                        va="center",
                    )
                    break


def plot_outliers(
    model: Any, sample_names: Sequence[str] | None = None, *, ax: Axes | None = None
) -> Axes:
    """The outlier map of a robust fit: score distance against orthogonal distance.

    Parameters
    ----------
    model : model that was fitted with ``robust``
    sample_names : sequence of str, default=None
        Names for the rows; numbers from 0 by default.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    return OutliersDisplay.from_estimator(model, sample_names).plot(ax).ax_
