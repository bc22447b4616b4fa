"""The picture of the page: times beside PCA, and growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

_SHOWN = {
    "PCA": ("k", "|"),
    "redac": ("C0", "o"),
    "plain NumPy": ("C1", "s"),
    "SparsePCA": ("C2", "^"),
    "MiniBatchSparsePCA": ("C3", "v"),
    "abess": ("C4", "D"),
}


def draw(results: dict[str, Any], folder: Path) -> None:
    """Write performance.svg and performance.png."""
    with mpl.rc_context({"svg.hashsalt": "redac"}):  # the same picture gives the same file
        figure = Figure(figsize=(11, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _times(left, results["rows"])
        _growth(right, results.get("growth", []))
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / "performance.svg", metadata={"Date": None})
        figure.savefig(folder / "performance.png", dpi=130)


def _times(ax: Any, rows: list[dict[str, Any]]) -> None:
    """The cases with r = 10 and the first kind of sparsity, one line each."""
    least = min((row["r"] for row in rows), default=None)
    kinds = [row["sparsity"] for row in rows if row["sparsity"] is not None]
    shown = [
        row
        for row in rows
        if row["r"] == least and row["failure"] is None and row["sparsity"] in (None, *kinds[:1])
    ]
    places = {name: i for i, name in enumerate(dict.fromkeys(row["data"] for row in shown))}
    for name, (colour, marker) in _SHOWN.items():
        mine = [row for row in shown if row["contestant"] == name]
        if mine:
            y = [places[row["data"]] for row in mine]
            x = [row["seconds"] for row in mine]
            ax.plot(x, y, marker, color=colour, label=name, markersize=8)
    ax.set_yticks(list(places.values()), list(places))
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlabel("seconds")
    ax.set_title(f"One fit, r = {least}, {kinds[0]}" if kinds else "One fit")
    ax.grid(axis="x", alpha=0.3)
    if shown:
        ax.legend(fontsize="small")


def _growth(ax: Any, series: list[dict[str, Any]]) -> None:
    for s in series:
        factor = [value / s["values"][0] for value in s["values"]]
        label = f"{s['size']} from {s['values'][0]} (exponent {s['fixed_sweeps_exponent']:.2f})"
        ax.loglog(factor, s["fixed_sweeps_seconds"], "o-", base=2, label=label)
    ax.set_xlabel("times the first size")
    ax.set_ylabel("seconds")
    ax.set_title("Growth, fixed number of sweeps")
    ax.grid(alpha=0.3)
    if series:
        ax.legend(fontsize="small")
