"""How often a rival method explains more than the default fit, on small problems.

Run ``python -m benchmarks.rivals``; it prints a table. The problems are the correlation matrices of
data that come with redac and scikit-learn, and one of noise, with several numbers of components and
of features for each.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from redac import SparsePCA
from redac.datasets import load_pitprops
from redac.methods.registry import METHODS, sparse_pca
from redac.metrics import pev

Array = NDArray[np.float64]

COMPONENTS = (2, 4, 6)
CARDINALITIES = (2, 3, 4, 6)
# PEV that differ by less are equal.
_EQUAL = 0.01
_SEED = 0


@dataclass(frozen=True)
class Tally:
    """What one method came to beside redac."""

    method: str
    leads: Array  # its PEV minus that of redac, for each problem

    def __str__(self) -> str:
        ahead, behind = (self.leads > _EQUAL).sum(), (self.leads < -_EQUAL).sum()
        equal = self.leads.size - ahead - behind
        furthest = f"{max(self.leads.max(), 0.0):.2f} | {self.leads.mean():+.2f}"
        return f"| {self.method} | {ahead} | {equal} | {behind} | {furthest} |"


def matrices() -> dict[str, Array]:
    """The correlation matrices, by name."""
    tables = {
        "wine": datasets.load_wine().data,
        "breast cancer": datasets.load_breast_cancer().data,
        "diabetes": datasets.load_diabetes().data,
        "digits": datasets.load_digits().data,
        "noise": np.random.default_rng(_SEED).standard_normal((40, 30)),
    }
    found = {"pitprops": np.asarray(load_pitprops().correlation, dtype=np.float64)}
    for name, X in tables.items():
        found[name] = np.corrcoef(X[:, X.std(axis=0) > 0], rowvar=False)
    return found


def rivals(*, nonnegative: bool) -> list[str]:
    """The methods that give every component as many features as asked for, and do no more.

    Those that keep components orthogonal have less freedom; those that need samples do not work on
    correlation matrices.
    """
    return [
        name
        for name, method in METHODS.items()
        if method.sparse
        and not (method.total or method.orthogonal or method.needs_samples)
        and method.nonnegative == nonnegative
        and not name.startswith("redac")
    ]


def tallies(S: dict[str, Array], *, nonnegative: bool) -> Iterator[Tally]:
    """Every rival beside the default fit of redac, on all problems."""
    problems = list(product(S, COMPONENTS, CARDINALITIES))
    ours = []
    for name, r, k in problems:
        model = SparsePCA(r, cardinality=k, nonnegative=nonnegative).fit_covariance(S[name])
        ours.append(pev(S[name], model.components_, covariance=True))
    for method in rivals(nonnegative=nonnegative):
        theirs = []
        for name, r, k in problems:
            components = sparse_pca(
                S[name], method, r, cardinality=k, covariance=True, random_state=_SEED
            )
            theirs.append(pev(S[name], components, covariance=True))
        yield Tally(method, np.array(theirs) - np.array(ours))


def page() -> Iterator[str]:
    """The lines of a table in Markdown."""
    S = matrices()
    yield "| method | more | equal | less | most | mean |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for nonnegative in (False, True):
        for tally in tallies(S, nonnegative=nonnegative):
            yield str(tally)


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about components that are exhausted or nearly parallel
        for line in page():
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
