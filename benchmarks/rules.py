"""What rules for features find: ``python -m benchmarks.rules`` prints every figure.

Groups of features that interleave, a partition of 60 features, disjoint components beside taking
one component after the other, and a total number of loadings that components share.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from redac import SparsePCA
from redac.datasets import load_pitprops

# What block methods that deal out a total reach on pitprops with six components, in percent.
_TOTALS = {26: 85.77, 18: 82.71, 15: 81.09}


def interleaved(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ten groups of six features, out of order; three of them follow factors, the others noise."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(60) % 10)
    active = rng.permutation(10)[:3]
    X = rng.standard_normal((200, 60))
    for group, strength in zip(active, (2.0, 1.6, 1.3), strict=True):
        factor = rng.standard_normal((200, 1))
        X[:, labels == group] += strength * factor * rng.choice([-1.0, 1.0], 6)
    return X, labels, active


def partition(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sixty features, each of which follows one of five factors."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(60) % 5)
    signs = rng.choice([-1.0, 1.0], 60)
    X = rng.standard_normal((300, 5))[:, labels] * rng.uniform(0.6, 1.2, 60) * signs
    return X + rng.standard_normal(X.shape), labels


def portfolio(seed: int = 0) -> np.ndarray:
    """Returns of 49 assets in 12 sectors with one market factor."""
    rng = np.random.default_rng(seed)
    sector = rng.permutation(np.arange(49) % 12)
    market = rng.standard_normal((500, 1)) * rng.uniform(0.6, 1.2, 49)
    sectors = rng.standard_normal((500, 12))[:, sector] * rng.uniform(0.5, 1.2, 49)
    return market + sectors + rng.standard_normal((500, 49)) * rng.uniform(0.5, 1.2, 49)


def finds_groups(seed: int) -> bool:
    """Whether three components are the three planted groups."""
    X, labels, active = interleaved(seed)
    model = SparsePCA(3, groups=labels, max_groups=1).fit(X)
    found = [frozenset(labels[row != 0].tolist()) for row in model.components_]
    return set(found) == {frozenset([int(group)]) for group in active}


def finds_partition(seed: int, cardinality: int | None) -> bool:
    """Whether five disjoint components are the five planted parts."""
    X, labels = partition(seed)
    used = SparsePCA(5, cardinality=cardinality, disjoint=True).fit(X).components_ != 0
    pairs = set(zip(used.argmax(axis=0).tolist(), labels.tolist(), strict=True))
    return bool((used.sum(axis=0) == 1).all()) and len(pairs) == 5


def one_after_the_other(X: np.ndarray, r: int, k: int | None, *, standardize: bool) -> float:
    """What components explain of which each is fitted to the features that are left."""
    used: list[int] = []
    explained = 0.0
    for _ in range(r):
        if len(used) == X.shape[1]:
            break
        model = SparsePCA(1, cardinality=k, exclude=used or None, standardize=standardize).fit(X)
        explained += float(model.explained_variance_ratio_.sum())
        used += np.flatnonzero(model.components_[0]).tolist()
    return 100 * explained


def disjoint_cases() -> Iterator[tuple[str, int, int | None, float, float]]:
    """Data, r, k, and what disjoint components and one after the other explain."""
    data = {
        "wine": (load_wine().data, True),
        "breast cancer": (load_breast_cancer().data, True),
        "portfolio": (portfolio(), False),
    }
    for name, (X, standardize) in data.items():
        for r in (2, 3, 5):
            for k in (2, 4, 8, None):
                together = SparsePCA(r, cardinality=k, disjoint=True, standardize=standardize)
                explained = 100 * float(together.fit(X).explained_variance_ratio_.sum())
                yield name, r, k, explained, one_after_the_other(X, r, k, standardize=standardize)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=50, help="generated sets of each kind")
    count = parser.parse_args().sets
    warnings.simplefilter("ignore")  # of components that have nothing left
    S = load_pitprops().correlation
    for total, others in _TOTALS.items():
        began = time.perf_counter()
        model = SparsePCA(6, total_cardinality=total).fit_covariance(S)
        value = 100 * model.explained_variance_ratio_.sum()
        seconds = time.perf_counter() - began
        numbers = (model.components_ != 0).sum(axis=1).tolist()
        say(f"pitprops, {total} in all: {value:.2f} % as {numbers}, block methods {others} %")
        say(f"  {seconds:.1f} s, separation {model.separation_:.2f}")
    found = sum(finds_groups(seed) for seed in range(count))
    say(f"interleaved groups: {found} of {count}")
    for k in (12, None):
        found = sum(finds_partition(seed, k) for seed in range(count))
        say(f"partition, cardinality={k}: {found} of {count}")
    for name, r, k, together, greedy in disjoint_cases():
        verdict = "no less" if together >= greedy - 1e-6 else "LESS"
        say(f"{name}, r={r}, k={k}: {together:.3f} beside {greedy:.3f}: {verdict}")


if __name__ == "__main__":
    main()
