"""Sums of the largest values without their kinks, for a method that needs slopes."""

from __future__ import annotations

import numpy as np

from redac.sources.base import Array


def fermi(values: Array, count: int, temperature: float) -> tuple[float, Array]:
    """A smooth majorant of the sum of the ``count`` largest values, and its slope in them.

    min_μ count·μ + τ Σ log(1 + exp((λ − μ)/τ)); the slope is the Fermi distribution.
    """
    if count >= values.size:
        return float(values.sum()), np.ones_like(values)
    x = values / temperature
    ordered = np.sort(x)[::-1]
    low, high = ordered[count] - 40.0, ordered[count - 1] + 40.0
    mu = 0.5 * (ordered[count] + ordered[count - 1])
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(np.clip(mu - x, -500, 500)))
        excess = p.sum() - count
        if abs(excess) < 1e-10:
            break
        low, high = (mu, high) if excess > 0 else (low, mu)
        step = excess / max(float((p * (1 - p)).sum()), 1e-300)
        mu = mu + step if low < mu + step < high else 0.5 * (low + high)
    total = count * mu + np.logaddexp(0.0, x - mu).sum()
    return float(temperature * total), p
