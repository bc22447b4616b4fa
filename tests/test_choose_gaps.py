"""Paths and choices for data with gaps: cells are hidden, and predicted by the others."""

import numpy as np
import pytest
from benchmarks.planted import planted

from redac import SparsePCA, SparsePCACV, sparsity_path
from redac.choose.criteria import Candidate
from redac.choose.held_out import GappySheet, dealt_cells
from redac.sources.gaps import read_cells

RNG = np.random.default_rng(3)
WHOLE = planted(RNG, 80, 14, 5, (12, 8), 0) + np.arange(14)
GAPS = RNG.random(WHOLE.shape) < 0.15
GAPPY = np.where(GAPS, np.nan, WHOLE)
GRID = {"n_components": (1, 2, 3), "cardinality": (3, 5, 8)}


def sheet(X: np.ndarray, n_parts: int, *, standardize: bool = False) -> GappySheet:
    table = read_cells(X, standardize=standardize, sample_weight=None, names=None)
    return GappySheet(SparsePCA(), table, np.dtype(float), None, standardize, n_parts)


@pytest.mark.parametrize("standardize", [False, True])
def test_every_cell_that_is_there_is_hidden_once(standardize: bool) -> None:
    times, values = np.zeros(GAPPY.shape, dtype=int), np.zeros(GAPPY.shape)
    for part in sheet(GAPPY, 4, standardize=standardize).parts or ():
        times[part.rows, part.columns] += 1
        rest = part.rest
        assert not rest.cells.weights[part.columns, part.rows].any(), "it is unknown to the fit"
        assert rest.cells.weights.sum() + part.rows.size == (~GAPS).sum()
        unit = (rest.scale * rest.unit)[part.columns]
        values[part.rows, part.columns] = part.values * unit + rest.mean[part.columns]
    np.testing.assert_array_equal(times, ~GAPS)
    np.testing.assert_allclose(values[~GAPS], WHOLE[~GAPS])


def test_the_cells_of_a_row_are_spread_over_the_parts_and_not_by_column() -> None:
    dealt = dealt_cells(~GAPS, 5, None)
    for row, there in zip(dealt, ~GAPS, strict=True):
        counts = np.bincount(row[there], minlength=5)
        assert counts.max() - counts.min() <= 1
    together = dealt[:, :1] == dealt[:, 1:]
    assert 0 < together.mean() < 0.5
    np.testing.assert_array_equal(dealt, dealt_cells(~GAPS, 5, 0))
    assert (dealt != dealt_cells(~GAPS, 5, 1)).any()


def test_a_column_keeps_a_cell() -> None:
    X = GAPPY.copy()
    X[1:, 3] = np.nan
    X[0, 3] = 1.0
    for part in sheet(X, 3).parts or ():
        assert not (part.columns == 3).any()


def test_what_was_planted_is_chosen_and_its_model_is_a_fit() -> None:
    model = SparsePCACV(**GRID, cv=4).fit(GAPPY)
    assert (model.n_components_, model.cardinality_) == (2, 5)
    assert model.n_missing_ == GAPS.sum()
    alone = SparsePCA(2, cardinality=5).fit(GAPPY)
    np.testing.assert_array_equal(model.components_ != 0, alone.components_ != 0)
    np.testing.assert_allclose(model.components_, alone.components_, atol=1e-3)
    np.testing.assert_allclose(model.mean_, alone.mean_, atol=1e-2)
    filled = model.impute(GAPPY)
    about_mean = WHOLE[GAPS] - np.nanmean(GAPPY, axis=0)[np.nonzero(GAPS)[1]]
    assert ((filled - WHOLE)[GAPS] ** 2).mean() < 0.8 * (about_mean**2).mean()
    assert "pev_pca" not in model.path_.table


def test_without_folds_the_path_has_ebic_of_the_cells_that_are_there() -> None:
    path = sparsity_path(GAPPY, n_components=2, cardinality=5, cv=None)
    row = path.table.iloc[0]
    n_cells = (~GAPS).sum()
    expected = n_cells * np.log(1 - row.pev / 100) + 10 * (np.log(n_cells) + 2 * np.log(14))
    assert row.ebic == pytest.approx(expected + 3 * 80 * 2)
    assert "q2" not in path.table
    assert [str(each) for each in path.candidates()] == [
        str(Candidate(0, 0, 0)),
        str(Candidate(2, 5, 10)),
    ]


def test_splits_of_rows_are_refused() -> None:
    from sklearn.model_selection import KFold

    with pytest.raises(TypeError, match="cells are missing"):
        sparsity_path(GAPPY, n_components=1, cardinality=2, cv=KFold(3))
