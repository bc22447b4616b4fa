"""Blocks that are not what was declared, and blocks that are gone: one error that names them."""

import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from redac import SparsePCA
from redac.exceptions import BlockError

X = np.random.default_rng(0).standard_normal((60, 12))
NAMES = [f"f{j}" for j in range(12)]
MODEL = SparsePCA(2, cardinality=3).fit(X)


def narrower(block, block_id=None):
    return block[:, :-1] if block_id[0] == 4 else block


def wider(block, block_id=None):
    return np.hstack([block, block]) if block_id[0] == 4 else block


def shorter(block, block_id=None):
    return block[:-1] if block_id[0] == 4 else block


def longer(block, block_id=None):
    return np.vstack([block, block[:1]]) if block_id[0] == 4 else block


def flat(block, block_id=None):
    return block.ravel() if block_id[0] == 4 else block


def textual(block, block_id=None):
    return block.astype(str) if block_id[0] == 4 else block


def array(change, **options):
    data = da.from_array(X, chunks=(10, -1))
    options = {"meta": np.empty((0, 0))} | options
    return data.map_blocks(change, dtype=float, **options)


def swapped(part):
    return part[[*NAMES[:3], "f4", "f3", *NAMES[5:]]] if part.index[0] == 40 else part


def renamed(part):
    return part.rename(columns={"f7": "other"}) if part.index[0] == 40 else part


def fewer(part):
    return part.drop(columns="f11") if part.index[0] == 40 else part


def frame(change):
    data = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=6)
    return data.map_partitions(change, meta=data._meta, enforce_metadata=False)


WRONG = {
    "narrower": (lambda: array(narrower), r"shape \(10, 11\); 12 columns"),
    "wider": (lambda: array(wider), r"shape \(10, 24\); 12 columns"),
    "shorter": (lambda: array(shorter), "9 rows; 10 were declared"),
    "longer": (lambda: array(longer), "11 rows; 10 were declared"),
    "flat": (lambda: array(flat), r"shape \(120,\); 12 columns"),
    "text": (lambda: array(textual), "numbers are needed"),
    "columns in another order": (lambda: frame(swapped), "column 3 is 'f4', where 'f3'"),
    "another column": (lambda: frame(renamed), "column 7 is 'other', where 'f7'"),
    "fewer columns": (lambda: frame(fewer), r"shape \(10, 11\); 12 columns"),
}


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, dashboard_address=None, processes=True
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.mark.parametrize("case", WRONG)
def test_a_block_that_is_not_as_declared_is_named(case):
    make, reason = WRONG[case]
    with pytest.raises(BlockError, match=rf"^Block 4 .* cannot be used: .*{reason}") as caught:
        SparsePCA(2, cardinality=3).fit(make())
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("case", WRONG)
def test_scores_of_such_a_block_are_refused(case):
    make, reason = WRONG[case]
    with pytest.raises(BlockError, match=rf"^Block 4 .* cannot be used: .*{reason}"):
        MODEL.transform(make()).compute()


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_names_the_block_that_is_not_as_declared(cluster):
    assert cluster.ncores()
    for case, (make, reason) in WRONG.items():
        with pytest.raises(BlockError, match=rf"^Block 4 .*{reason}"):
            SparsePCA(2, cardinality=3).fit(make())
        assert case


def test_blocks_of_several_pieces_are_checked_piece_by_piece():
    def moved(block, block_id=None):
        return block[:, : (7 if block_id[1] else 5)]

    data = da.from_array(np.hstack([X, X]), chunks=(10, 12))
    data = data.map_blocks(moved, dtype=float, chunks=((10,) * 6, (6, 6)), meta=np.empty((0, 0)))
    with pytest.raises(BlockError, match=r"Block \d .*shape \(10, 5\); 6 columns"):
        SparsePCA(2).fit(data)


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_blocks_that_change_their_length_between_passes_are_named():
    calls = []

    def other_each_time(block):
        calls.append(1)
        return block[: 10 - len(calls) // 3]

    wide = X.reshape(20, 36)
    data = da.from_array(wide, chunks=(10, -1))
    data = data.map_blocks(other_each_time, dtype=float, meta=np.empty((0, 0)))
    data._chunks = ((np.nan, np.nan), (36,))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(BlockError, match=r"Block \d .* 9 rows; 10 were declared"),
    ):
        SparsePCA(2).fit(data)


def test_an_unknown_number_of_columns_is_refused():
    data = da.from_array(X, chunks=(10, -1))
    data = data[:, da.from_array(np.arange(12) < 5, chunks=-1)]
    with pytest.raises(ValueError, match="unknown number of columns"):
        SparsePCA(2).fit(data)
    with pytest.raises(ValueError, match="unknown number of columns"):
        MODEL.transform(data)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_data_of_a_closed_cluster_are_refused_at_once(kind):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "dashboard_address": None, "processes": False}
    with distributed.LocalCluster(**options) as local, distributed.Client(local):
        lazy = da.from_array(X, chunks=(10, -1))
        if kind == "frame":
            lazy = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=6)
        kept = lazy.persist()
        distributed.wait(kept)
        SparsePCA(2).fit(kept)
    began = time.monotonic()
    with pytest.raises(BlockError, match=r"^Block 0 .*The Dask cluster that kept it is closed: st"):
        SparsePCA(2).fit(kept)
    with pytest.raises(RuntimeError, match="The Dask cluster that kept it is closed"):
        MODEL.transform(kept)
    SparsePCA(2).fit(lazy)  # what was not kept there needs no cluster
    assert time.monotonic() - began < 60


class Promise:
    """Rows that do not keep to their shape."""

    def __init__(self, n_rows, change):
        self.shape = (n_rows, 12)
        self.dtype = X.dtype
        self._change = change


class Store(Promise):
    def row_blocks(self, height):
        return iter([self._change(X[i : i + 10], i) for i in range(0, 60, 10)])


class Slices(Promise):
    def __getitem__(self, rows):
        return self._change(X[rows], rows.start)


def at_start(change):
    return lambda block, start: change(block) if start == 20 else block


BLOCKS = {
    "ends early": (Store(70, lambda b, i: b), "Block 6 .* row 60, .* is absent: .* 70 rows"),
    "goes on": (Store(45, lambda b, i: b), "Block 4 .* row 40, .* ends with row 50, .* 45 rows"),
    "narrower": (Store(60, at_start(lambda b: b[:, :9])), r"Block 2 .*shape \(10, 9\)"),
    "flat": (Store(60, at_start(np.ravel)), r"Block 2 .*shape \(120,\)"),
}


@pytest.mark.parametrize("case", BLOCKS)
def test_a_store_that_does_not_keep_to_its_shape_is_an_error(case):
    store, message = BLOCKS[case]
    with pytest.raises(BlockError, match=message):
        SparsePCA(2).fit(store)
    with pytest.raises(BlockError, match=message):
        MODEL.transform(store)


@pytest.mark.parametrize(
    ("change", "reason"), [(lambda b: b[:-1], "9 rows; 10 were asked for"), (np.ravel, "shape")]
)
def test_slices_of_another_length_are_an_error(change, reason, monkeypatch):
    monkeypatch.setattr("redac.sources.local._BLOCK_BYTES", 10 * 12 * 8)
    store = Slices(60, at_start(change))
    with pytest.raises(BlockError, match=rf"Block 2 .* row 20, .*{reason}"):
        SparsePCA(2).fit(store)
