"""Pictures of components, of what they explain and of what more of them bring.

Every picture is a function of one line, ``plot_loadings(model)``, and a class in scikit-learn's
form, ``LoadingsDisplay.from_estimator(model)``, whose ``plot(ax=None)`` draws and whose ``ax_`` and
``figure_`` are what was drawn. matplotlib is imported when a picture is drawn (``pip install
redac[plot]``).
"""

from redac.plots.biplot import BiplotDisplay, plot_biplot
from redac.plots.heat_map import HeatmapDisplay, plot_heatmap
from redac.plots.loading_bars import LoadingsDisplay, plot_loadings
from redac.plots.outlier_map import OutliersDisplay, plot_outliers
from redac.plots.overlap_map import OverlapDisplay, plot_overlap
from redac.plots.path_lines import PathDisplay, plot_path
from redac.plots.score_points import ScoresDisplay, plot_scores
from redac.plots.scree import ScreeDisplay, plot_scree
from redac.plots.stability_map import StabilityDisplay, plot_stability

__all__ = [
    "BiplotDisplay",
    "HeatmapDisplay",
    "LoadingsDisplay",
    "OutliersDisplay",
    "OverlapDisplay",
    "PathDisplay",
    "ScoresDisplay",
    "ScreeDisplay",
    "StabilityDisplay",
    "plot_biplot",
    "plot_heatmap",
    "plot_loadings",
    "plot_outliers",
    "plot_overlap",
    "plot_path",
    "plot_scores",
    "plot_scree",
    "plot_stability",
]
