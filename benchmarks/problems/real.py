"""Matrices of real data: the tables that come with scikit-learn and redac, whole or in parts."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn import datasets

from redac.datasets import fetch_colon, load_pitprops

Array = NDArray[np.float64]

_LOADERS: dict[str, Callable[[], Any]] = {
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "linnerud": datasets.load_linnerud,
}
TABLES = tuple(_LOADERS)


@cache
def _load(name: str) -> tuple[Array, NDArray[Any]]:
    """The columns that vary, and the classes or targets; linnerud has both kinds as columns."""
    bunch = _LOADERS[name]()
    X = np.asarray(bunch.data, dtype=np.float64)
    if name == "linnerud":
        X = np.hstack([X, bunch.target])
    X = X[:, X.std(axis=0) > 0.0]
    X.setflags(write=False)
    return X, np.asarray(bunch.target)


def table(name: str) -> Array:
    """The data, without columns that do not vary."""
    return _load(name)[0]


def matrix(name: str, kind: str) -> Array:
    """The covariance or the correlation matrix of a whole table."""
    return _second_moments(table(name), kind)


def pitprops() -> Array:
    """The correlation matrix of the pitprops data."""
    return np.asarray(load_pitprops().correlation, dtype=np.float64)


def has_colon() -> bool:
    """Whether a folder of data is named; nothing is downloaded."""
    folder = os.environ.get("REDAC_DATA")
    if not folder:
        return False
    return any((Path(folder) / at / "colon_raw.npz").is_file() for at in ("", "colon"))


def colon() -> Array:
    """The colon data, 62 × 2000."""
    return np.ascontiguousarray(fetch_colon().data, dtype=np.float64)


# ------------------------------------------------------------ parts and transformations


def part(name: str, kind: str, seed: int, d: int) -> Array:
    """The matrix of some columns, drawn once and for all by the seed."""
    X = table(name)
    columns = np.random.default_rng((seed, d)).choice(X.shape[1], size=d, replace=False)
    return _second_moments(X[:, np.sort(columns)], kind)


def transformed(name: str, kind: str, how: str) -> Array:
    """The matrix of logarithms, ranks, square roots or of squares and products of columns."""
    return _second_moments(_TRANSFORMATIONS[how](table(name)), kind)


def one_class(name: str, kind: str, label: int) -> Array:
    """The matrix of the rows of one class, over the columns that vary there."""
    X, labels = _load(name)
    X = X[labels == label]
    return _second_moments(X[:, X.std(axis=0) > 0.0], kind)


def within_classes(name: str, kind: str) -> Array:
    """The matrix of the rows with the mean of their class taken off."""
    X, labels = _load(name)
    X = X.copy()
    for label in np.unique(labels):
        X[labels == label] -= X[labels == label].mean(axis=0)
    return _second_moments(X, kind)


def products(name: str, kind: str, seed: int, d: int) -> Array:
    """The matrix of d of all columns and products of two, of standardised columns."""
    X = _with_products(table(name))
    columns = np.random.default_rng((seed, d)).choice(X.shape[1], size=d, replace=False)
    return _second_moments(X[:, np.sort(columns)], kind)


def _logarithms(X: Array) -> Array:
    logarithms: Array = np.log1p(X - X.min(axis=0))
    return logarithms


def _ranks(X: Array) -> Array:
    return np.asarray(rankdata(X, axis=0), dtype=np.float64)


def _roots(X: Array) -> Array:
    roots: Array = np.sqrt(X - X.min(axis=0))
    return roots


def _with_products(X: Array) -> Array:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    pairs = [Z[:, i] * Z[:, j] for i, j in combinations(range(Z.shape[1]), 2)]
    both = np.column_stack([Z, Z**2, *pairs])
    return both[:, both.std(axis=0) > 0.0]


_TRANSFORMATIONS: dict[str, Callable[[Array], Array]] = {
    "log": _logarithms,
    "rank": _ranks,
    "root": _roots,
}


def _second_moments(X: Array, kind: str) -> Array:
    S = np.cov(X, rowvar=False)
    if kind == "correlation":
        scales = 1.0 / np.sqrt(np.diagonal(S))
        S = S * scales * scales[:, None]
    symmetric: Array = (S + S.T) / 2
    return symmetric
