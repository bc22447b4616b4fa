"""Data that outgrow memory: time, passes and memory of large fits.

Run ``python -m benchmarks.scale`` for all cases, or name some behind it. Every case runs in a
process of its own, makes its data in a temporary folder, removes them, and prints a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from redac import SparsePCA

Result = dict[str, Any]


class Meter:
    """Time and the largest memory of this process that is not a view of a file."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.peak_gb = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        done = threading.Event()

        def sample() -> None:
            while not done.wait(0.05):
                self.peak_gb = max(self.peak_gb, anonymous_gb())

        watcher = threading.Thread(target=sample)
        watcher.start()
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds = time.perf_counter() - start
            done.set()
            watcher.join()
            self.peak_gb = max(self.peak_gb, anonymous_gb())


def anonymous_gb() -> float:
    """Memory of this process without mapped files, as Linux counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 2**20
    return 0.0


def factors(n: int, d: int, seed: int, rank: int = 10) -> np.ndarray:
    """Rows with some sparse factors, single precision."""
    rng = np.random.default_rng(seed)
    loadings = np.zeros((rank, d), dtype=np.float32)
    chosen = np.random.default_rng(0)  # the same factors in every block
    for row, strength in zip(loadings, np.linspace(6, 2, rank), strict=True):
        row[chosen.choice(d, d // 10, replace=False)] = strength * chosen.standard_normal(d // 10)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X += rng.standard_normal((n, rank), dtype=np.float32) @ loadings
    return X


def written(path: Path, n: int, d: int, height: int = 100_000) -> None:
    """A file of factor data, block by block."""
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    for start in range(0, n, height):
        X[start : start + height] = factors(min(height, n - start), d, start)
    X.flush()


def gram_in_blocks(X: np.ndarray, height: int = 4000) -> np.ndarray:
    """What any method must do: read the file once and form its Gram matrix in double precision."""
    S = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), height):
        block = X[start : start + height].astype(np.float64)
        S += block.T @ block
    return S


def memmap(n: int = 4_000_000, d: int = 300) -> Result:
    """A memory-mapped file of 4.8 GB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        written(path, n, d)
        plain, fit = Meter(), Meter()
        for _ in range(2):  # the first reading warms the cache of the file for both
            with plain.running():
                gram_in_blocks(np.load(path, mmap_mode="r"))
        with fit.running():
            model = SparsePCA(10, cardinality=30).fit(np.load(path, mmap_mode="r"))
    return {
        "shape": [n, d],
        "fit_seconds": fit.seconds,
        "read_and_gram_seconds": plain.seconds,
        "ratio": fit.seconds / plain.seconds,
        "peak_anonymous_gb": fit.peak_gb,
        "passes": model.n_passes_,
    }


