"""Draw the figures of the documentation: ``make figures``."""

import time
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from redac import SparsePCA
from redac.datasets import fetch_colon, load_pitprops
from redac.plots import plot_loadings

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "redac"  # the same picture gives the same file

FIGURES = Path(__file__).parent / "figures"


def pitprops_loadings() -> None:
    """The picture of the README: PCA and sparse loadings side by side."""
    pitprops = load_pitprops()
    dense = SparsePCA(6).fit_covariance(pitprops.correlation)
    sparse = SparsePCA(6, cardinality=(8, 5, 6, 2, 3, 2)).fit_covariance(pitprops.correlation)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
    for ax, model, name in ((left, dense, "PCA"), (right, sparse, "redac")):
        pev = 100 * model.explained_variance_ratio_.sum()
        loadings = int((model.components_ != 0).sum())
        plot_loadings(
            model.components_,
            pitprops.feature_names,
            ax=ax,
            title=f"{name}: {loadings} loadings, {pev:.1f} % of the variance",
        )
    FIGURES.mkdir(exist_ok=True)
    for suffix in ("svg", "png"):
        figure.savefig(FIGURES / f"pitprops_loadings.{suffix}", dpi=130, metadata=_metadata(suffix))
    plt.close(figure)


def search_time() -> None:
    """The picture of the page on certificates: what a longer search finds."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    correlation = load_pitprops().correlation
    for seed in range(3):
        model = SparsePCA(
            6, cardinality=(8, 5, 6, 2, 3, 2), n_perturbations=2000, random_state=seed
        )
        _draw_search(left, model, lambda model: model.fit_covariance(correlation), seed)
    bound = model.certificate(time_limit=20).upper_bound
    left.axhline(bound, color="0.4", linestyle="--", label="proved within 20 s")
    left.set(title="pitprops, 8-5-6-2-3-2", ylim=(84.5, 86.6))
    try:
        colon = fetch_colon().data
    except FileNotFoundError:
        print("The colon data are not at hand: the right half stays empty.")  # noqa: T201
    else:
        for seed in range(3):
            model = SparsePCA(20, cardinality=50, n_perturbations=300, random_state=seed)
            _draw_search(right, model, lambda model: model.fit(colon), seed)
    right.axhline(77.56, color="0.4", linestyle=":", label="paper")
    right.set(title="colon, 20 components of 50")
    for ax in (left, right):
        ax.set(xlabel="seconds, one core", ylabel="explained variance, %")
        ax.legend()
    for suffix in ("svg", "png"):
        figure.savefig(FIGURES / f"search_time.{suffix}", dpi=130, metadata=_metadata(suffix))
    plt.close(figure)


def _draw_search(ax: Axes, model: SparsePCA, fit: Callable[[SparsePCA], object], seed: int) -> None:
    start = time.perf_counter()
    fit(model)
    seconds = time.perf_counter() - start
    best = 100 * np.maximum.accumulate(model.search_history_["explained_variance_ratio"])
    ax.plot(np.linspace(0.0, seconds, best.size), best, label=f"seed {seed}")


def _metadata(suffix: str) -> dict[str, None]:
    return {"Date": None} if suffix == "svg" else {}


if __name__ == "__main__":
    pitprops_loadings()
    search_time()
