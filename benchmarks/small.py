"""Overheads: many small fits, many starts, the import, the command."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

from redac import SparsePCA
from redac.datasets import load_pitprops, make_toy

_PEERS = "import numpy, scipy.linalg, scipy.sparse, sklearn.base, sklearn.decomposition"


def measure_small(*, fits: int = 1000, starts: int = 1000, rounds: int = 5) -> dict[str, Any]:
    """Seconds for each kind of overhead, the best of several rounds."""
    covariances = [np.cov(make_toy(random_state=seed).data.T) for seed in range(fits)]
    # In turn, so that a slow moment does not decide: the difference is smaller than the scatter.
    imports = [_PEERS, f"{_PEERS}; import redac; redac.SparsePCA"]
    rows = [
        [_seconds(lambda code=code: _run("-c", code)) for code in imports] for _ in range(rounds)
    ]
    peers, ours = (min(times) for times in zip(*rows, strict=True))
    return {
        "fits": fits,
        "fits_seconds": _best(min(rounds, 2), lambda: _toy_fits(covariances)),
        "starts": starts,
        "starts_seconds": _best(min(rounds, 2), lambda: _pitprops(starts)),
        "import_seconds": ours - peers,
        "import_peers_seconds": peers,
        "help_seconds": _best(rounds, lambda: _run("-m", "redac", "--help")),
        "rounds": rounds,
    }


def _toy_fits(covariances: list[Any]) -> None:
    for S in covariances:
        SparsePCA(2, cardinality=6).fit_covariance(S)


def _pitprops(starts: int) -> None:
    model = SparsePCA(6, cardinality=(8, 5, 6, 2, 3, 2), n_init=starts, random_state=0)
    model.fit_covariance(load_pitprops().correlation)


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def _best(rounds: int, work: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return min(_seconds(work) for _ in range(rounds))


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
