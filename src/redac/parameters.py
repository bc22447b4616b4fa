"""From the arguments that a user gives to the objects that the solver takes.

Every complaint names the argument, its value, and what would be right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from redac.constraints import L0, L1, Constraint, Nonnegative, may_collapse, usable

# What an object must have to be a constraint.
_OF_CONSTRAINTS = ("maximize", "contains", "free_range", "restricted")
INITS = ("pca", "varimax", "random")
ROBUST = ("cells", "rows", "both")
# How far apart components stay where nothing but an l1 bound holds them. In 78 settings on eleven
# data sets components that may come closer use up to several times as many features, the more so
# the closer; from 0.5 on their number changes little. At worst 0.5 explains 4 points less than 0.3.
_APART = 0.5


def build_constraints(
    n_components: int,
    n_features: int,
    *,
    cardinality: Any,
    l1_bound: Any,
    nonnegative: Any,
    constraint: Any = None,
) -> list[Constraint]:
    """One constraint for each component."""
    if constraint is not None:
        if cardinality is not None or l1_bound is not None or nonnegative is not False:
            raise ValueError(
                f"constraint={constraint!r} was given beside cardinality, l1_bound or nonnegative; "
                "it takes their place, choose one."
            )
        given = _for_each("constraint", constraint, n_components)
        return [_constraint(each, n_features) for each in given]
    if cardinality is not None and l1_bound is not None:
        raise ValueError(
            f"cardinality={cardinality!r} and l1_bound={l1_bound!r} were both given; "
            "they are two ways to make components sparse, choose one."
        )
    sets: list[Constraint]
    if l1_bound is not None:
        sets = [L1(_l1_bound(t)) for t in _for_each("l1_bound", l1_bound, n_components)]
    elif cardinality is not None:
        sets = [L0(k) for k in cardinalities(cardinality, n_components, n_features)]
    else:
        sets = [L0(n_features)] * n_components
    signs = _for_each("nonnegative", nonnegative, n_components)
    return [
        Nonnegative(inner) if flag("nonnegative", sign) else inner
        for inner, sign in zip(sets, signs, strict=True)
    ]


def cardinalities(cardinality: Any, n_components: int, n_features: int) -> list[int]:
    """The number of non-zeros for each component."""
    given = _for_each("cardinality", cardinality, n_components)
    return [_cardinality(k, n_features) for k in given]


def is_shared(value: Any) -> bool:
    """Whether one value was given for all components, rather than one for each."""
    return value is None or isinstance(value, (bool, np.bool_, Real)) or _is_constraint(value)


def count(name: str, value: Any, *, least: int, most: int | None = None, why: str = "") -> int:
    """A whole number within limits."""
    if not _is_whole(value):
        raise TypeError(f"{name}={value!r} must be a whole number.")
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name}={value!r} must be {limits}{why}.")
    return int(value)


def amount(name: str, value: Any) -> float:
    """A number that is zero or more."""
    if not _is_number(value):
        raise TypeError(f"{name}={value!r} must be a number.")
    if not 0 <= value < math.inf:
        raise ValueError(f"{name}={value!r} must be zero or more, and finite.")
    return float(value)


def ridge(value: Any) -> float | None:
    """η of the objective; None for "auto"."""
    return None if isinstance(value, str) and value == "auto" else amount("ridge", value)


def robust(value: Any) -> str | None:
    """What may be wild: cells, rows, both, or nothing."""
    if value is not None and value not in ROBUST:
        raise ValueError(f"robust={value!r} is not one of {', '.join(ROBUST)}, or None.")
    return None if value is None else str(value)


def share(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    if amount(name, value) > 1:
        raise ValueError(f"{name}={value!r} must be between 0 and 1.")
    return float(value)


def least_separation(value: Any, constraints: Sequence[Constraint], ridge: float) -> float:
    """How far apart components must stay; "auto" where nothing else keeps them from collapse."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"min_separation={value!r} must be a number from 0 to 1, or 'auto'.")
        return _APART if may_collapse(constraints) and ridge == 0.0 else 0.0
    return share("min_separation", value)


