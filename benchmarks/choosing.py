"""How often the numbers of components and features are found, and what it costs.

``python -m benchmarks.choosing`` prints the table of the 38 planted and noise sets, ten sets of
pure noise, whether PEV falls anywhere on the paths of real data, how far their places are behind
whole fits, and times as ratios to one fit in the same run. ``--seed`` makes other sets;
``--only sets|noise|paths|quality|times`` is a part of it.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.planted import all_sets, planted
from redac import SparsePCA, SparsePCACV, sparsity_path, stability
from redac.choose.criteria import choose
from redac.datasets import fetch_colon

_RULES = ("best", "one_se", "share", "ebic")


def found(seed: int) -> None:
    """Prints how often each rule finds r, and k where r is given."""
    right: Counter[tuple[str, str]] = Counter()
    sets = all_sets(seed)
    for each in sets:
        path = sparsity_path(each.X, n_components=each.counts, cardinality=each.cardinalities)
        candidates = path.candidates()
        for rule in _RULES:
            chosen = choose(candidates, rule, 0.9).candidate
            right[rule, "r"] += chosen.n_components == each.r
            right[rule, "both"] += (chosen.n_components, chosen.cardinality) == (each.r, each.k)
            if each.r:
                at_r = [one for one in candidates if one.n_components == each.r]
                right[rule, "k"] += choose(at_r, rule, 0.9).candidate.cardinality == each.k
    structured = sum(each.r > 0 for each in sets)
    _say(f"| rule | r right ({len(sets)}) | k right at the true r ({structured}) | both right |")
    _say("|---|---|---|---|")
    for rule in _RULES:
        _say(f"| {rule} | {right[rule, 'r']} | {right[rule, 'k']} | {right[rule, 'both']} |")


def noise(seed: int) -> None:
    """Prints in how many of ten sets of pure noise no component is chosen."""
    nothing: Counter[str] = Counter()
    for number in range(10):
        X = np.random.default_rng([seed, 9, number]).standard_normal((100, 30))
        path = sparsity_path(X, n_components=range(1, 6), cardinality=(1, 2, 3, 5, 8, 12, 20, 30))
        for rule in _RULES:
            nothing[rule] += choose(path.candidates(), rule, 0.9).candidate.n_components == 0
    _say(f"no component in pure noise, of 10: {dict(nothing)}")


def paths() -> None:
    """Prints the largest fall of PEV along either axis of the paths of real data."""
    for name, X, standardize in _real():
        d = X.shape[1]
        ks = np.unique(np.geomspace(1, min(d, 200), 12).round().astype(int))
        path = sparsity_path(
            X, n_components=range(1, 7), cardinality=ks, cv=None, standardize=standardize
        )
        grid = path.table.pivot(
            index="n_components", columns="cardinality", values="pev"
        ).to_numpy()
        fall = -min(np.diff(grid, axis=0).min(), np.diff(grid, axis=1).min(), 0.0)
        _say(f"{name}: PEV falls by {fall:.1e} at most, {grid.size} places")


def quality() -> None:
    """Prints how far the places of paths are behind whole fits, in points of PEV."""
    factors = planted(np.random.default_rng(5), 100, 200, 10, (20, 15, 10, 8, 6, 5), 3)
    for name, X, standardize in (
        *_real()[1:],
        ("planted", factors, False),
        ("tall", _tall(), False),
    ):
        d = X.shape[1]
        ks = np.unique(np.geomspace(2 if d < 300 else 5, min(d, 200), 20).round().astype(int))
        path = sparsity_path(X, n_components=5, cardinality=ks, cv=None, standardize=standardize)
        fits = [SparsePCA(5, cardinality=int(k), standardize=standardize).fit(X) for k in ks]
        pev = np.array([100 * each.explained_variance_ratio_.sum() for each in fits])
        more = path.table.pev.to_numpy() - pev
        _say(
            f"{name}: {more.mean():+.2f} on average, {more.min():+.2f} at worst, {more.max():+.2f}"
        )


def _tall() -> Any:
    """Twenty dense factors and noise, 1000 × 1000."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 20)) @ rng.standard_normal((20, 1000))
    return X + 3 * rng.standard_normal(X.shape)


def _real() -> list[tuple[str, Any, bool]]:
    return [
        ("wine", load_wine().data, True),
        ("breast cancer", load_breast_cancer().data, True),
        ("digits", load_digits().data, False),
        ("colon, log", np.log(fetch_colon().data), False),
    ]


def times() -> None:
    """Prints times as ratios to one fit in the middle of the grid, and to the mean of its fits."""
    tall = _tall()
    colon = np.log(fetch_colon().data)
    ks = np.unique(np.geomspace(5, 200, 20).round().astype(int)).tolist()
    eight = np.unique(np.geomspace(5, 200, 8).round().astype(int)).tolist()
    for name, X in (("1000 × 1000", tall), ("62 × 2000", colon)):
        one, mean, path, grid = _ratios(X, ks, eight)
        _say(
            f"{name}: path of {len(ks)} cardinalities {path / one:.1f} fits with k = 50, "
            f"{path / mean:.1f} fits of the mean; SparsePCACV, 5 folds, 5 × 8: {grid / one:.0f} "
            f"and {grid / mean:.0f} fits"
        )
    one = _best(lambda: SparsePCA(10, cardinality=50).fit(colon))
    half = _best(lambda: stability(colon, 10, 50, random_state=0), 1)
    _say(f"62 × 2000: stability of 50 half-samples, r = 10, k = 50: {half / one:.0f} fits")


def _ratios(X: Any, ks: list[int], eight: list[int]) -> tuple[float, float, float, float]:
    """Times of one fit with five components, of the mean fit, of a path, and of a choice."""
    one = _best(lambda: SparsePCA(5, cardinality=50).fit(X))
    fits = [_best(partial(SparsePCA(5, cardinality=k).fit, X), 1) for k in ks]
    path = _best(lambda: sparsity_path(X, n_components=5, cardinality=ks, cv=None), 2)
    grid = _best(lambda: SparsePCACV(range(1, 6), eight).fit(X), 1)
    return one, float(np.mean(fits)), path, grid


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _best(work: Callable[[], Any], rounds: int = 3) -> float:
    """The shortest time of several, as the processor counts it, whatever else it does."""
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    """All of it, or a part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("sets", "noise", "paths", "quality", "times"))
    options = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "sets": lambda: found(options.seed),
        "noise": lambda: noise(options.seed),
        "paths": paths,
        "quality": quality,
        "times": times,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, part in parts.items():
            if options.only in (None, name):
                part()


if __name__ == "__main__":
    main()
