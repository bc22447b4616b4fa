"""The fuzz: a slice of its fits, and that each of its checks can fail."""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from benchmarks.fuzz import comparisons, fits, invariants
from benchmarks.fuzz.__main__ import main
from benchmarks.fuzz.cases import COMPARISONS, Case, draw_case
from benchmarks.fuzz.containers import CONTAINERS, plain
from benchmarks.fuzz.invariants import INVARIANTS, Data, Invariant
from benchmarks.fuzz.reference import DEPENDS, MAY_DEPEND, reference
from benchmarks.fuzz.violations import Violation
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from helpers import centred, factor_data, projector, unit_columns
from redac import SparsePCA
from redac.exceptions import ExhaustedWarning, ScaleWarning

# ------------------------------------------------------------ a slice


@settings(derandomize=True, max_examples=150, deadline=None, database=None)
@given(st.integers(0, 9), st.integers(0, 9999))
def test_what_must_hold_after_a_fit_holds(seed: int, number: int) -> None:
    # Fits that are compared with each other may differ where rounding does, on another machine.
    case = replace(draw_case(seed, number), comparison="")
    assert fits.check_case(case) == []


@pytest.mark.parametrize(("seed", "number"), [(4212, 1978), (4214, 995)])
def test_polish_goes_on_after_one_short_step(seed: int, number: int) -> None:
    """Dense components with a ridge, which gained 13 and 32 times ``tol`` when continued."""
    assert fits.check_case(draw_case(seed, number)) == []


def test_a_number_says_everything_about_a_case() -> None:
    one, two, other = draw_case(3, 5), draw_case(3, 5), draw_case(3, 6)
    assert one.X.tobytes() == two.X.tobytes()
    assert str(one) == str(two) != str(other)


def test_cases_are_of_every_kind() -> None:
    cases = [draw_case(0, number) for number in range(600)]
    assert {case.container for case in cases} == {*CONTAINERS, "covariance"}
    assert {case.comparison for case in cases} == {*COMPARISONS, ""}
    assert {case.X.dtype.kind for case in cases} == set("fiub")
    assert any(case.X.shape[1] > 500 for case in cases)
    assert any(case.weights is not None and 0 in case.weights for case in cases)


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_holds_the_same_numbers(name: str) -> None:
    X = factor_data(9, 4, 0)
    held = plain(CONTAINERS[name](X))
    np.testing.assert_array_equal(held.toarray() if hasattr(held, "toarray") else held, X)


# ------------------------------------------------------------ the reference


@pytest.mark.parametrize("standardize", [False, True])
def test_the_reference_is_the_projection_of_the_centred_data(standardize: bool) -> None:
    X, V = factor_data(30, 8, 1), unit_columns(8, 3, 2)
    exact = centred(X, standardize=standardize).astype(float)
    expected = [
        np.linalg.norm(exact @ projector(V[:, :j])) ** 2 / np.linalg.norm(exact) ** 2
        for j in range(4)
    ]
    truth = reference(X * 1e200, standardize=standardize)
    np.testing.assert_allclose(truth.increments(V.T, MAY_DEPEND), np.diff(expected), atol=1e-12)


def test_the_reference_counts_a_component_once() -> None:
    truth, V = reference(factor_data(30, 8, 1)), unit_columns(8, 1, 2)
    shares = truth.increments(np.hstack([V, V]).T, DEPENDS)
    assert shares[0] > 0 == shares[1]


def test_the_reference_repeats_rows_as_their_weights_say() -> None:
    X, weights = factor_data(10, 4, 3), np.array([0, 1, 2, 3, 1, 0, 1, 1, 4, 1.0])
    weighted = reference(X, weights)
    repeated = reference(np.repeat(X, weights.astype(int), axis=0))
    np.testing.assert_allclose(weighted.covariance(), repeated.covariance(), rtol=1e-12)


# ------------------------------------------------------------ every check can fail

PLAIN: dict[str, Any] = {
    "n_components": 3,
    "cardinality": 4,
    "nonnegative": False,
    "standardize": False,
    "init": "pca",
    "n_init": "auto",
    "n_perturbations": 0,
    "ridge": 0.0,
    "min_separation": 0.2,
    "random_state": 0,
}


def plain_case(comparison: str = "", **changes: Any) -> Case:
    X = factor_data(30, 12, 4)
    X[:, -1] = 5.0
    return Case(0, 0, X, False, "array", None, {**PLAIN, **changes}, comparison)


@cache
def healthy() -> tuple[Case, SparsePCA, Data]:
    case = plain_case()
    data = fits.given_data(case)
    return case, comparisons.fitted(case, data.given), data


def kinds(found: Any) -> set[str]:
    violations = list(found)
    assert all(isinstance(violation, Violation) for violation in violations)
    return {violation.kind for violation in violations}


@pytest.mark.parametrize("check", INVARIANTS, ids=lambda check: check.__name__)
def test_nothing_is_said_of_a_healthy_model(check: Invariant) -> None:
    assert kinds(check(*healthy())) == set()


