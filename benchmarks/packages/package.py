"""The one shape: standardised data, a number of components and of features in, components out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.tuning import search

Array = NDArray[np.float64]


class CannotFitError(Exception):
    """A package that cannot fit these data, with the reason."""


@dataclass(frozen=True)
class Found:
    """What a package found, and what that took.

    Attributes
    ----------
    components : r × d, rows of length one, or zero where the package found nothing.
    seconds : of the one fit that gave them.
    setting : what it was told: a cardinality or a penalty.
    n_fits : how many fits it took to find the penalty.
    """

    components: Array
    seconds: float
    setting: float
    n_fits: int = 1


@dataclass(frozen=True)
class Package:
    """A package that finds sparse components.

    Attributes
    ----------
    name : the package and what of it.
    group : what is asked of it, in the words of ``redac compare``.
    once : one fit of (X, r, setting): components and seconds.
    missing : why it cannot run on this machine, or None.
    first_penalty : where to begin the search for its penalty, of (X, r, k); None for packages that
        are told the cardinality of each component.
    """

    name: str
    group: str
    once: Callable[[Array, int, float], tuple[Array, float]]
    missing: Callable[[], str | None]
    first_penalty: Callable[[Array, int, int], float] | None = None

    def fit(self, X: Array, r: int, k: int) -> Found:
        """Components of k features each; with a penalty, of at least r k in all and few more."""
        X = np.array(X, dtype=np.float64)
        setting, n_fits = self._setting(X, r, k)
        # A first fit also loads what it needs; the one that is timed comes after it.
        components, seconds = self.once(X.copy(), r, setting)
        return Found(_unit(components), seconds, setting, n_fits)

    def _setting(self, X: Array, r: int, k: int) -> tuple[float, int]:
        """What it is told, and how many fits it took to know."""
        if self.first_penalty is None:
            self.once(X.copy(), r, k)
            return k, 1
        counts: list[int] = []

        def count(penalty: float) -> int:
            counts.append(int(np.count_nonzero(self.once(X.copy(), r, penalty)[0])))
            return counts[-1]

        penalty = search(count, self.first_penalty(X, r, k), r * k)
        if penalty is None:
            raise CannotFitError(f"no penalty found with {r * k} non-zeros")
        return penalty, len(counts)


def timed(fit: Callable[[], Array]) -> tuple[Array, float]:
    """What a fit gives, and its seconds."""
    begin = time.perf_counter()
    components = fit()
    return components, time.perf_counter() - begin


def _unit(components: Array) -> Array:
    lengths = np.linalg.norm(components, axis=1, keepdims=True)
    return np.divide(components, lengths, out=np.zeros_like(components), where=lengths > 0)
