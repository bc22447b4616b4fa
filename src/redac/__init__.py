"""Sparse principal components that a person can read.

``SparsePCA`` is the estimator. ``SparsePCACV`` chooses its numbers of components and features,
``sparsity_path`` shows what more of them bring, ``stability`` what half of the rows confirm,
``compare`` what other methods explain.
``redac.metrics`` measures components, ``redac.datasets`` has the data of the paper,
``redac.methods`` the methods it is compared with, ``redac.plots`` draws loadings,
``redac.certificate`` proves how good components are, ``redac.files`` reads data files,
``redac.exceptions`` has the warnings of a fit and the errors of data, ``redac.constraints`` what
loadings may be, ``redac.anndata`` fits single
cells, and the ``redac`` command does the work from a shell.
"""

from typing import TYPE_CHECKING, Any

from redac._version import __version__

if TYPE_CHECKING:
    from redac import (
        anndata,
        certificate,
        constraints,
        datasets,
        exceptions,
        files,
        methods,
        metrics,
        plots,
    )
    from redac.choose.path import SparsityPath
    from redac.choose.sparse_pca_cv import SparsePCACV
    from redac.choose.sparsity import sparsity_path
    from redac.choose.stability import Stability, stability
    from redac.methods.comparison import compare
    from redac.model.estimator import SparsePCA

__all__ = [
    "SparsePCA",
    "SparsePCACV",
    "SparsityPath",
    "Stability",
    "__version__",
    "anndata",
    "certificate",
    "compare",
    "constraints",
    "datasets",
    "exceptions",
    "files",
    "methods",
    "metrics",
    "plots",
    "sparsity_path",
    "stability",
]
# Classes and functions of the package itself, and the modules that they live in.
_HOMES = {
    "SparsePCA": "model.estimator",
    "SparsePCACV": "choose.sparse_pca_cv",
    "SparsityPath": "choose.path",
    "Stability": "choose.stability",
    "compare": "methods.comparison",
    "sparsity_path": "choose.sparsity",
    "stability": "choose.stability",
}


def __getattr__(name: str) -> Any:
    # Most of this brings scikit-learn or scipy with it; `redac --help` should not wait for them.
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"redac.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"redac.{name}")
    raise AttributeError(f"module 'redac' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