def scale_row(model: SparsePCA) -> None:
    model.components_[0] *= 1.001


def add_loading(model: SparsePCA) -> None:
    model.components_[0, np.flatnonzero(model.components_[0] == 0)[0]] = 1e-3


def use_constant(model: SparsePCA) -> None:
    model.components_[0, -1] = 1e-3


def copy_row(model: SparsePCA) -> None:
    model.components_[1] = model.components_[0]


def turn_row(model: SparsePCA) -> None:
    model.components_[0] *= -1


def turn_order(model: SparsePCA) -> None:
    model.components_ = model.components_[::-1]


def changed(name: str, change: Callable[[Any], Any]) -> Callable[[SparsePCA], None]:
    return lambda model: setattr(model, name, change(getattr(model, name)))


def risen(history: np.ndarray) -> np.ndarray:
    """One sweep more, after which the objective is larger."""
    return np.append(history, history[-1] + 1e-3)


BROKEN: list[tuple[Invariant, Callable[[SparsePCA], None], str]] = [
    (invariants.finite, changed("mean_", lambda m: m * np.nan), "not finite: mean_"),
    (
        invariants.finite,
        changed("search_history_", lambda h: {"agreement": h["agreement"] * np.inf}),
        "not finite: search_history_['agreement']",
    ),
    (invariants.unit_rows, scale_row, "not a unit vector"),
    (invariants.feasible, add_loading, "cardinality"),
    (invariants.constants_left_alone, use_constant, "loading on a constant column"),
    (invariants.separated, copy_row, "separation_ is wrong"),
    (invariants.separated, changed("separation_", lambda s: 0.1), "too close"),
    (invariants.signs, turn_row, "sign"),
    (invariants.ordered, turn_order, "order"),
    (invariants.shares, changed("explained_variance_ratio_", np.negative), "share outside 0 to 1"),
    (invariants.shares, changed("reconstruction_error_", lambda e: 2 * e), "reconstruction_error_"),
    (invariants.shares, changed("variance_limits_", lambda v: v / 10), "variance_limits_"),
    (invariants.variances, changed("explained_variance_", lambda v: 2 * v), "explained_variance_"),
    (invariants.truly_explained, copy_row, "PEV is wrong"),
    (invariants.centre, changed("mean_", lambda m: m + 1e-3), "mean_"),
    (invariants.centre, changed("scale_", lambda s: 1.01 * s), "scale_"),
    (invariants.history, changed("n_iter_", lambda n: n + 1), "n_iter_"),
    (invariants.history, changed("objective_history_", risen), "objective rises"),
    (invariants.history, changed("objective_history_", lambda h: h / 2), "objective too low"),
    (invariants.scored, copy_row, "score"),
    (invariants.scored, copy_row, "metrics.pev"),
    (invariants.reconstructed, copy_row, "reconstruction"),
]


@pytest.mark.parametrize(("change", "kind"), [(turn_row, "sign"), (turn_order, "place")])
def test_components_that_do_not_keep_to_their_starts_are_noticed(change: Any, kind: str) -> None:
    case = plain_case(init=-np.eye(12)[[1, 4, 7]], n_init=1)
    data = fits.given_data(case)
    model = comparisons.fitted(case, data.given)
    assert kinds(invariants.identity(case, model, data)) == set()
    assert kinds(invariants.signs(case, model, data)) == set()
    change(model)
    assert kind in kinds(invariants.identity(case, model, data))


@pytest.mark.parametrize(("check", "harm", "kind"), BROKEN, ids=[kind for _, _, kind in BROKEN])
def test_a_broken_model_is_noticed(
    check: Invariant, harm: Callable[[SparsePCA], None], kind: str
) -> None:
    case, model, data = healthy()
    model = deepcopy(model)
    harm(model)
    assert kind in kinds(check(case, model, data))


def test_every_invariant_is_seen_to_fail() -> None:
    # ``identity`` looks at other fits, and has a test of its own.
    assert {check for check, _, _ in BROKEN} | {invariants.identity} == set(INVARIANTS)


@pytest.mark.parametrize(
    ("bounds", "kind"),
    [
        ({"cardinality": None, "l1_bound": 1.2}, "l1 bound"),
        ({"nonnegative": True}, "negative loading"),
    ],
)
def test_a_component_beyond_its_bound_is_noticed(bounds: dict[str, Any], kind: str) -> None:
    _, model, data = healthy()
    assert kind in kinds(invariants.feasible(plain_case(**bounds), model, data))


def test_warnings_must_say_what_is_so() -> None:
    case, model, _ = healthy()
    assert kinds(fits.warned(case, model, set())) == set()
    assert kinds(fits.warned(case, model, {ExhaustedWarning})) == {"ExhaustedWarning"}
    huge = deepcopy(model)
    huge.explained_variance_ *= np.inf
    assert kinds(fits.warned(case, huge, set())) == {"ScaleWarning"}
    assert kinds(fits.warned(case, model, {ScaleWarning})) == {"ScaleWarning"}
    assert kinds(fits.warned(case, model, {ConvergenceWarning})) == {"ConvergenceWarning"}
    dead = deepcopy(model)
    dead.components_[0] = 0.0
    assert kinds(fits.warned(case, dead, set())) == {"ExhaustedWarning"}


