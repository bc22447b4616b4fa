"""The sign of a component, which the data leave open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def largest_entry_positive(components: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows turned so that their entry of largest magnitude is positive, which makes them unique."""
    peaks = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
    return np.where(peaks < 0, -components, components) + 0.0  # no zero with a minus sign
