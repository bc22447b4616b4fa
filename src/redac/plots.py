"""Pictures of components, and of what more of them bring.

matplotlib is imported when a picture is drawn (``pip install redac[plot]``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from redac.show.tables import component_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_loadings", "plot_path"]

_MOST_NAMES = 60


def plot_loadings(
    components: Any,
    feature_names: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Loadings as a heat map, features down and components across; zeros are left white.

    Parameters
    ----------
    components : array of shape (n_components, n_features)
    feature_names : sequence of str, default=None
        Written beside the rows when there are not too many to read.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    title : str, default=None

    Returns
    -------
    matplotlib Axes
    """
    import matplotlib.pyplot as plt

    loadings = np.asarray(components, dtype=float).T
    d, r = loadings.shape
    if ax is None:
        height = min(max(2.5, 0.3 * d), 12)
        ax = plt.subplots(figsize=(1.5 + 0.55 * r, height), layout="constrained")[1]
    shown = np.ma.masked_equal(loadings, 0.0)
    ax.pcolormesh(shown, cmap="RdBu", vmin=-1, vmax=1, edgecolors="#d8dee4", linewidth=0.5)
    ax.set_ylim(d, 0)
    ax.set_xticks(np.arange(r) + 0.5, component_names(r))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    if feature_names is not None and d <= _MOST_NAMES:
        ax.set_yticks(np.arange(d) + 0.5, list(feature_names))
    else:
        ax.set_ylabel("feature")
    if title is not None:
        ax.set_title(title)
    return ax


def plot_path(path: Any, *, ax: Axes | None = None) -> Axes:
    """Q², or else PEV, against the non-zeros, with a line for each number of components.

    Parameters
    ----------
    path : SparsityPath, or a fitted SparsePCACV
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    import matplotlib.pyplot as plt

    table = getattr(path, "path_", path).table
    if ax is None:
        ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")[1]
    measure = "q2" if "q2" in table else "pev"
    for r, rows in table.groupby("n_components"):
        label = "1 component" if r == 1 else f"{r} components"
        values = rows[measure]
        line = ax.plot(rows["nonzeros"], values, marker="o", markersize=3, label=label)[0]
        if measure == "q2":
            error = rows["q2_se"]
            colour = line.get_color()
            ax.fill_between(rows["nonzeros"], values - error, values + error, fc=colour, alpha=0.12)
    if measure == "q2":
        ax.axhline(0.0, color="#57606a", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("non-zero loadings")
    ax.set_ylabel("Q² of held-out cells" if measure == "q2" else "PEV %")
    ax.legend(frameon=False, fontsize="small")
    return ax
