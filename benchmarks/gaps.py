"""Gaps and outliers: the tables of docs/gaps.md.

``python -m benchmarks.gaps`` prints all tables; names choose some: filling, reference (with
``--reference DIR``, a folder with tables completed by R's missMDA), cells, rows, clean, time.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import subspace_angles

from redac import SparsePCA
from redac.datasets import make_hastie
from redac.metrics import pev

# Sets that no constant was chosen on: those for choosing have smaller numbers.
FRESH = 1000
SHARES = (0.1, 0.3, 0.5, 0.7)
WILD = (0.0, 0.02, 0.05, 0.1)
ROBUST = ("cells", "rows", "both")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def planted(n: int, d: int, k: int, variances: tuple[float, ...], seed: int) -> np.ndarray:
    """Components of k consecutive features each, none shared, with noise of variance one."""
    rng = np.random.default_rng(seed)
    V = np.zeros((d, len(variances)))
    for i in range(len(variances)):
        loadings = rng.uniform(0.5, 1.5, k) * rng.choice([-1.0, 1.0], k)
        V[i * k : (i + 1) * k, i] = loadings / np.linalg.norm(loadings)
    scores = rng.standard_normal((n, len(variances))) * np.sqrt(variances)
    noise: np.ndarray = rng.standard_normal((n, d))
    return scores @ V.T + noise


def with_gaps(X: np.ndarray, share: float, seed: int) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def hubert(p: int, setting: int, seed: int, *, wild: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Hubert's rows, 100 of them, the first 20 bad, and maybe wild cells; the true loadings."""
    rng, n, bad, far = np.random.default_rng(seed), 100, 20, 25.0
    C = np.eye(p)
    C[:4, :4], C[4:8, 4:8] = 0.9, 0.5
    np.fill_diagonal(C, 1.0)
    spread = np.repeat([10.0, 5.0, 2.0], [4, 4, p - 8])
    X = rng.multivariate_normal(np.zeros(p), C * np.outer(spread, spread), n)
    X += rng.standard_normal((n, p))
    V = np.zeros((p, 2))
    V[:4, 0] = V[4:8, 1] = 0.5
    if setting == 1:
        X[:bad, 4:6] = rng.normal(-far, 1.0, (bad, 2))
    elif setting == 2:
        X[:bad] += far * (V[:, 1] - V[:, 0])
    else:
        pattern = np.concatenate([[0, -4, 4, 2, 0, 4, -4, 2], np.resize([3, -3], p - 8)])
        X[:bad] = far * pattern + np.sqrt(20.0) * rng.standard_normal((bad, p))
    return X + (rng.random(X.shape) < wild) * rng.normal(0.0, 100.0, X.shape), V


