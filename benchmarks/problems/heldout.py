"""The problems that nothing is tuned on: they say how good the solver is elsewhere.

Other seeds, other columns, other transformations and other kinds of matrix than those for tuning.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.problems import generated, real
from benchmarks.problems.model import Array, TestProblem

# Seeds of this list begin with 97, those for tuning with one: no stream is shared.
_FIRST = 97
_KINDS = ("covariance", "correlation")

# One matrix: what it is called, how it is made, whether it is data, and what is asked of
# it: components, features of each, and whether they must not be negative.
_Cases = tuple[tuple[int, int] | tuple[int, int, bool], ...]
Row = tuple[str, Callable[[], Array], bool, _Cases]


def heldout() -> list[TestProblem]:
    """All held-out problems; no matrix is made before it is looked at."""
    found = []
    for name, make, is_covariance, cases in rows():
        for r, k, *rest in cases:
            signs = ", nonnegative" if rest else ""
            found.append(
                TestProblem(
                    f"{name}, r={r}, k={k}{signs}",
                    make,
                    r,
                    k,
                    nonnegative=bool(rest),
                    is_covariance=is_covariance,
                )
            )
    return found


def rows() -> list[Row]:
    """The matrices, each with what is asked of it."""
    return [*_parts(), *_transformed(), *_classes(), *_products(), *_covariances(), *_data()]


# ------------------------------------------------------------ real data


def _parts() -> list[Row]:
    """Columns drawn at random: twice for each table, of both kinds."""
    cases: dict[tuple[str, int], tuple[_Cases, _Cases]] = {
        ("wine", 10): (((1, 3), (4, 2)), ((2, 4),)),
        ("breast cancer", 12): (((3, 3),), ((1, 5), (5, 2))),
        ("breast cancer", 22): (((4, 6),), ((2, 8), (6, 3))),
        ("digits", 25): (((3, 6),), ((1, 8), (5, 3))),
        ("digits", 45): (((6, 10),), ((4, 15, True),)),
    }
    found: list[Row] = []
    for (name, d), both in cases.items():
        for seed in (_FIRST, _FIRST + 1):
            for kind, asked in zip(_KINDS, both, strict=True):
                make = partial(real.part, name, kind, seed, d)
                found.append((f"{name}, {d} columns ({seed}), {kind}", make, True, asked))
    return found


def _transformed() -> list[Row]:
    """Logarithms, ranks and square roots of whole tables."""
    cases: dict[str, _Cases] = {
        "wine": ((2, 5), (5, 3)),
        "breast cancer": ((1, 7), (4, 4)),
        "digits": ((5, 9),),
        "diabetes": ((3, 3),),
    }
    found: list[Row] = []
    for name, asked in cases.items():
        for how in ("log", "rank", "root"):
            make = partial(real.transformed, name, "correlation", how)
            found.append((f"{name}, {how}", make, True, asked))
    return found


def _classes() -> list[Row]:
    """Rows of one class, or the spread within classes."""
    found: list[Row] = []
    for label in range(10):
        asked: _Cases = ((1 + label % 4, 4 + 2 * label),)
        make = partial(real.one_class, "digits", _KINDS[label % 2], label)
        found.append((f"digits, only {label}, {_KINDS[label % 2]}", make, True, asked))
    for label in range(3):
        make = partial(real.one_class, "wine", "correlation", label)
        found.append((f"wine, class {label}", make, True, ((1, 4 + label), (3, 3))))
    for label in range(2):
        make = partial(real.one_class, "breast cancer", "correlation", label)
        found.append((f"breast cancer, class {label}", make, True, ((3, 6), (1, 10))))
    for name in ("wine", "breast cancer", "digits"):
        make = partial(real.within_classes, name, "correlation")
        found.append((f"{name}, within classes", make, True, ((4, 5),)))
    return found


def _products() -> list[Row]:
    """Columns and their products, some of all of them."""
    cases: dict[tuple[str, int], _Cases] = {
        ("iris", 12): ((2, 3), (1, 4)),
        ("linnerud", 20): ((3, 4),),
        ("diabetes", 60): ((4, 6), (1, 10)),
        ("wine", 90): ((3, 12), (6, 5)),
        ("breast cancer", 240): ((5, 20),),
        ("breast cancer", 466): ((3, 40),),
    }
    return [
        (
            f"{name}, {d} products, correlation",
            partial(real.products, name, "correlation", _FIRST, d),
            True,
            asked,
        )
        for (name, d), asked in cases.items()
    ]


# ------------------------------------------------------------ generated


def _covariances() -> list[Row]:
    """Matrices of known structure, d from 10 to 466."""
    found: list[Row] = []
    for number, (name, make, asked) in enumerate(_structures()):
        equal = number % 2 == 0
        seeded = partial(make, equal=equal)
        found.append((f"{name}, {'equal' if equal else 'unequal'}", seeded, True, asked))
    return found


def _structures() -> list[tuple[str, Callable[..., Array], _Cases]]:
    """Names, functions that still want to know whether variances are equal, and what is asked."""
    found: list[tuple[str, Callable[..., Array], _Cases]] = []
    for number, (d, groups, asked) in enumerate(_BLOCKS):
        block = partial(generated.blocks, (_FIRST, number), d, groups)
        found.append((f"{groups} blocks, d={d}", block, asked))
    for number, (d, kind, asked) in enumerate(_TOEPLITZ):
        band = partial(generated.toeplitz, (_FIRST, 100 + number), d, kind)
        found.append((f"{kind} Toeplitz, d={d}", band, asked))
    for number, (n, d, memory, asked) in enumerate(_WISHART):
        noise = partial(generated.wishart, (_FIRST, 200 + number), n, d, memory=memory)
        found.append((f"Wishart, {n} samples, d={d}, memory {memory}", noise, asked))
    for number, (d, shape, asked) in enumerate(_SPECTRA):
        rotated = partial(generated.with_spectrum, (_FIRST, 300 + number), shape, d)
        found.append((f"{shape} spectrum, d={d}", rotated, asked))
    for number, (d, asked) in enumerate(_GRAPHS):
        graph = partial(generated.graphical, (_FIRST, 400 + number), d)
        found.append((f"graph, d={d}", graph, asked))
    return found


_BLOCKS: tuple[tuple[int, int, _Cases], ...] = (
    (10, 3, ((1, 3), (3, 3))),
    (16, 4, ((2, 4),)),
    (24, 5, ((4, 3), (1, 6))),
    (40, 6, ((5, 6),)),
    (75, 8, ((3, 10),)),
    (110, 12, ((6, 9), (1, 12))),
    (220, 15, ((8, 12),)),
    (466, 20, ((4, 50),)),
)
_TOEPLITZ: tuple[tuple[int, str, _Cases], ...] = (
    (10, "geometric", ((2, 3), (1, 4))),
    (18, "alternating", ((3, 4),)),
    (30, "hyperbolic", ((1, 6), (4, 5))),
    (48, "seasonal", ((2, 8),)),
    (72, "geometric", ((6, 6),)),
    (130, "seasonal", ((3, 20),)),
    (250, "hyperbolic", ((5, 15),)),
    (466, "geometric", ((8, 25),)),
)
_WISHART: tuple[tuple[int, int, float, _Cases], ...] = (
    (8, 10, 0.0, ((1, 4), (2, 3))),
    (6, 15, 0.0, ((3, 4),)),
    (12, 25, 0.5, ((1, 6), (5, 3))),
    (10, 40, 0.0, ((2, 10),)),
    (20, 64, 0.0, ((4, 8),)),
    (15, 100, 0.7, ((3, 30),)),
    (30, 180, 0.0, ((6, 18),)),
    (25, 320, 0.3, ((2, 64),)),
    (40, 466, 0.0, ((5, 21),)),
)
_SPECTRA: tuple[tuple[int, str, _Cases], ...] = (
    (12, "flat", ((2, 4), (1, 5))),
    (15, "power", ((3, 3),)),
    (22, "spiked", ((5, 4),)),
    (28, "exponential", ((1, 8), (4, 4))),
    (36, "steep", ((2, 9),)),
    (55, "two levels", ((6, 7),)),
    (70, "flat", ((1, 10), (3, 20))),
    (95, "spiked", ((5, 19),)),
    (140, "power", ((4, 14),)),
    (190, "exponential", ((8, 10),)),
    (260, "spiked", ((3, 70),)),
    (350, "power", ((6, 22),)),
    (466, "two levels", ((2, 100),)),
)
_GRAPHS: tuple[tuple[int, _Cases], ...] = (
    (14, ((1, 4), (3, 3))),
    (34, ((4, 5),)),
    (85, ((5, 10),)),
    (200, ((3, 25),)),
)


def _data() -> list[Row]:
    """Data: tall, square and wide; the wide ones have standardised columns."""
    found: list[Row] = []
    for number, (name, make, asked) in enumerate(_MAKERS):
        found.append((name, partial(_seeded, make, (_FIRST, 500 + number)), False, asked))
    for number, (d, groups, asked) in enumerate(_WIDE):
        made = partial(_standardized, (_FIRST, 600 + number), d, groups)
        found.append((f"wide, 72 x {d}, {groups} groups", made, False, asked))
    return found


def _seeded(make: Callable[[generated.Seed], Array], seed: generated.Seed) -> Array:
    return make(seed)


def _standardized(seed: generated.Seed, d: int, groups: int) -> Array:
    return generated.standardized(generated.pathways(seed, 72, d, groups))


def _planted(n: int, d: int, r: int, size: int) -> Callable[[generated.Seed], Array]:
    return lambda seed: generated.planted(seed, n, d, r, size)


def _factors(n: int, d: int, rank: int) -> Callable[[generated.Seed], Array]:
    return lambda seed: generated.factors(seed, n, d, rank)


_MAKERS: tuple[tuple[str, Callable[[generated.Seed], Array], _Cases], ...] = (
    ("planted, 60 x 15", _planted(60, 15, 2, 4), ((2, 4), (1, 4))),
    ("planted, 90 x 45", _planted(90, 45, 4, 8), ((4, 8), (6, 4))),
    ("planted, 150 x 160", _planted(150, 160, 5, 18), ((5, 18),)),
    ("planted, 40 x 420", _planted(40, 420, 3, 30), ((3, 30),)),
    ("planted, 500 x 90", _planted(500, 90, 7, 6), ((7, 6), (7, 6, True))),
    ("factors, 40 x 12", _factors(40, 12, 3), ((2, 3), (4, 2))),
    ("factors, 120 x 35", _factors(120, 35, 5), ((3, 7), (3, 7, True))),
    ("factors, 250 x 130", _factors(250, 130, 9), ((7, 13),)),
    ("factors, 90 x 460", _factors(90, 460, 12), ((4, 23),)),
    ("heavy tails, 150 x 30", lambda seed: generated.heavy_tails(seed, 150, 30), ((3, 5),)),
    ("heavy tails, 80 x 200", lambda seed: generated.heavy_tails(seed, 80, 200), ((5, 12),)),
    ("clusters, 200 x 20", lambda seed: generated.clusters(seed, 200, 20, 4), ((3, 4), (1, 5))),
    ("clusters, 120 x 150", lambda seed: generated.clusters(seed, 120, 150, 6), ((5, 15),)),
    ("counts, 300 x 50", lambda seed: generated.counts(seed, 300, 50), ((4, 5),)),
    ("counts, 200 x 400", lambda seed: generated.counts(seed, 200, 400), ((6, 16, True),)),
)
_WIDE: tuple[tuple[int, int, _Cases], ...] = (
    (1000, 30, ((3, 20),)),
    (1600, 12, ((5, 50),)),
    (2500, 60, ((2, 100),)),
    (4000, 25, ((8, 30),)),
    (5500, 80, ((4, 15),)),
    (7000, 40, ((6, 60), (1, 40))),
)
