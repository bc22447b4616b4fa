"""A fitted model, or a path of them, as one HTML page that reads nothing from elsewhere.

Its tables are there without scripts; with them it has pictures that go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from redac._version import __version__
from redac.show import bundle, sections
from redac.show.drawn_rows import DrawnRows
from redac.show.places import place_of
from redac.show.sections import gap_lines, shown
from redac.show.stories import stories, variance_sentence
from redac.show.tables import explaining

__all__ = ["gap_lines", "html_report", "path_report"]

_INTERRUPTION = """<p class="interrupted"><strong>The fit was interrupted; these are the best \
components found until then.</strong></p>
"""
_CSV = '<button type="button" class="needs-script" data-csv="{}">CSV</button>'
# What a path knows of a place beyond its model.
_MEASURES = ("q2", "q2_se", "ebic")


class ReportedModel(Protocol):
    """What a report reads from a fitted model; ``SparsePCA`` has all of it."""

    cardinality: Any
    components_: NDArray[Any]
    explained_variance_ratio_: NDArray[Any]
    reconstruction_error_: float
    separation_: float
    n_components_: int
    n_features_in_: int
    n_samples_: int | None
    n_iter_: int
    converged_: bool
    interrupted_: bool

    def loadings_table(self) -> Any: ...

    def transform(self, X: Any) -> Any: ...

    def _feature_names(self) -> list[str]: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


def html_report(
    model: ReportedModel,
    *,
    title: str,
    remarks: Sequence[str] = (),
    X: Any = None,
    sample_names: Sequence[Any] | None = None,
    labels: Any = None,
    command: str | None = None,
    stability: Any = None,
    certificate: Any = None,
    live: dict[str, Any] | None = None,
) -> str:
    """The components, what they explain, what they have in common and what else was remarked, and
    the settings that led to them; with X the scores, too.

    Parameters
    ----------
    model : fitted.
    title : what the data are called.
    remarks : sentences to add.
    X, sample_names, labels : the data, names of its rows, and what they can be coloured by.
    command : what leads to this report again; by default the model as Python writes it.
    stability, certificate : of this model.
    live : what a server that this page may ask can fit; None: there is no server.
    """
    rows = DrawnRows.of(X, sample_names, labels, model.n_components_)
    said = [*remarks_on(model), *(text for text in remarks if text)]
    bound = None if certificate is None else float(certificate.upper_bound)
    place, names = place_of(model, rows, notes=said, bound=bound, steady=stability)
    data = _data(model, rows, [place], names, current=0) | {"live": live}
    return bundle.page(
        _texts(model, title, said, command, sections.settings(model)), data, live=live is not None
    )


def path_report(
    models: Sequence[Any],
    table: Any,
    *,
    chosen: int,
    title: str,
    remarks: Sequence[str] = (),
    X: Any = None,
    sample_names: Sequence[Any] | None = None,
    labels: Any = None,
    command: str | None = None,
) -> str:
    """The models of a path, in the order of its table; the page begins with one of them."""
    n_scores = sum(model.n_components_ for model in models)
    rows = DrawnRows.of(X, sample_names, labels, n_scores)
    records = table.to_dict(orient="records")
    pca = {int(row["n_components"]): float(row["pev_pca"]) for row in records if "pev_pca" in row}
    places: list[dict[str, Any]] = []
    names: dict[int, str] = {}
    for model, row in zip(models, records, strict=True):
        measures = {name: row[name] for name in _MEASURES if name in row}
        k = int(row["cardinality"])
        place, own = place_of(
            model, rows, cardinality=k, notes=remarks_on(model), measures=measures, pca=pca
        )
        places.append(place)
        names |= own
    model = models[chosen]
    data = _data(model, rows, places, names, current=chosen) | {"live": None}
    said = [*(text for text in remarks if text), *remarks_on(model)]
    content = sections.settings(model)
    texts = _texts(model, title, said, command, content, sections.places(records))
    return bundle.page(texts, data)


def remarks_on(model: Any) -> list[str]:
    """What is to be said of a model beside its numbers."""
    gaps = [f"{line}." for line in gap_lines(model)]
    return [text for text in (*gaps, variance_sentence(model), *stories(model)) if text]


def _data(
    model: Any, rows: DrawnRows, places: list[Any], names: dict[int, str], *, current: int
) -> dict[str, Any]:
    return {
        "places": places,
        "current": current,
        "names": {str(j): name for j, name in names.items()},
        "n_features": model.n_features_in_,
        "n_samples": model.n_samples_,
        "rows": rows.to_json(),
        "labels": rows.labels_to_json(),
    }


def _texts(
    model: Any, title: str, said: Sequence[str], command: str | None, settings: str, path: str = ""
) -> dict[str, str]:
    """The parts of the page that are text."""
    tables = sections.table(
        "variance-table", "Explained variance", sections.variance(model), _CSV.format("variance")
    )
    loadings = (
        "<p>Features that no component uses are left out. Blue loadings are positive, orange ones "
        f"negative.</p>{sections.loadings(model)}"
    )
    tables += sections.table("loadings-table", "Loadings", loadings, _CSV.format("loadings"))
    tables += sections.outliers(model)
    if path:
        tables += sections.table("path-table", "All places of the path", path)
    how = f"<pre>{shown(command or ' '.join(repr(model).split()))}</pre>"
    tables += sections.table("settings-table", "How this was made", how + settings)
    return {
        "title": shown(title),
        "interruption": _INTERRUPTION if getattr(model, "interrupted_", False) else "",
        "summary": escape(_summary(model)),
        "remarks": "".join(f'<p class="plain">{shown(text)}</p>\n' for text in said),
        "tables": tables,
        "made": f"redac {__version__}, {datetime.now().astimezone():%Y-%m-%d %H:%M}",
    }


def _summary(model: Any) -> str:
    pev = 100 * model.explained_variance_ratio_.sum()
    samples = "" if model.n_samples_ is None else f"{model.n_samples_} samples of "
    text = (
        f"Data: {samples}{model.n_features_in_} features. "
        f"{explaining(model.n_components_)} {pev:.2f} % of the variance (PEV) with "
        f"{np.count_nonzero(model.components_)} of {model.components_.size} loadings; the "
        f"relative reconstruction error (RRE) is {model.reconstruction_error_:.4f}. "
    )
    if hasattr(model, "n_iter_"):
        ended = "converged" if model.converged_ else "ended before convergence"
        text += f"The best run {ended} after {model.n_iter_} sweeps. "
    return text + (
        f"Separation of the components: {model.separation_:.3f} (1 orthogonal, 0 collapsed)."
    )
