"""Sparse principal components that a person can read.

``SparsePCA`` is the estimator; ``redac.metrics`` measures components, ``redac.datasets`` has the
data of the paper, and the ``redac`` command does the work from a shell.
"""

from typing import TYPE_CHECKING, Any

from redac._version import __version__

if TYPE_CHECKING:
    from redac.estimator import SparsePCA

__all__ = ["SparsePCA", "__version__"]


def __getattr__(name: str) -> Any:
    # The estimator brings scikit-learn with it; `redac --help` should not wait for that.
    if name == "SparsePCA":
        from redac.estimator import SparsePCA

        return SparsePCA
    raise AttributeError(f"module 'redac' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
