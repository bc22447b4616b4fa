"""Experiments on pitprops and on the colon tissue data: tables 2, 3 and 5 of the paper."""

from __future__ import annotations

from redac.datasets import fetch_colon, load_pitprops
from redac.experiments import measures
from redac.experiments.contenders import (
    MethodContender,
    SearchContender,
    methods,
    with_cardinalities_of,
)
from redac.experiments.experiment import Experiment
from redac.experiments.problems import ExperimentProblem
from redac.experiments.synthetic_tables import RIVALS

_BLOCK = ("gpower_l0_block", "gpower_l1_block", "alspca")
_COLON_COMPONENTS = 20
_COLON_CARDINALITY = 50
# The paper's weights belong to XᵀX; covariances are smaller by the 61 degrees of freedom.
_COLON_FREEDOM = 61
_COLON_NSPCA = {"alpha": 1e6 / _COLON_FREEDOM, "beta": 1e7 / _COLON_FREEDOM, "n_restarts": 1}


def pitprops_problem(cardinality: tuple[int, ...], seed: int) -> ExperimentProblem:
    return ExperimentProblem(load_pitprops().correlation, cardinality, covariance=True)


def colon_problem(cardinality: int, seed: int) -> ExperimentProblem:
    """Raw intensities; every method centres the columns."""
    return ExperimentProblem(fetch_colon().data, (cardinality,) * _COLON_COMPONENTS)


PITPROPS = Experiment(
    name="pitprops",
    title="Pitprops (table 2): 6 components",
    settings={
        "-".join(map(str, cardinality)): cardinality
        for cardinality in ((8, 5, 6, 2, 3, 2), (7, 4, 4, 1, 1, 1), (7, 2, 3, 1, 1, 1))
    },
    make=pitprops_problem,
    contenders=(
        *methods(*RIVALS, "redac_l0", "redac_l1"),
        SearchContender(name="redac_search", rounds=400, quick_rounds=400),
        *with_cardinalities_of(*_BLOCK, rounds=400, quick_rounds=400),
    ),
    measure=measures.explained,
    headline=measures.PEV,
    curve_at=tuple(range(1, 7)),
    quick_curve_at=tuple(range(1, 7)),
    keep_components=True,
)

COLON = Experiment(
    name="colon",
    title="Colon data (table 3): 20 components",
    settings={"20 of 50": _COLON_CARDINALITY},
    make=colon_problem,
    contenders=(
        *methods(*(name for name in RIVALS if name != "dspca"), "redac_l0", "redac_l1"),
        SearchContender(name="redac_search", rounds=20, quick_rounds=1),
        *with_cardinalities_of(*_BLOCK, rounds=20, quick_rounds=1),
    ),
    measure=measures.explained,
    headline=measures.PEV,
    curve_at=tuple(range(1, _COLON_COMPONENTS + 1)),
    quick_curve_at=(1, 2, 5, _COLON_COMPONENTS),
)

COLON_NONNEGATIVE = Experiment(
    name="colon_nonnegative",
    title="Nonnegative components of the colon data (table 5): 20 components",
    settings={"20, cardinalities of NSPCA": 1},
    make=colon_problem,
    contenders=(
        MethodContender(name="nspca", method="nspca", options=_COLON_NSPCA),
        *methods(
            "empca_nonnegative",
            "redac_l0_nonnegative",
            "redac_l1_nonnegative",
            cardinality_of="nspca",
        ),
    ),
    measure=measures.explained,
    headline=measures.PEV,
    repeats=5,
    paper_repeats=1,
    curve_at=tuple(range(1, _COLON_COMPONENTS + 1)),
    quick_curve_at=(1, 2, 5, _COLON_COMPONENTS),
)
