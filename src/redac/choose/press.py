"""Cross-validation of single cells in closed form.

Loadings V that were found without a row z predict each of its cells from all its others: the scores
are fitted without that cell. Nothing has to be fitted again for it. With H = V(VᵀV + ηI)⁻¹Vᵀ,

    PRESS = Σ_rows Σ_j [(z − Hz)_j / (1 − H_jj)]²

equals deleting each cell in turn. Where H_jj is one, the other cells say nothing of cell j and the
mean predicts it. Summed over rows only their scatter matrix S is needed, as Σ_t (z − Hz)_j² is the
j-th diagonal entry of (I − H)S(I − H).
"""

from __future__ import annotations

import numpy as np

from redac.solver.variance import Basis
from redac.sources.base import Array, Source

# Where 1 − H_jj is no more than this, it is rounding: the other cells say nothing of this one.
_ALONE = 1e-10


def press(rows: Source, V: Array, ridge: float = 0.0) -> float:
    """The sum of squared errors over all cells of some rows, from products with their S.

    Parameters
    ----------
    rows : the scatter of the rows about the mean that loadings V go with, in the same scale.
    V : loadings of d × r.
    ridge : η of the scores.
    """
    used = np.flatnonzero(V.any(axis=1))
    if used.size == 0:
        return float(rows.total)
    part, V = rows.restricted(used), V[used]
    W = Basis.of(V).duals(ridge)
    SW = part.dot(W)
    squares = part.diagonal
    errors = squares - 2 * (SW * V).sum(axis=1) + ((V @ (W.T @ SW)) * V).sum(axis=1)
    left = 1.0 - (W * V).sum(axis=1)
    is_alone = left <= _ALONE
    cells = np.maximum(errors, 0.0) / np.where(is_alone, 1.0, left) ** 2
    return float(rows.total + (np.where(is_alone, squares, cells) - squares).sum())


def press_of_rows(Z: Array, V: Array, ridge: float = 0.0) -> Array:
    """The squared error of each cell, from the centred rows Z (n × d) themselves."""
    W = Basis.of(V).duals(ridge)
    left = 1.0 - (W * V).sum(axis=1)
    is_alone = left <= _ALONE
    errors = (Z - Z @ W @ V.T) / np.where(is_alone, 1.0, left)
    return np.asarray(np.where(is_alone, Z, errors) ** 2)
