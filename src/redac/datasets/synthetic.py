"""Simulated data whose sparse components are known beforehand."""

from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, check_random_state, check_scalar

RandomSource: TypeAlias = int | np.random.RandomState | np.random.Generator | None

_N_FEATURES = 10
_MINOR_EIGENVALUES = (50.0, 50.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0)

_HASTIE_DESCRIPTION = """\
Hastie data (Zou, Hastie and Tibshirani, 2006)

Two independent factors V1 and V2 have the variances 290 and 300, and a third one is
V3 = 0.3 V1 + 0.925 V2 + e. The variables X1-X4 observe V1, X5-X8 observe V2, and X9 and
X10 observe V3. The noise e and the noise of each variable have unit variance. The sparse
components to be found are the mean of X5-X8 (it recovers V2) and the mean of X1-X4 (V1).

Source: H. Zou, T. Hastie and R. Tibshirani (2006). Sparse principal component analysis.
Journal of Computational and Graphical Statistics 15(2), 265-286.
"""

_TOY_DESCRIPTION = """\
Toy data with two sparse components (after Shen and Huang, 2008)

Ten Gaussian variables with mean zero. The covariance has the eigenvalues 250, 240, 50, 50,
6, 5, 4, 3, 2 and 1; its two leading eigenvectors have six non-zero entries each, and the
other eight are random.

Sources: H. Shen and J. Z. Huang (2008). Sparse principal component analysis via regularized
low rank matrix approximation. Journal of Multivariate Analysis 99(6), 1015-1034. The
eigenvalues are those of Q. Zhao, D. Meng and Z. Xu, A recursive divide-and-conquer approach
for sparse principal component analysis, section 3.
"""

_NONNEGATIVE_TOY_DESCRIPTION = """\
Toy data with two nonnegative sparse components

Ten Gaussian variables with mean zero. The covariance has the eigenvalues 210, 190, 50, 50,
6, 5, 4, 3, 2 and 1; its two leading eigenvectors are nonnegative, have five non-zero entries
each and share none of them, and the other eight eigenvectors are random.

Source: Q. Zhao, D. Meng and Z. Xu, A recursive divide-and-conquer approach for sparse
principal component analysis, section 3.
"""


def make_hastie(n_samples: int = 1000, *, random_state: RandomSource = None) -> Bunch:
    """Simulate the Hastie data: ten variables driven by three hidden factors.

    The factors are V₁ ~ N(0, 290), V₂ ~ N(0, 300) (the second number is a variance) and
    V₃ = 0.3 V₁ + 0.925 V₂ + ε. The variables X1–X4 observe V₁, X5–X8 observe V₂, X9 and X10
    observe V₃; ε and the ten observation errors are independent standard normal.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows to draw.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. The same integer gives the same data.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With the entries

        data : ndarray of shape (n_samples, 10)
            The rows drawn.
        components : ndarray of shape (2, 10)
            The intended sparse components: one half on each of X5–X8, then one half on each
            of X1–X4. They are the best directions with four non-zeros, not eigenvectors of
            the covariance; these are dense.
        covariance : ndarray of shape (10, 10)
            Covariance of the population.
        eigenvalues : ndarray of shape (10,)
            Eigenvalues of ``covariance``, largest first.
        feature_names : list of str
            A name for each column.
        DESCR : str
            What the data are, and their source.

    References
    ----------
    H. Zou, T. Hastie and R. Tibshirani (2006). Sparse principal component analysis.
    Journal of Computational and Graphical Statistics 15(2), 265-286.
    """
    _check_sample_size(n_samples)
    rng = _random_source(random_state)
    factor_scales = np.sqrt([290.0, 300.0, 1.0])
    # Columns: V1, V2 and ε; rows: V1, V2 and V3 as sums of them.
    factor_mixing = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.925, 1.0]]) * factor_scales
    mixing = np.repeat(factor_mixing, [4, 4, 2], axis=0)
    sources = rng.standard_normal((n_samples, mixing.shape[1]))
    noise = rng.standard_normal((n_samples, _N_FEATURES))
    components = np.zeros((2, _N_FEATURES))
    components[0, 4:8] = components[1, 0:4] = 0.5
    covariance = mixing @ mixing.T + np.eye(_N_FEATURES)
    return Bunch(
        data=sources @ mixing.T + noise,
        components=components,
        covariance=covariance,
        eigenvalues=np.linalg.eigvalsh(covariance)[::-1].copy(),
        feature_names=_feature_names(),
        DESCR=_HASTIE_DESCRIPTION,
    )