def documents(n: int, d: int, entries: int, topics: int = 20, seed: int = 0) -> sp.csr_array:
    """Counts of words: a long tail of rare ones, and topics with words of their own."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n, entries)
    columns = (d * rng.random(entries, dtype=np.float32) ** 3).astype(np.int64)
    vocabulary = rng.integers(0, d, (topics, 100))
    topical = rng.random(entries, dtype=np.float32) < 0.2
    mine = rows[topical] % topics
    columns[topical] = vocabulary[mine, rng.integers(0, 100, mine.size)]
    values = rng.integers(1, 6, entries).astype(np.float32)
    columns = np.minimum(columns, d - 1)
    return sp.csr_array((values, (rows, columns)), shape=(n, d))


def sparse(n: int = 200_000, d: int = 100_000, entries: int = 20_000_000) -> Result:
    """A document-term matrix, against TruncatedSVD of scikit-learn."""
    from sklearn.decomposition import TruncatedSVD

    X = documents(n, d, entries)
    plain, fit = Meter(), Meter()
    with plain.running():
        TruncatedSVD(10, random_state=0).fit(X)
    with fit.running():
        model = SparsePCA(10, cardinality=50).fit(X)
    return {
        "shape": [n, d],
        "entries": int(X.nnz),
        "fit_seconds": fit.seconds,
        "truncated_svd_seconds": plain.seconds,
        "ratio": fit.seconds / plain.seconds,
        "peak_anonymous_gb": fit.peak_gb,
        "passes": model.n_passes_,
        "explained": float(model.explained_variance_ratio_.sum()),
        "sweeps": model.n_iter_,
    }


def million(n: int = 100_000, d: int = 1_000_000, entries: int = 5_000_000) -> Result:
    """A million features."""
    X = documents(n, d, entries)
    fit = Meter()
    with fit.running():
        model = SparsePCA(5, cardinality=20).fit(X)
    return {
        "shape": [n, d],
        "entries": int(X.nnz),
        "fit_seconds": fit.seconds,
        "peak_anonymous_gb": fit.peak_gb,
        "passes": model.n_passes_,
        "non_zeros": [int(row.astype(bool).sum()) for row in model.components_],
    }


def dask_array(n: int, d: int, height: int) -> Any:
    """A Dask array whose blocks are made where they are needed."""
    import dask
    import dask.array as da

    blocks = [
        da.from_delayed(
            dask.delayed(factors)(min(height, n - start), d, start),
            shape=(min(height, n - start), d),
            dtype=np.float32,
        )
        for start in range(0, n, height)
    ]
    return da.concatenate(blocks)


def dask_kill(n: int = 2_000_000, d: int = 500, height: int = 20_000) -> Result:
    """Two worker processes, one of which is killed in the middle of the fit."""
    from distributed import Client, LocalCluster

    X = dask_array(n, d, height)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    fit, disturbed = Meter(), Meter()
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        with fit.running():
            expected = SparsePCA(10, cardinality=30).fit(X)
        killed: list[int] = []

        def kill() -> None:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], 9)

        timer = threading.Timer(fit.seconds / 2, kill)
        timer.start()
        with disturbed.running():
            model = SparsePCA(10, cardinality=30).fit(X)
        timer.join()
    return {
        "shape": [n, d],
        "fit_seconds": fit.seconds,
        "fit_seconds_with_a_killed_worker": disturbed.seconds,
        "passes": model.n_passes_,
        "difference": float(np.abs(model.components_ - expected.components_).max()),
        "client_peak_anonymous_gb": disturbed.peak_gb,
    }


def agreement(n: int = 20_000, d: int = 60) -> Result:
    """The same numbers from every container."""
    import dask.array as da
    from distributed import Client, LocalCluster

    X = factors(n, d, 1).astype(np.float64)
    X[np.abs(X) < 0.5] = 0.0
    expected = SparsePCA(5, cardinality=8).fit(X).components_

    def difference(data: Any) -> float:
        return float(np.abs(SparsePCA(5, cardinality=8).fit(data).components_ - expected).max())

    lazy = da.from_array(X, chunks=(3000, 25))
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        mapped = np.load(Path(folder) / "X.npy", mmap_mode="r")
        found = {
            "memmap": difference(mapped),
            "csr": difference(sp.csr_array(X)),
            "csc": difference(sp.csc_array(X)),
            "dask_threads": difference(lazy),
            "dask_sparse": difference(lazy.map_blocks(sp.csr_matrix)),
            "blocks": difference(RowStore(mapped)),
        }
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster):
        found["dask_cluster"] = difference(lazy)
    return {"shape": [n, d], **found}


class RowStore:
    """Rows that are given out in slices."""

    def __init__(self, X: np.ndarray) -> None:
        self._X, self.shape, self.dtype = X, X.shape, X.dtype

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._X[rows]


def in_memory() -> Result:
    """Dense data in memory, against PCA of scikit-learn; the best of three."""
    from sklearn.decomposition import PCA

    found: Result = {}
    for n, d in ((100_000, 500), (10_000, 1000)):
        X = factors(n, d, 0).astype(np.float64)
        times: dict[str, float] = {}
        for name, make in (
            ("pca", lambda: PCA(10)),
            ("sparse_pca", lambda: SparsePCA(10, cardinality=20)),
        ):
            for _ in range(3):
                meter = Meter()
                with meter.running():
                    make().fit(X)
                times[name] = min(times.get(name, np.inf), meter.seconds)
        found[f"{n}x{d}"] = {**times, "ratio": times["sparse_pca"] / times["pca"]}
    return found


CASES: dict[str, Callable[[], Result]] = {
    "agreement": agreement,
    "in-memory": in_memory,
    "memmap": memmap,
    "sparse": sparse,
    "million": million,
    "dask-kill": dask_kill,
}


def main(names: list[str]) -> None:
    """One process for each case, so that memory is its own."""
    if len(names) == 1 and os.environ.get("REDAC_SCALE_CHILD"):
        print(json.dumps({"case": names[0], **CASES[names[0]]()}))  # noqa: T201
        return
    environment = {**os.environ, "REDAC_SCALE_CHILD": "1"}
    for name in names or CASES:
        command = [sys.executable, "-m", "benchmarks.scale", name]
        subprocess.run(command, env=environment, check=True)  # noqa: S603


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"{', '.join(CASES)}; all if none is named")
    named = parser.parse_args().case
    if unknown := set(named) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    main(named)
