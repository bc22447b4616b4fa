"""Rows in folds: the scatter of each fold, and of all rows without it, about the right means.

Where S fits into memory, one pass over the data finds the scatter of every fold, and joining those
of the others gives what a fit without the fold needs. Otherwise weights of zero leave rows out, and
each fold reads the data again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.sources import as_data, as_source, raw_data
from redac.sources.base import Indices, Source
from redac.sources.blocks import Blocks, Rows, in_memory
from redac.sources.data import Data
from redac.sources.gram import Gram
from redac.sources.local import LocalParts
from redac.sources.moments import Moments
from redac.sources.progress import is_mapped
from redac.sources.scatter import Scatter, joined


@dataclass(frozen=True)
class Fold:
    """Rows that are held out, and all others.

    Attributes
    ----------
    train : products with S of all rows but those of the fold, about their own mean.
    test : products with S of the rows of the fold, about the mean and in the scale of the others.
    """

    train: Source
    test: Source


def read_folds(
    X: Any, fold_of: Indices, *, standardize: bool = False
) -> tuple[Data, Iterable[Fold]]:
    """All rows as data, and the folds, each made when its turn comes.

    Parameters
    ----------
    X : the values of data that have been checked.
    fold_of : the number of the fold of each row, from 0 on; all numbers must occur.
    standardize : whether columns are divided by their standard deviations in the rows of a fit.
    """
    raw = _raw(X)
    count = int(fold_of.max()) + 1
    if raw._wants_gram() and raw.shape[1] <= raw.shape[0]:
        scatters = _scatters(raw, fold_of, count)
        if all(each.is_safe for each in scatters):
            data = raw._about_mean_of(joined(scatters), standardize=standardize)
            return data, (_from_scatters(raw, scatters, f, standardize) for f in range(count))
    data = as_data(X, standardize=standardize)
    return data, (_by_weights(X, fold_of == f, standardize) for f in range(count))


def _raw(X: Any) -> Data:
    """The data before anything is read; a file that is mapped into memory comes in blocks."""
    if isinstance(X, np.ndarray) and is_mapped(X):
        return Blocks.of(LocalParts(X))
    return raw_data(X)


def _scatters(raw: Data, fold_of: Indices, count: int) -> list[Scatter]:
    """The scatter of each fold, from one pass."""
    work = partial(_scatters_of_rows, fold_of, count)
    raw.n_passes += 1
    if isinstance(raw, Blocks):
        return raw.X.fold(work, _each_joined)
    return work(Rows(raw.X, None, 0, 0))


def _scatters_of_rows(fold_of: Indices, count: int, rows: Rows) -> list[Scatter]:
    """What one block of rows has of each fold; runs where the block is."""
    n, d = rows.X.shape
    here = fold_of[rows.start : rows.start + n]
    plain = Moments.given(np.zeros(d), np.ones(d))
    found = []
    for f in range(count):
        chosen = np.flatnonzero(here == f)
        if chosen.size == 0:
            found.append(Scatter.of_nothing(0, d, full=True))
            continue
        some = Rows(rows.X[chosen], None, rows.number, rows.start)
        found.append(in_memory(some, plain).scatter(full=True))
    return found


def _each_joined(first: list[Scatter], second: list[Scatter]) -> list[Scatter]:
    return [one.joined(other) for one, other in zip(first, second, strict=True)]


def _from_scatters(raw: Data, scatters: Sequence[Scatter], f: int, standardize: bool) -> Fold:
    """A fold whose scatter is known, and that of all others joined."""
    others = joined([each for g, each in enumerate(scatters) if g != f])
    data = raw._about_mean_of(others, standardize=standardize)
    own = scatters[f]
    step = others.step_to(own)
    about = np.asarray(own.matrix) + np.multiply.outer(step * own.weight, step)
    units = data.moments.scale * data.unit
    return Fold(as_source(data), Gram(about / units / units[:, None]))


def _by_weights(X: Any, is_out: NDArray[np.bool_], standardize: bool) -> Fold:
    """A fold of data whose S is not formed: rows are left out by weights of zero."""
    train = as_data(X, standardize=standardize, sample_weight=np.where(is_out, 0.0, 1.0))
    moments = train.moments
    test = as_data(
        X,
        mean=moments.mean,
        scale=moments.scale * moments.unit,
        sample_weight=np.where(is_out, 1.0, 0.0),
    )
    return Fold(as_source(train), as_source(test.with_scatter()))
