"""From data to a path: the grid on all rows, and on all but those of each fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from redac import parameters
from redac.choose.effort import ROUGH
from redac.choose.grid import Grid, Place, Solved
from redac.choose.held_out import HeldOut, Sheet, concluded
from redac.choose.labels import Labelled
from redac.choose.path import SparsityPath
from redac.model.advice import warn_of
from redac.model.component_model import ComponentModel
from redac.model.estimator import SparsePCA
from redac.model.running import problem_of
from redac.solver.climb import Start
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.sources import Source

# What a path may be told of a fit; the rest is its own business.
RULES = ("exclude", "require", "groups", "max_per_group", "max_groups", "disjoint")
OPTIONS = ("nonnegative", "standardize", "ridge", "min_separation", "max_iter", "tol", *RULES)


@dataclass(frozen=True)
class Request:
    """What is asked for: the grid, and how each place is to be fitted."""

    counts: tuple[int, ...]
    cardinalities: tuple[int, ...]
    options: dict[str, Any]
    feature_names: Any = None

    @classmethod
    def of(
        cls,
        n_components: Any,
        cardinality: Any,
        options: dict[str, Any],
        reader: ComponentModel,
    ) -> Request:
        """The request, checked, for data that somebody has read."""
        n_features = reader.n_features_in_
        for name in options:
            if name not in OPTIONS:
                raise TypeError(f"{name} is no option of a path; there are {', '.join(OPTIONS)}.")
        why = f": there are {n_features} features"
        counts = {
            parameters.count("n_components", r, least=1, most=n_features, why=why)
            for r in _listed("n_components", n_components)
        }
        ks = {
            k
            for each in _listed("cardinality", cardinality)
            for k in parameters.cardinalities(each, 1, n_features)
        }
        names = getattr(reader, "feature_names_in_", None)
        return cls(tuple(sorted(counts)), tuple(sorted(ks)), options, names)

    def model(self, place: Place) -> SparsePCA:
        """The estimator of one place."""
        model = SparsePCA(place[0], cardinality=place[1], **self.options)
        if self.feature_names is not None:
            model.feature_names_in_ = self.feature_names
        return model

    def grid(self, source: Source, *, is_thorough: bool = True) -> Grid:
        """The grid on some rows."""
        return Grid(
            source,
            lambda r, k: problem_of(self.model((r, k)), source),
            self.counts,
            self.cardinalities,
            is_thorough=is_thorough,
        )

    def roughly(self) -> Request:
        """The same where the last digits do not matter."""
        tol = max(parameters.amount("tol", self.options.get("tol", 0.0)), ROUGH)
        return replace(self, options=self.options | {"tol": tol})


def trace(request: Request, sheet: Sheet) -> SparsityPath:
    """The path of a request."""
    source, label = sheet.source, "" if sheet.n_parts == 0 else "all, "
    grid = request.grid(source)
    is_whole = grid.solve(lambda place: Labelled.of(f"{label}{_said(place)}"))
    models: dict[Place, SparsePCA] = {}
    try:
        for place, point in grid.points.items():
            monitor = Labelled.of(f"{label}{_said(place)}")
            models[place] = concluded(sheet, request.model(place), point, monitor)
    except KeyboardInterrupt:
        is_whole = False
    if not models:
        raise KeyboardInterrupt
    scores: list[dict[Place, float]] = []
    try:
        for number, part in enumerate((sheet.parts or ()) if is_whole else ()):
            label = f"fold {number + 1} of {sheet.n_parts}, "
            scores.append(_held_out(request, part, label))
    except KeyboardInterrupt:
        is_whole = False
    total = source.total if source.total > 0 else 1.0
    # Of filled data PCA explains something else.
    counts = request.counts if sheet.is_complete else ()
    pca = {r: min(float(grid.principal[1][:r].sum()) / total, 1.0) for r in counts}
    n_varying = int(np.count_nonzero(source.diagonal))
    # One fold alone has no standard error.
    kept = scores if len(scores) > 1 else []
    fold_scores = {place: np.array([each[place] for each in kept]) for place in models}
    return SparsityPath.of(models, pca, fold_scores, n_varying, is_complete=is_whole)


def _held_out(request: Request, part: HeldOut, label: str) -> dict[Place, float]:
    """Q² of each place on a part."""
    grid = request.roughly().grid(part.train, is_thorough=False)
    if not grid.solve(lambda place: Labelled.of(f"{label}{_said(place)}")):
        raise KeyboardInterrupt
    return {
        place: part.q2(point, Labelled.of(f"{label}{_said(place)}"))
        for place, point in grid.points.items()
    }


def refined(request: Request, place: Place, path: SparsityPath, sheet: Sheet) -> SparsePCA:
    """The model of a place after a search with the effort of a fit, from what the path has, too."""
    model = request.model(place)
    problem = problem_of(model, sheet.source)
    points = Starts(problem, np.random.RandomState(0))
    known = path.model(*place).components_.astype(np.float64).T
    monitor = Labelled.of(f"the choice, {_said(place)}")
    search = Search(problem, monitor)
    usual = points.sequence("pca", points.usual_count("pca"))
    search.try_starts([*usual, Start(known)], automatic=True)
    found = concluded(sheet, model, Solved(search, points), monitor)
    warn_of(found, search.found, problem)
    return found


def _listed(name: str, value: Any) -> Sequence[Any]:
    """One value, or several."""
    if isinstance(value, str):
        raise TypeError(f"{name}={value!r} must be a number or a sequence of numbers.")
    is_one = not isinstance(value, Iterable) or (isinstance(value, np.ndarray) and value.ndim == 0)
    listed = [value] if is_one else list(value)
    if not listed:
        raise ValueError(f"{name} is an empty sequence; give at least one number.")
    return listed


def _said(place: Place) -> str:
    return f"r = {place[0]}, k = {place[1]}:"
