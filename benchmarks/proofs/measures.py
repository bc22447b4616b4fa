"""One certificate, and what rivals have to say about it."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.problems.model import Array
from benchmarks.proofs.cases import Case
from redac import SparsePCA
from redac.certificate import certificate
from redac.methods import sparse_pca
from redac.metrics import pev

_RIVALS = ("redac_l0", "rotation", "gspca", "pathspca", "dcpca", "rsvd_l0", "gpower_l0", "tpower")
_FEW = ("redac_l0", "rsvd_l0", "gpower_l0", "tpower")  # where the others would take minutes
_FEW_ABOVE = 100
_ROUNDS, _ROUNDS_ABOVE = 200, 10
# The numbers of a bound and of a value are rounded in different ways.
_ROUNDING = 1e-7


@dataclass(frozen=True)
class Row:
    """What is told of one case; all but the last are percentages of the variance."""

    group: str
    name: str
    data: str
    settings: str
    wanted: float
    value: float
    bound: float
    rival: float
    method: str
    nodes: int
    limit: float
    seconds: float
    processor: float

    @property
    def gap(self) -> float:
        return self.bound - self.value

    @property
    def reached(self) -> bool:
        return self.gap <= self.wanted

    @property
    def holds(self) -> bool:
        """Nothing known explains more than the bound."""
        return self.rival <= self.bound + _ROUNDING

    @property
    def beaten(self) -> bool:
        """A rival explains more than the value that the gap is told of."""
        return self.rival > self.value + 1e-3

    def line(self) -> str:
        return json.dumps(asdict(self)) + "\n"

    def told(self) -> str:
        known = f", {self.rival:.3f} known" if self.beaten else ""
        return (
            f"{self.group}: {self.name}: {self.value:.3f} to {self.bound:.3f}, gap {self.gap:.3f}"
            f"{known}; {self.method}, {self.nodes} nodes, {self.seconds:.1f} s"
            f" ({self.processor:.1f} of a processor)"
        )


def measure(case: Case, seconds: float | None) -> Row:
    """The certificate of the default fit; a gap is that of the best it knows of."""
    S, k = case.make(), case.cardinality
    limit = case.seconds if seconds is None else min(seconds, case.seconds)
    start = _fitted(S, k)
    began, used = time.monotonic(), time.process_time()
    found = certificate(S, start, cardinality=k, time_limit=limit)
    took, processor = time.monotonic() - began, time.process_time() - used
    return Row(
        case.group,
        case.name,
        case.data,
        case.settings,
        case.wanted,
        found.value if found.better_value is None else found.better_value,
        found.upper_bound,
        _best_rival(S, k),
        found.method,
        found.nodes,
        limit,
        took,
        processor,
    )


def _fitted(S: Array, k: tuple[int, ...], rounds: int = 0) -> Array:
    model = SparsePCA(len(k), cardinality=k, n_perturbations=rounds, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        components: Array = model.fit_covariance(S).components_
    return components


def _best_rival(S: Array, k: tuple[int, ...]) -> float:
    """The most that other methods and a longer search explain."""
    many = len(S) > _FEW_ABOVE
    rounds = _ROUNDS_ABOVE if many else _ROUNDS
    found = [_fitted(S, k, rounds)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found += [
            sparse_pca(S, method, len(k), cardinality=k, covariance=True, random_state=0)
            for method in (_FEW if many else _RIVALS)
        ]
    return max(pev(S, V, covariance=True) for V in found if _is_allowed(V, k))


def _is_allowed(components: Array, k: tuple[int, ...]) -> bool:
    used = np.sort(np.count_nonzero(components, axis=1))
    return bool((used <= np.sort(k)).all())
