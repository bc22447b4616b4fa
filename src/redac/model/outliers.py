"""What a robust fit says of rows and cells: their weights, and how far rows are from the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from redac.model.fitted import OF_ROBUST_FITS
from redac.solver.distances import score_cutoff
from redac.solver.robust import Weighing
from redac.sources.base import Array
from redac.sources.cells import CellModel
from redac.sources.gaps import CellTable

if TYPE_CHECKING:
    from redac.model.estimator import SparsePCA

# A cell with less weight is flagged.
_FLAGGED = 0.5


def forget(model: SparsePCA) -> None:
    """Take away what an earlier robust fit has left."""
    for name in OF_ROBUST_FITS:
        model.__dict__.pop(name, None)


def keep(model: SparsePCA, table: CellTable, weighing: Weighing, fitted: CellModel) -> None:
    """Set the attributes that tell of outliers. Rows without sample weight count as typical."""
    n, rows = table.n_samples, table.rows
    weights, cells, scores = weighing.verdict(fitted)
    low = coo_array(np.where(cells < 1.0, 1.0 - cells, 0.0).T)
    place = (rows[low.coords[0]], low.coords[1])
    lost = coo_array((low.data, place), shape=(n, table.cells.n_features)).tocsr()
    stored = (1.0 - lost.data, lost.indices, lost.indptr)
    model.cell_weights_ = csr_array(stored, shape=lost.shape)
    model.row_weights_ = _spread_out(weights, rows, n, 1.0)
    distances = weighing.distances(fitted) * table.unit
    model.orthogonal_distances_ = _spread_out(distances, rows, n, 0.0)
    model.score_distances_ = _spread_out(scores, rows, n, 0.0)
    cutoff = weighing.cutoff(fitted) * table.unit
    model.distance_cutoffs_ = np.array([cutoff, score_cutoff(fitted.V.shape[1])])


def table(model: SparsePCA, sample_names: Any) -> Any:
    """The flagged rows and cells by name."""
    import pandas as pd

    if not hasattr(model, "row_weights_"):
        raise ValueError("This model tells nothing of outliers; fit it with robust='cells'.")
    n = model.row_weights_.size
    names = list(range(n)) if sample_names is None else list(sample_names)
    if len(names) != n:
        raise ValueError(f"sample_names has {len(names)} names for {n} rows.")
    features = model._feature_names()
    found = [(names[t], None, 0.0) for t in np.flatnonzero(model.row_weights_ == 0.0)]
    cells = model.cell_weights_.tocoo()
    order = np.lexsort((cells.coords[1], cells.coords[0]))
    for t, j, weight in zip(
        cells.coords[0][order], cells.coords[1][order], cells.data[order], strict=True
    ):
        if weight < _FLAGGED and model.row_weights_[t] > 0.0:
            found.append((names[t], features[j], float(weight)))
    return pd.DataFrame(found, columns=["row", "feature", "weight"])


def _spread_out(values: Array, rows: Any, n: int, other: float) -> Array:
    """Values of the rows that counted among those of all rows."""
    full = np.full(n, other)
    full[rows] = values
    return full
