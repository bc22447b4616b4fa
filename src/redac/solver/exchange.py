"""One feature of a component for another: what sweeps do not find where components use few.

A sweep gives a component the features with the largest entries of w = E_iᵀu_i, and those that it
uses already are ahead of the others, because each brings its own variance. The fewer they are, the
more supports stay as they are although others would explain more.

With Q the projector on what is orthogonal to the other components, loadings v add vᵀQSQv / vᵀQv to
what these explain. For a feature j of v and a feature l outside, the most that v without j and the
unit vector of l explain together is a root of a quadratic equation: a lower bound of what the new
support explains, for all pairs (j, l) at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from redac.constraints import Constraint, may_enter, normalized
from redac.solver import variance
from redac.solver.problem import Problem
from redac.sources.base import Array, Indices, Source

# Two vectors whose sine has a smaller square than this span no plane that rounding leaves certain.
_PLANE = 0.1
_ROUNDING = 1e-9
# Loadings after some changes.
Changed = Callable[[Problem, Array], Iterator[Array]]


class Rest:
    """What some components leave of S: A = QSQ with Q = I − bbᵀ, b an orthonormal basis of them.

    With C = Sb − b(bᵀSb)/2 it is A = S − bCᵀ − Cbᵀ, so that single rows of it cost little.
    ``outside`` is the least squared length that a new component has outside their span.
    """

    def __init__(self, source: Source, b: Array, Sb: Array, outside: float) -> None:
        self._source = source
        self._least_outside = outside
        self._b = b
        self._C = Sb - 0.5 * b @ (b.T @ Sb)
        self._variances = source.diagonal - 2.0 * (b * self._C).sum(axis=1)
        self._lengths = 1.0 - (b * b).sum(axis=1)

    def quotient(self, v: Array) -> tuple[float, float]:
        """What v adds, and the squared length of its part outside the span of the others."""
        support = np.flatnonzero(v)
        x, b = v[support], self._b[support]
        inside, along = x @ b, x @ self._C[support]
        length = float(x @ x - inside @ inside)
        value = float(x @ self._part(support) @ x - 2.0 * inside @ along)
        return value / max(length, _ROUNDING), length

    def dot(self, W: Array) -> Array:
        """A W for a block W of columns."""
        product = self._source.dot(W)
        product -= self._b @ (self._C.T @ W)
        product -= self._C @ (self._b.T @ W)
        return product

    def values(self, W: Array, SW: Array) -> Array:
        """What unit vectors W, as columns, add, with their products SW: less than that where they
        have too little outside the span of the others."""
        both = (self._b.T @ W) * (self._C.T @ W)
        added = (W * SW).sum(axis=0) - 2.0 * both.sum(axis=0)
        return np.asarray(added / np.maximum(self.outside(W), self._least_outside))

    def outside(self, W: Array) -> Array:
        """The squared lengths of the parts of unit vectors, as columns, outside that span."""
        inside = self._b.T @ W
        return np.asarray(1.0 - (inside * inside).sum(axis=0))

    def matrix(self) -> Array:
        """All of A."""
        left = self._b @ self._C.T
        left += left.T
        return np.subtract(self._source.matrix(), left, out=left)

    def exchanged(self, v: Array, constraint: Constraint) -> Array | None:
        """Loadings that add more than v, with one feature of v exchanged, if there are any."""
        if not _can_exchange(constraint, v):
            return None
        support = np.flatnonzero(v)
        pair = self._best_pair(v, support, constraint)
        if pair is None:
            return None
        new = self.leading(np.where(support == pair[0], pair[1], support))
        (now, length), (value, outside) = self.quotient(v), self.quotient(new)
        is_apart = outside >= min(self._least_outside, length)
        is_better = is_apart and value > now * (1.0 + _ROUNDING) and constraint.contains(new)
        return new if is_better else None

    def _best_pair(
        self, v: Array, support: Indices, constraint: Constraint
    ) -> tuple[int, int] | None:
        """Which feature leaves and which enters, if that adds more; no entry may become negative
        where the set forbids it."""
        x = v[support][:, None]
        rows = self._source.rows(support)
        rows = rows - self._b[support] @ self._C.T - self._C[support] @ self._b.T
        shadow = -self._b[support] @ self._b.T  # Q without the ones of its diagonal
        Av, Qv = x.T @ rows, x.T @ shadow + v
        own = rows[:, support].diagonal()[:, None], self._lengths[support][:, None]
        # v without feature j: its values of A and Q, and those between it and feature l.
        a = Av @ v - 2.0 * x * Av[0, support][:, None] + x * x * own[0]
        alpha = Qv @ v - 2.0 * x * Qv[0, support][:, None] + x * x * own[1]
        b, beta = Av - x * rows, Qv - x * shadow
        value = _larger_root((a, b, self._variances), (alpha, beta, self._lengths))
        forbidden = (self._lengths < self._least_outside) | (self._source.diagonal == 0.0)
        forbidden[support] = True
        if constraint.free_range == (0.0, np.inf):
            value[b < value * beta] = -np.inf  # the weights of the two would differ in sign
        value[:, forbidden] = -np.inf
        allowed = may_enter(constraint, support, v.size)
        if allowed is not None:
            value[~allowed] = -np.inf
        # Beside others, features that span the same are equal: the one with most outside enters.
        is_best = value >= value.max() * (1.0 - _ROUNDING)
        best = np.where(is_best, self._lengths, -np.inf)
        j, entering = divmod(int(np.argmax(best)), v.size)
        now = (Av @ v)[0] / max((Qv @ v)[0], _ROUNDING)
        is_better = value[j, entering] > now * (1.0 + _ROUNDING)
        return (int(support[j]), entering) if is_better else None

    def joined(self, v: Array) -> Array:
        """The most that v and the unit vector of each feature add together; for those of v no
        matter what."""
        product = self.dot(v[:, None])[:, 0]
        shadow = v - self._b @ (self._b.T @ v)
        a, alpha = np.array(v @ product), np.array(max(v @ shadow, _ROUNDING))
        value = _larger_root((a, product, self._variances), (alpha, shadow, self._lengths))
        return np.where(self._lengths < self._least_outside, -np.inf, value)

    def leading(self, support: Indices) -> Array:
        """The unit vector on a support that adds most."""
        A = self._part(support)
        v = np.zeros(self._source.n_features)
        if self._b.shape[1] == 0:
            v[support] = np.linalg.eigh(A)[1][:, -1]
        else:
            b, C = self._b[support], self._C[support]
            lengths, axes = np.linalg.eigh(np.eye(support.size) - b @ b.T)
            axes /= np.sqrt(np.maximum(lengths, self._least_outside))
            A = A - b @ C.T - C @ b.T
            v[support] = normalized(axes @ np.linalg.eigh(axes.T @ A @ axes)[1][:, -1])
        return v if v.sum() >= 0.0 else -v

    def _part(self, support: Indices) -> Array:
        """The part of S that belongs to a support."""
        return self._source.restricted(support).matrix()


def exchange(problem: Problem, V: Array) -> Array:
    """Loadings that explain more than V, after one exchange in each component, or V itself.

    Exchanges that gain no more than ``tol`` are left alone.
    """
    source = problem.source
    chosen = [i for i, each in enumerate(problem.constraints) if _can_exchange(each, V[:, i])]
    if not chosen:
        return V
    best, SV = V, source.dot(V)
    value = problem.value(V)
    for i in chosen:
        rest = rest_beside(problem, best, SV, i)
        v = None if rest is None else rest.exchanged(best[:, i], problem.allowed(i, best))
        if v is None:
            continue
        support = np.flatnonzero(v)
        tried, products = best.copy(), SV.copy()
        tried[:, i], products[:, i] = v, source.combine(support, v[support])
        G = tried.T @ tried
        if not variance.is_separated(G, problem.least_apart):
            continue
        found = variance.together(G, tried.T @ products, problem.ridge)
        if found is not None and problem.is_gain(found, value):
            best, SV, value = tried, products, found
    return best


def changed_while_it_gains(problem: Problem, V: Array, changed: Changed) -> Array:
    """Loadings after changes that gain, in turn the first of those that promise most; or V itself.

    ``changed`` gives the loadings after each change that is allowed, the most promising first.
    """
    value = problem.value(V)
    for _ in range(problem.n_exchanges):
        for tried in changed(problem, V):
            if problem.is_gain(found := problem.value(tried), value):
                V, value = tried, found
                break
        else:
            break
    return V


def _can_exchange(constraint: Constraint, v: Array) -> bool:
    """Whether entries of the set are free, and v uses some features but not all."""
    return constraint.free_range is not None and 0 < int(np.count_nonzero(v)) < v.size


def rest_beside(problem: Problem, V: Array, SV: Array, i: int) -> Rest | None:
    """What the components other than i leave; None where they are too close together to tell."""
    live = np.asarray(V.any(axis=0))
    live[i] = False
    others = V[:, live]
    if not others.size:
        return Rest(problem.source, others, others, problem.strategy.outside)
    gram = others.T @ others
    if not variance.is_separated(gram, variance.DISTINCT):
        return None
    turn = np.linalg.inv(np.linalg.cholesky(gram)).T
    return Rest(problem.source, others @ turn, SV[:, live] @ turn, problem.strategy.outside)


def _larger_root(A: tuple[Array, Array, Array], Q: tuple[Array, Array, Array]) -> Array:
    """The largest quotient of two quadratic forms [[a, b], [b, c]], or c's alone."""
    (a, b, c), (alpha, beta, gamma) = A, Q
    square = alpha * gamma - beta * beta
    middle = 0.5 * (a * gamma + c * alpha) - b * beta
    is_plane = square > _PLANE * alpha * gamma
    root = np.sqrt(np.maximum(middle * middle - square * (a * c - b * b), 0.0))
    alone = c / np.maximum(gamma, _ROUNDING)
    return np.where(is_plane, (middle + root) / np.where(is_plane, square, 1.0), alone)
