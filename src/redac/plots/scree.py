"""What each component adds, beside what principal components explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from redac.plots.canvas import LINE, NEGATIVE, POSITIVE, new_axes
from redac.plots.subject import Array, fitted
from redac.show.shares import pca_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ScreeDisplay:
    """Explained variance in percent: what each component adds, and what they explain together.

    Parameters
    ----------
    added : array of shape (n_components,)
        Percent that each component adds.
    pca : array or None
        Percent that as many principal components explain; NaN where not known.
    bound : float or None
        Percent that no components of this kind can exceed.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, added: Array, pca: Array | None = None, bound: float | None = None) -> None:
        self.added = added
        self.pca = pca
        self.bound = bound

    @classmethod
    def from_estimator(cls, model: Any, *, certificate: Any = None) -> Self:
        """The display of a fitted model, with the bound of its certificate if that is given."""
        model = fitted(model, "A scree plot")
        bound = None if certificate is None else float(certificate.upper_bound)
        return cls(100 * model.explained_variance_ratio_, pca_shares(model), bound)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax`` or in a new figure."""
        r = len(self.added)
        if ax is None:
            ax = new_axes(min(3.2 + 0.35 * r, 10.0), 3.6)
        self.ax_, self.figure_ = ax, ax.figure
        numbers = np.arange(1, r + 1)
        ax.bar(numbers, self.added, width=0.7, color=POSITIVE, label="each component adds")
        together = np.cumsum(self.added)
        style: Any = {"markersize": 4, "linewidth": 1.3}
        ax.plot(numbers, together, "o-", color=LINE, label="together (PEV)", **style)
        top = float(together[-1])
        if self.pca is not None and np.isfinite(self.pca).any():
            ax.plot(numbers, self.pca, "s--", color=NEGATIVE, label="PCA, as many", **style)
            top = max(top, float(np.nanmax(self.pca)))
        if self.bound is not None:
            label = f"proved bound {self.bound:.1f} %"
            ax.plot([r - 0.45, r + 0.45], 2 * [self.bound], color="#b3261e", lw=2, label=label)
            top = max(top, self.bound)
        ax.set_xlim(0.4, r + 0.6)
        ax.set_ylim(0.0, 1.08 * top or 1.0)
        step = max(1, round(r / 12))
        ax.set_xticks(numbers[::step], [f"PC{i}" for i in numbers[::step]])
        ax.set_ylabel("explained variance, %")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return self


def plot_scree(model: Any, *, certificate: Any = None, ax: Axes | None = None) -> Axes:
    """What each component adds, their sum, and what as many principal components explain.

    Parameters
    ----------
    model : fitted model
    certificate : Certificate, default=None
        What ``model.certificate()`` has returned: its bound is drawn.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    return ScreeDisplay.from_estimator(model, certificate=certificate).plot(ax).ax_
