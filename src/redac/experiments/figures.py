"""The figures of the paper, drawn from records; matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from redac.disk import write_atomically
from redac.experiments import measures
from redac.experiments.experiment import Experiment
from redac.experiments.store import Record
from redac.experiments.summary import BETTER_REDAC, Row
from redac.plots import plot_heatmap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_KINDS = ("curves", "successes", "components")
_SUFFIXES = ("svg", "png")
_IMAGE_SIDE = 19
_MARKERS = "osD^v<>pPX*hd"


def files_of(experiment: str) -> list[str]:
    """The files of all figures that an experiment of this name can have."""
    return [f"{experiment}_{kind}.{suffix}" for kind in _KINDS for suffix in _SUFFIXES]


def draw(
    experiment: Experiment, rows: Sequence[Row], records: Sequence[Record], folder: Path
) -> list[str]:
    """Write the figures of an experiment as SVG and PNG, and return their names."""
    drawings: dict[str, Callable[[], Figure]] = {}
    if experiment.curve_at:
        drawings["curves"] = partial(_curves, experiment, records)
    if experiment.headline == measures.ORDERED and len(experiment.settings) > 1:
        drawings["successes"] = partial(_successes, experiment, rows)
    if experiment.keep_components:
        kind = _images if _is_images(records) else _loadings
        drawings["components"] = partial(kind, experiment, records)
    names = []
    with _style():
        for what, drawing in drawings.items():
            names.append(f"{experiment.name}_{what}")
            _save(drawing(), folder / names[-1])
    return names


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    settings: Any = {
        "svg.hashsalt": "redac",  # the same picture gives the same file
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e4e7eb",
        "font.size": 9,
        "legend.frameon": False,
    }
    with mpl.rc_context(settings):
        yield


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    """A figure that belongs to no window, so that drawing needs no display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _save(figure: Figure, path: Path) -> None:
    for suffix in _SUFFIXES:
        metadata: dict[str, Any] = {"Date": None} if suffix == "svg" else {}

        def write(file: Any, suffix: str = suffix, metadata: dict[str, Any] = metadata) -> None:
            figure.savefig(file, format=suffix, dpi=130, metadata=metadata)

        write_atomically(path.with_suffix(f".{suffix}"), write)