def filling(sets: int) -> None:
    """Root mean squared error on missing cells, 200 × 50, three components of six features."""
    _say("\n| RMSE on missing cells | " + " | ".join(f"{100 * s:.0f} %" for s in SHARES) + " |")
    _say("|---|" + "--:|" * len(SHARES))
    errors = np.zeros((4, len(SHARES)))
    for at, share in enumerate(SHARES):
        for seed in range(sets):
            X = planted(200, 50, 6, (9.0, 6.0, 4.0), seed)
            Y = with_gaps(X, share, 1000 + seed)
            gaps, means = np.isnan(Y), np.nanmean(Y, axis=0)
            filled = SparsePCA(3, cardinality=6).fit(np.where(gaps, means, Y))
            by_filling = filled.inverse_transform(filled.transform(np.where(gaps, means, Y)))
            plain = SparsePCA(3, cardinality=6, ridge=0.0).fit(Y).impute(Y)
            ours = SparsePCA(3, cardinality=6).fit(Y).impute(Y)
            guesses = (np.tile(means, (200, 1)), by_filling, plain, ours)
            for place, guess in enumerate(guesses):
                errors[place, at] += np.sqrt(((guess - X)[gaps] ** 2).mean()) / sets
    names = ("column mean", "filled with means, then fitted", "gaps, no ridge", "gaps, default")
    for name, row in zip(names, errors, strict=True):
        _say(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |")


def reference(folder: Path) -> None:
    """Beside the completed tables of R's missMDA, dense components."""

    def read(name: str) -> np.ndarray:
        return np.genfromtxt(folder / name, delimiter=",")

    _say("\n| no ridge | sum of squares | largest difference of a completed cell |\n|---|--:|--:|")
    for name, r in (("wine", 1), ("wine", 2), ("decathlon", 1)):
        Y, theirs = read(f"{name}_scaled_na.csv"), read(f"ref_{name}_scaled_em_{r}.csv")
        model = SparsePCA(r, ridge=0.0, tol=1e-12, max_iter=5000).fit(Y)
        scores, gaps = model.transform(Y), np.isnan(Y)
        left = np.nansum((Y - model.inverse_transform(scores)) ** 2)
        difference = np.abs(model.impute(Y) - theirs)[gaps].max()
        _say(f"| {name}, {r} | {left:.6f} | {difference:.1e} |")
    _say("\n| error on removed cells | missMDA | redac | ratio |\n|---|--:|--:|--:|")
    for name in ("wine", "decathlon"):
        full, Y = read(f"{name}_full.csv"), read(f"{name}_na.csv")
        for r in (2, 3):
            guesses = (
                read(f"ref_{name}_regularized_{r}.csv"),
                SparsePCA(r, standardize=True).fit(Y).impute(Y),
            )
            units = (np.isnan(Y), full.std(axis=0, ddof=1))
            error, ours = (
                float(np.sqrt((((guess - full) / units[1])[units[0]] ** 2).mean()))
                for guess in guesses
            )
            _say(f"| {name}, {r} | {error:.3f} | {ours:.3f} | {ours / error:.3f} |")


def cells(sets: int) -> None:
    """How often supports are exact on Hastie data with cells that are off."""
    true = {frozenset(range(4)), frozenset(range(4, 8))}
    _say(
        "\n| exact supports of "
        + f"{sets} | "
        + " | ".join(f"{100 * w:.0f} %" for w in WILD)
        + " |"
    )
    _say("|---|" + "--:|" * len(WILD))
    for robust in (None, "cells", "both"):
        counts = []
        for share in WILD:
            found = 0
            for seed in range(FRESH, FRESH + sets):
                X = make_hastie(200, random_state=seed).data
                rng = np.random.default_rng(10_000 + seed)
                X = X + (rng.random(X.shape) < share) * 150.0 * rng.standard_normal(X.shape)
                model = SparsePCA(2, cardinality=4, robust=robust).fit(X)
                found += {frozenset(np.flatnonzero(v).tolist()) for v in model.components_} == true
            counts.append(str(found))
        _say(f"| robust={robust!r} | " + " | ".join(counts) + " |")


def rows(sets: int) -> None:
    """Angles from the true span with bad rows, and with bad rows and 2 % wild cells."""
    _say("\n| mean angle, 20 % bad rows | p | setting 1 | setting 2 | setting 3 |")
    _say("|---|--:|--:|--:|--:|")
    for robust, wild in ((None, 0.0), ("cells", 0.0), ("rows", 0.0), ("both", 0.0), ("both", 0.02)):
        for p in (10, 200):
            angles = []
            for setting in (1, 2, 3):
                data = [hubert(p, setting, seed, wild=wild) for seed in range(FRESH, FRESH + sets)]
                found = [
                    subspace_angles(
                        SparsePCA(2, cardinality=4, robust=robust).fit(X).components_.T, V
                    ).max()
                    for X, V in data
                ]
                angles.append(f"{np.mean(found) / (np.pi / 2):.3f}")
            what = f"robust={robust!r}" + (", wild cells too" if wild else "")
            _say(f"| {what} | {p} | " + " | ".join(angles) + " |")


def clean(sets: int) -> None:
    """What robust fits of clean data lose: shares of the variance about the means of the data."""
    _say("\n| clean Hastie data | PEV, least squares | " + "cells | rows | both |")
    _say("|---|--:|--:|--:|--:|")
    values = []
    for seed in range(FRESH, FRESH + sets):
        X = make_hastie(200, random_state=seed).data
        models = [SparsePCA(2, cardinality=4, robust=k).fit(X) for k in (None, *ROBUST)]
        values.append([pev(X, model.components_) for model in models])
    _say("| mean | " + " | ".join(f"{value:.2f}" for value in np.mean(values, axis=0)) + " |")
    lost = np.max(np.array(values)[:, :1] - np.array(values), axis=0)
    _say("| largest loss | | " + " | ".join(f"{value:.2f}" for value in lost[1:]) + " |")


def times() -> None:
    """How many times as long as a fit to complete data, and memory beside the input."""
    _say(
        "\n| 10 % missing | complete, s | gaps, s | ratio | memory / input |\n|---|--:|--:|--:|--:|"
    )
    wide = np.random.default_rng(0)
    factors = wide.standard_normal((62, 30)) @ wide.standard_normal((30, 2000))
    problems = {
        "62 × 2000, r = 20, k = 50": (factors + wide.standard_normal((62, 2000)), 20, 50),
        "10,000 × 500, r = 5, k = 20": (planted(10_000, 500, 20, (9, 8, 7, 6, 5), 0), 5, 20),
    }
    for name, (X, r, k) in problems.items():
        model, Y = SparsePCA(r, cardinality=k), with_gaps(X, 0.1, 0)
        complete, gaps = (min(_seconds(model, data) for _ in range(3)) for data in (X, Y))
        tracemalloc.start()
        model.fit(Y)
        peak = tracemalloc.get_traced_memory()[1] / Y.nbytes
        tracemalloc.stop()
        _say(f"| {name} | {complete:.2f} | {gaps:.2f} | {gaps / complete:.1f} | {peak:.2f} |")


def _seconds(model: SparsePCA, X: np.ndarray) -> float:
    began = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - began


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="filling reference cells rows clean time")
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--reference", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables: dict[str, Callable[[], None]] = {
        "filling": lambda: filling(options.sets),
        "cells": lambda: cells(options.sets),
        "rows": lambda: rows(options.sets),
        "clean": lambda: clean(options.sets),
        "time": times,
    }
    if options.reference is not None:
        tables["reference"] = lambda: reference(options.reference)
    for name in options.names or tables:
        tables[name]()


if __name__ == "__main__":
    main()
