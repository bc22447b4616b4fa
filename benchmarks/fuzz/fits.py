"""One case from its number to what does not hold."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import redac
from benchmarks.fuzz.cases import Case, draw_case
from benchmarks.fuzz.comparisons import COMPARED, fitted
from benchmarks.fuzz.containers import CONTAINERS
from benchmarks.fuzz.invariants import INVARIANTS, Data
from benchmarks.fuzz.reference import reference
from benchmarks.fuzz.violations import Violation
from benchmarks.fuzz.workers import run_cases
from redac import SparsePCA
from redac.exceptions import ExhaustedWarning, ScaleWarning, SeparationWarning

_DOCUMENTED = (ExhaustedWarning, ScaleWarning, SeparationWarning, ConvergenceWarning)
_SOURCE = Path(redac.__file__).parent


@dataclass(frozen=True)
class Told:
    """A warning, and where in redac it came from."""

    category: type[Warning]
    message: str
    place: str


def check_fits(
    numbers: Iterable[int],
    seed: int,
    *,
    jobs: int = 1,
    limit: float = 60.0,
    check: Callable[[int, int], list[Violation]] | None = None,
) -> Iterator[list[Violation]]:
    """What does not hold in each case, in the order in which they end."""
    for outcome in run_cases(check or check_fit, seed, numbers, lambda number: limit, jobs=jobs):
        if outcome.trouble is None:
            yield outcome.found
        else:
            yield [draw_case(seed, outcome.number).violation(*outcome.trouble)]


def check_fit(seed: int, number: int) -> list[Violation]:
    """What does not hold in the case with this number."""
    return check_case(draw_case(seed, number))


def check_case(case: Case) -> list[Violation]:
    """Fit, and look at everything that is to be checked of it."""
    data = given_data(case)
    before = case.X.tobytes()
    told: list[Told] = []

    def note(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        told.append(Told(category, str(message), _place(traceback.extract_stack())))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        found = list(_checked(case, data, told))
    found += undocumented(case, told)
    if case.X.tobytes() != before:
        found.append(case.violation("input changed", "X is not what it was before the fit"))
    return list({violation.kind: violation for violation in found}.values())  # once each


def given_data(case: Case) -> Data:
    """The data of a case in their container, and the reference."""
    standardize = case.settings["standardize"]
    truth = reference(case.X, case.weights, standardize=standardize)
    if case.is_covariance:
        plain = reference(case.X, case.weights) if standardize else truth
        return Data(plain.covariance(), truth)
    return Data(CONTAINERS[case.container](case.X), truth)


def _checked(case: Case, data: Data, told: list[Told]) -> Iterator[Violation]:
    try:
        model = fitted(case, data.given)
    except Exception as error:
        yield raised(case, error, "fit")
        return
    yield from warned(case, model, {warning.category for warning in told})
    checks = (*INVARIANTS, *([COMPARED[case.comparison]] if case.comparison else []))
    for check in checks:
        try:
            yield from check(case, model, data)
        except Exception as error:
            yield raised(case, error, check.__name__)


def warned(case: Case, model: SparsePCA, categories: set[type[Warning]]) -> Iterator[Violation]:
    """Warnings say what is so: components zero or not final, variances that are no numbers."""
    is_zero = not np.asarray(model.components_).any(axis=1).all()
    if is_zero != (ExhaustedWarning in categories):
        said = "without" if is_zero else "in spite of"
        yield case.violation("ExhaustedWarning", f"zero components {said} the warning")
    variances = model.explained_variance_
    in_range = np.isfinite(variances) & (variances >= np.finfo(np.float64).tiny)
    is_lost = bool(((model.explained_variance_ratio_ > 0) & ~in_range).any())
    if is_lost != (ScaleWarning in categories):
        said = "without" if is_lost else "in spite of"
        yield case.violation("ScaleWarning", f"variances {variances} {said} the warning")
    if model.converged_ and ConvergenceWarning in categories:
        yield case.violation("ConvergenceWarning", "although converged_ is True")


def undocumented(case: Case, told: Iterable[Told]) -> Iterator[Violation]:
    """Warnings of other kinds than redac says it gives."""
    for warning in told:
        if not issubclass(warning.category, _DOCUMENTED):
            kind = f"{warning.category.__name__} in {warning.place}"
            yield case.violation(kind, warning.message.splitlines()[0])


def raised(case: Case, error: Exception, task: str) -> Violation:
    """An error, named by the innermost place in redac that it went through."""
    place = _place(traceback.extract_tb(error.__traceback__))
    lines = str(error).splitlines() or [""]
    return case.violation(f"{type(error).__name__} in {place}", f"{task}: {lines[0]}")


def _place(frames: traceback.StackSummary) -> str:
    """The innermost function of redac that was being called, or of the fuzz where there is none."""
    for folder in (_SOURCE, Path(__file__).parent):
        inside = [
            f"{Path(frame.filename).name}:{frame.name}"
            for frame in frames
            if Path(frame.filename).is_relative_to(folder) and frame.name != "note"
        ]
        if inside:
            return inside[-1]
    return "somewhere"
