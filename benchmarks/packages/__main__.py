"""What other packages find beside redac, in what time; which cannot run here, and why.

Each runs in a process of its own with a limit on time and memory. Packages that are told a penalty
have the one that leaves as many non-zeros in all, or hardly more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.packages.catalogue import at_hand, find, fit
from benchmarks.packages.package import Array, Found
from redac.metrics import pev

# Data, components, features of each.
PROBLEMS = (("wine", 3, 4), ("breast cancer", 4, 6), ("digits", 6, 8))
_LIMIT = 120.0


def standardized(name: str) -> Array:
    """Data of scikit-learn without constant columns, centred, each column of variance one."""
    load = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}[name]
    X = load().data
    X = X[:, X.std(axis=0) > 0]
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def lines(packages: list[str], limit: float) -> Iterator[str]:
    """A table in Markdown, line by line."""
    yield "| data | package | asked for | non-zeros | PEV | seconds |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, r, k in PROBLEMS:
        X = standardized(name)
        for package in packages:
            found = fit(package, X, r, k, limit=limit)
            yield _line(name, package, find(package).group, X, found)


def _line(data: str, package: str, group: str, X: Array, found: Found | str) -> str:
    if isinstance(found, str):
        return f"| {data} | {package} | {group} | {found} | | |"
    count = np.count_nonzero(found.components)
    explained = pev(X, found.components)
    return f"| {data} | {package} | {group} | {count} | {explained:.2f} | {found.seconds:.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages", description=__doc__)
    parser.add_argument("--limit", type=float, default=_LIMIT, help="seconds for one problem")
    limit = parser.parse_args().limit
    here, missing = at_hand()
    for line in lines(list(here), limit):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    for name, reason in missing.items():
        sys.stdout.write(f"{name}: {reason}\n")


if __name__ == "__main__":
    main()
