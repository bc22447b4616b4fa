"""Which methods there are, and the one way to call them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from redac import parameters
from redac.constraints import normalized
from redac.exceptions import CardinalityWarning
from redac.methods import (
    alspca,
    classic,
    dcpca,
    dspca,
    empca,
    gpower,
    gpower_block,
    gspca,
    nspca,
    orthogonal,
    pathspca,
    pmd,
    redac_method,
    rotation,
    rspca,
    rsvd,
    scotlass,
    spca,
    tpower,
)
from redac.methods.method_data import MethodData
from redac.signs import largest_entry_positive
from redac.sources import Data, Source, as_source
from redac.sources.base import Array
from redac.sources.reading import Given, read_covariance
from redac.user_line import warn_user


@dataclass(frozen=True)
class Method:
    """A method of the literature in the common shape.

    Attributes
    ----------
    run : function of (MethodData, cardinalities, *, rng where it is randomised, its own options)
        that returns loadings d × r.
    nonnegative : whether its loadings are nonnegative.
    total : whether it reaches the sum of the cardinalities only, and deals them out to the
        components itself.
    sparse : whether it heeds the cardinalities at all.
    instead : the option, if any, that sets the sparsity in place of the cardinalities.
    orthogonal : whether it keeps components orthogonal; small cardinalities may then be out of its
        reach.
    needs_samples : whether a covariance matrix is not enough.
    """

    name: str
    run: Callable[..., Array]
    nonnegative: bool = False
    total: bool = False
    sparse: bool = True
    instead: str | None = None
    orthogonal: bool = False
    needs_samples: bool = False

    @property
    def options(self) -> list[str]:
        """The names of its own options."""
        return [name for name in self._keywords() if name != "rng"]

    @property
    def settings(self) -> str:
        """Its own options and what they are unless somebody says otherwise."""
        given = inspect.signature(self.run).parameters
        return ", ".join(f"{name}={given[name].default!r}" for name in self.options)

    @property
    def group(self) -> str:
        """What is asked of it: methods of other groups have more freedom, or less."""
        kinds = {
            "redac": self.name.startswith("redac"),
            "nonnegative": self.nonnegative,
            "orthogonal": self.orthogonal,
            "robust": self.needs_samples,
            "not sparse": not self.sparse,
            "total cardinality": self.total,
        }
        return next((kind for kind, holds in kinds.items() if holds), "same cardinality")

    @property
    def randomised(self) -> bool:
        return "rng" in self._keywords()

    def _keywords(self) -> list[str]:
        given = inspect.signature(self.run).parameters.values()
        return [p.name for p in given if p.kind is inspect.Parameter.KEYWORD_ONLY]


_ALL = (
    Method("redac_l0", redac_method.redac_l0),
    Method("redac_l1", redac_method.redac_l1),
    Method("pca", classic.pca, sparse=False),
    Method("thresholding", classic.thresholding),
    Method("rotation", rotation.rotation),
    Method("scotlass", scotlass.scotlass, orthogonal=True, instead="l1_bound"),
    Method("spca", spca.spca),
    Method("dspca", dspca.dspca),
    Method("gspca", gspca.gspca),
    Method("pathspca", pathspca.pathspca),
    Method("dcpca", dcpca.dcpca),
    Method("rsvd_l0", rsvd.rsvd_l0),
    Method("rsvd_l1", rsvd.rsvd_l1),
    Method("rsvd_scad", rsvd.rsvd_scad),
    Method("empca", empca.empca),
    Method("gpower_l0", gpower.gpower_l0),
    Method("gpower_l1", gpower.gpower_l1),
    Method("gpower_l0_block", gpower_block.gpower_l0_block, total=True),
    Method("gpower_l1_block", gpower_block.gpower_l1_block, total=True),
    Method("alspca", alspca.alspca, total=True),
    Method("pmd", pmd.pmd),
    Method("tpower", tpower.tpower),
    Method("orthogonal", orthogonal.orthogonal, orthogonal=True),
    Method("rspca", rspca.rspca, needs_samples=True),
    Method("redac_l0_nonnegative", redac_method.redac_l0_nonnegative, nonnegative=True),
    Method("redac_l1_nonnegative", redac_method.redac_l1_nonnegative, nonnegative=True),
    Method("nspca", nspca.nspca, nonnegative=True, total=True, instead="beta"),
    Method("empca_nonnegative", empca.empca_nonnegative, nonnegative=True),
)
METHODS = {method.name: method for method in _ALL}


def available_methods() -> list[str]:
    """The names that ``sparse_pca`` knows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from redac.methods import available_methods
    >>> "pathspca" in available_methods()
    True
    """
    return list(METHODS)


def find_method(name: Any) -> Method:
    """The method of that name, or an error that lists the names."""
    if name not in METHODS:
        raise ValueError(f"method={name!r} is unknown; choose one of {', '.join(METHODS)}.")
    return METHODS[name]


def sparse_pca(
    X: Any,
    method: str,
    n_components: int,
    *,
    cardinality: Any,
    covariance: bool = False,
    random_state: Any = None,
    **options: Any,
) -> NDArray[np.float64]:
    """Sparse components by one of the methods of the literature.

    Parameters
    ----------
    X : array, frame or sparse matrix of shape (n_samples, n_features), or (n_features, n_features)
        Data, or with ``covariance=True`` a covariance matrix. All that ``SparsePCA.fit`` takes;
        what it reads in blocks is read in blocks here too. Methods other than redac, pca and
        thresholding then keep a matrix of min(n_samples, n_features) rows and all features in
        memory.
    method : str
        One of ``available_methods()``.
    n_components : int
    cardinality : int, float, or sequence of those
        Non-zero loadings of the components, or the share of the features; one for all or one for
        each. Block methods reach the sum and deal it out themselves.
    covariance : bool, default=False
    random_state : int, RandomState instance or None, default=None
        For methods with random starts.
    **options
        Options of the method itself; see the docstring of its function.

    Returns
    -------
    ndarray of shape (n_components, n_features)
        Unit rows, the entry of largest magnitude positive. A row is zero where the method found
        nothing.

    Examples
    --------
    >>> from redac.datasets import load_pitprops
    >>> from redac.methods import sparse_pca
    >>> correlation = load_pitprops().correlation
    >>> components = sparse_pca(correlation, "pathspca", 2, cardinality=4, covariance=True)
    >>> (components != 0).sum(axis=1)
    array([4, 4])
    """
    _check_options(find_method(method), options)  # before X is read, which may take long
    samples = None if covariance else Given.of(X).about_own_mean()
    return find_components(
        read_covariance(X) if samples is None else as_source(samples),
        method,
        n_components,
        cardinality=cardinality,
        random_state=random_state,
        options=options,
        samples=samples,
    )


def find_components(
    source: Source,
    method: str,
    n_components: int,
    *,
    cardinality: Any,
    random_state: Any,
    options: dict[str, Any],
    samples: Data | None = None,
) -> NDArray[np.float64]:
    """``sparse_pca`` on a source, and on the samples behind it if there are any."""
    chosen = find_method(method)
    _check_options(chosen, options)
    d = source.n_features
    r = parameters.count("n_components", n_components, least=1, most=d)
    cardinalities = parameters.cardinalities(cardinality, r, d)
    if chosen.randomised:
        options = {**options, "rng": check_random_state(random_state)}
    V = chosen.run(MethodData(source, samples), cardinalities, **options)
    components = largest_entry_positive(np.array([normalized(v) for v in V.T]))
    if chosen.sparse and options.get(chosen.instead or "") is None:
        _warn_of_other_cardinalities(chosen, components, cardinalities)
    return components


def _check_options(method: Method, options: dict[str, Any]) -> None:
    """Raise if there is an option that the method does not have."""
    unknown = sorted(set(options) - set(method.options))
    if unknown:
        known = ", ".join(method.options) or "none"
        raise TypeError(f"{method.name} has no option {unknown[0]!r}; its options: {known}.")


def _warn_of_other_cardinalities(method: Method, components: Array, wanted: Sequence[int]) -> None:
    """Say so when the result does not have the cardinalities asked for."""
    found = np.count_nonzero(components, axis=1).tolist()
    if method.total:
        if sum(found) != sum(wanted):
            warn_user(
                f"{method.name}: {sum(found)} non-zero loadings in total instead of {sum(wanted)}.",
                CardinalityWarning,
            )
    elif found != list(wanted):
        warn_user(
            f"{method.name}: the components have {found} non-zero loadings instead of "
            f"{list(wanted)}.",
            CardinalityWarning,
        )
