"""The problems that the numbers of the solver may be tuned on."""

from __future__ import annotations

from functools import partial

from benchmarks.problems import generated, real
from benchmarks.problems.model import TestProblem

# Seeds of this list begin with one, those of the held-out list with two: no stream is shared.
_FIRST = 1

# Components and features of each, for each table; from two features to half of them.
_REAL = {
    "wine": ((1, 4), (3, 4), (6, 2)),
    "breast cancer": ((2, 10), (4, 5), (8, 3)),
    "diabetes": ((2, 4), (5, 2)),
    "digits": ((3, 20), (6, 8), (10, 4)),
    "iris": ((2, 2),),
    "linnerud": ((2, 3),),
}
_PITPROPS = ((1, 5), (3, 4), (6, 2))
# Spectrum, whether variances are equal, features, components, features of a component.
_SPECTRA = (
    ("flat", True, 30, 3, 5),
    ("flat", False, 100, 6, 10),
    ("power", True, 20, 4, 3),
    ("power", False, 80, 5, 15),
    ("power", True, 200, 8, 40),
    ("spiked", True, 50, 5, 8),
    ("spiked", False, 150, 5, 25),
    ("spiked", True, 400, 10, 100),
    ("exponential", True, 60, 6, 6),
    ("exponential", False, 300, 4, 60),
    ("two levels", False, 40, 1, 12),
    ("two levels", True, 120, 2, 50),
)
# Rows, columns, planted components, features of each, components and features asked for.
_PLANTED = (
    (100, 30, 3, 5, 3, 5),
    (200, 100, 5, 10, 5, 10),
    (80, 300, 6, 20, 6, 20),
    (300, 60, 4, 15, 6, 8),
    (50, 700, 4, 40, 4, 30),
)
# Rows, columns, factors, components and features asked for.
_FACTORS = (
    (100, 20, 3, 2, 4),
    (500, 100, 10, 6, 10),
    (200, 400, 20, 8, 25),
    (1000, 520, 30, 5, 50),
    (60, 1000, 10, 4, 20),
    (300, 1500, 30, 10, 100),
)
# Columns of wide data of 62 rows, components and features asked for.
_WIDE = ((2000, 5, 20), (2000, 3, 100), (1200, 8, 10))
# Components and bounds on the l1 norm, by table.
_L1 = {"wine": ((2, 1.6), (4, 1.3)), "breast cancer": ((3, 2.5), (5, 1.6)), "digits": ((4, 3.0),)}


def tuning() -> list[TestProblem]:
    """All problems for tuning; no matrix is made before it is looked at."""
    return [*_of_tables(), *_of_spectra(), *_of_data(), *_with_l1(), *_nonnegative()]


def _of_tables() -> list[TestProblem]:
    found = [
        TestProblem(f"{name}, {kind}, r={r}, k={k}", partial(real.matrix, name, kind), r, k)
        for name, cases in _REAL.items()
        for kind in ("covariance", "correlation")
        for r, k in cases
    ]
    found += [TestProblem(f"pitprops, r={r}, k={k}", real.pitprops, r, k) for r, k in _PITPROPS]
    if real.has_colon():
        found += [
            TestProblem(f"colon, r={r}, k={k}", real.colon, r, k, is_covariance=False)
            for r, k in ((3, 50), (10, 20))
        ]
    return found


def _of_spectra() -> list[TestProblem]:
    found = []
    for number, (shape, equal, d, r, k) in enumerate(_SPECTRA):
        make = partial(generated.with_spectrum, (_FIRST, number), shape, d, equal=equal)
        variances = "equal" if equal else "unequal"
        found.append(TestProblem(f"{shape}, {variances}, d={d}, r={r}, k={k}", make, r, k))
    return found


def _of_data() -> list[TestProblem]:
    found = []
    for number, (n, d, planted, size, r, k) in enumerate(_PLANTED):
        make = partial(generated.planted, (_FIRST, 100 + number), n, d, planted, size)
        name = f"planted, {n} x {d}, r={r}, k={k}"
        found.append(TestProblem(name, make, r, k, is_covariance=False))
    for number, (n, d, rank, r, k) in enumerate(_FACTORS):
        make = partial(generated.factors, (_FIRST, 200 + number), n, d, rank)
        name = f"factors, {n} x {d}, r={r}, k={k}"
        found.append(TestProblem(name, make, r, k, is_covariance=False))
    for number, (d, r, k) in enumerate(_WIDE):
        make = partial(generated.intensities, (_FIRST, 300 + number), 62, d)
        name = f"intensities, 62 x {d}, r={r}, k={k}"
        found.append(TestProblem(name, make, r, k, is_covariance=False))
    return found


def _with_l1() -> list[TestProblem]:
    found = [
        TestProblem(
            f"{name}, correlation, r={r}, t={t}",
            partial(real.matrix, name, "correlation"),
            r,
            l1_bound=t,
        )
        for name, cases in _L1.items()
        for r, t in cases
    ]
    found += [
        TestProblem("pitprops, r=3, t=1.8", real.pitprops, 3, l1_bound=1.8),
        TestProblem(
            "factors, 200 x 120, r=4, t=3",
            partial(generated.factors, (_FIRST, 400), 200, 120, 10),
            4,
            l1_bound=3.0,
            is_covariance=False,
        ),
        TestProblem(
            "intensities, 62 x 1000, r=3, t=4",
            partial(generated.intensities, (_FIRST, 401), 62, 1000),
            3,
            l1_bound=4.0,
            is_covariance=False,
        ),
    ]
    return found


def _nonnegative() -> list[TestProblem]:
    cases = (("wine", 3, 4), ("breast cancer", 4, 5), ("digits", 6, 10), ("digits", 3, 25))
    found = [
        TestProblem(
            f"{name}, correlation, r={r}, k={k}, nonnegative",
            partial(real.matrix, name, "correlation"),
            r,
            k,
            nonnegative=True,
        )
        for name, r, k in cases
    ]
    found += [
        TestProblem("pitprops, r=3, k=4, nonnegative", real.pitprops, 3, 4, nonnegative=True),
        TestProblem(
            "spiked, d=120, r=4, k=12, nonnegative",
            partial(generated.with_spectrum, (_FIRST, 500), "spiked", 120, equal=True),
            4,
            12,
            nonnegative=True,
        ),
        TestProblem(
            "factors, 100 x 600, r=4, k=30, nonnegative",
            partial(generated.factors, (_FIRST, 501), 100, 600, 8),
            4,
            30,
            nonnegative=True,
            is_covariance=False,
        ),
    ]
    return found
