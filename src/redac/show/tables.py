"""Tables that a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from redac.show.escaping import spreadsheet_text

if TYPE_CHECKING:
    import pandas as pd

    from redac.show.loadings import LoadingsTable


def component_names(n_components: int) -> list[str]:
    """PC1, PC2, …: what components are called in every table, figure and file."""
    return [f"PC{number + 1}" for number in range(n_components)]


def explaining(n_components: int) -> str:
    """How a sentence on what components explain begins."""
    return "1 component explains" if n_components == 1 else f"{n_components} components explain"


def loadings_table(components: NDArray[Any], feature_names: Sequence[str]) -> LoadingsTable:
    """The non-zero loadings, features × components; features of one component stand together."""
    import pandas as pd

    from redac.show.loadings import LoadingsTable

    magnitudes = np.abs(components)
    used = np.flatnonzero(magnitudes.any(axis=0))
    rows = used
    if used.size:  # there may be no components at all
        home = magnitudes[:, used].argmax(axis=0)
        peak = magnitudes[:, used].max(axis=0)
        rows = used[np.lexsort((-peak, home))]
    values = components[:, rows].T
    return LoadingsTable(
        np.where(values == 0, np.nan, values),
        index=pd.Index([feature_names[j] for j in rows.tolist()], name="feature"),
        columns=component_names(len(components)),
    )


def loading_text(value: float) -> str:
    """A loading with three digits; what is not zero is not written as zero."""
    text = f"{value:.3f}"
    return text if float(text) else f"{value:.0e}"


def top_features(components: NDArray[Any], feature_names: Sequence[str], n: int) -> list[list[str]]:
    """The names of at most n features of each component, the largest loading first."""
    found = []
    for row in np.abs(components):
        largest = np.argsort(-row, kind="stable")[:n]
        found.append([str(feature_names[j]) for j in largest.tolist() if row[j] > 0])
    return found


def scores_table(
    scores: NDArray[Any],
    sample_names: Sequence[str] | None,
    labels: tuple[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """The scores of all samples, samples × components; samples without names are numbered.

    Labels, with the name of their column, stand in front of the scores.
    """
    import pandas as pd

    names = sample_names if sample_names is not None else range(len(scores))
    index = pd.Index(names, name="sample")
    table = pd.DataFrame(scores, index=index, columns=component_names(scores.shape[1]))
    if labels is not None:
        table.insert(0, labels[0], list(labels[1]), allow_duplicates=True)
    return table


def completed_table(
    values: NDArray[Any], feature_names: Sequence[str], sample_names: Sequence[str] | None
) -> pd.DataFrame:
    """Data whose gaps are filled; rows without names are numbered."""
    import pandas as pd

    names = sample_names if sample_names is not None else range(len(values))
    return pd.DataFrame(values, index=pd.Index(names, name="sample"), columns=list(feature_names))


def write_csv(table: pd.DataFrame, file: IO[bytes]) -> None:
    """Write a table so that a spreadsheet takes no name in it for a formula."""
    safe = table.rename(index=spreadsheet_text, columns=spreadsheet_text)
    for position, kind in enumerate(safe.dtypes):
        if not hasattr(kind, "kind") or kind.kind not in "biuf":
            safe.isetitem(position, [spreadsheet_text(each) for each in safe.iloc[:, position]])
    safe.to_csv(file)
