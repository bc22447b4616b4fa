"""A good single component, fast: the truncated power method from every variable, then exchanges."""

from __future__ import annotations

import time

import numpy as np

from redac.sources.base import Array, Indices

# Supports settle after a few steps; those that do not are as good as any other start.
_STEPS = 15
_STEPS_OF_BINDING = 8
_MOST_STARTS = 60
# Starts are worked on together in parts of so many, so that time is looked at in between.
_TOGETHER = 250


def best_of_power(S: Array, k: int, deadline: float = np.inf) -> Array:
    """A unit vector on k variables, as a column, with as large a variance as is easily found."""
    order = np.argsort(-S.diagonal())
    best_value, best = -np.inf, np.sort(order[:k])
    for begin in range(0, len(S), _TOGETHER):
        supports = _settled(S, k, order[begin : begin + _TOGETHER], deadline)
        values = _largest(S, supports)
        if values.max() > best_value:
            best_value, best = float(values.max()), supports[int(np.argmax(values))]
        if time.monotonic() > deadline:
            break
    return _eigenvector(S, _exchanged(S, best, best_value, deadline))


def _settled(S: Array, k: int, starts: Indices, deadline: float) -> Indices:
    """The supports that the truncated power method comes to from the columns of some variables."""
    V: Array = S[:, starts].copy()
    for _ in range(_STEPS):
        keep = np.argpartition(-np.abs(V), k - 1, axis=0)[:k]
        W = np.zeros_like(V)
        np.put_along_axis(W, keep, np.take_along_axis(V, keep, axis=0), axis=0)
        lengths = np.linalg.norm(W, axis=0)
        V = S @ (W / np.where(lengths > 0.0, lengths, 1.0))
        if time.monotonic() > deadline:
            break
    keep = np.argpartition(-np.abs(V), k - 1, axis=0)[:k]
    return np.unique(np.sort(keep.T, axis=1), axis=0)


def _exchanged(S: Array, support: Indices, value: float, deadline: float) -> Indices:
    """Exchange one variable for another as long as that gains."""
    if support.size == len(S):
        return support
    gained = True
    while gained:
        gained = False
        for out in range(support.size):
            if time.monotonic() > deadline:
                return support
            rest = np.delete(support, out)
            others = np.setdiff1d(np.arange(len(S)), support)
            candidates = np.column_stack([np.tile(rest, (others.size, 1)), others])
            values = _largest(S, candidates)
            if values.max() > value * (1.0 + 1e-12):
                value, gained = float(values.max()), True
                support = candidates[int(np.argmax(values))]
    return support


def _largest(S: Array, supports: Indices) -> Array:
    """The largest eigenvalue on each support."""
    values = np.linalg.eigvalsh(S[supports[:, :, None], supports[:, None, :]])
    return np.asarray(values[:, -1], dtype=np.float64)


def _eigenvector(S: Array, support: Indices) -> Array:
    V = np.zeros((len(S), 1))
    V[support, 0] = np.linalg.eigh(S[np.ix_(support, support)])[1][:, -1]
    return V


def binding_supports(S: Array, k: int, inside: Indices, free: Indices) -> Indices:
    """Supports with large eigenvalues that have some variables and the others from a list."""
    order = np.argsort(-S.diagonal()[free], kind="stable")
    starts = np.concatenate([free[order[:_MOST_STARTS]], inside[:1]])
    V: Array = S[:, starts].copy()
    allowed = np.full(len(S), -np.inf)
    allowed[free] = 0.0
    allowed[inside] = np.inf
    for _ in range(_STEPS_OF_BINDING):
        keep = np.argpartition(-(np.abs(V) + allowed[:, None]), k - 1, axis=0)[:k]
        W = np.zeros_like(V)
        np.put_along_axis(W, keep, np.take_along_axis(V, keep, axis=0), axis=0)
        lengths = np.linalg.norm(W, axis=0)
        V = S @ (W / np.where(lengths > 0.0, lengths, 1.0))
    keep = np.argpartition(-(np.abs(V) + allowed[:, None]), k - 1, axis=0)[:k]
    return np.unique(np.sort(keep.T, axis=1), axis=0)
