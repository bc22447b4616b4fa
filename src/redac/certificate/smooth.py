"""Sums of the largest values without their kinks, for a method that needs slopes."""

from __future__ import annotations

import numpy as np

from redac.sources.base import Array

_NEWTON_STEPS = 60


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
    for _ in range(_NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(np.clip(mu - x, -500, 500)))
        excess = p.sum() - count
        if abs(excess) < 1e-10:
            break
        low, high = (mu, high) if excess > 0 else (low, mu)
        step = excess / max(float((p * (1 - p)).sum()), 1e-300)
        mu = mu + step if low < mu + step < high else 0.5 * (low + high)
    total = count * mu + np.logaddexp(0.0, x - mu).sum()
    return float(temperature * total), p


def fermi_rows(values: Array, count: int, temperature: float) -> tuple[Array, Array]:
    """The same for each row of a matrix."""
    m = values.shape[1]
    if count >= m:
        return values.sum(axis=1), np.ones_like(values)
    x = values / temperature
    if count == 1:
        peak = x.max(axis=1, keepdims=True)
        p = np.exp(x - peak)
        total = p.sum(axis=1, keepdims=True)
        return temperature * (np.log(total) + peak)[:, 0], p / total
    ordered = np.sort(x, axis=1)[:, ::-1]
    low, high = ordered[:, count] - 40.0, ordered[:, count - 1] + 40.0
    mu = 0.5 * (ordered[:, count] + ordered[:, count - 1])
    for _ in range(_NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(np.clip(mu[:, None] - x, -500, 500)))
        excess = p.sum(axis=1) - count
        if (np.abs(excess) < 1e-10).all():
            break
        low, high = np.where(excess > 0, mu, low), np.where(excess > 0, high, mu)
        step = mu + excess / np.maximum((p * (1 - p)).sum(axis=1), 1e-300)
        mu = np.where((low < step) & (step < high), step, 0.5 * (low + high))
    sums = count * mu + np.logaddexp(0.0, x - mu[:, None]).sum(axis=1)
    return temperature * sums, p


def soft_maximum(values: Array, temperature: float) -> tuple[float, Array]:
    """A smooth majorant of the largest value, and its slope."""
    peak = float(values.max())
    weights = np.exp((values - peak) / temperature)
    total = float(weights.sum())
    return peak + temperature * float(np.log(total)), weights / total
