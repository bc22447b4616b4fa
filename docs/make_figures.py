"""Draw the figures of the documentation: ``make figures``, or some by their names in this file."""

import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.datasets import load_wine
from sklearn.utils import Bunch

from redac import SparsePCA, plots, sparsity_path, stability
from redac.datasets import fetch_colon, load_pitprops
from redac.explore.answers import Exploration
from redac.explore.server import ExplorerServer
from redac.plots import plot_heatmap

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
        plot_heatmap(
            model.components_,
            pitprops.feature_names,
            features=range(len(pitprops.feature_names)),
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


def displays() -> None:
    """Every display on wine, colon, pitprops and a single component: docs/figures/displays."""
    folder = FIGURES / "displays"
    folder.mkdir(parents=True, exist_ok=True)
    wine = load_wine(as_frame=True)
    groups = pd.Series(wine.target_names[wine.target], name="cultivar")
    draw_displays(folder, "wine", wine.data, groups, (3, 5), standardize=True)
    draw_displays(folder, "single", wine.data, groups, (1, 5), standardize=True)
    pitprops = load_pitprops()
    draw_displays(folder, "pitprops", None, None, (6, 4), pitprops=pitprops)
    try:
        colon = fetch_colon()
    except FileNotFoundError:
        print("The colon data are not at hand: their displays are not drawn.")  # noqa: T201
        return
    tissue = pd.Series(np.where(colon.target > 0, "tumour", "normal"), name="tissue")
    genes = pd.DataFrame(np.log(colon.data), columns=distinct(colon.feature_names))
    draw_displays(folder, "colon", genes, tissue, (20, 50))


def distinct(names: Sequence[str]) -> list[str]:
    """Names that occur again have a number."""
    seen = Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return found


def draw_displays(
    folder: Path,
    name: str,
    X: pd.DataFrame | None,
    groups: pd.Series | None,
    place: tuple[int, int],
    *,
    standardize: bool = False,
    pitprops: Bunch | None = None,
) -> None:
    """All displays that the data allow, as PNG; without rows there are fewer of them."""
    r, k = place
    model = SparsePCA(r, cardinality=k, standardize=standardize)
    grid = {"n_components": sorted({1, (r + 1) // 2, r}), "cardinality": sorted({2, k, 2 * k})}
    if X is None:
        model.fit_covariance(pitprops.correlation, pitprops.n_samples, pitprops.feature_names)
        path = sparsity_path(pitprops.correlation, covariance=True, n_samples=180, **grid)
    else:
        model.fit(X)
        path = sparsity_path(X, standardize=standardize, **grid)
    proof = model.certificate(time_limit=10)
    drawings: dict[str, Callable[[], Any]] = {
        "loadings": lambda: plots.plot_loadings(model, max_features=10)[0],
        "heatmap": lambda: plot_heatmap(model),
        "scree": lambda: plots.plot_scree(model, certificate=proof),
        "path": lambda: plots.plot_path(path, chosen=place),
        "overlap": lambda: plots.plot_overlap(model),
    }
    if X is not None:
        settings = {"cardinality": k, "standardize": standardize}
        steady = stability(X, r, n_resamples=20, random_state=0, **settings)
        robust = SparsePCA(min(r, 3), robust="both", **settings).fit(X)
        drawings |= {
            "stability": lambda: plots.plot_stability(steady),
            "scores": lambda: plots.plot_scores(model, X, labels=groups),
            "biplot": lambda: plots.plot_biplot(model, X, labels=groups),
            "outliers": lambda: plots.plot_outliers(robust),
        }
    for kind, draw in drawings.items():
        figure = draw().figure
        figure.savefig(folder / f"{name}_{kind}.png", dpi=80)
        plt.close(figure)


def explorer() -> None:
    """The picture of the explorer, as a browser shows it; Chromium and Playwright are needed."""
    from playwright.sync_api import sync_playwright

    wine = load_wine(as_frame=True)
    exploration = Exploration(
        wine.data.to_numpy(),
        {"n_components": 3, "cardinality": 5, "standardize": True},
        feature_names=list(wine.data.columns),
        labels={"cultivar": wine.target_names[wine.target]},
        title="wine",
    )
    server = ExplorerServer(exploration)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with sync_playwright() as driver:
            path = os.environ.get("REDAC_BROWSER") or shutil.which("chromium")
            options = {"executable_path": path, "args": ["--no-sandbox", "--disable-gpu"]}
            browser = driver.chromium.launch(**options)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(server.address)
            for step in (1, 1, -1, -1, -1):
                page.click(f"button[data-step='cardinality {step}']")
                page.wait_for_selector("#status", state="hidden")
            for step in (-1, 1):
                page.click(f"button[data-step='components {step}']")
                page.wait_for_selector("#status", state="hidden")
            page.click("button[data-step='cardinality 1']")
            page.check("#arrows")
            page.wait_for_selector("#status", state="hidden")
            page.mouse.move(0, 0)
            page.screenshot(path=FIGURES / "explorer.png")
            browser.close()
    finally:
        server.shutdown()
        server.server_close()


FIGURE_MAKERS = (pitprops_loadings, search_time, displays, explorer)

if __name__ == "__main__":
    wanted = sys.argv[1:]
    for make in FIGURE_MAKERS:
        if not wanted or make.__name__ in wanted:
            make()
