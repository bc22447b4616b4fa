"""From data to a path: the grid on all rows, and on all but those of each fold."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from redac import parameters
from redac.choose.grid import Grid, Place
from redac.choose.labels import Labelled
from redac.choose.path import SparsityPath
from redac.choose.press import press
from redac.model.advice import warn_of
from redac.model.component_model import ComponentModel
from redac.model.estimator import SparsePCA
from redac.model.running import problem_of
from redac.solver.climb import Start
from redac.solver.search import Search
from redac.solver.starts import Starts
from redac.sources import Source
from redac.sources.folds import Fold

# What a path may be told of a fit; the rest is its own business.
RULES = ("exclude", "require", "groups", "max_per_group", "max_groups", "disjoint")
OPTIONS = ("nonnegative", "standardize", "ridge", "min_separation", "max_iter", "tol", *RULES)
# The tolerance of fits to some of the rows: supports have settled long before, and other rows would
# change the loadings by far more.
ROUGH = 1e-5
# Attributes of whoever has read the data that every model of a path has, too.
_OF_THE_DATA = (
    "mean_",
    "scale_",
    "n_samples_",
    "n_features_in_",
    "feature_names_in_",
    "_names_were_given",
)


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

    def grid(self, source: Source) -> Grid:
        """The grid on some rows."""
        return Grid(
            source,
            lambda r, k: problem_of(self.model((r, k)), source),
            self.counts,
            self.cardinalities,
        )

    def roughly(self) -> Request:
        """The same for fits of some rows, which others differ from by more than the last digits."""
        tol = max(parameters.amount("tol", self.options.get("tol", 0.0)), ROUGH)
        return replace(self, options=self.options | {"tol": tol})


def trace(
    request: Request,
    reader: ComponentModel,
    source: Source,
    dtype: np.dtype[Any],
    folds: Iterable[Fold] | None = None,
    n_folds: int = 0,
) -> SparsityPath:
    """The path of a request.

    Parameters
    ----------
    request : the grid.
    reader : who has read the data, and knows their means, sizes and names.
    source : the scatter of all rows.
    dtype : of the components.
    folds : rows to hold out in turn; None: nothing is held out.
    n_folds : how many there are.
    """
    label = "" if folds is None else "all rows, "
    grid = request.grid(source)
    is_complete = grid.solve(lambda place: Labelled.of(f"{label}{_said(place)}"))
    if not grid.points:
        raise KeyboardInterrupt
    models = {
        place: _concluded(request, place, found.search, found.starts, reader, source, dtype)
        for place, found in grid.points.items()
    }
    scores: list[dict[Place, float]] = []
    if folds is not None and is_complete:
        try:
            for number, fold in enumerate(folds):
                label = f"fold {number + 1} of {n_folds}, "
                found = _held_out(request, fold, label)
                if found is None:
                    is_complete = False
                    break
                scores.append(found)
        except KeyboardInterrupt:
            is_complete = False
    total = source.total if source.total > 0 else 1.0
    pca = {r: min(float(grid.principal[1][:r].sum()) / total, 1.0) for r in request.counts}
    n_varying = int(np.count_nonzero(source.diagonal))
    # One fold alone has no standard error.
    kept = scores if len(scores) > 1 else []
    fold_scores = {place: np.array([each[place] for each in kept]) for place in models}
    return SparsityPath.of(models, pca, fold_scores, n_varying, is_complete=is_complete)


def _held_out(request: Request, fold: Fold, label: str) -> dict[Place, float] | None:
    """Q² of each place on the rows of a fold; None if that was interrupted."""
    grid = request.roughly().grid(fold.train)
    if not grid.solve(lambda place: Labelled.of(f"{label}{_said(place)}")):
        return None
    alone = fold.test.total
    return {
        place: 1.0 - press(fold.test, point.V, point.ridge) / alone if alone > 0 else 0.0
        for place, point in grid.points.items()
    }


def refined(
    request: Request,
    place: Place,
    path: SparsityPath,
    reader: ComponentModel,
    source: Source,
    dtype: np.dtype[Any],
) -> SparsePCA:
    """The model of a place after a search with the effort of a fit, from what the path has, too."""
    problem = problem_of(request.model(place), source)
    points = Starts(problem, np.random.RandomState(0))
    known = path.model(*place).components_.astype(np.float64).T
    search = Search(problem, Labelled.of(f"the choice, {_said(place)}"))
    usual = points.sequence("pca", points.usual_count("pca"))
    search.try_starts([*usual, Start(known)], automatic=True)
    model = _concluded(request, place, search, points, reader, source, dtype)
    warn_of(model, search.found, problem)
    return model


def _concluded(
    request: Request,
    place: Place,
    search: Search,
    points: Starts,
    reader: ComponentModel,
    source: Source,
    dtype: np.dtype[Any],
) -> SparsePCA:
    """The fitted model of one place, from what a search has found."""
    model = request.model(place)
    for name in _OF_THE_DATA:
        if hasattr(reader, name):
            setattr(model, name, getattr(reader, name))
    with warnings.catch_warnings():  # numbers of extreme size are spoken of once, not everywhere
        warnings.simplefilter("ignore")
        model._conclude(search.found, search.attempts, source, dtype, points)
    return model


def _listed(name: str, value: Any) -> Sequence[Any]:
    """One value, or several."""
    if isinstance(value, str):
        raise TypeError(f"{name}={value!r} must be a number or a sequence of numbers.")
    listed = [value] if np.ndim(value) == 0 else list(value)
    if not listed:
        raise ValueError(f"{name} is an empty sequence; give at least one number.")
    return listed


def _said(place: Place) -> str:
    return f"r = {place[0]}, k = {place[1]}:"
