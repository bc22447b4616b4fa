"""The lifted dual: a bound on the explained variance from any positive semi-definite multipliers.

Let E be the span of the loadings, P its projector, r its dimension. A *piece* says that E meets a
coordinate subspace R^T in at least ``rank`` dimensions. Then P dominates a projector R of that rank
on R^T, and for every positive semi-definite M

    Tr(SP) = Tr((S + M)P) − Tr(MP) ≤ KyFan_r(S + M) − σ(M_TT),

with σ the sum of the ``rank`` smallest eigenvalues. Several pieces have a multiplier each, which
are summed. A *term* has several pieces and a list of cases, of which one holds: a row of each piece
is the set T of that piece in one case. What is subtracted is the smallest sum over the cases. The
bound holds whatever the multipliers are; minimising it makes it sharp.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from redac.certificate.rounding import dual_margin
from redac.certificate.smooth import fermi, fermi_rows, soft_maximum
from redac.sources.base import Array, Indices

# Temperatures of the smoothing, as shares of the largest eigenvalue of S: the sum of r eigenvalues
# has kinks, and a quasi-Newton method needs slopes.
_TEMPERATURES = (1e-2, 1e-3, 2e-4, 4e-5)
_STEPS = (25, 40, 60, 100)
# The last is for nodes that cannot be divided.
_IMPATIENT_STAGES = 3
_FIRST_MULTIPLIER = 0.3
# A finer temperature lowers the bound by a few temperatures at most; farther from the target it is
# not worth the time.
_HOPELESS = 10.0
# Slopes need so many of the cases of a term, those that bind most; the others are looked at when
# the multipliers for these are found, and joined to them so many times if they bind more.
_ACTIVE = 40
_ROUNDS = 3


@dataclass(frozen=True)
class Piece:
    """The span has at least ``rank`` dimensions within a set of variables, one row for each case.

    Rows are as long as the largest set; numbers beyond the last variable fill them up.
    """

    rank: int
    sets: Indices


@dataclass(frozen=True)
class Term:
    """One of the cases holds, for all pieces at once."""

    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, rank: int, sets: Indices) -> Term:
        """A single piece."""
        return cls((Piece(rank, sets),))

    @property
    def cases(self) -> int:
        return len(self.pieces[0].sets)

    def only(self, rows: Indices) -> Term:
        """Some of the cases."""
        return Term(tuple(replace(piece, sets=piece.sets[rows]) for piece in self.pieces))


@dataclass(frozen=True)
class DualBound:
    """A proved bound, the factors L of the multipliers M = LLᵀ, one for each piece in turn.

    ``weights`` are those of the cases in the mixture that the bound cannot exclude, ``bounds`` what
    the multipliers prove for each case; both by terms.
    """

    value: float
    factors: Array
    weights: tuple[Array, ...]
    bounds: tuple[Array, ...]


def evaluate(S: Array, r: int, terms: Sequence[Term], factors: Array) -> float:
    """The bound that the multipliers LLᵀ prove, rounding included."""
    value, yields = _parts(S, r, terms, factors)
    return value - sum(float(each.min()) for each in yields)


def _parts(S: Array, r: int, terms: Sequence[Term], factors: Array) -> tuple[float, list[Array]]:
    """KyFan_r(S + ΣM) with all margins, and what the multipliers yield in each case of a term."""
    multipliers = factors @ factors.transpose(0, 2, 1)
    lifted = S + multipliers.sum(axis=0)
    value = float(np.linalg.eigvalsh(lifted)[-r:].sum())
    ranks = [piece.rank for term in terms for piece in term.pieces]
    value += dual_margin(lifted, multipliers, r, ranks)
    own = iter(multipliers)
    yields = []
    for term in terms:
        total = np.zeros(term.cases)
        for piece in term.pieces:
            eigenvalues = np.linalg.eigvalsh(blocks(next(own), piece.sets))
            total += eigenvalues[:, : piece.rank].sum(axis=1)
        yields.append(total)
    return value, yields


def minimise(
    S: Array,
    r: int,
    terms: Sequence[Term],
    *,
    start: Array | None = None,
    target: float = -np.inf,
    deadline: float = np.inf,
    patient: bool = True,
) -> DualBound:
    """Lower the bound by L-BFGS on a smoothed form until it reaches ``target`` or settles.

    Without patience, it gives up early where the target is out of reach.
    """
    peak = float(np.linalg.eigvalsh(S)[-1])
    scale = np.sqrt(peak) if peak > 0 else 1.0
    count = sum(len(term.pieces) for term in terms)
    stages = list(zip(_TEMPERATURES, _STEPS, strict=True))
    if not patient:
        stages = stages[:_IMPATIENT_STAGES]
    if start is None:
        L = np.tile(_FIRST_MULTIPLIER * np.eye(len(S)), (count, 1, 1))
    else:  # a good start needs no rough first stage
        L, stages = start / scale, stages[1:]
    problem = _Descent(S / (scale * scale), r, terms, target / (scale * scale), deadline)
    problem.accept(L)
    for temperature, steps in stages:
        for _ in range(_ROUNDS):
            known = problem.active
            problem.descend(temperature, steps)
            if problem.is_over or all(map(np.array_equal, known, problem.active)):
                break
        hopeless = not patient and problem.value > problem.target + _HOPELESS * temperature
        if problem.is_over or hopeless:
            break
    return problem.result(scale)


class _Descent:
    """The bound as something to be lowered, with the best multipliers so far."""

    def __init__(
        self, S: Array, r: int, terms: Sequence[Term], target: float, deadline: float
    ) -> None:
        self.S = S
        self.r = r
        self.terms = terms
        self.target = target
        self.deadline = deadline
        self.value = np.inf
        self.active = [np.zeros(0, dtype=np.intp) for _ in terms]

    @property
    def is_over(self) -> bool:
        return self.value <= self.target or time.monotonic() > self.deadline

    def accept(self, L: Array) -> None:
        """Multipliers, if they are better, and the cases that bind for them."""
        top, yields = _parts(self.S, self.r, self.terms, L)
        value = top - sum(float(each.min()) for each in yields)
        self.active = [
            np.union1d(known, _smallest(each, _ACTIVE))
            for known, each in zip(self.active, yields, strict=True)
        ]
        if value < self.value:
            self.value, self.L, self.yields = value, L, yields

    def descend(self, temperature: float, steps: int) -> None:
        """So many steps on the smoothed form, with the active cases."""
        parts = [term.only(rows) for term, rows in zip(self.terms, self.active, strict=True)]
        smooth = _SmoothDual(self.S, self.r, parts, temperature)

        def stop(intermediate_result: OptimizeResult) -> None:
            # The smoothed form is no smaller than the bound of the active cases.
            if intermediate_result.fun <= self.target or time.monotonic() > self.deadline:
                raise StopIteration

        found = minimize(
            smooth,
            self.L.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=stop,
            options={"maxiter": steps, "maxcor": 20, "ftol": 1e-9, "gtol": 1e-9},
        )
        self.weights = smooth.weights
        self.rows = self.active
        self.accept(found.x.reshape(self.L.shape))

    def result(self, scale: float) -> DualBound:
        unit = scale * scale
        weights = []
        for term, rows, own in zip(self.terms, self.rows, self.weights, strict=True):
            full = np.zeros(term.cases)
            full[rows] = own
            weights.append(full)
        bounds = [(self.value + each.min() - each) * unit for each in self.yields]
        return DualBound(self.value * unit, self.L * scale, tuple(weights), tuple(bounds))


def _smallest(values: Array, count: int) -> Indices:
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, count)[:count]


class _SmoothDual:
    """The bound with all sums of eigenvalues replaced by smooth majorants, and its gradient."""

    def __init__(self, S: Array, r: int, terms: Sequence[Term], temperature: float) -> None:
        self.S = S
        self.r = r
        self.terms = terms
        self.temperature = temperature
        self.weights: list[Array] = []

    def __call__(self, x: Array) -> tuple[float, Array]:
        d = len(self.S)
        L = x.reshape(-1, d, d)
        multipliers = L @ L.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(self.S + multipliers.sum(axis=0))
        total, occupied = fermi(values, self.r, self.temperature)
        P = (vectors * occupied) @ vectors.T
        slopes = np.tile(P, (len(L), 1, 1))
        self.weights = []
        first = 0
        for term in self.terms:
            after = first + len(term.pieces)
            total += self._term(term, multipliers[first:after], slopes[first:after])
            first = after
        return total, (2.0 * slopes @ L).ravel()

    def _term(self, term: Term, multipliers: Array, slopes: Array) -> float:
        """The largest −Σσ of the cases, smoothed; its slope is subtracted in place."""
        d = len(self.S)
        costs = np.zeros(term.cases)
        shares = []
        for piece, M in zip(term.pieces, multipliers, strict=True):
            values, vectors = np.linalg.eigh(blocks(M, piece.sets))
            each, occupied = fermi_rows(-values, piece.rank, self.temperature)
            costs += each
            shares.append((vectors, occupied))
        value, weights = soft_maximum(costs, self.temperature)
        self.weights.append(weights)
        for piece, slope, (vectors, occupied) in zip(term.pieces, slopes, shares, strict=True):
            share = weights[:, None] * occupied
            R = (vectors * share[:, None, :]) @ vectors.transpose(0, 2, 1)
            width = max(d, int(piece.sets.max()) + 1)
            places = piece.sets[:, :, None] * width + piece.sets[:, None, :]
            sums = np.bincount(places.ravel(), R.ravel(), minlength=width * width)
            slope -= sums.reshape(width, width)[:d, :d]
        return value


def blocks(M: Array, sets: Indices) -> Array:
    """The principal submatrices of M on each of the sets.

    What only fills a row up gets an eigenvalue of its own that is no smaller than those of M.
    """
    more = int(sets.max()) + 1 - len(M)
    if more > 0:
        norm = float(np.linalg.norm(M))
        M = np.pad(M, (0, more))
        filled = np.arange(len(M) - more, len(M))
        M[filled, filled] = norm
    chosen: Array = M[sets[:, :, None], sets[:, None, :]]
    return chosen


def unions(sets: Indices, others: Indices, d: int) -> Indices:
    """The union of each row with some variables, the shorter ones filled up."""
    rows = [np.union1d(row, others) for row in sets]
    longest = max(row.size for row in rows)
    filler = np.arange(d, d + longest)
    return np.array([np.append(row, filler[: longest - row.size]) for row in rows], dtype=np.intp)
