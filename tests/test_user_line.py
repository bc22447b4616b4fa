"""Warnings point at the user's line, errors name the columns that are no numbers, one bar."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from helpers import factor_data
from redac import SparsePCA
from redac.cli.bars import SweepProgress
from redac.methods import sparse_pca
from redac.model.callbacks import watched

X = factor_data(60, 8, seed=1)
SHORT = SparsePCA(2, cardinality=3, max_iter=1, n_init=1, tol=0.0)


def caught(work: Any) -> warnings.WarningMessage:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        work()
    return next(each for each in found if issubclass(each.category, UserWarning))


CALLS = {
    "fit": lambda: SHORT.fit(X),
    "fit_transform": lambda: SHORT.fit_transform(X),
    "fit_covariance": lambda: SHORT.fit_covariance(np.cov(X.T)),
    "pipeline": lambda: make_pipeline(StandardScaler(), SHORT).fit(X),
    "cross-validation": lambda: cross_val_score(SHORT, X, cv=2),
    "gaps": lambda: SHORT.fit(np.where(np.eye(60, 8, dtype=bool), np.nan, X)),
    "method": lambda: sparse_pca(np.ones((9, 3)), "thresholding", 2, cardinality=2),
}


@pytest.mark.parametrize("case", CALLS)
def test_a_warning_points_at_the_line_of_the_user(case: str) -> None:
    work = CALLS[case]
    found = caught(work)
    assert found.filename == __file__
    assert found.lineno == inspect.getsourcelines(work)[1]
    assert issubclass(found.category, UserWarning | ConvergenceWarning)


FRAME = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
WORDS = ["red", "blue"] * 30
DAYS = pd.date_range("2026-01-01", periods=60)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (FRAME.assign(colour=WORDS), "Column 'colour' of X holds text"),
        (FRAME.assign(colour=WORDS, name=WORDS), "Columns 'colour', 'name' of X hold text"),
        (FRAME.assign(day=DAYS), "Column 'day' of X holds dates"),
        (FRAME.assign(day=DAYS, colour=WORDS), "Column 'day' of X holds dates"),
        (pd.DataFrame({"day": DAYS, "night": DAYS}), "Columns 'day', 'night' of X hold dates"),
        (pl.DataFrame({"a": X[:, 0], "colour": WORDS}), "Column 'colour' of X holds text"),
        (pl.DataFrame({"a": X[:, 0], "day": DAYS.to_numpy()}), "Column 'day' of X holds dates"),
    ],
)
def test_columns_that_are_no_numbers_are_named(frame: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        SparsePCA(2).fit(frame)


def test_numbers_in_object_columns_are_numbers() -> None:
    objects = FRAME.astype(object)
    found = SparsePCA(1).fit(objects).components_
    np.testing.assert_allclose(found, SparsePCA(1).fit(FRAME).components_, atol=1e-9)


def test_an_anndata_object_is_told_from_a_table() -> None:
    class Cells:
        obsm: dict[str, Any] = {}  # noqa: RUF012
        varm: dict[str, Any] = {}  # noqa: RUF012
        X = X
        shape = X.shape

    with pytest.raises(TypeError, match=r"redac\.anndata\.sparse_pca\(adata\)"):
        SparsePCA(2).fit(Cells())


def test_one_bar_counts_all_perturbations() -> None:
    bar = SweepProgress(Console(quiet=True), 1000, 12)
    with watched(bar):
        SparsePCA(2, cardinality=3, n_perturbations=12, random_state=0).fit(X)
    tasks = bar._progress.tasks
    (rounds,) = [task for task in tasks if task.description == "perturbations"]
    assert (rounds.completed, rounds.total) == (12, 12)
    assert not [task for task in tasks if task.description.startswith("perturbation ")]