def jobs(n_jobs: Any) -> int:
    """A number of processes in the way of joblib: None is one, −1 one for each processor."""
    if n_jobs is not None and (not _is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be a whole number other than 0, or None for one process; "
            "-1 means one for each processor."
        )
    return int(effective_n_jobs(n_jobs))


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}={value!r} must be True or False.")
    return bool(value)


def names(name: str, value: Any, n_features: int) -> list[str]:
    """One name for each feature."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        raise TypeError(f"{name}={value!r} must be a sequence of {n_features} names.")
    given = list(value)
    if len(given) != n_features:
        raise ValueError(f"{name} has {len(given)} names for {n_features} features.")
    for each in given:
        if not isinstance(each, str):
            raise TypeError(f"{name} holds {each!r}; all names must be strings.")
    return [str(each) for each in given]


def start(init: Any, n_components: int, n_features: int) -> str | NDArray[np.float64]:
    """The start asked for: a name, or loadings of d × r from an array of components."""
    if isinstance(init, str):
        if init not in INITS:
            raise ValueError(f"init={init!r} is not one of {', '.join(INITS)}, or an array.")
        return init
    components = np.asarray(init, dtype=np.float64)
    if components.shape != (n_components, n_features):
        raise ValueError(
            f"init has shape {components.shape}; with n_components={n_components} and "
            f"{n_features} features it must be ({n_components}, {n_features})."
        )
    if not np.isfinite(components).all():
        raise ValueError("init contains NaN or infinity.")
    return components.T


def start_count(n_init: Any, usual: int) -> int:
    """How many starting points to try; "auto" is what is usual."""
    if isinstance(n_init, str):
        if n_init != "auto":
            raise ValueError(f"n_init={n_init!r} must be a whole number or 'auto'.")
        return usual
    return count("n_init", n_init, least=1)


def _for_each(name: str, value: Any, n_components: int) -> Sequence[Any]:
    """One value for each component from a value for all or a sequence."""
    if is_shared(value):
        return [value] * n_components
    if isinstance(value, str) or not hasattr(value, "__len__"):
        what = "constraint" if name == "constraint" else "number"
        raise TypeError(f"{name}={value!r} must be a {what} or a sequence of {what}s.")
    if len(value) != n_components:
        raise ValueError(
            f"{name} has {len(value)} values for n_components={n_components}; "
            "give one value for all, or one for each component."
        )
    return list(value)


def _cardinality(value: Any, n_features: int) -> int:
    if _is_whole(value):
        if value < 1:
            raise ValueError(f"cardinality={value!r} must be at least 1.")
        return min(int(value), n_features)
    if _is_number(value):
        if not 0 < value <= 1:
            raise ValueError(
                f"cardinality={value!r} is neither a whole number nor a share of the features "
                "in (0, 1]."
            )
        # Rounding must not cost an entry: 0.29 of 100 features are 29.
        return max(1, math.floor(float(value) * n_features + 1e-9))
    raise TypeError(f"cardinality={value!r} must be a whole number or a share in (0, 1].")


def _constraint(value: Any, n_features: int) -> Constraint:
    if not _is_constraint(value):
        missing = [name for name in _OF_CONSTRAINTS if not hasattr(value, name)]
        raise TypeError(
            f"constraint={value!r} is no constraint: it has no {', '.join(missing)}. Take one of "
            "redac.constraints, or give an object with the methods of Constraint there."
        )
    made: Constraint = value
    try:
        fits = usable(made, n_features).shape == (n_features,)
    except IndexError:
        fits = False
    if not fits:
        raise ValueError(
            f"constraint={value!r} is made for another number of features than the data have, "
            f"which is {n_features}."
        )
    return made


def _is_constraint(value: Any) -> bool:
    return not isinstance(value, type) and all(hasattr(value, name) for name in _OF_CONSTRAINTS)


def _l1_bound(value: Any) -> float:
    if not _is_number(value):
        raise TypeError(f"l1_bound={value!r} must be a number of at least 1.")
    return float(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
