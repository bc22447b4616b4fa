"""Tables that a person reads."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from redac.sources.base import Array

if TYPE_CHECKING:
    import pandas as pd


def short_names(n_components: int) -> list[str]:
    """PC1, PC2, …: what people call components."""
    return [f"PC{number + 1}" for number in range(n_components)]


def loadings_table(
    components: Array, feature_names: Sequence[str], component_names: Sequence[str]
) -> pd.DataFrame:
    """The non-zero loadings, features × components; features of one component stand together."""
    import pandas as pd

    magnitudes = np.abs(components)
    used = np.flatnonzero(magnitudes.any(axis=0))
    home = magnitudes[:, used].argmax(axis=0)
    peak = magnitudes[:, used].max(axis=0)
    rows = used[np.lexsort((-peak, home))]
    values = components[:, rows].T
    return pd.DataFrame(
        np.where(values == 0, np.nan, values),
        index=pd.Index([feature_names[j] for j in rows], name="feature"),
        columns=list(component_names),
    )


def scores_table(model: Any, X: Any, sample_names: Sequence[str] | None) -> pd.DataFrame:
    """The scores of all samples, samples × components."""
    import pandas as pd

    with warnings.catch_warnings():
        # The names of the columns were read beside X and given to the model, not to X.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        scores = np.asarray(model.transform(X))
    names = sample_names if sample_names is not None else range(len(scores))
    return pd.DataFrame(
        scores, index=pd.Index(names, name="sample"), columns=short_names(scores.shape[1])
    )
