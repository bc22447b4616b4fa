"""Sparse principal components that a person can read.

``SparsePCA`` is the estimator; ``redac.metrics`` measures components, ``redac.datasets`` has the
data of the paper, ``redac.methods`` the methods it is compared with, ``redac.plots`` draws
loadings, ``redac.certificate`` proves how good components are, ``redac.files`` reads data files,
``redac.exceptions`` has the warnings of a fit and the errors of data, ``redac.constraints`` what
loadings may be, and the ``redac`` command does the work from a shell.
"""

from typing import TYPE_CHECKING, Any

from redac._version import __version__

if TYPE_CHECKING:
    from redac import (
        certificate,
        constraints,
        datasets,
        exceptions,
        files,
        methods,
        metrics,
        plots,
    )
    from redac.model.estimator import SparsePCA

__all__ = [
    "SparsePCA",
    "__version__",
    "certificate",
    "constraints",
    "datasets",
    "exceptions",
    "files",
    "methods",
    "metrics",
    "plots",
]


def __getattr__(name: str) -> Any:
    # Most of this brings scikit-learn or scipy with it; `redac --help` should not wait for them.
    if name == "SparsePCA":
        from redac.model.estimator import SparsePCA

        return SparsePCA
    if name in __all__:
        from importlib import import_module

        return import_module(f"redac.{name}")
    raise AttributeError(f"module 'redac' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
