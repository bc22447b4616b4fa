"""Branch and bound with the lifted dual, for components whose supports may overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations

import numpy as np

from redac.certificate.dual import DualBound, Piece, Term, blocks, evaluate, minimise, unions
from redac.certificate.families import Family, code
from redac.certificate.rounding import eigenvalue_margin
from redac.certificate.tree import Incumbent, Node
from redac.sources.base import Array, Indices

# Terms for more than three components at once cost more than they sharpen.
_MOST_TOGETHER = 3
_FRESH_MULTIPLIER = 0.1
_CLIPS = 8

Which = tuple[int, ...]


@dataclass(frozen=True)
class Subproblem:
    """Components with bounded cardinalities, ascending, in a space of which r dimensions are taken.

    ``offset`` is what components elsewhere explain. A cardinality of d − r + 1 or more is no bound:
    an r-dimensional space contains a vector that vanishes on any r − 1 coordinates. ``alike``:
    components of equal cardinality may change places. ``variables`` are the places of those of S in
    the whole problem, ``others`` supports of components elsewhere, where they are known.
    """

    S: Array
    r: int
    cardinalities: tuple[int, ...]
    offset: float
    alike: bool = True
    variables: tuple[int, ...] | None = None
    others: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(
        cls,
        S: Array,
        cardinalities: tuple[int, ...],
        offset: float,
        *,
        alike: bool = True,
    ) -> Subproblem:
        """The problem without the components that are free."""
        r = len(cardinalities)
        bounded = tuple(sorted(k for k in cardinalities if k <= len(S) - r))
        return cls(S, r, bounded, offset, alike)

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
    """The supports of the first components are known, those of the next one in part.

    ``weights`` are those of the listed supports of that one, None until they are bounded;
    ``is_final``: everything is known, and more patience would not lower the bound.
    """

    problem: Subproblem
    families: tuple[Family, ...]
    level: int
    weights: Array | None
    factors: Mapping[Which, Array]
    is_final: bool = False

    method = "lifted dual"

    @classmethod
    def root(cls, problem: Subproblem, above: float = np.inf) -> FlagNode:
        """All supports are possible."""
        d = len(problem.S)
        families = tuple(Family.all_supports(d, k) for k in problem.cardinalities)
        return cls(min(above, problem.spectral_bound()), problem, families, 0, None, {})

    @classmethod
    def of(cls, problem: Subproblem, families: Sequence[Family], above: float) -> FlagNode:
        """The components may have these supports, each one of its own."""
        most = len(problem.S) - problem.r
        bounded = sorted((each for each in families if each.k <= most), key=lambda each: each.k)
        above = min(above, problem.spectral_bound())
        return cls(above, problem, tuple(bounded), 0, None, {})

    def branch(self, incumbent: Incumbent) -> list[Node] | None:
        """Divide the supports of the first undecided component by one variable."""
        node = self._at_undecided()
        if node.level == len(node.families):
            if node.is_final:
                return None
            node._offer(incumbent)
            return [*node.tightened(incumbent)]
        family = node.families[node.level]
        if family.is_empty:
            return []
        if family.sets is not None and node.weights is None:
            return node._sifted(family, family.sets, incumbent)
        x = family.branching_variable(node.weights, node.problem.scores)
        parts = [part for part in family.split(x) if not part.is_empty]
        return [child for part in parts for child in node._with(part).tightened(incumbent)]

    def _offer(self, incumbent: Incumbent) -> None:
        """Supports that are all known may have better loadings than any so far."""
        problem = self.problem
        variables = problem.variables or range(len(problem.S))
        place = np.array(variables, dtype=np.intp)
        own = [place[family.hull] for family in self.families]
        incumbent.offer_on([*own, *(np.array(each, dtype=np.intp) for each in problem.others)])

    def _sifted(self, family: Family, sets: Indices, incumbent: Incumbent) -> list[Node]:
        """The node with those supports of a family that a cheap bound does not exclude."""
        bounds = self._bounds(sets)
        count = int((bounds > incumbent.threshold).sum())
        whole = replace(self, weights=np.full(len(sets), 1.0 / max(count, 1)))
        kept, *rest = whole._kept(bounds, incumbent)
        if count == 0:
            return [kept]
        return [*kept.tightened(incumbent), *rest]

    def _kept(self, bounds: Array, incumbent: Incumbent) -> list[FlagNode]:
        """The node with the supports of the next component whose bounds leave them open.

        Behind it one for the others: their bound counts, although nobody will look at them again.
        """
        open_ones = bounds > incumbent.threshold
        if open_ones.all() or not open_ones.any():
            return [replace(self, bound=float(bounds.max()))]
        family = self.families[self.level].only(open_ones)
        weights = None if self.weights is None else self.weights[open_ones]
        kept = replace(self._with(family), weights=weights, bound=float(bounds[open_ones].max()))
        return [kept, replace(self, bound=float(bounds[~open_ones].max()))]

    def tightened(self, incumbent: Incumbent) -> list[FlagNode]:
        """The same node with the bound of its own lifted dual, without supports that exclude it."""
        terms = self._terms()
        is_final = all(family.is_decided for family in self.families)
        if not terms:
            return [replace(self, is_final=is_final)]
        found = self._solve(list(terms.values()), [*chain(*terms)], incumbent, patient=is_final)
        node = replace(
            self,
            bound=min(self.bound, found.value + self.problem.offset),
            factors=dict(zip(chain(*terms), found.factors, strict=True)),
            is_final=is_final,
        )
        index = self._index_of_next(terms)
        if index is None:
            return [node]
        bounds = np.minimum(self.bound, found.bounds[index] + self.problem.offset)
        return replace(node, weights=found.weights[index])._kept(bounds, incumbent)

    def _index_of_next(self, terms: Mapping[tuple[Which, ...], Term]) -> int | None:
        """The place of the term whose cases are the supports of the next component."""
        if self.level == len(self.families) or self.families[self.level].sets is None:
            return None
        found = [i for i, keys in enumerate(terms) if (self.level,) in keys]
        return found[0] if found else None

    def _bounds(self, sets: Indices) -> Array:
        """A bound for each support that the next component may have, from the multipliers so far.

        With S′ the matrix lifted by them, one more multiplier M = (τI − S′)₊ raises eigenvalues of
        S′ below τ to τ, and its smallest eigenvalue on T is τ less the largest one of S′ clipped at
        τ. The best τ of a few is taken for each T.
        """
        problem = self.problem
        known = {
            keys: term
            for keys, term in self._terms().items()
            if all(which in self.factors and self.level not in which for which in keys)
        }
        lifted, base = problem.S, problem.spectral_bound()
        if known:
            factors = np.array([self.factors[which] for which in chain(*known)])
            lifted = lifted + (factors @ factors.transpose(0, 2, 1)).sum(axis=0)
            terms = list(known.values())
            base = problem.offset + evaluate(problem.S, problem.r, terms, factors)
        values, vectors = np.linalg.eigh(lifted)
        leading = values[-problem.r :]
        bounds = np.full(len(sets), np.inf)
        for tau in np.linspace(leading[0], leading[-1], _CLIPS):
            clipped = (vectors * np.minimum(values, tau)) @ vectors.T
            largest = np.linalg.eigvalsh(blocks(clipped, sets))[:, -1]
            raised = float(np.maximum(tau - leading, 0.0).sum())
            np.minimum(bounds, base + raised - (tau - largest), out=bounds)
        return np.minimum(bounds + 8.0 * eigenvalue_margin(lifted, problem.r + 1), self.bound)

    def _solve(
        self, terms: list[Term], keys: list[Which], incumbent: Incumbent, *, patient: bool
    ) -> DualBound:
        problem = self.problem
        start = None
        if self.factors:
            # What the parent has found is the start; terms that are new begin small.
            peak = float(np.sqrt(np.linalg.eigvalsh(problem.S)[-1]))
            fresh = _FRESH_MULTIPLIER * peak * np.eye(len(problem.S))
            start = np.array([self.factors.get(which, fresh) for which in keys])
        return minimise(
            problem.S,
            problem.r,
            terms,
            start=start,
            target=incumbent.threshold - problem.offset,
            deadline=incumbent.deadline,
            # A node that can be divided further need not have the best bound.
            patient=patient,
        )

    def _at_undecided(self) -> FlagNode:
        """The node moved on to its first undecided component."""
        level, families = self.level, list(self.families)
        while level < len(families) and families[level].is_decided:
            least = code(families[level].hull)
            level += 1
            if not self.problem.alike or level == len(families):
                continue
            if families[level].k == families[level - 1].k:
                families[level] = families[level].from_code(least)
        if level == self.level:
            return self
        return replace(self, level=level, families=tuple(families), weights=None)

    def _with(self, family: Family) -> FlagNode:
        families = (*self.families[: self.level], family, *self.families[self.level + 1 :])
        return replace(self, families=families)

    def _terms(self) -> dict[tuple[Which, ...], Term]:
        """What is known of the span: for every few components, the variables they live on.

        The keys say which components the pieces of a term are about.
        """
        terms: dict[tuple[Which, ...], Term] = {}
        # What is known from the beginning bounds later components too.
        known = (
            len(self.families) if not self.problem.alike else min(self.level, len(self.families))
        )
        for which in self._few(range(known)):
            if self.level in which and self.level < len(self.families):
                continue
            hull = self._hull(which)
            if self._says_something(hull.size, len(which)):
                terms[which,] = Term.of(len(which), hull[None])
        if self.level < len(self.families):
            terms.update(self._of_next())
        return terms

    def _of_next(self) -> Iterator[tuple[tuple[Which, ...], Term]]:
        """Each support that the next component may have, with what it makes of the known ones."""
        d, level = len(self.problem.S), self.level
        sets = self.families[level].sets
        pieces: dict[Which, Piece] = {}
        for others in [(), *self._few(range(level), less=1)]:
            which, rank = (*others, level), len(others) + 1
            if sets is None:
                rows = self._hull(which)[None]
            else:
                rows = unions(sets, self._hull(others), d) if others else sets
            if self._says_something(int((rows < d).sum(axis=1).min()), rank):
                pieces[which] = Piece(rank, rows)
        if pieces:
            yield tuple(pieces), Term(tuple(pieces.values()))

    @staticmethod
    def _few(components: range, less: int = 0) -> Iterator[Which]:
        for count in range(1, min(_MOST_TOGETHER - less, len(components)) + 1):
            yield from combinations(components, count)

    def _hull(self, which: Which) -> Indices:
        return np.unique(np.concatenate([self.families[i].hull for i in which]))

    def _says_something(self, size: int, rank: int) -> bool:
        """Else every span of r dimensions satisfies it."""
        return size < len(self.problem.S) - self.problem.r + rank
