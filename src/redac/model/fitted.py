"""What a fitted model may hold, attribute by attribute: the one list that model files follow.

A rule takes a value, from a model or from a file, and the sizes of the model; it returns the value
as a model holds it, or raises ``ValueError`` with what is wrong, to be read after the name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

# Rounding to single precision changes the norm of a unit vector by less than 1e-7.
_NORM_ERROR = 1e-5
_LARGEST_COUNT = 2**63


class Sizes(NamedTuple):
    """How many components and features a model has."""

    r: int
    d: int


Rule: TypeAlias = Callable[[Any, Sizes], Any]


def sizes_of(fitted: dict[str, Any]) -> Sizes:
    """The sizes that all shapes follow from."""
    unknown = Sizes(0, 0)
    found = []
    for name in ("n_components_", "n_features_in_"):
        if name not in fitted:
            raise ValueError(f"{name} is absent")
        found.append(_count(least=0)(fitted[name], unknown))
    return Sizes(*found)


def check(fitted: dict[str, Any], rules: dict[str, Rule]) -> dict[str, Any]:
    """The attributes as a model holds them; the first that cannot be right raises."""
    for name in fitted:
        if name not in rules:
            raise ValueError(f"{name} is no attribute of such a model")
    fitted = {name: value for name, value in _ADDED.items() if name in rules} | fitted
    sizes = sizes_of(fitted)
    for name in rules.keys() - fitted.keys() - OPTIONAL:
        raise ValueError(f"{name} is absent")
    checked = {}
    for name, value in fitted.items():
        try:
            checked[name] = rules[name](value, sizes)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    return checked


def rules_for(kind: type) -> dict[str, Rule]:
    """The rules for a class of models, or for the class that it derives from."""
    return next(RULES[base.__name__] for base in kind.__mro__ if base.__name__ in RULES)


def _count(*, least: int) -> Rule:
    def rule(value: Any, sizes: Sizes) -> int:
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not least <= value < _LARGEST_COUNT:
            raise ValueError(f"is no whole number of at least {least}")
        return int(value)

    return rule


def _or_none(rule: Rule) -> Rule:
    return lambda value, sizes: None if value is None else rule(value, sizes)


def _flag(value: Any, sizes: Sizes) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError("is neither true nor false")
    return bool(value)


def _number(value: Any, sizes: Sizes) -> float:
    real = isinstance(value, (int, float, np.floating)) and not isinstance(value, bool)
    if not real or not np.isfinite(value):
        raise ValueError("is no finite number")
    return float(value)


def _array(*dimensions: str | int | None, finite: bool = True) -> Rule:
    """Real numbers of a shape whose sizes are given, named ("r", "d"), or any (None)."""

    def rule(value: Any, sizes: Sizes) -> NDArray[Any]:
        known = sizes._asdict()
        shape = [known[each] if isinstance(each, str) else each for each in dimensions]
        array = np.asarray(value)
        if array.dtype.kind != "f" or array.dtype.itemsize not in (4, 8):
            raise ValueError(f"holds {array.dtype}, not real numbers")
        right = [want in (None, have) for want, have in zip(shape, array.shape, strict=False)]
        if array.ndim != len(shape) or not all(right):
            raise ValueError(f"has the shape {array.shape}, which does not fit the model")
        if finite and not np.isfinite(array).all():
            raise ValueError("holds numbers that are not finite")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    return rule


def _unit_rows(value: Any, sizes: Sizes) -> NDArray[Any]:
    rows: NDArray[Any] = _array("r", "d")(value, sizes)
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1))
    # A row is zero when nothing was left for its component to explain.
    wrong = np.flatnonzero((np.abs(norms - 1.0) > _NORM_ERROR) & rows.any(axis=1))
    if wrong.size:
        raise ValueError(f"has a row {wrong[0]}, counted from 0, of length {norms[wrong[0]]:g}")
    return rows


def _positive(value: Any, sizes: Sizes) -> NDArray[Any]:
    scale: NDArray[Any] = _array("d")(value, sizes)
    if not (scale > 0).all():
        raise ValueError("holds numbers that are not positive")
    return scale


def _names(value: Any, sizes: Sizes) -> NDArray[Any]:
    names = list(value) if isinstance(value, (list, np.ndarray)) else []
    if len(names) != sizes.d or not all(isinstance(name, str) for name in names):
        raise ValueError(f"does not hold {sizes.d} names")
    return np.array([str(name) for name in names], dtype=object)


def _text(value: Any, sizes: Sizes) -> str:
    if not isinstance(value, str):
        raise ValueError("is no text")
    return value


def _histories(value: Any, sizes: Sizes) -> dict[str, NDArray[Any]]:
    """Arrays of one length with names of their own; lists in the first format of model files."""
    if not isinstance(value, dict) or not all(str(key).isidentifier() for key in value):
        raise ValueError("is no table of arrays")
    column = _array(None)
    table = {str(key): column(_floats(each), sizes) for key, each in value.items()}
    if len({len(each) for each in table.values()}) > 1:
        raise ValueError("holds arrays of different lengths")
    return table


def _floats(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return np.array([_number(each, Sizes(0, 0)) for each in value], dtype=np.float64)


def _sparse_weights(value: Any, sizes: Sizes) -> csr_array:
    """Weights of cells: a CSR matrix, or its three arrays as a file has them."""
    if not issparse(value):
        if not isinstance(value, dict) or set(value) != {"data", "indices", "indptr"}:
            raise ValueError("is no sparse matrix")
        parts = [np.asarray(value[name]) for name in ("data", "indices", "indptr")]
        if parts[0].dtype != np.float64 or any(part.ndim != 1 for part in parts):
            raise ValueError("is no sparse matrix of float64")
        if any(part.dtype.kind != "i" for part in parts[1:]) or parts[2].size < 2:
            raise ValueError("has places that are no whole numbers")
        shape = (parts[2].size - 1, sizes.d)
        value = csr_array(tuple(parts), shape=shape)
        value.check_format(full_check=True)
    if value.shape[1] != sizes.d or not ((value.data >= 0) & (value.data <= 1)).all():
        raise ValueError("holds weights that are not between 0 and 1, or has another shape")
    return value


_OF_ALL_MODELS: dict[str, Rule] = {
    "n_components_": _count(least=1),
    "n_features_in_": _count(least=1),
    "n_samples_": _or_none(_count(least=1)),
    "feature_names_in_": _names,
    "components_": _unit_rows,
    # The variance of numbers around 1e200 is beyond the range of float64.
    "explained_variance_": _array("r", finite=False),
    "explained_variance_ratio_": _array("r"),
    "reconstruction_error_": _number,
    "separation_": _number,
    "score_ridge_": _array("r"),
    "score_correlations_": _array("r", "r"),
    "regressed_variance_ratio_": _number,
    "mean_": _array("d"),
    "scale_": _positive,
}
_OF_A_SEARCH: dict[str, Rule] = {
    "objective_history_": _array(None),
    "search_history_": _histories,
    "n_iter_": _count(least=0),
    "converged_": _flag,
    "interrupted_": _flag,
    "n_passes_": _count(least=0),
    "n_missing_": _count(least=0),
    "row_weights_": _array(None),
    "cell_weights_": _sparse_weights,
    "orthogonal_distances_": _array(None),
    "score_distances_": _array(None),
    "distance_cutoffs_": _array(2),
    "scaled_covariance_": _or_none(_array("d", "d")),
    "variance_limits_": _array(2),
}

_OF_A_CHOICE: dict[str, Rule] = {
    "n_components_": _count(least=0),
    "cardinality_": _count(least=0),
    "cv_results_": _histories,
    "reason_": _text,
}

RULES = {
    "SparsePCA": _OF_ALL_MODELS | _OF_A_SEARCH,
    "SparsePCACV": _OF_ALL_MODELS | _OF_A_SEARCH | _OF_A_CHOICE,
    "MethodPCA": _OF_ALL_MODELS,
}
# What only robust fits have.
OF_ROBUST_FITS = (
    "row_weights_",
    "cell_weights_",
    "orthogonal_distances_",
    "score_distances_",
    "distance_cutoffs_",
)
# Only after a fit to data, only where the columns of the data have names, and what files of earlier
# versions do not have.
OPTIONAL = frozenset(
    {
        "n_passes_",
        "n_missing_",
        "feature_names_in_",
        "score_ridge_",
        "score_correlations_",
        "regressed_variance_ratio_",
        *OF_ROBUST_FITS,
    }
)
# What has a file format of its own.
NOT_KEPT = frozenset({"path_"})
# What files of the first format do not have, and what their models had in mind.
_ADDED = {"interrupted_": False}
