"""The tables of a report as HTML, which are there to read without any script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from inspect import signature
from typing import Any

import numpy as np

from redac.show.escaping import printable
from redac.show.tables import component_names, loading_text

# A report lists so many outliers, at most.
_MOST_FLAGGED = 200
_MINUS = "\N{MINUS SIGN}"
# The columns of a path: their titles, and how many decimals they have.
_COLUMNS = {
    "n_components": ("components", 0),
    "cardinality": ("features each", 0),
    "nonzeros": ("loadings", 0),
    "pev": ("PEV %", 2),
    "pev_pca": ("PCA %", 2),
    "q2": ("Q²", 3),
    "q2_se": ("± SE", 3),
    "ebic": ("EBIC", 1),
}


def shown(text: object) -> str:
    """Text of others as a page may hold it."""
    return escape(printable(text))


def table(name: str, title: str, content: str, button: str = "") -> str:
    """A table that can be folded, with its title."""
    return (
        f'<section class="card full"><details class="table" id="{name}" open>'
        f"<summary>{title}{button}</summary>"
        f'<div class="scroll">{content}</div></details></section>\n'
    )


def gap_lines(model: Any) -> list[str]:
    """How many cells are missing, and what a robust fit left out, in words."""
    lines = []
    missing = getattr(model, "n_missing_", 0)
    if missing:
        share = 100 * missing / (model.n_samples_ * model.n_features_in_)
        lines.append(
            f"{missing} missing cell{'' if missing == 1 else 's'} ({share:.1f} %): the components "
            "fit the cells that are there, and explained variance is that of those"
        )
    if hasattr(model, "row_weights_"):
        rows = int((model.row_weights_ == 0.0).sum())
        cells = len(model.outliers_table()) - rows
        lines.append(f"outliers: {rows} rows and {cells} single cells lost their weight")
    return lines


def outliers(model: Any) -> str:
    """The rows and cells that a robust fit has flagged."""
    if not hasattr(model, "row_weights_"):
        return ""
    rows = "".join(
        f"<tr><th>{row.row}</th>"
        f"<td>{shown(row.feature) if isinstance(row.feature, str) else 'the whole row'}</td>"
        f"<td>{row.weight:.2f}</td></tr>"
        for row in model.outliers_table().head(_MOST_FLAGGED).itertuples()
    )
    head = "<tr><th>row, from 0</th><th>feature</th><th>weight</th></tr>"
    content = f'<table class="outliers"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    return table("outliers-table", "Rows and cells that lost their weight", content)


def variance(model: Any) -> str:
    """What each component adds, and what they explain together."""
    shares = 100 * model.explained_variance_ratio_
    totals = np.cumsum(shares)
    counts = np.count_nonzero(model.components_, axis=1)
    names = component_names(model.n_components_)
    rows = "".join(
        f"<tr><th>{name}</th><td>{used}</td><td>{share:.2f}</td><td>{total:.2f}</td></tr>"
        for name, used, share, total in zip(names, counts, shares, totals, strict=True)
    )
    head = "<tr><th>component</th><th>features</th><th>variance %</th><th>cumulative %</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def loadings(model: Any) -> str:
    """The non-zero loadings, features × components."""
    found = model.loadings_table()
    head = "".join(f"<th>{name}</th>" for name in found.columns)
    rows = [
        f"<tr><th>{shown(name)}</th>{''.join(_cell(value) for value in row)}</tr>"
        for name, row in zip(found.index, found.to_numpy(), strict=True)
    ]
    return (
        f'<table class="loadings"><thead><tr><th>feature</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _cell(value: float) -> str:
    if np.isnan(value):
        return "<td></td>"
    level = max(1, min(10, round(10 * abs(float(value)))))
    sign = "p" if value > 0 else "n"
    return f'<td class="{sign}{level}">{loading_text(value).replace("-", _MINUS)}</td>'


def places(rows: Sequence[dict[str, Any]]) -> str:
    """The places of a path with their measures."""
    known = [name for name in _COLUMNS if rows and name in rows[0]]
    head = "".join(f"<th>{_COLUMNS[name][0]}</th>" for name in known)
    lines = []
    for row in rows:
        cells = [f"{row[name]:.{_COLUMNS[name][1]}f}".replace("-", _MINUS) for name in known]
        lines.append(f"<tr><th>{cells[0]}</th>{''.join(f'<td>{c}</td>' for c in cells[1:])}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def settings(model: Any) -> str:
    """The parameters of the model that differ from their defaults."""

    def text(value: Any) -> str:
        if isinstance(value, np.ndarray):
            return f"array of shape {value.shape}"
        if isinstance(value, (list, tuple)):
            return ", ".join(map(text, value))
        if value is None or isinstance(value, bool):
            return {None: "none", True: "yes", False: "no"}[value]
        return str(value)

    defaults = signature(type(model)).parameters
    rows = [
        f"<tr><th>{escape(name)}</th><td>{shown(text(value))}</td></tr>"
        for name, value in model.get_params(deep=False).items()
        if text(value) != text(defaults[name].default)
    ]
    return (
        f'<table class="settings"><tbody>{"".join(rows)}</tbody></table>'
        "<p>All other parameters have their defaults.</p>"
    )