def make_toy(n_samples: int = 1000, *, random_state: RandomSource = None) -> Bunch:
    """Simulate Gaussian data whose two leading eigenvectors are sparse.

    The covariance is Σ = Σⱼ cⱼ vⱼ vⱼᵀ with c = (250, 240, 50, 50, 6, 5, 4, 3, 2, 1). The
    vectors v₁ and v₂ have six non-zeros; v₃ to v₁₀ come from standard normal vectors by
    Gram–Schmidt and are drawn afresh on each call.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows to draw.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. The same integer gives the same data and, whatever
        ``n_samples``, the same covariance.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With the entries

        data : ndarray of shape (n_samples, 10)
            The rows drawn.
        components : ndarray of shape (2, 10)
            The sparse eigenvectors v₁ and v₂, of unit length.
        covariance : ndarray of shape (10, 10)
            Covariance Σ of the population.
        eigenvalues : ndarray of shape (10,)
            Eigenvalues of ``covariance``, largest first.
        feature_names : list of str
            A name for each column.
        DESCR : str
            What the data are, and their source.

    Notes
    -----
    The paper prints v₁ and v₂ with three digits: they are exactly orthogonal, but their
    lengths differ from one by up to 0.0006. Here they are divided by their length, which
    makes them exact eigenvectors with the stated eigenvalues.

    References
    ----------
    H. Shen and J. Z. Huang (2008). Sparse principal component analysis via regularized low
    rank matrix approximation. Journal of Multivariate Analysis 99(6), 1015-1034.
    """
    leading = [
        [0.422, 0.422, 0.422, 0.422, 0, 0, 0, 0, 0.380, 0.380],
        [0, 0, 0, 0, 0.489, 0.489, 0.489, 0.489, -0.147, 0.147],
    ]
    return _simulate(leading, (250.0, 240.0), n_samples, random_state, _TOY_DESCRIPTION)


def make_nonnegative_toy(n_samples: int = 1000, *, random_state: RandomSource = None) -> Bunch:
    """Simulate Gaussian data whose two leading eigenvectors are sparse and nonnegative.

    Like :func:`make_toy`, with the eigenvalues (210, 190, 50, 50, 6, 5, 4, 3, 2, 1) and with
    nonnegative vectors v₁ and v₂ that have five non-zeros each and share none.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows to draw.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. The same integer gives the same data and, whatever
        ``n_samples``, the same covariance.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With the entries ``data``, ``components``, ``covariance``, ``eigenvalues``,
        ``feature_names`` and ``DESCR`` of :func:`make_toy`. Here too the printed vectors are
        divided by their length.

    References
    ----------
    Q. Zhao, D. Meng and Z. Xu. A recursive divide-and-conquer approach for sparse principal
    component analysis, section 3.
    """
    leading = [
        [0.474, 0, 0.158, 0, 0.316, 0, 0.791, 0, 0.158, 0],
        [0, 0.140, 0, 0.840, 0, 0.280, 0, 0.140, 0, 0.420],
    ]
    return _simulate(leading, (210.0, 190.0), n_samples, random_state, _NONNEGATIVE_TOY_DESCRIPTION)


def _simulate(
    leading: ArrayLike,
    leading_eigenvalues: tuple[float, ...],
    n_samples: int,
    random_state: RandomSource,
    description: str,
) -> Bunch:
    _check_sample_size(n_samples)
    rng = _random_source(random_state)
    components = np.asarray(leading, dtype=np.float64)
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    eigenvectors = _complete_basis(components, rng)
    eigenvalues = np.array(leading_eigenvalues + _MINOR_EIGENVALUES)
    scores = rng.standard_normal((n_samples, _N_FEATURES)) * np.sqrt(eigenvalues)
    covariance = (eigenvectors.T * eigenvalues) @ eigenvectors
    return Bunch(
        data=scores @ eigenvectors,
        components=components,
        covariance=(covariance + covariance.T) / 2,
        eigenvalues=eigenvalues,
        feature_names=_feature_names(),
        DESCR=description,
    )


def _complete_basis(
    orthonormal_rows: NDArray[np.float64], rng: np.random.RandomState | np.random.Generator
) -> NDArray[np.float64]:
    """Extend orthonormal rows to a basis by Gram–Schmidt on standard normal vectors."""
    n_given, n_features = orthonormal_rows.shape
    random_rows = rng.standard_normal((n_features - n_given, n_features))
    basis, triangle = np.linalg.qr(np.vstack([orthonormal_rows, random_rows]).T)
    # QR is Gram–Schmidt up to signs, and these are free to differ between LAPACK builds.
    rows: NDArray[np.float64] = (basis * np.sign(np.diag(triangle))).T
    rows[:n_given] = orthonormal_rows
    return rows


def _random_source(
    random_state: RandomSource,
) -> np.random.RandomState | np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    source: np.random.RandomState = check_random_state(random_state)
    return source


def _check_sample_size(n_samples: int) -> None:
    check_scalar(n_samples, "n_samples", Integral, min_val=1)


def _feature_names() -> list[str]:
    return [f"X{position}" for position in range(1, _N_FEATURES + 1)]
