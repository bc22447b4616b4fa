"""All numbers that tune the search, in one place.

None of them changes what is solved, only how hard and where the search looks. Work is counted in
multiplications of one sweep over the features that are looked at (``Problem.work``), so that effort
falls smoothly with the size of a problem and no number of features is a threshold. How each number
was chosen is in the table of docs/the_search.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Strategy:
    """How a search goes about its work.

    Attributes
    ----------
    first_ridge : η of the first sweeps from a start. It keeps components apart while they look for
        their places.
    rough : first sweeps end when one gains no more than this share of the variance.
    calm : features are exchanged when a sweep gains no more than this share of the variance.
    scope : sweeps look at so many times as many features as each component may use.
    least_features : but at no fewer features than this in all, where there are so many.
    sweeps_between : the most sweeps before the next polish.
    outside : the least squared length of what a component that is exchanged or drawn anew has
        outside the span of the others. Closer ones explain more, but tend to collapse.
    seeds : a new component grows from a row of S; so many rows are looked at, divided by the
        numbers of features and of components.
    tried : a new component is looked for from so many of them, those that explain most.
    power_steps : so many power steps lead from a direction to a component, where components are
        drawn in turn.
    exchanges : features are exchanged if that is no more work than this.
    rows : rows of S are looked at for small groups of features if they are no more work than this.
    patience : a run is given up when it is further behind the best than some sweeps like its last
        one would gain; they are the square of this number divided by the work of a sweep.
    redraws : so often, divided by the work of a sweep, components are drawn anew after the starts,
        one or two at a time, but at most once more than there are components, or three times as
        often where rules tie them together. Where a sweep is more work than this, the first start
        is followed nearly as in the paper; where it is twice as much, no start is drawn in turn.
    warmth : in the rounds of ``n_perturbations``, how much less a result may explain and still be
        gone on from, on average, as a share of the variance.
    """

    first_ridge: float = 0.1
    rough: float = 1e-3
    calm: float = 1e-4
    scope: int = 3
    least_features: int = 500
    sweeps_between: int = 4
    outside: float = 0.2
    seeds: float = 2e4
    tried: int = 4
    power_steps: int = 4
    exchanges: float = 1e5
    rows: float = 3e8
    patience: float = 1e7
    redraws: float = 3e5
    warmth: float = 1e-3

    @property
    def first_patience(self) -> float:
        """Patience with the first start, which ``n_init=1`` follows alone: it must not be lost.

        Sixteen times as many sweeps as others have: followed to its end whatever its chances, it
        took two thirds of the time of nonnegative fits of colon (20 × 50), and won none of them.
        """
        return 4.0 * self.patience


DEFAULT = Strategy()
_current: ContextVar[Strategy] = ContextVar("strategy", default=DEFAULT)


def current() -> Strategy:
    """The strategy of problems that are made here and now."""
    return _current.get()


@contextmanager
def using(strategy: Strategy) -> Iterator[None]:
    """Within it, problems are solved by another strategy: for measurements."""
    token = _current.set(strategy)
    try:
        yield
    finally:
        _current.reset(token)
