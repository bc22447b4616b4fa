"""``sparsity_path``: solutions for many numbers of components and features at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from redac import parameters
from redac.choose.effort import ROUGH
from redac.choose.held_out import CompleteSheet, GappySheet, Sheet, part_count
from redac.choose.path import SparsityPath
from redac.choose.stability import check_halves, index_of
from redac.choose.tracing import Request, trace
from redac.exceptions import NonFiniteError
from redac.model import incomplete
from redac.model.component_model import ComponentModel
from redac.model.estimator import SparsePCA
from redac.sources import as_source, raw_data
from redac.sources.base import Indices
from redac.sources.folds import Fold, read_folds
from redac.sources.reading import Given

__all__ = ["sparsity_path"]

# A fit needs so many rows.
_LEAST_LEFT = 2


def sparsity_path(
    X: Any,
    *,
    n_components: Any,
    cardinality: Any,
    covariance: bool = False,
    n_samples: int | None = None,
    cv: Any = 5,
    stability: int | None = None,
    random_state: Any = None,
    feature_names: Any = None,
    **options: Any,
) -> SparsityPath:
    """Sparse components for a grid of numbers of components and cardinalities.

    Each solution starts from its neighbours, so that all together cost a small multiple of one fit,
    and what they explain never falls when components or loadings are added.

    Parameters
    ----------
    X : data of any kind that ``SparsePCA.fit`` takes, or with ``covariance=True`` a matrix
    n_components : int or sequence of ints
    cardinality : int, float, or sequence of those
        Non-zero loadings of each component: whole numbers, or shares of the features in (0, 1].
    covariance : bool, default=False
        Whether X is a covariance or correlation matrix.
    n_samples : int or None, default=None
        The number of samples behind that matrix, for EBIC.
    cv : int, splitter of scikit-learn, or None, default=5
        Folds of rows to hold out for Q²; where cells are missing (NaN), a number of parts into
        which all other cells are dealt, to be hidden in turn. None, and a covariance matrix, leave
        Q² out, and all the fits that it needs.
    stability : int or None, default=None
        How many half-samples each solution is fitted to, for a column ``stability`` with the index
        of ``redac.stability``. That takes far longer than all the rest.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows before they are dealt into folds. None: they are dealt in turn. Cells are
        always shuffled, by the seed 0 for None.
    feature_names : sequence of str or None, default=None
        Names for the columns of data that have none.
    **options
        ``nonnegative``, ``standardize``, ``ridge``, ``min_separation``, ``max_iter``, ``tol``, and
        rules for features (``exclude``, ``require``, ``groups``, ``max_per_group``, ``max_groups``,
        ``disjoint``) as in ``SparsePCA``, but ``tol`` is 1e-4 unless it is given.

    Returns
    -------
    SparsityPath
        With ``table``, ``model(n_components, cardinality)``, ``plot()``, ``save`` and ``load``.

    Examples
    --------
    >>> from redac import sparsity_path
    >>> from redac.datasets import load_pitprops
    >>> S = load_pitprops().correlation
    >>> path = sparsity_path(S, n_components=2, cardinality=(2, 4), covariance=True, n_samples=180)
    >>> print(path.table[["n_components", "cardinality", "nonzeros"]].to_string(index=False))
     n_components  cardinality  nonzeros
                2            2         4
                2            4         8
    """
    reader = SparsePCA()
    options = {"tol": ROUGH} | options
    standardize = parameters.flag("standardize", options.get("standardize", False))
    if stability is not None:
        if parameters.flag("covariance", covariance):
            raise ValueError(
                f"stability={stability} draws rows, and a covariance matrix has none; use None."
            )
        stability = parameters.count("stability", stability, least=2)
    if parameters.flag("covariance", covariance):
        source = reader._read_covariance(
            X, n_samples, standardize=standardize, feature_names=feature_names
        )
        request = Request.of(n_components, cardinality, options, reader)
        return trace(request, CompleteSheet(reader, source, np.dtype(np.float64)))
    given = reader._given_to_fit(X, feature_names)
    request = Request.of(n_components, cardinality, options, reader)
    if stability is not None:
        check_halves(given.values.shape[0])
    path = trace(request, read_sheet(reader, given, request.options, cv, random_state))
    if stability is not None:
        path.add_stability(lambda model: index_of(model, given.values, stability, random_state))
    return path


def read_sheet(
    reader: ComponentModel, given: Given, options: dict[str, Any], cv: Any, random_state: Any
) -> Sheet:
    """Data that have been checked, and what is held out of them.

    The reader is told of their means and sizes.
    """
    standardize = parameters.flag("standardize", options.get("standardize", False))
    try:
        return _complete_sheet(reader, given, standardize, cv, random_state)
    except NonFiniteError as error:
        if not incomplete.is_gap(reader, error, given):
            raise
    table = given.cells(standardize=standardize)
    incomplete.warn_of_empty(table.empty_rows)
    ridge = parameters.ridge(options.get("ridge", "auto"))
    n_cells = int(table.cells.counts.sum())
    n_parts = part_count(cv, n_cells)
    return GappySheet(reader, table, given.float_dtype, ridge, standardize, n_parts, random_state)


def _complete_sheet(
    reader: ComponentModel, given: Given, standardize: bool, cv: Any, random_state: Any
) -> CompleteSheet:
    folds: Iterable[Fold] | None = None
    fold_of = np.zeros(0, dtype=np.intp)
    with given.naming_columns():
        if cv is None:
            data = given.about_own_mean(standardize=standardize)
        else:
            n = raw_data(given.values).shape[0]
            fold_of = fold_numbers(cv, n, random_state)
            data, folds = read_folds(given.values, fold_of, standardize=standardize)
    reader._keep_moments(data)
    reader.n_missing_ = 0
    count = int(fold_of.max(initial=-1)) + 1
    return CompleteSheet(reader, as_source(data), given.float_dtype, folds, count, data)


def _check_rows(count: int, n_rows: int) -> None:
    """Whether so many folds can be had, and each leaves rows to fit to."""
    if n_rows <= _LEAST_LEFT:
        raise ValueError(
            f"n_samples={n_rows} rows are too few to hold any out; at least {_LEAST_LEFT + 1} are "
            "needed."
        )
    if count > n_rows:
        raise ValueError(
            f"cv={count} is more folds than there are rows, n_samples={n_rows}; give at most "
            f"{n_rows}."
        )
    left = n_rows - -(-n_rows // count)
    if left < _LEAST_LEFT:
        raise ValueError(
            f"cv={count} folds of n_samples={n_rows} rows leave {left} to fit to; give {n_rows}."
        )


def fold_numbers(cv: Any, n_rows: int, random_state: Any) -> Indices:
    """The number of the fold of each row.

    A whole number of folds deals rows in turn, as cards are, so that sorted rows are spread evenly;
    with a ``random_state`` they are shuffled first. A splitter must hold out each row once.
    """
    if isinstance(cv, (int, np.integer)):
        count = parameters.count("cv", cv, least=2)
        _check_rows(count, n_rows)
        dealt = np.arange(n_rows) % count
        if random_state is not None:
            check_random_state(random_state).shuffle(dealt)
        return dealt.astype(np.intp)
    fold_of = np.full(n_rows, -1, dtype=np.intp)
    n_held_out = 0
    for number, (_, test) in enumerate(check_cv(cv).split(np.zeros((n_rows, 1)))):
        fold_of[test] = number
        n_held_out += len(test)
    if n_held_out != n_rows or (fold_of < 0).any():
        raise ValueError(
            f"cv={cv!r} does not hold out each row exactly once; give a number of folds, or a "
            "splitter that does, such as KFold."
        )
    return fold_of
