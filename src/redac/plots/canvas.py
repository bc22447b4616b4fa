"""What all pictures have in common: axes to draw on, colours, and names that can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from redac.show.escaping import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# Blue and orange are told apart by all kinds of colour blindness, and in grey: the blue is darker.
POSITIVE, NEGATIVE = "#1f5fa8", "#ee9b3a"
LINE, QUIET = "#33373d", "#8b929b"
# The colours of Okabe and Ito (2008), without yellow, which is hard to see on white; with a marker
# each, so that groups are told apart in grey, too.
SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
# Longer names are cut in the middle: both ends of a name tell most.
_LONGEST_NAME = 48


def new_axes(width: float, height: float) -> Axes:
    """Axes in a figure of their own, of a size in inches."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    axes: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return axes


def require_matplotlib() -> None:
    """Raise with the way to get matplotlib where it is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Pictures are drawn by matplotlib, which is not installed: pip install redac[plot]"
        ) from error


def drawable(name: object) -> str:
    """A name as matplotlib draws it to the letter: one line, cut if very long, no mathematics."""
    text = printable(name)
    if len(text) > _LONGEST_NAME:
        half = _LONGEST_NAME // 2
        text = f"{text[:half]}…{text[1 - half :]}"
    return text.replace("$", r"\$")


def signed_colours() -> Colormap:
    """From orange (−1) over white (0) to blue (1)."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#a85a00", NEGATIVE, "#ffffff", "#6fa3d8", "#123f73"]
    return LinearSegmentedColormap.from_list("redac_signed", stops)


def grid_of_cells(ax: Axes, values: Any, rows: Sequence[object], columns: Sequence[str]) -> None:
    """Prepare axes for a table of coloured cells: the first row on top, names at the sides."""
    import numpy as np

    n, m = values.shape
    ax.set_xlim(0, m)
    ax.set_ylim(max(n, 1), 0)
    ax.set_xticks(np.arange(m) + 0.5, list(columns), rotation=90 if m > 12 else 0)
    ax.set_yticks(np.arange(n) + 0.5, [drawable(name) for name in rows])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)


def write_values(ax: Axes, values: Any, texts: Sequence[Sequence[str]], strong: float) -> None:
    """Write a text into each cell, white where the cell is dark."""
    size = 9 if values.shape[1] <= 8 else 7
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            colour = "white" if abs(values[i, j]) > strong else LINE
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=size, color=colour)


def minus(text: str) -> str:
    """A number with a proper minus sign."""
    return text.replace("-", "\N{MINUS SIGN}")


def caption(ax: Axes, text: str, columns: int | None = None) -> None:
    """A sentence below a picture, which says how it is to be read; below so many columns of cells,
    in lines that fit; they end where the cells end, and begin below the names at their left."""
    place: Any = {}
    if columns is not None:
        text = "\n".join(wrap(text, 22 + 8 * columns))
        place = {"loc": "right"}
    ax.set_xlabel(f"{ax.get_xlabel()}\n{text}".strip(), fontsize="small", **place)
