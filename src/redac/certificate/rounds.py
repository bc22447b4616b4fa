"""Loadings on given supports: each in turn is the best beside the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redac.sources.base import Array, Indices

_ROUNDS = 60
# Directions that the others leave less of are theirs.
_LEAST = 1e-8
_SETTLED = 1e-9


def on_supports(S: Array, supports: Sequence[Indices]) -> Array:
    """Columns on the supports that explain as much of S as turns in turn lead to."""
    V = _nearest(S, supports)
    value = 0.0
    for _ in range(_ROUNDS):
        before = value
        for i, support in enumerate(supports):
            v, value = _best_beside(S, np.delete(V, i, axis=1), support)
            if v is not None:
                V[:, i] = v
        if value <= before * (1.0 + _SETTLED):
            break
    return V


def _nearest(S: Array, supports: Sequence[Indices]) -> Array:
    """On each support the vector nearest to the leading subspace, no two of which are the same."""
    union = np.unique(np.concatenate(supports))
    part = np.linalg.eigh(S[np.ix_(union, union)])[1][:, -len(supports) :]
    leading = np.zeros((len(S), part.shape[1]))
    leading[union] = part
    V = np.zeros((len(S), len(supports)))
    for i, support in enumerate(supports):
        V[support, i] = np.linalg.svd(leading[support], full_matrices=False)[0][:, 0]
        rest = leading - V[:, : i + 1] @ np.linalg.lstsq(V[:, : i + 1], leading, rcond=None)[0]
        leading = np.linalg.svd(rest, full_matrices=False)[0] * (np.linalg.norm(rest) > _LEAST)
    return V


def _best_beside(S: Array, others: Array, support: Indices) -> tuple[Array | None, float]:
    """The vector on a support that explains most with the others, and what all do."""
    basis = np.linalg.svd(others, full_matrices=False)[0] if others.size else others
    Q = np.eye(len(S))[:, support] - basis @ basis[support].T
    lengths, axes = np.linalg.eigh(Q.T @ Q)
    live = lengths > _LEAST
    already = float(np.einsum("ij,ij->", basis, S @ basis))
    if not live.any():
        return None, already
    axes = axes[:, live] / np.sqrt(lengths[live])
    values, best = np.linalg.eigh(axes.T @ (Q.T @ S @ Q) @ axes)
    v = np.zeros(len(S))
    v[support] = axes @ best[:, -1]
    length = float(np.linalg.norm(v))
    return (v / length if length > 0.0 else None), already + float(values[-1])
