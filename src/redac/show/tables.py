"""Tables that a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redac.show.escaping import spreadsheet_text

if TYPE_CHECKING:
    import pandas as pd


def component_names(n_components: int) -> list[str]:
    """PC1, PC2, …: what components are called in every table, figure and file."""
    return [f"PC{number + 1}" for number in range(n_components)]


def loadings_table(components: NDArray[Any], feature_names: Sequence[str]) -> pd.DataFrame:
    """The non-zero loadings, features × components; features of one component stand together."""
    import pandas as pd

    magnitudes = np.abs(components)
    used = np.flatnonzero(magnitudes.any(axis=0))
    rows = used
    if used.size:  # there may be no components at all
        home = magnitudes[:, used].argmax(axis=0)
        peak = magnitudes[:, used].max(axis=0)
        rows = used[np.lexsort((-peak, home))]
    values = components[:, rows].T
    return pd.DataFrame(
        np.where(values == 0, np.nan, values),
        index=pd.Index([feature_names[j] for j in rows.tolist()], name="feature"),
        columns=component_names(len(components)),
    )


def scores_table(scores: NDArray[Any], sample_names: Sequence[str] | None) -> pd.DataFrame:
    """The scores of all samples, samples × components; samples without names are numbered."""
    import pandas as pd

    names = sample_names if sample_names is not None else range(len(scores))
    return pd.DataFrame(
        scores, index=pd.Index(names, name="sample"), columns=component_names(scores.shape[1])
    )


def write_csv(table: pd.DataFrame, file: IO[bytes]) -> None:
    """Write a table so that a spreadsheet takes no name in it for a formula."""
    table.rename(index=spreadsheet_text).to_csv(file)
