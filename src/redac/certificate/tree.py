"""Best-first branch and bound: at any moment the largest open bound holds for everything."""

from __future__ import annotations

import heapq
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from redac.certificate.rounds import on_supports
from redac.solver import variance
from redac.sources.base import Array, Indices

# Called with the bound, the best value known (both as shares of the trace) and the seconds used.
OnProgress = Callable[[float, float, float], None]

_SECONDS_BETWEEN_REPORTS = 0.2


@dataclass
class Incumbent:
    """The best feasible loadings known, what they explain, and when to stop."""

    S: Array
    V: Array
    tolerance: float
    deadline: float
    cardinality: tuple[int, ...] = ()
    value: float = field(init=False)

    def __post_init__(self) -> None:
        self.value = self.explained(self.V)

    @property
    def threshold(self) -> float:
        """A region whose bound is no larger needs no further look."""
        return self.value + self.tolerance

    def explained(self, V: Array) -> float:
        """Tr(S P_V)."""
        return variance.Explained.of(V, lambda Q: Q.T @ self.S @ Q).together()

    def offer(self, V: Array) -> None:
        """Feasible loadings, in the order of the cardinalities, that may be better."""
        value = self.explained(V)
        if value > self.value:
            self.V, self.value = V, value

    def offer_on(self, supports: Sequence[Indices]) -> None:
        """The best loadings that are easily found on some supports, in any order."""
        if len(supports) != len(self.cardinality):
            return
        sizes = np.argsort([support.size for support in supports], kind="stable")
        places = np.argsort(self.cardinality, kind="stable")
        own = dict(zip(places.tolist(), sizes.tolist(), strict=True))
        ordered = [supports[own[i]] for i in range(len(supports))]
        if all(T.size <= k for T, k in zip(ordered, self.cardinality, strict=True)):
            self.offer(on_supports(self.S, ordered))


@dataclass(frozen=True)
class Node(ABC):
    """A region of the feasible set with a bound on what its members explain."""

    bound: float

    @property
    @abstractmethod
    def method(self) -> str:
        """The name of the bound."""

    @abstractmethod
    def branch(self, incumbent: Incumbent) -> list[Node] | None:
        """Regions that cover this one; [] if it is solved, None if nothing finer is known."""


@dataclass(frozen=True)
class Outcome:
    """What a search has proved: the bound, the kind of node behind it, and the nodes looked at."""

    bound: float
    method: str
    nodes: int
    interrupted: bool


class Tree:
    """The open regions, worst bound first."""

    def __init__(self, roots: Iterable[Node], incumbent: Incumbent) -> None:
        self.incumbent = incumbent
        self.nodes = 0
        self._closed = -np.inf  # the largest bound of a region that was put aside
        self._method = "incumbent"
        self._heap: list[tuple[float, int, Node]] = []
        for root in roots:
            self._push(root)

    @property
    def bound(self) -> float:
        """No feasible loadings of these regions explain more."""
        open_bound = -self._heap[0][0] if self._heap else -np.inf
        return max(open_bound, self._closed, self.incumbent.value)

    def run(self, on_progress: OnProgress | None = None, *, most_nodes: float = np.inf) -> Outcome:
        """Branch until the bound meets the incumbent, nothing finer is known, or time is up."""
        began = reported = time.monotonic()
        interrupted = False
        try:
            while self._heap and self.nodes < most_nodes and self._advance():
                now = time.monotonic()
                if on_progress is not None and now - reported > _SECONDS_BETWEEN_REPORTS:
                    on_progress(self.bound, self.incumbent.value, now - began)
                    reported = now
        except KeyboardInterrupt:
            interrupted = True
        return Outcome(self.bound, self._method, self.nodes, interrupted)

    def _advance(self) -> bool:
        """Replace the worst region by finer ones; False when there is nothing more to gain."""
        worst = self._heap[0][2]
        self._method = worst.method
        if worst.bound <= max(self.incumbent.threshold, self._closed):
            return False
        if time.monotonic() > self.incumbent.deadline:
            return False
        children = worst.branch(self.incumbent)  # an interrupt in here leaves the region open
        if children is None:
            self._closed = worst.bound
            return False
        # First the children, then the parent, which is still on top: an interrupt between the two
        # leaves the region covered.
        for child in children:
            self._push(child)
        heapq.heappop(self._heap)
        return True

    def _push(self, node: Node) -> None:
        self.nodes += 1
        if node.bound <= self.incumbent.threshold:
            self._closed = max(self._closed, node.bound)
        else:
            heapq.heappush(self._heap, (-node.bound, self.nodes, node))
