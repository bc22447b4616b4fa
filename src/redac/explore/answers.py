"""What the explorer answers: the page, and fits with other numbers, as JSON."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from redac.choose.stability import stability
from redac.explore.newest import Newest
from redac.model.estimator import SparsePCA
from redac.show.bundle import safe_json
from redac.show.drawn_rows import DrawnRows
from redac.show.places import place_of, stability_data
from redac.show.report import html_report, remarks_on

# What sliders can reach: more components are not looked at one by one, and of cardinalities so
# many, evenly spaced in their logarithms.
_MOST_COMPONENTS, _MOST_CARDINALITY, _N_CARDINALITIES = 20, 1000, 60
_KEPT = 400  # answers that are remembered
_HALVES = 20  # half-samples that stability draws


class QuestionError(ValueError):
    """A question that has no answer; the message says why."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """Data, and how models of them are fitted.

    Parameters
    ----------
    values : the data, or a covariance matrix.
    settings : parameters of ``SparsePCA``, with the numbers that the page begins with.
    is_covariance, n_samples : of what kind the data are.
    feature_names, sample_names, labels : what they are called.
    title, command : what the page says of the data.
    """

    values: Any
    settings: dict[str, Any]
    is_covariance: bool = False
    n_samples: int | None = None
    feature_names: Sequence[str] | None = None
    sample_names: Sequence[Any] | None = None
    labels: Any = None
    title: str = "data"
    command: str | None = None
    newest: Newest = field(default_factory=Newest)
    _answers: OrderedDict[tuple[str, int, int], str] = field(default_factory=OrderedDict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def reach(self) -> dict[str, Any]:
        """What may be asked for."""
        n, d = self.values.shape
        most = min(d, _MOST_CARDINALITY)
        ks = range(1, most + 1)
        if most > _N_CARDINALITIES:
            ks = np.unique(np.geomspace(1, most, _N_CARDINALITIES).round().astype(int)).tolist()
        return {
            "components": min(d, _MOST_COMPONENTS),
            "cardinalities": sorted({*ks, self.settings["cardinality"]}),
            "rows": not self.is_covariance and n >= 4,
        }

    def fitted(self, r: int, k: int) -> SparsePCA:
        """The model with these numbers."""
        model = SparsePCA(**self.settings | {"n_components": r, "cardinality": k})
        names = self.feature_names
        if self.is_covariance:
            model.fit_covariance(self.values, self.n_samples, feature_names=names)
        else:
            model.fit(self.values, feature_names=names)
        return model

    def page(self) -> str:
        """The page that the exploration begins with; whatever the data are not fit for raises."""
        model = self.fitted(self.settings["n_components"], self.settings["cardinality"])
        rows: dict[str, Any] = {}
        if not self.is_covariance:
            rows = {"X": self.values, "sample_names": self.sample_names, "labels": self.labels}
        return html_report(model, title=self.title, command=self.command, live=self.reach, **rows)

    def fit(self, r: int, k: int) -> str | None:
        """The place with these numbers as JSON; None if something newer was asked for."""

        def work() -> Any:
            model = self.fitted(r, k)
            return model, place_of(model, self._rows(r), cardinality=k, notes=remarks_on(model))

        def answer(found: Any, notes: list[str]) -> dict[str, Any]:
            place, names = found[1]
            place["notes"] += notes
            return {"place": place, "names": names}

        return self._answer(("fit", r, k), work, answer)

    def stability(self, r: int, k: int) -> str | None:
        """How stable the place with these numbers is, as JSON."""
        if not self.reach["rows"]:
            raise QuestionError("Stability needs at least 4 rows of data.")

        def work() -> Any:
            asked = {"n_components": r, "cardinality": k, "n_resamples": _HALVES, "random_state": 0}
            settings = self.settings | asked
            return stability(self.values, feature_names=self.feature_names, **settings)

        def answer(found: Any, notes: list[str]) -> dict[str, Any]:
            data, mentioned = stability_data(found)
            names = found.model._feature_names()
            return {"stability": data, "names": {j: names[j] for j in sorted(mentioned)}}

        return self._answer(("stability", r, k), work, answer)

    def _answer(
        self,
        question: tuple[str, int, int],
        work: Callable[[], Any],
        answer: Callable[[Any, list[str]], dict[str, Any]],
    ) -> str | None:
        r, k = question[1:]
        reach = self.reach
        if not 1 <= r <= reach["components"] or not 1 <= k <= reach["cardinalities"][-1]:
            raise QuestionError(f"components={r}, cardinality={k} is out of reach.")
        with self._guard:
            if question in self._answers:
                return self._answers[question]
        found = self.newest.run(work)
        if found is None:
            return None
        text = safe_json(answer(*found))
        with self._guard:
            self._answers[question] = text
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return text

    def _rows(self, r: int) -> DrawnRows:
        if self.is_covariance:
            return DrawnRows()
        return DrawnRows.of(self.values, self.sample_names, None, r)
