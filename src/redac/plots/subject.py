"""What is drawn: components with names, from a fitted model, a table of loadings, or an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from redac.show.tables import component_names

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Subject:
    """Components in rows, and the names of all features."""

    components: Array
    features: list[str]

    @classmethod
    def of(cls, drawn: Any, feature_names: Sequence[str] | None = None) -> Subject:
        """The components of a model or table, or an array of them."""
        if hasattr(drawn, "components_"):
            names, components = drawn._feature_names(), drawn.components_
        elif hasattr(drawn, "columns") and hasattr(drawn, "to_numpy"):
            names, components = _of_table(drawn)
        else:
            names, components = None, _of_array(drawn)
        values = np.asarray(components, dtype=np.float64)
        if len(values) == 0:
            raise ValueError("There is no component to draw.")
        if feature_names is not None:
            names = list(feature_names)
        elif names is None:
            names = [f"x{j}" for j in range(values.shape[1])]
        if len(names) != values.shape[1]:
            raise ValueError(
                f"feature_names has {len(names)} names; {values.shape[1]} features are expected."
            )
        return cls(values, [str(name) for name in names])

    @property
    def names(self) -> list[str]:
        """What the components are called."""
        return component_names(len(self.components))

    def used(self) -> NDArray[np.intp]:
        """The features with any loading; those of a component stand together."""
        sizes = np.abs(self.components)
        used = np.flatnonzero(sizes.any(axis=0))
        if used.size == 0:
            return used
        home, peak = sizes[:, used].argmax(axis=0), sizes[:, used].max(axis=0)
        return used[np.lexsort((-peak, home))]


def fitted(model: Any, what: str) -> Any:
    """The model, which must be a fitted one."""
    if not hasattr(model, "components_"):
        raise _wrong(model, f"{what} takes a fitted model")
    if len(model.components_) == 0:
        raise ValueError("There is no component to draw.")
    return model


def _of_table(table: Any) -> tuple[list[str] | None, Array]:
    """A table of loadings is features × components; one of components × features is seen by its
    index."""
    values = np.nan_to_num(np.asarray(table.to_numpy(), dtype=np.float64))
    index = [str(name) for name in getattr(table, "index", range(len(table)))]
    columns = [str(name) for name in table.columns]
    if index == component_names(len(index)):
        return columns, values
    return index, values.T


def _of_array(drawn: Any) -> Array:
    wanted = "The pictures take a fitted model, or components (n_components × n_features)"
    if drawn is None or isinstance(drawn, (str, bytes)) or hasattr(drawn, "fit"):
        raise _wrong(drawn, wanted)
    try:
        values = np.atleast_2d(np.asarray(drawn, dtype=np.float64))
    except (TypeError, ValueError):
        raise _wrong(drawn, wanted) from None
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"{wanted}; this array has the shape {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{wanted}; this array holds numbers that are not finite.")
    return values


def _wrong(drawn: Any, wanted: str) -> Exception:
    name = drawn.__name__ if isinstance(drawn, type) else type(drawn).__name__
    if hasattr(drawn, "fit"):
        unfitted: Exception = NotFittedError(
            f"{wanted}, and this {name} is not fitted yet: call fit first."
        )
        return unfitted
    return TypeError(f"{wanted}; this is of the type {name}.")
