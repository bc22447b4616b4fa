"""Branch and bound with the lifted dual, for components whose supports may overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from redac.certificate.dual import DualBound, Term, blocks, evaluate, minimise
from redac.certificate.families import Family, code
from redac.certificate.rounding import eigenvalue_margin
from redac.certificate.tree import Incumbent, Node
from redac.sources.base import Array, Indices

# Terms for more than three components at once cost more than they sharpen.
_MOST_TOGETHER = 3
_MOST_COMPLEMENTS = 200
_FRESH_MULTIPLIER = 0.1
_CLIPS = 8

Which = tuple[int, ...]


@dataclass(frozen=True)
class Subproblem:
    """Components with bounded cardinalities, ascending, in a space of which r dimensions are taken.

    ``offset`` is what components elsewhere explain. A cardinality of d − r + 1 or more is no bound:
    an r-dimensional space contains a vector that vanishes on any r − 1 coordinates. ``covers``: the
    supports together use every variable; ``total`` is the sum of all cardinalities.
    """

    S: Array
    r: int
    cardinalities: tuple[int, ...]
    offset: float
    total: int
    covers: bool

    @classmethod
    def of(
        cls, S: Array, cardinalities: tuple[int, ...], offset: float, *, covers: bool = False
    ) -> Subproblem:
        """The problem without the components that are free."""
        r = len(cardinalities)
        bounded = tuple(sorted(k for k in cardinalities if k <= len(S) - r))
        return cls(S, r, bounded, offset, sum(cardinalities), covers)

    @cached_property
    def scores(self) -> Array:
        """The part of each variable in the leading subspace."""
        vectors = np.linalg.eigh(self.S)[1][:, -self.r :]
        scores: Array = (vectors**2).sum(axis=1)
        return scores

    def spectral_bound(self) -> float:
        """What r components of any kind can explain."""
        values = np.linalg.eigvalsh(self.S)[-self.r :] if self.r else np.zeros(0)
        return self.offset + float(values.sum()) + eigenvalue_margin(self.S, self.r)


@dataclass(frozen=True)
class FlagNode(Node):
    """The supports of the first components are known, those of the next one in part."""

    problem: Subproblem
    families: tuple[Family, ...]
    level: int
    weights: Array | None
    factors: Mapping[Which, Array]

    method = "lifted dual"

    @classmethod
    def root(cls, problem: Subproblem, above: float = np.inf) -> FlagNode:
        """All supports are possible."""
        d = len(problem.S)
        families = tuple(Family.all_supports(d, k) for k in problem.cardinalities)
        return cls(min(above, problem.spectral_bound()), problem, families, 0, None, {})

    def branch(self, incumbent: Incumbent) -> list[Node] | None:
        """Divide the supports of the first undecided component by one variable."""
        node = self._at_undecided()
        if node.level == len(node.families):
            return None
        family = node.families[node.level]
        if family.is_empty:
            return []
        if family.sets is not None and node.weights is None:
            return node._sifted(family, family.sets, incumbent)
        x = family.branching_variable(node.weights, node.problem.scores)
        return [
            node._with(part).tightened(incumbent) for part in family.split(x) if not part.is_empty
        ]

    def _sifted(self, family: Family, sets: Indices, incumbent: Incumbent) -> list[Node]:
        """The node with those supports of a family that a cheap bound does not exclude."""
        bounds = self._bounds(sets)
        open_ones = bounds > incumbent.threshold
        weights = np.full(int(open_ones.sum()), 1.0 / max(int(open_ones.sum()), 1))
        kept = replace(
            self._with(family.only(open_ones)), weights=weights, bound=float(bounds.max())
        )
        nodes: list[Node] = []
        if open_ones.any():
            nodes.append(kept.tightened(incumbent))
        if not open_ones.all():  # their bound counts, although nobody will look at them again
            nodes.append(replace(self, bound=float(bounds[~open_ones].max())))
        return nodes

    def tightened(self, incumbent: Incumbent) -> FlagNode:
        """The same node with the bound of its own lifted dual."""
        terms = self._terms()
        if not terms:
            return self
        found = self._solve(terms, incumbent)
        index = list(terms).index((self.level,)) if (self.level,) in terms else None
        return replace(
            self,
            bound=min(self.bound, found.value + self.problem.offset),
            weights=None if index is None else found.weights[index],
            factors=dict(zip(terms, found.factors, strict=True)),
        )

    def _bounds(self, sets: Indices) -> Array:
        """A bound for each support that the next component may have, from the multipliers so far.

        With S′ the matrix lifted by them, one more multiplier M = (τI − S′)₊ raises eigenvalues of
        S′ below τ to τ, and its smallest eigenvalue on T is τ less the largest one of S′ clipped at
        τ. The best τ of a few is taken for each T.
        """
        problem, terms = self.problem, self._terms()
        known = [which for which in terms if which in self.factors and which != (self.level,)]
        lifted, base = problem.S, problem.spectral_bound()
        if known:
            factors = np.array([self.factors[which] for which in known])
            lifted = lifted + (factors @ factors.transpose(0, 2, 1)).sum(axis=0)
            kept = [terms[which] for which in known]
            base = problem.offset + evaluate(problem.S, problem.r, kept, factors)
        values, vectors = np.linalg.eigh(lifted)
        leading = values[-problem.r :]
        bounds = np.full(len(sets), np.inf)
        for tau in np.linspace(leading[0], leading[-1], _CLIPS):
            clipped = (vectors * np.minimum(values, tau)) @ vectors.T
            largest = np.linalg.eigvalsh(blocks(clipped, sets))[:, -1]
            raised = float(np.maximum(tau - leading, 0.0).sum())
            np.minimum(bounds, base + raised - (tau - largest), out=bounds)
        return np.minimum(bounds + 8.0 * eigenvalue_margin(lifted, problem.r + 1), self.bound)

    def _solve(self, terms: Mapping[Which, Term], incumbent: Incumbent) -> DualBound:
        problem = self.problem
        start = None
        if self.factors:
            # What the parent has found is the start; terms that are new begin small.
            peak = float(np.sqrt(np.linalg.eigvalsh(problem.S)[-1]))
            fresh = _FRESH_MULTIPLIER * peak * np.eye(len(problem.S))
            start = np.array([self.factors.get(which, fresh) for which in terms])
        return minimise(
            problem.S,
            problem.r,
            list(terms.values()),
            start=start,
            target=incumbent.threshold - problem.offset,
            deadline=incumbent.deadline,
            # A node that can be divided further need not have the best bound.
            patient=all(family.is_decided for family in self.families),
        )

    def _at_undecided(self) -> FlagNode:
        """The node moved on to its first undecided component."""
        level, families = self.level, list(self.families)
        while level < len(families) and families[level].is_decided:
            least = code(families[level].hull)
            level += 1
            if level < len(families) and families[level].k == families[level - 1].k:
                families[level] = families[level].from_code(least)
        if level == self.level:
            return self
        if self.problem.covers and level < len(families):
            families[level] = self._covering(families, level)
        return replace(self, level=level, families=tuple(families), weights=None)

    def _covering(self, families: list[Family], level: int) -> Family:
        """The supports that leave no more uncovered than the later components can cover."""
        covered = np.unique(np.concatenate([family.hull for family in families[:level]]))
        later = self.problem.total - sum(family.k for family in families[: level + 1])
        open_count = len(self.problem.S) - covered.size
        return families[level].with_at_least(open_count - later, outside=covered)

    def _with(self, family: Family) -> FlagNode:
        families = (*self.families[: self.level], family, *self.families[self.level + 1 :])
        return replace(self, families=families)

    def _terms(self) -> dict[Which, Term]:
        """What is known of the span: for every few components, the variables they live on."""
        d, r = len(self.problem.S), self.problem.r
        known = range(self.level + 1)
        terms: dict[Which, Term] = {}
        for count in range(1, min(_MOST_TOGETHER, len(known)) + 1):
            for which in combinations(known, count):
                family = self.families[which[0]]
                if count == 1 and family.sets is not None:
                    terms[which] = Term(1, family.sets)
                    continue
                union = np.unique(np.concatenate([self.families[i].hull for i in which]))
                if union.size < d - r + count:  # else every span of r dimensions satisfies it
                    terms[which] = Term(count, union[None])
        if self.problem.covers:
            terms.update(self._complements())
        return terms

    def _complements(self) -> Iterator[tuple[Which, Term]]:
        """Where supports cover everything, the others must cover what the decided ones do not."""
        d, r = len(self.problem.S), self.problem.r
        decided = [i for i in range(self.level + 1) if self.families[i].is_decided]
        for count in range(1, min(_MOST_TOGETHER, len(decided), r - 1) + 1):
            for which in combinations(decided, count):
                union = np.unique(np.concatenate([self.families[i].hull for i in which]))
                rest = np.setdiff1d(np.arange(d), union)
                capacity = self.problem.total - sum(self.families[i].k for i in which)
                extra = capacity - rest.size
                if (
                    not 0 <= extra < union.size - count
                    or comb(union.size, extra) > _MOST_COMPLEMENTS
                ):
                    continue
                sets = [np.append(rest, more) for more in combinations(union, extra)]
                yield (-1, *which), Term(r - count, np.array(sets, dtype=np.intp))