def test_a_warning_of_another_kind_is_noticed() -> None:
    case, _, _ = healthy()
    told = [fits.Told(RuntimeWarning, "overflow", "a.py:f"), fits.Told(ExhaustedWarning, "", "")]
    assert kinds(fits.undocumented(case, told)) == {"RuntimeWarning in a.py:f"}


def test_an_error_is_named_by_its_place() -> None:
    assert kinds(fits.check_case(plain_case(n_components=13))) == {
        "ValueError in parameters.py:count"
    }


class Careless(Case):
    """A case whose estimator warns like numpy, and changes its data."""

    def model(self, **changes: Any) -> SparsePCA:
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        self.X[0, 0] += 1.0
        return super().model(**changes)


def test_what_happens_beside_the_fit_is_noticed() -> None:
    case = plain_case()
    found = kinds(fits.check_case(Careless(**vars(case))))
    assert {"input changed"} < found
    assert any(kind.startswith("RuntimeWarning in ") for kind in found)


# ------------------------------------------------------------ every comparison can fail


class Sabotaged(Case):
    """A case in which many starts must do with a single feature for each component."""

    def model(self, **changes: Any) -> SparsePCA:
        if changes.get("n_init") == "auto":
            changes |= {"cardinality": 1}
        return super().model(**changes)


class Fickle(Case):
    """A case that is solved well for its data as they are, and badly in any other form."""

    def model(self, **changes: Any) -> SparsePCA:
        X = healthy()[0].X
        as_it_was = self.X.shape == X.shape and np.allclose(self.X, X, rtol=1e-9)
        if not as_it_was or self.container != "array":
            changes |= {"cardinality": 1}
        return super().model(**changes)


@pytest.mark.filterwarnings("ignore::redac.exceptions.ScaleWarning")  # in another unit
@pytest.mark.parametrize("name", COMPARISONS)
def test_a_healthy_model_agrees_with_others(name: str) -> None:
    case, model, data = healthy()
    assert kinds(comparisons.COMPARED[name](case, model, data)) == set()


@pytest.mark.filterwarnings("ignore::redac.exceptions.ScaleWarning")  # in another unit
@pytest.mark.parametrize("name", ["agreement", "permutation", "useless column"])
def test_an_answer_that_depends_on_the_form_of_the_data_is_noticed(name: str) -> None:
    case, model, data = healthy()
    found = kinds(comparisons.COMPARED[name](Fickle(**vars(case)), model, data))
    assert len(found) == 1
    assert found.pop().startswith(name)


def test_an_answer_that_hangs_on_rounding_is_not_compared() -> None:
    case, model, data = healthy()
    other = deepcopy(model)
    other.components_ = np.roll(model.components_, 5, axis=1)  # not what the next fit will find
    assert kinds(comparisons.permutation(case, other, data)) == set()


def test_a_run_that_has_not_ended_is_noticed() -> None:
    case, model, data = healthy()
    poor = deepcopy(model)
    poor.components_ = np.roll(model.components_, 5, axis=1)
    assert kinds(comparisons.not_ended(case, poor, data)) == {"not ended"}


def test_more_starts_that_end_lower_are_noticed() -> None:
    case, model, data = healthy()
    sabotaged = Sabotaged(**vars(case))
    found = comparisons.more_starts(sabotaged, model, data)
    assert kinds(found) == {"n_init=auto below 1"}


def test_a_start_that_is_lost_is_noticed() -> None:
    case, model, data = healthy()
    worse = replace(case, settings={**case.settings, "cardinality": 1})
    assert kinds(comparisons.not_ended(worse, model, data)) == {"worse than init"}


# ------------------------------------------------------------ processes and the command


def hang_or_crash(seed: int, number: int) -> list[Violation]:
    """What a worker does instead of a fit: number 0 hangs, number 1 crashes, others are fine."""
    if number == 0:
        time.sleep(600)
    if number == 1:
        os._exit(7)
    return []


def test_a_case_that_hangs_or_crashes_ends_alone() -> None:
    found = list(fits.check_fits(range(4), 0, jobs=2, limit=1.0, check=hang_or_crash))
    assert len(found) == 4
    assert sorted(violation.kind for case in found for violation in case) == ["crash", "hang"]
    [hung] = [violation for case in found for violation in case if violation.kind == "hang"]
    assert hung.reproduce == "python -m benchmarks.fuzz --fits 1 --seed 0 --first 0"


def test_the_command_says_how_many_fits_and_violations() -> None:
    command = [sys.executable, "-m", "benchmarks.fuzz", "--fits", "3", "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.stdout.splitlines()[-1] == "3 fits, 0 violations"
    assert done.returncode == 0


def test_a_call_without_a_number_is_an_error() -> None:
    with pytest.raises(SystemExit, match="2"):
        main([])
