"""A case of the fuzz: data, weights and settings, all drawn from its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fuzz.containers import CONTAINERS, COVARIANCE
from benchmarks.fuzz.matrices import Rng, draw_matrix, draw_untied
from benchmarks.fuzz.settings import draw_settings, without_chance
from benchmarks.fuzz.violations import Violation
from redac import SparsePCA

# Checks that need further fits. Each case has one of them or none.
COMPARISONS = ("agreement", "permutation", "useless column", "n_init", "not ended")
# Those that say something only where rounding cannot decide between different answers.
_STEADY = ("agreement", "permutation", "useless column")
_SHARE_COMPARED = 0.6
# Data must be within these powers of ten for their squares to be entries of a covariance matrix.
_SQUARABLE = 1e140


@dataclass(frozen=True)
class FitViolation(Violation):
    """A violation by a fit.

    Attributes
    ----------
    excess : by how much a limit is missed; infinity where that is no matter of size.
    entries : the number of entries of the data, which says how small the case is.
    """

    excess: float
    entries: int


@dataclass(frozen=True)
class Case:
    """One fit, and what is to be checked of it beside what is checked of every fit.

    Attributes
    ----------
    seed, number : what everything else follows from.
    X : the data as an array.
    is_tied : whether equally good answers must be expected.
    container : in what the data are given.
    weights : those of the samples, or None.
    settings : the arguments of the estimator.
    comparison : which other fit is made beside it, or "".
    """

    seed: int
    number: int
    X: NDArray[Any]
    is_tied: bool
    container: str
    weights: NDArray[np.float64] | None
    settings: dict[str, Any]
    comparison: str

    @property
    def reproduce(self) -> str:
        return f"python -m benchmarks.fuzz --fits 1 --seed {self.seed} --first {self.number}"

    @property
    def is_single(self) -> bool:
        """Whether results are in single precision."""
        return self.X.dtype == np.float32 and self.container != COVARIANCE

    @property
    def is_covariance(self) -> bool:
        return self.container == COVARIANCE

    def model(self, **changes: Any) -> SparsePCA:
        """The estimator of this case, or one with some settings changed."""
        return SparsePCA(**{**self.settings, **changes})

    def violation(self, kind: str, details: str, excess: float = np.inf) -> FitViolation:
        """Something that does not hold in this case."""
        about = f"{details} ({self})"
        return FitViolation(kind, self.reproduce, about, float(excess), self.X.size)

    def __str__(self) -> str:
        n, d = self.X.shape
        told = {
            name: "array" if isinstance(value, np.ndarray) else value
            for name, value in self.settings.items()
        }
        weights = "" if self.weights is None else ", weighted"
        settings = ", ".join(f"{name}={value!r}" for name, value in told.items())
        return f"{n} × {d} {self.X.dtype} {self.container}{weights}; {settings}"


def draw_case(seed: int, number: int) -> Case:
    """The case with this number."""
    rng = np.random.default_rng([seed, number])
    compared = rng.random() < _SHARE_COMPARED
    comparison = str(rng.choice(COMPARISONS)) if compared else ""
    is_steady = comparison in _STEADY
    drawn = draw_untied(rng) if is_steady else draw_matrix(rng)
    n, d = drawn.X.shape
    container = _container(rng, drawn.X)
    weights = _weights(rng, n) if rng.random() < 0.25 and container != COVARIANCE else None
    settings = draw_settings(rng, d)
    if is_steady:
        settings = without_chance(rng, settings)
    return Case(seed, number, drawn.X, drawn.is_tied, container, weights, settings, comparison)


def _container(rng: Rng, X: NDArray[Any]) -> str:
    kind = rng.random()
    if kind < 0.35:
        return "array"
    if kind < 0.5:
        peaks = np.abs(X.astype(np.float64)).max(axis=0)
        within = (peaks == 0) | ((peaks < _SQUARABLE) & (peaks > 1 / _SQUARABLE))
        if within.all() and X.shape[1] <= 200:
            return COVARIANCE
    return str(rng.choice(list(CONTAINERS)))


def _weights(rng: Rng, n: int) -> NDArray[np.float64]:
    """Counts, or real numbers with some unit; some are zero, but not all."""
    if rng.random() < 0.5:
        weights = rng.integers(0, 4, size=n).astype(np.float64)
    else:
        weights = rng.random(n) * (rng.random(n) < 0.9) * 10.0 ** rng.uniform(-3, 3)
    weights[rng.integers(n)] += 1.0
    return weights
