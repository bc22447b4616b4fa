"""Who takes part: one adapter each, from a job and data to components."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA, MiniBatchSparsePCA, TruncatedSVD
from sklearn.decomposition import SparsePCA as SklearnSparsePCA

from benchmarks.cases import Job, Sparsity
from benchmarks.packages.of_python import abess_components
from benchmarks.packages.package import CannotFitError
from benchmarks.plain import PlainRedac, principal_start
from redac import SparsePCA


class NotApplicableError(Exception):
    """A contestant that cannot work on a case, with the reason."""


@dataclass
class Fitted:
    """What a fit gave."""

    components: NDArray[np.float64]
    sweeps: int | None = None
    passes: int | None = None


def fit(job: Job, X: Any) -> Fitted:
    """Fit once; warnings about convergence are part of what is measured, not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CONTESTANTS[job.contestant](job, X)


def bounds(sparsity: Sparsity) -> dict[str, Any]:
    """The arguments of ``redac.SparsePCA`` for a kind of sparsity."""
    return {
        "cardinality": sparsity.cardinality,
        "l1_bound": sparsity.l1_bound,
        "nonnegative": sparsity.nonnegative,
    }


def _redac(job: Job, X: Any) -> Fitted:
    return _fit_redac(job, X)


def _redac_pca_start(job: Job, X: Any) -> Fitted:
    return _fit_redac(job, X, n_init=1)


def _fit_redac(job: Job, X: Any, **options: Any) -> Fitted:
    model = SparsePCA(job.r, **bounds(_bound(job)), **options).fit(X)
    return Fitted(model.components_, model.n_iter_, getattr(model, "n_passes_", None))


def _pca_auto(job: Job, X: Any) -> Fitted:
    return Fitted(PCA(job.r, random_state=0).fit(X).components_)


def _pca_randomized(job: Job, X: Any) -> Fitted:
    if issparse(X):
        raise NotApplicableError("svd_solver='randomized' does not take sparse data")
    return Fitted(PCA(job.r, svd_solver="randomized", random_state=0).fit(X).components_)


def _truncated_svd(job: Job, X: Any) -> Fitted:
    if not issparse(X):
        raise NotApplicableError("for sparse data only: it does not centre")
    return Fitted(TruncatedSVD(job.r, random_state=0).fit(X).components_)


def _plain(job: Job, X: Any) -> Fitted:
    sparsity = _bound(job)
    iterate = PlainRedac(X, principal_start(X, job.r, sparsity), sparsity)
    return Fitted(iterate.V.T, iterate.run())


def _sklearn_sparse_pca(job: Job, X: Any) -> Fitted:
    model = penalised(job, X).fit(X)
    return Fitted(model.components_, int(model.n_iter_))


def penalised(job: Job, X: Any, **options: Any) -> Any:
    """A scikit-learn estimator that is steered by a penalty, with its default settings."""
    if issparse(X):
        raise NotApplicableError("does not take sparse data")
    if _bound(job).nonnegative:
        raise NotApplicableError("has no nonnegative loadings")
    if _bound(job).cardinality is None:
        raise NotApplicableError("has no bound on the l1 norm; compared beside l0 only")
    kind = {"SparsePCA": SklearnSparsePCA, "MiniBatchSparsePCA": MiniBatchSparsePCA}[job.contestant]
    alpha = 1.0 if job.alpha is None else job.alpha
    return kind(job.r, alpha=alpha, random_state=0, **options)


def _abess(job: Job, X: Any) -> Fitted:
    if importlib.util.find_spec("abess") is None:
        raise NotApplicableError("abess is not installed")
    sparsity = _bound(job)
    if sparsity.cardinality is None or sparsity.nonnegative:
        raise NotApplicableError("bounds the number of non-zeros only")
    if issparse(X):
        raise NotApplicableError("forms the dense covariance matrix")
    try:
        return Fitted(abess_components(X, job.r, sparsity.cardinality))
    except CannotFitError as error:
        raise NotApplicableError(str(error)) from error


def _bound(job: Job) -> Sparsity:
    if job.sparsity is None:
        raise ValueError(f"{job.contestant} needs a kind of sparsity.")
    return job.sparsity


CONTESTANTS: dict[str, Callable[[Job, Any], Fitted]] = {
    "PCA": _pca_auto,
    "PCA randomized": _pca_randomized,
    "TruncatedSVD": _truncated_svd,
    "redac": _redac,
    "redac, PCA start only": _redac_pca_start,
    "plain NumPy": _plain,
    "SparsePCA": _sklearn_sparse_pca,
    "MiniBatchSparsePCA": _sklearn_sparse_pca,
    "abess": _abess,
}
# Always timed in alternation; the others where they are quick enough.
MAIN = ("PCA", "redac")
UNBOUNDED = ("PCA", "PCA randomized", "TruncatedSVD")
PENALISED = ("SparsePCA", "MiniBatchSparsePCA")
