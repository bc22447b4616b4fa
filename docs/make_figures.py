"""Draw the figures of the documentation: ``make figures``."""

from pathlib import Path

import matplotlib.pyplot as plt

from redac import SparsePCA
from redac.datasets import load_pitprops
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


def _metadata(suffix: str) -> dict[str, None]:
    return {"Date": None} if suffix == "svg" else {}


if __name__ == "__main__":
    pitprops_loadings()
