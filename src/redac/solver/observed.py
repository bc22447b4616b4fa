"""What components explain of cells that are there."""

from __future__ import annotations

import numpy as np

from redac.sources.base import Array
from redac.sources.cells import CellModel, Cells


def shares(cells: Cells, V: Array, mean: Array, ridge: Array) -> Array:
    """What each component adds to the share of Σ ω(x − m)² that those before it explain.

    Scores are fitted anew for the first component, the first two, and so on, by least squares where
    no cell of a sample is missing, otherwise with a ridge. The sum is the share of all components;
    where fewer of them would explain more, as a ridge allows, the rest adds nothing.
    """
    about = cells.squares_about(mean)
    total = float(about.sum())
    if total == 0.0:
        return np.zeros(V.shape[1])
    explained = [0.0]
    for count in range(1, V.shape[1] + 1):
        first = V[:, :count]
        used = np.flatnonzero(first.any(axis=1))
        model = CellModel(first, fitted_scores(cells, first, mean, ridge[:count]), mean)
        left = float(cells.squares_left(used, model).sum())
        explained.append((float(about[used].sum()) - left) / total)
    running = np.minimum(np.maximum.accumulate(np.maximum(explained, 0.0)), max(explained[-1], 0.0))
    return np.diff(running)


def fitted_scores(cells: Cells, V: Array, mean: Array, ridge: Array) -> Array:
    """Scores by least squares of samples without gaps, and with a ridge of all others."""
    U = cells.scores(V, mean, ridge)
    complete = np.asarray(cells.weights.all(axis=0))
    if complete.any():
        U[complete] = cells.of_samples(complete).scores(V, mean, np.zeros_like(ridge))
    return U
