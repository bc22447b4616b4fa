"""A report of a fitted model as one HTML file: no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import Template
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from redac._version import __version__
from redac.show.escaping import printable
from redac.show.stories import stories, variance_sentence
from redac.show.tables import component_names

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sparse components of $title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
       color: #1b1f24; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.scroll { overflow: auto; max-height: 90vh; }
@media print { .scroll { max-height: none; } }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; }
th:first-child, .settings td { text-align: left; }
tbody th { font-weight: normal; }
tbody tr:hover { background: #f3f4f6; }
thead th { border-bottom: 2px solid #57606a; background: #fff; position: sticky; top: 0; }
.loadings td, .loadings thead th:not(:first-child) { min-width: 3.2rem; }
.loadings tbody tr { border-bottom: 1px solid #eaecef; }
.loadings th:first-child { position: sticky; left: 0; background: #fff; }
.bar { display: inline-block; height: .7rem; background: #3b6fb6; vertical-align: middle; }
footer { margin-top: 3rem; color: #57606a; font-size: .85rem; }
</style>
</head>
<body>
<h1>Sparse components of $title</h1>
$interruption<p>$summary</p>
$outliers$remarks<h2>Explained variance</h2>
<div class="scroll">$variance</div>
<h2>Loadings</h2>
<p>Features that no component uses are left out. Blue loadings are positive, red ones negative.</p>
<div class="scroll">$loadings</div>
<h2>Settings</h2>
<div class="scroll">$settings</div>
<footer>redac $version</footer>
</body>
</html>
""")
_INTERRUPTION = """<p><strong>The fit was interrupted; these are the best components found until \
then.</strong></p>
"""


# A report lists so many outliers, at most.
_MOST_FLAGGED = 200


class ReportedModel(Protocol):
    """What a report reads from a fitted model; ``SparsePCA`` has all of it."""

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

    def _feature_names(self) -> list[str]: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


def html_report(model: ReportedModel, *, title: str, remarks: Sequence[str] = ()) -> str:
    """The components, their explained variance, what they have in common and what else was
    remarked, and the settings that led to them."""
    said = [text for text in (variance_sentence(model), *stories(model), *remarks) if text]
    return _PAGE.substitute(
        title=_shown(title),
        interruption=_INTERRUPTION if model.interrupted_ else "",
        summary=escape(_summary(model)),
        outliers=_outliers(model),
        remarks="".join(f"<p>{_shown(text)}</p>\n" for text in said),
        variance=_variance(model),
        loadings=_loadings(model),
        settings=_settings(model),
        version=__version__,
    )


def _shown(text: object) -> str:
    """Text of others as a page may hold it."""
    return escape(printable(text))


def _summary(model: ReportedModel) -> str:
    pev = 100 * model.explained_variance_ratio_.sum()
    ended = "converged" if model.converged_ else "ended before convergence"
    samples = "" if model.n_samples_ is None else f"{model.n_samples_} samples of "
    return (
        f"Data: {samples}{model.n_features_in_} features. "
        f"{model.n_components_} components with {np.count_nonzero(model.components_)} non-zero "
        f"loadings out of {model.components_.size} explain {pev:.2f} % of the variance (PEV); the "
        f"relative reconstruction error (RRE) is {model.reconstruction_error_:.4f}. The best run "
        f"{ended} after {model.n_iter_} sweeps. Separation of the components: "
        f"{model.separation_:.3f} (1 orthogonal, 0 collapsed)."
    )


def gap_lines(model: Any) -> list[str]:
    """How many cells are missing, and what a robust fit left out, in words."""
    lines = []
    missing = getattr(model, "n_missing_", 0)
    if missing:
        share = 100 * missing / (model.n_samples_ * model.n_features_in_)
        lines.append(
            f"{missing} missing cells ({share:.1f} %): the components fit the cells that are "
            "there, and explained variance is that of those"
        )
    if hasattr(model, "row_weights_"):
        rows = int((model.row_weights_ == 0.0).sum())
        cells = len(model.outliers_table()) - rows
        lines.append(f"outliers: {rows} rows and {cells} single cells lost their weight")
    return lines


def _outliers(model: ReportedModel) -> str:
    """Paragraphs about gaps and outliers, and a table of what was flagged."""
    lines = "".join(f"<p>{escape(line)}.</p>" for line in gap_lines(model))
    if not hasattr(model, "row_weights_"):
        return lines
    flagged: Any = model.outliers_table()  # type: ignore[attr-defined]
    rows = "".join(
        f"<tr><th>{row.row}</th>"
        f"<td>{_shown(row.feature) if isinstance(row.feature, str) else 'the whole row'}</td>"
        f"<td>{row.weight:.2f}</td></tr>"
        for row in flagged.head(_MOST_FLAGGED).itertuples()
    )
    head = "<tr><th>row, from 0</th><th>feature</th><th>weight</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return f'{lines}<div class="scroll">{table}</div>'


def _variance(model: ReportedModel) -> str:
    shares = 100 * model.explained_variance_ratio_
    widest = max(float(shares.max()), np.finfo(float).tiny)
    totals = np.cumsum(shares)
    counts = np.count_nonzero(model.components_, axis=1)
    names = component_names(model.n_components_)
    rows = []
    for name, used, share, total in zip(names, counts, shares, totals, strict=True):
        bar = f'<span class="bar" style="width:{12 * share / widest:.2f}rem"></span>'
        rows.append(
            f"<tr><th>{name}</th><td>{used}</td><td>{share:.2f}</td><td>{total:.2f}</td>"
            f'<td style="text-align:left">{bar}</td></tr>'
        )
    head = (
        "<tr><th>component</th><th>features</th><th>variance %</th><th>cumulative %</th><th></th>"
        "</tr>"
    )
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _loadings(model: ReportedModel) -> str:
    table = model.loadings_table()
    head = "".join(f"<th>{name}</th>" for name in table.columns)
    rows = [
        f"<tr><th>{_shown(name)}</th>{''.join(_cell(value) for value in row)}</tr>"
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    return (
        f'<table class="loadings"><thead><tr><th>feature</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _cell(value: float) -> str:
    if np.isnan(value):
        return "<td></td>"
    shown = f"{value:.3f}".replace("-", "\N{MINUS SIGN}")
    colour = "59,111,182" if value > 0 else "190,60,50"
    return f'<td style="background:rgba({colour},{0.75 * min(abs(value), 1):.2f})">{shown}</td>'


def _settings(model: ReportedModel) -> str:
    def text(value: Any) -> str:
        if isinstance(value, np.ndarray):
            return f"array of shape {value.shape}"
        if isinstance(value, (list, tuple)):
            return ", ".join(map(text, value))
        if value is None or isinstance(value, bool):
            return {None: "none", True: "yes", False: "no"}[value]
        return str(value)

    rows = [
        f"<tr><th>{escape(name)}</th><td>{_shown(text(value))}</td></tr>"
        for name, value in model.get_params(deep=False).items()
    ]
    return f'<table class="settings"><tbody>{"".join(rows)}</tbody></table>'
