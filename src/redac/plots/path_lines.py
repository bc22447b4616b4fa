"""What more loadings bring: PEV and Q² along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from redac.plots.canvas import LINE, MARKERS, QUIET, caption, new_axes, require_matplotlib

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# From this part of the colour map on lines are too pale on white.
_PALEST = 0.82


class PathDisplay:
    """PEV and, where it is known, Q² of held-out cells against the number of non-zero loadings.

    Parameters
    ----------
    table : DataFrame, as ``SparsityPath.table``
    chosen : (n_components, cardinality) or None
        The place that is marked.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, table: pd.DataFrame, chosen: tuple[int, int] | None = None) -> None:
        self.table = table
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, path: Any, *, chosen: tuple[int, int] | None = None) -> Self:
        """The display of a path, or of a fitted ``SparsePCACV``, whose choice is marked."""
        if hasattr(path, "path_"):
            if chosen is None and path.n_components_:
                chosen = path.n_components_, path.cardinality_
            path = path.path_
        table = getattr(path, "table", None)
        if table is None or not hasattr(table, "groupby"):
            raise TypeError(
                "plot_path takes what redac.sparsity_path returns, or a fitted SparsePCACV; this "
                f"is of the type {type(path).__name__}."
            )
        return cls(table, chosen)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax`` or in a new figure."""
        require_matplotlib()
        from matplotlib import colormaps

        if ax is None:
            ax = new_axes(6.6, 4.4)
        self.ax_, self.figure_ = ax, ax.figure
        has_q2 = "q2" in self.table
        groups = list(self.table.groupby("n_components"))
        for number, (r, rows) in enumerate(groups):
            colour = colormaps["viridis"](_PALEST * number / max(len(groups) - 1, 1))
            self._line(ax, rows, "1 component" if r == 1 else f"{r} components", number, colour)
        if has_q2 and (self.table["q2"] < 0).any():
            ax.axhline(0.0, color=QUIET, linewidth=0.8)
        if self.chosen is not None:
            self._mark(ax, "q2" if has_q2 else "pev")
        ax.set_xscale("log")
        ticks = _round_numbers(self.table["nonzeros"].min(), self.table["nonzeros"].max())
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
        ax.set_xlabel("non-zero loadings")
        ax.set_ylabel("share of the variance, %")
        how = "Solid: Q² of held-out cells, ± one standard error. Dashed: PEV."
        caption(ax, how if has_q2 else "PEV of all rows.")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small", ncols=1 + (len(groups) > 6))
        return self

    def _line(self, ax: Axes, rows: pd.DataFrame, label: str, number: int, colour: Any) -> None:
        x = rows["nonzeros"]
        marker = MARKERS[number % len(MARKERS)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4, "lw": 1.3}
        if "q2" not in rows:
            ax.plot(x, rows["pev"], label=label, **style)
            return
        q2, error = 100 * rows["q2"], 100 * rows["q2_se"]
        ax.plot(x, q2, label=label, **style)
        ax.fill_between(x, q2 - error, q2 + error, fc=colour, alpha=0.12, lw=0)
        ax.plot(x, rows["pev"], **style | {"marker": "", "linestyle": "--", "lw": 0.9})

    def _mark(self, ax: Axes, measure: str) -> None:
        r, k = self.chosen or (0, 0)
        table = self.table
        row = table[(table["n_components"] == r) & (table["cardinality"] == k)]
        if row.empty:
            raise ValueError(f"chosen={self.chosen!r} is not on the path.")
        x = float(row["nonzeros"].iloc[0])
        y = float(row[measure].iloc[0]) * (100 if measure == "q2" else 1)
        ax.plot(x, y, "o", ms=12, mfc="none", mec=LINE, mew=1.8, label=f"chosen: {r} × {k}")


def _round_numbers(low: float, high: float) -> list[int]:
    """Whole numbers for a logarithmic axis: 1, 2, 5, 10, ... within its ends, or these."""
    steps = [digit * 10**power for power in range(12) for digit in (1, 2, 5)]
    return [step for step in steps if low <= step <= high] or sorted({int(low), int(high)})


def plot_path(path: Any, *, chosen: tuple[int, int] | None = None, ax: Axes | None = None) -> Axes:
    """Q² and PEV against the non-zero loadings, with a line for each number of components.

    Parameters
    ----------
    path : SparsityPath, or a fitted SparsePCACV
    chosen : (n_components, cardinality), default=None
        The place to mark; by default what a SparsePCACV has chosen.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    return PathDisplay.from_estimator(path, chosen=chosen).plot(ax).ax_
