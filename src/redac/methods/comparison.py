"""Several methods on the same data, measured by one measure."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redac.methods.method_pca import MethodPCA
from redac.methods.registry import METHODS, find_method

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ComparedMethod", "compare", "comparison_table", "measured", "methods_to_compare"]


@dataclass(frozen=True)
class ComparedMethod:
    """What one method did."""

    method: str
    pev: float
    rre: float
    non_zeros: list[int]
    seconds: float
    sparse: bool = True
    failure: str | None = None
    warned: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """What is asked of the method; methods of other groups answer another question."""
        return find_method(self.method).group

    @property
    def options(self) -> str:
        """The options of its own that it had."""
        return find_method(self.method).settings


def compare(
    X: Any,
    methods: str | Sequence[str] | None = None,
    *,
    n_components: int,
    cardinality: Any,
    covariance: bool = False,
    standardize: bool = False,
    random_state: Any = None,
) -> pd.DataFrame:
    """Run several methods on the same data and measure what their components explain.

    Parameters
    ----------
    X : data as ``SparsePCA.fit`` takes them, or with ``covariance=True`` a covariance matrix
    methods : str, sequence of str or None, default=None
        Names of ``redac.methods.available_methods()``; None: all without a sign constraint.
    n_components : int
    cardinality : int, float, or sequence of those
        Non-zero loadings of the components; block methods reach their sum.
    covariance : bool, default=False
    standardize : bool, default=False
        Divide the columns by their standard deviation first.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    DataFrame
        One row for each method: ``method``, ``pev`` (percent of the variance explained), ``rre``
        (relative error of reconstruction), ``nonzeros`` (loadings in all), ``cardinalities`` (of
        each component, as text: "8 5 6"), ``seconds``, ``failure`` (why a method has no figures,
        else empty), ``group`` and ``options`` (those of its own, as text). The groups are redac,
        same cardinality (that asked for, for each component), total cardinality (dealt out by the
        method), orthogonal, nonnegative, robust and not sparse; what methods of different groups
        explain is not comparable. What methods warn of is in ``attrs["warnings"]``, by method.

    Examples
    --------
    >>> from redac import compare
    >>> from redac.datasets import load_pitprops
    >>> correlation = load_pitprops().correlation
    >>> methods = ["redac_l0", "thresholding"]
    >>> table = compare(correlation, methods, n_components=2, cardinality=4, covariance=True)
    >>> print(table[["method", "nonzeros", "group"]].to_string(index=False))
          method  nonzeros            group
        redac_l0         8            redac
    thresholding         8 same cardinality
    """
    settings = {
        "n_components": n_components,
        "cardinality": cardinality,
        "standardize": standardize,
        "random_state": random_state,
    }
    names = methods_to_compare(methods, covariance=covariance)
    rows = list(measured(X, names, covariance=covariance, **settings))
    if all(row.failure for row in rows):  # then it is the call that is wrong, not a method
        raise ValueError(rows[0].failure)
    return comparison_table(rows)


def methods_to_compare(names: str | Sequence[str] | None, *, covariance: bool = False) -> list[str]:
    """Names, checked; all methods without a sign constraint, and that a covariance matrix is enough
    for if it is all there is, where none are given."""
    if names is None:
        return [
            name
            for name, method in METHODS.items()
            if not (method.nonnegative or (method.needs_samples and covariance))
        ]
    listed = [names] if isinstance(names, str) else list(names)
    if not listed:
        raise ValueError("methods is empty; name at least one, or give None for all.")
    return [find_method(name.strip()).name for name in listed]


def measured(
    X: Any, names: Sequence[str], *, covariance: bool = False, **settings: Any
) -> Iterator[ComparedMethod]:
    """One method after the other.

    What its components explain is measured by the code that is common to all methods, on what the
    fit has read: large files are neither copied nor read once more.
    """
    for name in names:
        yield _measured(X, name, covariance, settings)


def _measured(X: Any, name: str, covariance: bool, settings: dict[str, Any]) -> ComparedMethod:
    model = MethodPCA(method=name, **settings)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit = model.fit_covariance if covariance else model.fit
            fit(X)
    except (ValueError, MemoryError) as error:
        seconds = time.perf_counter() - began
        return ComparedMethod(name, math.nan, math.nan, [], seconds, failure=str(error))
    return ComparedMethod(
        name,
        pev=100 * float(model.explained_variance_ratio_.sum()),
        rre=model.reconstruction_error_,
        non_zeros=model.loadings_table().count().tolist(),
        seconds=time.perf_counter() - began,
        sparse=METHODS[name].sparse,
        warned=tuple(dict.fromkeys(str(each.message) for each in caught)),
    )


def comparison_table(rows: Sequence[ComparedMethod]) -> pd.DataFrame:
    """What the methods did, as a frame."""
    import pandas as pd

    table = pd.DataFrame(
        {
            "method": [row.method for row in rows],
            "pev": [row.pev for row in rows],
            "rre": [row.rre for row in rows],
            "nonzeros": [sum(row.non_zeros) for row in rows],
            "cardinalities": [" ".join(map(str, row.non_zeros)) for row in rows],
            "seconds": [row.seconds for row in rows],
            "failure": [row.failure or "" for row in rows],
            "group": [row.group for row in rows],
            "options": [row.options for row in rows],
        }
    )
    table.attrs["warnings"] = {row.method: list(row.warned) for row in rows if row.warned}
    return table
