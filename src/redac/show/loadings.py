"""Loadings as a frame that shows its zeros as blanks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from redac.show.markup import as_latex, as_markdown

_DIGITS = 3


class LoadingsTable(pd.DataFrame):
    """A DataFrame of features × components; what is no loading is missing, and shown as a blank.

    It is a DataFrame in every other way. ``to_markdown`` and ``to_latex`` need no other package and
    escape the names.
    """

    @property
    def _constructor(self) -> type[LoadingsTable]:
        return LoadingsTable

    def to_string(self, *arguments: Any, **options: Any) -> Any:
        """As of any DataFrame, with blanks for what is missing."""
        return super().to_string(*arguments, **{"na_rep": "", **options})

    def to_html(self, *arguments: Any, **options: Any) -> Any:
        """As of any DataFrame, with blanks for what is missing."""
        return super().to_html(*arguments, **{"na_rep": "", **options})

    def to_markdown(self, buf: Any = None, *, digits: int | None = _DIGITS) -> str | None:  # type: ignore[override]
        """The table in Markdown; written to ``buf``, a path or an open file, if there is one."""
        return _given(as_markdown(self, digits), buf)

    def to_latex(self, buf: Any = None, *, digits: int | None = _DIGITS) -> str | None:  # type: ignore[override]
        """The table as a LaTeX tabular; written to ``buf``, a path or an open file, if there is
        one."""
        return _given(as_latex(self, digits), buf)

    def _repr_html_(self) -> str | None:
        shown: str | None = super()._repr_html_()  # type: ignore[misc]
        return shown if shown is None else shown.replace("<td>NaN</td>", "<td></td>")


def _given(text: str, buf: Any) -> str | None:
    if buf is None:
        return text
    if hasattr(buf, "write"):
        buf.write(text)
    else:
        Path(buf).write_text(text, encoding="utf-8")
    return None
