"""Settings of an estimator at random: every way to constrain, start and end a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator


def draw_settings(rng: Rng, d: int) -> dict[str, Any]:
    """Arguments of ``SparsePCA`` for data with d features, all of them valid."""
    r = int(rng.integers(1, min(d, int(rng.choice([2, 4, 8]))) + 1))
    settings: dict[str, Any] = {
        "n_components": r,
        **_sparsity(rng, r, d),
        "nonnegative": _nonnegative(rng, r),
        "standardize": bool(rng.random() < 0.3),
        "init": _init(rng, r, d),
        "n_init": _n_init(rng),
        "n_perturbations": int(rng.integers(1, 6)) if rng.random() < 0.15 else 0,
        "ridge": float(10.0 ** rng.uniform(-4, 1)) if rng.random() < 0.2 else 0.0,
        "min_separation": _min_separation(rng),
        "random_state": int(rng.integers(1000)),
        **_ending(rng),
    }
    return settings


def without_chance(rng: Rng, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with nothing drawn at random, and components that stay apart and converge."""
    init = "pca" if isinstance(settings["init"], str) else settings["init"]
    least = float(rng.uniform(0.05, 0.4)) if rng.random() < 0.5 else settings["min_separation"]
    steady = {"init": init, "n_init": "auto", "n_perturbations": 0, "min_separation": least}
    kept = {name: value for name, value in settings.items() if name not in ("max_iter", "tol")}
    return kept | steady


def _sparsity(rng: Rng, r: int, d: int) -> dict[str, Any]:
    kind = rng.random()
    if kind < 0.1:
        return {}
    if kind < 0.4:
        return {"cardinality": int(rng.integers(1, d + 1))}
    if kind < 0.5:
        return {"cardinality": float(rng.uniform(0.02, 1.0))}
    if kind < 0.65:
        return {"cardinality": tuple(int(k) for k in rng.integers(1, d + 1, size=r))}
    most = float(np.sqrt(d))
    if kind < 0.9:
        return {"l1_bound": float(rng.uniform(1.0, max(1.0, most) + 0.1))}
    return {"l1_bound": tuple(float(t) for t in rng.uniform(1.0, max(1.0, most) + 0.1, size=r))}


def _nonnegative(rng: Rng, r: int) -> bool | tuple[bool, ...]:
    kind = rng.random()
    if kind < 0.1:
        return tuple(bool(sign) for sign in rng.random(r) < 0.5)
    return bool(kind < 0.3)


def _init(rng: Rng, r: int, d: int) -> Any:
    kind = rng.random()
    if kind < 0.85:
        return "pca" if kind < 0.6 else "varimax" if kind < 0.75 else "random"
    components = rng.standard_normal((r, d)) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.3:
        components[rng.random(r) < 0.5] = 0.0
    elif rng.random() < 0.3:
        components[:] = components[0]
    return components


def _n_init(rng: Rng) -> int | str:
    return "auto" if rng.random() < 0.6 else int(rng.integers(1, 5))


def _min_separation(rng: Rng) -> float | str:
    kind = rng.random()
    if kind < 0.6:
        return "auto"
    if kind < 0.7:
        return 0.0
    return float(rng.choice([0.1, 0.3, 0.5, 0.9, 1.0])) if kind < 0.85 else float(rng.random())


def _ending(rng: Rng) -> dict[str, Any]:
    kind = rng.random()
    if kind < 0.7:
        return {}
    if kind < 0.85:
        return {"max_iter": int(rng.choice([1, 2, 5, 20]))}
    if kind < 0.9:
        return {"max_iter": 50, "tol": 0.0}
    return {"tol": float(rng.choice([1e-3, 1e-5, 1e-10]))}
