"""The rows of the data that a page draws: which, their names, and what they can be coloured by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from redac.show.escaping import printable
from redac.show.structure import row_blocks

# More rows than these are not told apart in a picture, and make the page heavy.
MOST_ROWS = 2000
# All scores of all places of a page together: about a megabyte and a half.
_MOST_SCORES = 300_000
# More different numbers than this are a quantity, fewer are groups.
_MOST_GROUPS = 7


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """What a page may know of the rows of the data.

    Attributes
    ----------
    X : the rows that are drawn, of any kind that ``transform`` takes; None: there are none.
    positions : where they are among all rows; None: they are all.
    total : how many rows there are.
    names : the names of the rows that are drawn, or None.
    labels : by name, what they can be coloured by.
    """

    X: Any = None
    positions: Any = None
    total: int = 0
    names: list[str] | None = None
    labels: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, X: Any, sample_names: Sequence[Any] | None, labels: Any, n_scores_per_row: int
    ) -> DrawnRows:
        """The rows of X that a page with so many scores for each row has room for."""
        if X is None:
            return cls()
        total = (
            len(X) if not hasattr(X, "shape") or hasattr(X, "to_dask_array") else int(X.shape[0])
        )
        most = max(50, min(MOST_ROWS, _MOST_SCORES // max(n_scores_per_row, 1)))
        positions = None
        if total > most:
            positions = np.unique(np.linspace(0, total - 1, most).astype(np.intp))
        kept = np.arange(total) if positions is None else positions
        names = sample_names
        if names is None and hasattr(X, "index") and hasattr(X, "iloc"):
            named = X.index.dtype == object or X.index.dtype.kind not in "iu"
            names = list(X.index) if named else None
        shown = None if names is None else [printable(names[t]) for t in kept]
        columns = {
            name: _of_length(name, values, total)[kept] for name, values in _named(labels).items()
        }
        return cls(rows_of(X, positions), positions, total, shown, columns)

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        positions = None if self.positions is None else self.positions.tolist()
        return {"total": self.total, "shown": positions, "names": self.names}

    def labels_to_json(self) -> list[dict[str, Any]]:
        """What rows can be coloured by, for the page."""
        return [_label(name, values) for name, values in self.labels.items()]


def _named(labels: Any) -> dict[str, Any]:
    """One column of labels or several, by name."""
    if labels is None:
        return {}
    if isinstance(labels, Mapping):
        return {str(name): values for name, values in labels.items()}
    if hasattr(labels, "columns"):
        return {str(name): labels[name] for name in labels.columns}
    return {str(getattr(labels, "name", None) or "label"): labels}


def _of_length(name: str, values: Any, total: int) -> Any:
    column = np.asarray(values)
    if column.shape != (total,):
        raise ValueError(
            f"labels: {name!r} has the shape {column.shape}; {total} are expected, one for each "
            "row of X."
        )
    return column


def _label(name: str, values: Any) -> dict[str, Any]:
    shown = printable(name)
    if values.dtype.kind in "iuf" and len(np.unique(values)) > _MOST_GROUPS:
        numbers = values.astype(np.float64)
        known = numbers[np.isfinite(numbers)]
        listed = [float(f"{x:.6g}") if np.isfinite(x) else None for x in numbers]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        return {"name": shown, "kind": "number", "values": listed, "low": low, "high": high}
    texts = [
        "missing" if each is None or each != each else printable(each) for each in values.tolist()
    ]
    names, counts = np.unique(texts, return_counts=True)
    # The most frequent come first: what is left beyond the colours that there are is small.
    order = np.argsort(-counts, kind="stable") if len(names) > _MOST_GROUPS else range(len(names))
    groups = [str(names[i]) for i in order]
    places = {group: number for number, group in enumerate(groups)}
    codes = [places[text] for text in texts]
    return {"name": shown, "kind": "group", "values": codes, "groups": groups}


def rows_of(X: Any, positions: Any) -> Any:
    """Some rows of data of any kind that a model takes, in memory; None: all, where they are."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if hasattr(X, "compute"):
        return X.compute() if positions is None else X[positions].compute()
    if positions is None:
        return X
    if hasattr(X, "iloc"):
        return X.iloc[positions]
    if issparse(X):
        return X.tocsr()[positions]
    if hasattr(X, "get_columns"):  # polars
        return X[positions.tolist()]
    if isinstance(X, np.ndarray) or not hasattr(X, "shape"):
        return np.asarray(X)[positions]
    found, start = [], 0
    for block in row_blocks(X):
        own = positions[(positions >= start) & (positions < start + len(block))] - start
        found.append(np.asarray(block)[own])
        start += len(block)
    return np.concatenate(found)
