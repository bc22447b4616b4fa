"""Generated matrices: every one is a function of a seed and a shape.

Strengths, sizes of groups and shares were chosen once, to cover what data look like from weak to
strong structure, and before any solver was run on them; nothing was tried out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Seed = tuple[int, ...]


# ------------------------------------------------------------ covariance matrices


def with_spectrum(seed: Seed, shape: str, d: int, *, equal: bool) -> Array:
    """A random rotation of a spectrum, with equal variances or with log-normal scales."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    S = (Q * _eigenvalues(shape, d)) @ Q.T
    return _scaled(S, equal=equal, rng=rng)


def _eigenvalues(shape: str, d: int) -> Array:
    rank = np.arange(1.0, d + 1.0)
    values: dict[str, Array] = {
        "flat": np.linspace(1.5, 1.0, d),
        "power": 1.0 / rank,
        "steep": 1.0 / rank**2,
        "exponential": 0.9**rank + 1e-3,
        "spiked": np.where(rank <= 5, 10.0 - rank, 1.0),
        "two levels": np.where(rank <= d / 4, 4.0, 1.0),
    }
    return values[shape]


def _scaled(S: Array, *, equal: bool, rng: np.random.Generator) -> Array:
    """A correlation matrix, or the same with variances that spread over two decades."""
    scales = 1.0 / np.sqrt(np.diagonal(S))
    if not equal:
        scales = scales * rng.lognormal(sigma=0.6, size=len(S))
    scaled = S * scales * scales[:, None]
    return (scaled + scaled.T) / 2


def wishart(seed: Seed, n: int, d: int, *, equal: bool, memory: float = 0.0) -> Array:
    """The covariance of n samples; neighbours correlate where there is a memory."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = memory * X[:, j - 1] + np.sqrt(1 - memory**2) * X[:, j]
    return _scaled(np.cov(X, rowvar=False), equal=equal, rng=rng)


def blocks(seed: Seed, d: int, n_blocks: int, *, equal: bool, between: float = 0.05) -> Array:
    """Groups of unequal size that correlate by 0.2 to 0.9 within, and a little between.

    The correlations are those of ten samples for each feature, so that no two are equal.
    """
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, n_blocks, size=d))
    strength = rng.uniform(0.2, 0.9, size=n_blocks)[group]
    common = rng.standard_normal((10 * d, n_blocks))[:, group]
    all_over = rng.standard_normal((10 * d, 1))
    noise = rng.standard_normal((10 * d, d))
    X = np.sqrt(strength) * common + np.sqrt(between) * all_over + np.sqrt(1 - strength) * noise
    return _scaled(np.corrcoef(X, rowvar=False), equal=equal, rng=rng)


def toeplitz(seed: Seed, d: int, kind: str, *, equal: bool) -> Array:
    """Correlations that fall with the distance of two features; a little noise breaks symmetry."""
    rng = np.random.default_rng(seed)
    distance = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    S = {
        "geometric": 0.8**distance,
        "alternating": (-0.6) ** distance,
        "hyperbolic": 1.0 / (1.0 + distance),
        "seasonal": np.cos(distance * 2 * np.pi / 12) * 0.95**distance,
    }[kind]
    noise = rng.standard_normal((5 * d, d))
    return _scaled(S + 0.1 * np.cov(noise, rowvar=False), equal=equal, rng=rng)


def graphical(seed: Seed, d: int, *, equal: bool) -> Array:
    """The covariance of a random graph: few pairs of features are tied to each other."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(-1.0, 1.0, (d, d)) * (rng.random((d, d)) < 3.0 / d), 1)
    weights = weights + weights.T
    least = float(np.linalg.eigvalsh(weights)[0])
    S: Array = np.linalg.inv(weights + (0.2 - least) * np.eye(d)).astype(np.float64)
    return _scaled(S, equal=equal, rng=rng)


# ------------------------------------------------------------ data


def planted(seed: Seed, n: int, d: int, r: int, size: int) -> Array:
    """Sparse components of one size each, which may overlap, with strengths 3 to 1.5, and noise."""
    rng = np.random.default_rng(seed)
    V = np.zeros((r, d))
    for v in V:
        v[rng.choice(d, size=min(size, d), replace=False)] = rng.standard_normal(min(size, d))
        v /= np.linalg.norm(v)
    scores = rng.standard_normal((n, r)) * np.linspace(3.0, 1.5, r)
    return scores @ V + rng.standard_normal((n, d))


def factors(seed: Seed, n: int, d: int, rank: int) -> Array:
    """Factors with a tenth of the loadings, strengths from 3 down to 0.5, and noise."""
    rng = np.random.default_rng(seed)
    share = max(0.1, 4.0 / d)
    loadings = rng.standard_normal((rank, d)) * (rng.random((rank, d)) < share)
    scores = rng.standard_normal((n, rank)) * np.linspace(3.0, 0.5, rank)
    return scores @ loadings + rng.standard_normal((n, d))


def intensities(seed: Seed, n: int, d: int) -> Array:
    """Factor data in which columns have log-normal scales, as intensities of genes have them."""
    scales = np.random.default_rng((*seed, 1)).lognormal(sigma=1.0, size=d)
    X: Array = factors(seed, n, d, 20) * scales
    return X


def pathways(seed: Seed, n: int, d: int, n_groups: int) -> Array:
    """Groups of columns that go up and down together, some of them with the opposite sign."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, size=d)
    weight = rng.uniform(0.2, 1.0, size=d) * rng.choice([-1.0, 1.0], size=d)
    X: Array = rng.standard_normal((n, n_groups))[:, group] * weight
    return X + rng.standard_normal((n, d))


def heavy_tails(seed: Seed, n: int, d: int) -> Array:
    """Student's t with three degrees of freedom, mixed by factors."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((6, d)) * (rng.random((6, d)) < 0.3)
    return rng.standard_t(3, size=(n, 6)) @ loadings + rng.standard_t(3, size=(n, d))


def clusters(seed: Seed, n: int, d: int, n_clusters: int) -> Array:
    """Points around centres, each of which is elsewhere in a fifth of the features only."""
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.standard_normal((n_clusters, d)) * (rng.random((n_clusters, d)) < 0.2)
    return centres[rng.integers(0, n_clusters, size=n)] + rng.standard_normal((n, d))


def counts(seed: Seed, n: int, d: int) -> Array:
    """Counts of words: Poisson, with rates from eight topics and Zipf's law."""
    rng = np.random.default_rng(seed)
    topics = rng.gamma(0.2, size=(8, d)) * (20.0 / np.arange(1.0, d + 1.0) ** 0.7)
    shares = rng.dirichlet(np.full(8, 0.3), size=n)
    return rng.poisson(shares @ topics).astype(np.float64)


def standardized(X: Array) -> Array:
    """Columns with mean zero and deviation one; those that do not vary are left out."""
    X = X[:, X.std(axis=0) > 0.0]
    Z: Array = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return Z
