"""The two oldest ways: ordinary PCA, and cutting its small loadings off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.constraints import L0
from redac.methods.method_data import MethodData
from redac.sources.base import Array


def pca(data: MethodData, cardinalities: Sequence[int]) -> Array:
    """Ordinary PCA: maximise Tr(VᵀSV) with VᵀV = I (Pearson 1901, Hotelling 1933).

    Not sparse: the cardinalities are not heeded. What all others are measured against.
    """
    return data.source.principal_axes(len(cardinalities))[0]


def thresholding(data: MethodData, cardinalities: Sequence[int]) -> Array:
    """Principal axes with all but the k_i largest loadings set to zero (Cadima and Jolliffe 1995).

    The cardinality is met as it is. Cheap, and the baseline that any sparse method should beat.
    """
    axes = pca(data, cardinalities)
    kept = [L0(k).maximize(axes[:, i]) for i, k in enumerate(cardinalities)]
    return np.column_stack(kept)
