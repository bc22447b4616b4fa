"""What redac found against the plain algorithm: where it ends, and what one more sweep gains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from benchmarks.cases import Case, Job, Sparsity
from benchmarks.plain import PlainRedac, principal_start, square_root
from redac.metrics import pev

Array = NDArray[np.float64]
Found = dict[Job, Array | None]


def check(case: Case, X: Any, found: Found) -> Iterator[dict[str, Any]]:
    """For each kind of sparsity, the PEV beside the plain algorithm's from the PCA start."""
    wanted = [s for s in case.sparsities if found.get(Job("redac", case.r, s)) is not None]
    if not wanted:
        return
    stand_in = X if issparse(X) or X.shape[0] <= X.shape[1] else square_root(X)
    for sparsity in wanted:
        yield _check_one(case, X, stand_in, sparsity, found)


def _check_one(
    case: Case, X: Any, stand_in: Any, sparsity: Sparsity, found: Found
) -> dict[str, Any]:
    components = found[Job("redac", case.r, sparsity)]
    assert components is not None  # noqa: S101  (the caller has looked)
    reference = _reference(case, X, stand_in, sparsity, found)
    single = found.get(Job("redac, PCA start only", case.r, sparsity))
    plain = None if reference is None else pev(X, reference)
    return {
        "data": case.data.name,
        "r": case.r,
        "sparsity": str(sparsity),
        "pev": pev(X, components),
        "pev_pca_start": None if single is None else pev(X, single),
        "pev_plain": plain,
        "gain_of_one_more_sweep": gain_of_one_more_sweep(stand_in, components, sparsity),
        "gain_after_plain": None
        if reference is None
        else gain_of_one_more_sweep(stand_in, reference, sparsity),
    }


def _reference(case: Case, X: Any, stand_in: Any, sparsity: Sparsity, found: Found) -> Array | None:
    """What the plain algorithm comes to, with the separation that redac keeps."""
    if sparsity.least_separation > 0.0:
        return None if issparse(X) else _run_plain(stand_in, case.r, sparsity)
    reference = found.get(Job("plain NumPy", case.r, sparsity))
    if reference is None and stand_in is not X:
        # Too slow on the data, or not asked for; the square root of S gives the same iterates.
        reference = _run_plain(stand_in, case.r, sparsity)
    return reference


def _run_plain(X: Any, r: int, sparsity: Sparsity) -> Array:
    start = principal_start(X, r, sparsity)
    iterate = PlainRedac(X, start, sparsity, sparsity.least_separation)
    iterate.run()
    return iterate.V.T


def gain_of_one_more_sweep(X: Any, components: Array, sparsity: Sparsity) -> float:
    """By how much a plain sweep lowers the objective, as a share of the total variance.

    The sweep starts from the components with their least-squares scores and keeps them as far
    apart as redac does.
    """
    V = np.asarray(components, dtype=np.float64).T
    iterate = PlainRedac(X, V, sparsity, sparsity.least_separation)
    before = iterate.objective()
    iterate.sweep()
    return before - iterate.objective()
