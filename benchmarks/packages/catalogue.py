"""Which packages there are, which can run on this machine, and one fit of one of them."""

from __future__ import annotations

import warnings

from benchmarks.children import in_child
from benchmarks.packages import of_python, of_r
from benchmarks.packages.package import Array, Found, Package

PACKAGES = {package.name: package for package in (*of_python.PACKAGES, *of_r.PACKAGES)}


def at_hand() -> tuple[dict[str, Package], dict[str, str]]:
    """The packages that can run on this machine, and for each of the others why it cannot."""
    missing = {name: package.missing() for name, package in PACKAGES.items()}
    here = {name: PACKAGES[name] for name, reason in missing.items() if reason is None}
    return here, {name: reason for name, reason in missing.items() if reason is not None}


def find(name: str) -> Package:
    """The package of that name."""
    if name not in PACKAGES:
        raise ValueError(f"There is no package {name!r}; there are {', '.join(PACKAGES)}.")
    return PACKAGES[name]


def fit(name: str, X: Array, r: int, k: int, *, limit: float) -> Found | str:
    """What a package finds in a process of its own, or the reason why it finds nothing.

    Parameters
    ----------
    X : standardised data.
    limit : seconds after which it is ended.
    """
    return in_child(_fit, name, X, r, k, limit=limit)


def _fit(name: str, X: Array, r: int, k: int) -> Found:
    warnings.simplefilter("ignore")  # of packages about their convergence
    return find(name).fit(X, r, k)
