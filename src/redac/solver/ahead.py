"""The slow tail of sweeps over weighted cells, shortened: a guess where it leads.

Each sweep, each change of weights and each filling of a gap moves a run to the minimum of an upper
bound. Where the bounds are much steeper than what they bound, every round goes on in the direction
of the one before, a little less far, and many hundred may be left. If each step were the same
multiple of the one before, three places in a row would tell where they end; mostly a few steps of
that length are better than one [1].

[1] R. Varadhan and C. Roland, Simple and globally convergent methods for accelerating the
convergence of any EM algorithm, Scandinavian Journal of Statistics 35 (2008), 335-353.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from redac.solver.problem import Problem
from redac.sources.base import Array
from redac.sources.cells import CellModel

# How far the first guess may go, in steps, and by what it may go farther when that was right: the
# numbers of the paper. 16 at first came to the same on fits that creep.
_REACH = 4.0
# A guess that goes no farther than the next step is of no use.
_LEAST = 2.0


@dataclass(frozen=True)
class Trail:
    """The last places of a run, three at most, and how many steps a guess may go beyond them."""

    models: tuple[CellModel, ...] = ()
    reach: float = _REACH

    def on(self, model: CellModel) -> Trail:
        """With one more place."""
        return replace(self, models=(*self.models[-2:], model))

    def led_to(self, model: CellModel) -> Trail:
        """A guess was right: a new trail that begins there."""
        reach = self.reach * (_REACH if self._stride >= self.reach else 1.0)
        return Trail((model,), reach)

    def misled(self) -> Trail:
        """A guess was wrong: the next one goes less far."""
        return replace(self, reach=max(self.reach / _REACH, _LEAST))

    def guess(self, problem: Problem) -> CellModel | None:
        """Loadings and means where the run may be going, with the scores of now; None: no idea."""
        stride = min(self._stride, self.reach)
        if stride <= 1.0:
            return None
        first, second, last = self._places
        step = second - first
        bend = last - second - step
        *loadings, mean = first + 2.0 * stride * step + stride**2 * bend
        now = self.models[-1]
        return CellModel(_placed(problem, np.array(loadings).T, now.V), now.U, mean)

    @property
    def _stride(self) -> float:
        """How many steps it may be to the end: a step by what changes from one to the next."""
        if len(self.models) < 3:
            return 0.0
        supports = [model.V != 0.0 for model in self.models]
        if any(not np.array_equal(support, supports[-1]) for support in supports):
            return 0.0
        first, second, last = self._places
        bend = float(np.linalg.norm(last - second - (second - first)))
        return float(np.linalg.norm(second - first)) / bend if bend > 0.0 else 0.0

    @property
    def _places(self) -> list[Array]:
        """Loadings and means in one unit, that of the data."""
        U = self.models[-1].U
        lengths = np.linalg.norm(U, axis=0) / np.sqrt(len(U))
        return [np.vstack([model.V.T * lengths[:, None], model.mean]) for model in self.models]


def _placed(problem: Problem, V: Array, beside: Array) -> Array:
    """Loadings as unit vectors in their sets."""
    lengths = np.linalg.norm(V, axis=0)
    V = V / np.where(lengths > 0.0, lengths, 1.0)
    for i, v in enumerate(V.T):
        allowed = problem.allowed(i, beside)
        if v.any() and not allowed.contains(v):
            V[:, i] = allowed.maximize(v)
    return V
