"""What principal components explain, as far as a fitted model knows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pca_shares(model: Any) -> NDArray[np.float64]:
    """Percent that the first 1, 2, … principal components explain together; NaN where not known.

    A model of few features keeps its covariance matrix; any other, what as many principal
    components as it has explain.
    """
    r = model.n_components_
    matrix = getattr(model, "scaled_covariance_", None)
    if matrix is not None:
        values = np.maximum(np.linalg.eigvalsh(np.asarray(matrix, dtype=np.float64))[::-1], 0.0)
        return np.asarray(100 * np.cumsum(values[:r]) / (values.sum() or 1.0))
    found = np.full(r, np.nan)
    limit = float(getattr(model, "variance_limits_", [1.0])[0])
    if r and limit < 1.0:
        found[-1] = 100 * limit
    return found
