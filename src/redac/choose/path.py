"""``SparsityPath``: the solutions of a grid as one object, with their measures as a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from redac.choose import path_file
from redac.choose.criteria import Candidate, choose, ebic, index_of_sparseness, standard_error
from redac.disk import write_atomically, write_text
from redac.model.estimator import SparsePCA
from redac.plots import plot_path
from redac.show.report import path_report
from redac.sources.base import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["SparsityPath"]

# Decimals and rows of what is shown of a table.
_DIGITS, _MOST_ROWS = 3, 40


class SparsityPath:
    """Sparse components for a grid of numbers of components and cardinalities.

    Attributes
    ----------
    table : DataFrame
        One row for each place: ``n_components``, ``cardinality``, ``nonzeros`` (loadings in all),
        ``pev`` (percent of the variance explained) and ``pev_pca`` (by as many principal
        components), ``q2`` and its standard error ``q2_se`` (how well held-out cells are predicted:
        1 perfectly, 0 no better than by the mean), ``ebic`` (smaller is better, 0 without any
        component), ``index_of_sparseness``, and ``stability`` where that was asked for. Columns
        that cannot be known are left out: Q² without folds, EBIC without a number of samples, and
        what needs PCA where cells are missing.
    fold_scores : DataFrame or None
        Q² of each fold, in the rows of the table.
    interrupted : bool
        Whether Ctrl-C ended the work; the table has what was done by then.
    """

    def __init__(
        self,
        models: Mapping[tuple[int, int], SparsePCA],
        table: pd.DataFrame,
        fold_scores: pd.DataFrame | None,
        interrupted: bool,
    ) -> None:
        self._models = dict(models)
        self.table = table
        self.fold_scores = fold_scores
        self.interrupted = interrupted

    @classmethod
    def of(
        cls,
        models: Mapping[tuple[int, int], SparsePCA],
        pca: Mapping[int, float],
        fold_scores: Mapping[tuple[int, int], Array],
        n_varying: int,
        *,
        is_complete: bool,
    ) -> SparsityPath:
        """The path of fitted models, with what PCA explains by numbers of components, as shares,
        and Q² of each fold, which may be none."""
        import pandas as pd

        places = sorted(models)
        rows = [_row(models[place], place, pca.get(place[0]), n_varying) for place in places]
        table = pd.DataFrame(rows)
        scores = np.array([fold_scores[place] for place in places])
        held_out = None
        if scores.size:
            names = [f"fold {number + 1}" for number in range(scores.shape[1])]
            held_out = pd.DataFrame(scores, columns=names)
            at = list(table.columns).index("ebic")
            table.insert(at, "q2", scores.mean(axis=1))
            table.insert(at + 1, "q2_se", [standard_error(each) for each in scores])
        return cls(models, table, held_out, interrupted=not is_complete)

    def __repr__(self) -> str:
        table = self.table.round(_DIGITS).to_string(index=False, max_rows=_MOST_ROWS)
        return f"{self._heading()}\n{table}"

    def _repr_html_(self) -> str:
        table = self.table.round(_DIGITS).to_html(index=False, max_rows=_MOST_ROWS)
        return f"<p>{self._heading()}</p>{table}"

    def _heading(self) -> str:
        count = len(self.table)
        what = "1 solution" if count == 1 else f"{count} solutions"
        return f"Sparsity path of {what}{', interrupted' if self.interrupted else ''}"

    def model(self, n_components: int, cardinality: int) -> SparsePCA:
        """The fitted model of a place.

        Parameters
        ----------
        n_components, cardinality : int
            As in the table.

        Returns
        -------
        SparsePCA
        """
        place = (n_components, cardinality)
        if place not in self._models:
            there = ", ".join(f"({r}, {k})" for r, k in sorted(self._models))
            raise ValueError(
                f"n_components={n_components!r}, cardinality={cardinality!r} is not on the path; "
                f"there are {there}."
            )
        return self._models[place]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw Q², or without it PEV, against the non-zeros, one line for each number of
        components.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        return plot_path(self, ax=ax)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        X: Any = None,
        labels: Any = None,
        sample_names: Sequence[Any] | None = None,
        title: str = "data",
        chosen: tuple[int, int] | None = None,
        command: str | None = None,
    ) -> str | None:
        """The path as one HTML page with sliders that move over its places.

        Parameters
        ----------
        path : path-like, default=None
            The file to write; without it the page is returned.
        X, labels, sample_names, title : as in ``SparsePCA.to_html``
        chosen : (n_components, cardinality), default=None
            The place that the page begins with; by default the simplest within one standard error
            of the best Q², or without Q² that of the smallest EBIC.
        command : str, default=None
            What leads to this page again.

        Returns
        -------
        str or None
        """
        places = [
            (int(r), int(k)) for r, k in self.table[["n_components", "cardinality"]].to_numpy()
        ]
        if chosen is None:
            chosen = self._usual_choice(places)
        models = [self.model(*place) for place in places]
        self.model(*chosen)
        page = path_report(
            models,
            self.table,
            chosen=places.index(chosen),
            title=title,
            X=X,
            labels=labels,
            sample_names=sample_names,
            command=command,
        )
        if path is None:
            return page
        write_atomically(path, lambda file: write_text(file, page))
        return None

    def _usual_choice(self, places: list[tuple[int, int]]) -> tuple[int, int]:
        """Where a page begins."""
        candidates = [each for each in self.candidates() if each.n_components]
        if self.fold_scores is None and "ebic" not in self.table:
            return places[int(self.table["index_of_sparseness"].argmax())]
        rule = "ebic" if self.fold_scores is None else "one_se"
        found = choose(candidates, rule, 1.0).candidate
        return found.n_components, found.cardinality

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the path, all its models included, to one file; nothing in it is pickled."""
        path_file.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SparsityPath:
        """Read a path that ``save`` has written."""
        return cls(*path_file.load(path))

    def candidates(self) -> list[Candidate]:
        """The places as candidates of a choice, and the one without any component."""
        found = [Candidate(0, 0, 0, scores=self._no_scores(), ebic=0.0)]
        for number, row in enumerate(self.table.to_dict(orient="records")):
            scores = None if self.fold_scores is None else self.fold_scores.to_numpy()[number]
            r, k, used = (int(row[name]) for name in ("n_components", "cardinality", "nonzeros"))
            found.append(Candidate(r, k, used, scores, row.get("ebic")))
        return found

    def add_stability(self, index_of: Callable[[SparsePCA], float]) -> None:
        """Add a column ``stability`` with an index of each model; none if that is interrupted."""
        if self.interrupted:
            return
        places = zip(self.table["n_components"], self.table["cardinality"], strict=True)
        try:
            indices = [index_of(self.model(int(r), int(k))) for r, k in places]
        except KeyboardInterrupt:
            self.interrupted = True
        else:
            self.table = self.table.assign(stability=indices)

    def _no_scores(self) -> Array | None:
        return None if self.fold_scores is None else np.zeros(self.fold_scores.shape[1])


def _row(
    model: SparsePCA, place: tuple[int, int], pca: float | None, n_varying: int
) -> dict[str, Any]:
    """The measures of one place that need no other rows than those of the fit."""
    r, k = place
    share = float(model.explained_variance_ratio_.sum())
    nonzeros = int(np.count_nonzero(model.components_))
    row: dict[str, Any] = {
        "n_components": r,
        "cardinality": k,
        "nonzeros": nonzeros,
        "pev": 100 * share,
    }
    if pca is not None:
        row["pev_pca"] = 100 * pca
    if model.n_samples_ is not None:
        d = max(n_varying, 1)
        n_cells = model.n_samples_ * d - getattr(model, "n_missing_", 0)
        row["ebic"] = ebic(share, nonzeros, r, model.n_samples_, d, n_cells)
    if pca is not None:
        zeros = 1.0 - nonzeros / model.components_.size
        row["index_of_sparseness"] = index_of_sparseness(share, pca, zeros)
    return row
