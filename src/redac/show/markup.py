"""Tables as Markdown and LaTeX, with names that mean what they say there; no package is needed."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from redac.show.escaping import printable

if TYPE_CHECKING:
    import pandas as pd

_LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
# What begins emphasis, code, links, tables or HTML.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~&#])")


def as_markdown(table: pd.DataFrame, digits: int | None = 3, *, index: bool = True) -> str:
    """A table as GitHub and pandoc read it."""
    head, rows, numeric = _cells(table, digits, index, _markdown_text)
    lines = [head, ["---:" if right else "---" for right in numeric], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(table: pd.DataFrame, digits: int | None = 3, *, index: bool = True) -> str:
    """A tabular environment; its rules are those of LaTeX itself."""
    head, rows, numeric = _cells(table, digits, index, _latex_text)
    columns = "".join("r" if right else "l" for right in numeric)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
        rf"{' & '.join(head)} \\",
        r"\hline",
        *[rf"{' & '.join(row)} \\" for row in rows],
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _cells(
    table: pd.DataFrame, digits: int | None, index: bool, text: Any
) -> tuple[list[str], list[list[str]], list[bool]]:
    """Heads, rows, and which columns hold numbers."""
    numeric = [getattr(kind, "kind", "O") in "biuf" for kind in table.dtypes]
    head = [text(name) for name in table.columns]
    rows = [
        [_number(cell, digits, text) for cell in row]
        for row in table.itertuples(index=False, name=None)
    ]
    if index:
        head = [text(table.index.name or ""), *head]
        rows = [[text(name), *row] for name, row in zip(table.index, rows, strict=True)]
        numeric = [False, *numeric]
    return head, rows, numeric


def _number(cell: Any, digits: int | None, text: Any) -> str:
    if isinstance(cell, float):
        if math.isnan(cell):
            return ""
        return f"{cell:.{digits}f}" if digits is not None else repr(cell)
    return str(text(cell))


def _markdown_text(value: object) -> str:
    return _MARKDOWN.sub(r"\\\1", printable(value))


def _latex_text(value: object) -> str:
    return "".join(_LATEX.get(c, c) for c in printable(value))