def _looks(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """A colour and a marker for each contender; ReDaC stands out."""
    import matplotlib as mpl

    colours = mpl.color_sequences["tab20"]
    looks: dict[str, dict[str, Any]] = {}
    for i, contender in enumerate(experiment.contenders):
        ours = contender.name.startswith("redac")
        looks[contender.name] = {
            "color": ("#b30000" if "l0" in contender.name else "#f2739a")
            if ours
            else colours[2 * (i % 10) if i < 10 else 2 * (i % 10) + 1],
            "linewidth": 2.2 if ours else 1.0,
            "zorder": 3 if ours else 2,
            "marker": _MARKERS[i % len(_MARKERS)],
            "markersize": 4,
            "label": contender.label,
        }
    return looks


def _curves(experiment: Experiment, records: Sequence[Record]) -> Figure:
    """RRE and PEV against the number of components, a column for each setting."""
    settings = list(experiment.settings)
    figure, axes = _figure(2, len(settings), (1.2 + 3.3 * len(settings), 6.2))
    looks = _looks(experiment)
    for column, setting in enumerate(settings):
        for contender in filter(attrgetter("has_curve"), experiment.contenders):
            curve = _curve(records, setting, contender.name)
            numbers, pev = curve["components"], np.array(curve["PEV"])
            rre = np.sqrt(np.clip(1 - pev / 100, 0, None))
            axes[0, column].plot(numbers, rre, **looks[contender.name])
            axes[1, column].plot(numbers, pev, **looks[contender.name])
        axes[0, column].set_title(setting)
        axes[1, column].set_xlabel("number of components")
    axes[0, 0].set_ylabel("RRE")
    axes[1, 0].set_ylabel("PEV (%)")
    _legend(figure, axes[0, 0])
    return figure


def _curve(records: Sequence[Record], setting: str, name: str) -> dict[str, list[float]]:
    curve: dict[str, list[float]] = next(
        record["curve"]
        for record in records
        if record["setting"] == setting and record["contender"] == name and "curve" in record
    )
    return curve


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")


def _successes(experiment: Experiment, rows: Sequence[Row]) -> Figure:
    """Successes against the sample size: ours, and what the paper prints."""
    figure, axes = _figure(1, 3, (11.5, 4.2))
    looks = _looks(experiment)
    looks[BETTER_REDAC] = {**looks[experiment.contenders[-2].name], "label": "ReDaC, the better"}
    titles = ("ours", "paper", "ours, in any order")
    for ax, title in zip(axes[0], titles, strict=True):
        for name, look in looks.items():
            own = [row for row in rows if row.method == name]
            measure = measures.ANY_ORDER if title == "ours, in any order" else measures.ORDERED
            cells = [row.cells[measure] for row in own]
            heights = [cell.paper if title == "paper" else cell.ours for cell in cells]
            if None not in heights and name not in {c.name for c in experiment.contenders[-2:]}:
                ax.plot([row.setting for row in own], heights, **look)
        ax.set_title(title)
        ax.set_ylim(-0.03 * experiment.per, 1.03 * experiment.per)
    axes[0, 0].set_ylabel(f"successes in {experiment.per} sets")
    _legend(figure, axes[0, 0])
    return figure


def _loadings(experiment: Experiment, records: Sequence[Record]) -> Figure:
    """Sparse loadings as heat maps, a column for each setting."""
    from redac.datasets import load_pitprops

    names = list(load_pitprops().feature_names)
    settings = list(experiment.settings)
    figure, axes = _figure(1, len(settings), (1.0 + 3.4 * len(settings), 4.6))
    for i, (ax, setting) in enumerate(zip(axes[0], settings, strict=True)):
        own = [
            record
            for record in records
            if record["setting"] == setting and record["contender"] in ("redac_l0", "redac_l1")
        ]
        best = max(own, key=lambda record: record["measures"][measures.PEV])
        title = f"{setting}: PEV {best['measures'][measures.PEV]:.2f} %"
        features = range(len(best["components"][0]))
        plot_heatmap(best["components"], names, features=features, ax=ax, title=title)
        ax.grid(visible=False)
        if i:
            ax.set_yticklabels([])
    return figure


def _is_images(records: Sequence[Record]) -> bool:
    kept = [record["components"] for record in records if "components" in record]
    return len(kept[0][0]) == _IMAGE_SIDE**2


def _images(experiment: Experiment, records: Sequence[Record]) -> Figure:
    """Components as pictures, a row for each contender; dark is a large loading.

    Of the two variants of ReDaC the better one is shown, as in the paper.
    """
    kept = {record["contender"]: record for record in records if "components" in record}
    variants = [name for name in kept if name.startswith("redac")]
    del kept[min(variants, key=lambda name: kept[name]["measures"][experiment.headline])]
    count = len(next(iter(kept.values()))["components"])
    figure, axes = _figure(len(kept), count, (1.6 + 0.95 * count, 0.98 * len(kept)))
    for line, (name, record) in zip(axes, kept.items(), strict=True):
        for ax, component in zip(line, record["components"], strict=True):
            image = np.reshape(component, (_IMAGE_SIDE, _IMAGE_SIDE))
            ax.imshow(np.abs(image), cmap="gray_r", vmin=0)
            ax.set_xticks([])
            ax.set_yticks([])
            ax.grid(visible=False)
            ax.spines[:].set(visible=True, color="#c3c9d1", linewidth=0.6)
        label = experiment.contender(name).label
        line[0].set_ylabel(label, rotation=0, ha="right", va="center")
    return figure
