"""Fitted models as pages: in files, and in notebooks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from redac.disk import write_atomically, write_text
from redac.model.rules import rule_sentence
from redac.show.frame import Frame
from redac.show.report import html_report, path_report

_TITLE = "data"


class ShownModel:
    """What a fitted model shows of itself beyond tables."""

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        X: Any = None,
        labels: Any = None,
        sample_names: Sequence[Any] | None = None,
        title: str = _TITLE,
        stability: Any = None,
        certificate: Any = None,
    ) -> str | None:
        """The model as one HTML page: pictures that go together, and tables.

        The page reads nothing from elsewhere, so it can be sent by mail. Its tables are there
        without scripts, too.

        Parameters
        ----------
        path : path-like, default=None
            The file to write; without it the page is returned.
        X : the data of the fit, or other data like them, default=None
            For scores and biplot; up to 2,000 evenly spaced rows are drawn. The page holds their
            scores, not the data.
        labels : array, mapping or DataFrame, default=None
            What rows can be coloured by: a column of groups or numbers, or several by name.
        sample_names : sequence, default=None
            Names of the rows; those of a frame by default.
        title : str, default="data"
            What the data are called.
        stability : Stability, default=None
            What ``redac.stability`` has returned for this model.
        certificate : Certificate, default=None
            What ``certificate()`` has returned.

        Returns
        -------
        str or None
        """
        page = self._page(
            X=X,
            labels=labels,
            sample_names=sample_names,
            title=title,
            stability=stability,
            certificate=certificate,
        )
        if path is None:
            return page
        write_atomically(path, lambda file: write_text(file, page))
        return None

    def explore(
        self,
        X: Any = None,
        *,
        labels: Any = None,
        sample_names: Sequence[Any] | None = None,
        title: str = _TITLE,
        height: int = 900,
    ) -> Frame:
        """The page of ``to_html`` in a frame, for the output of a cell of a notebook.

        Parameters
        ----------
        X, labels, sample_names, title : as in ``to_html``
        height : int, default=900
            Of the frame, in pixels.

        Returns
        -------
        an object that notebooks show as the page
        """
        return Frame(self._page(X=X, labels=labels, sample_names=sample_names, title=title), height)

    def _page(self, **shown: Any) -> str:
        check_is_fitted(self)
        if len(self.components_) == 0:  # type: ignore[attr-defined]
            raise ValueError("There is no component to show.")
        path = getattr(self, "path_", None)
        if path is None:
            return html_report(self, remarks=[rule_sentence(self)], **shown)  # type: ignore[arg-type]
        # A model that was chosen from a path shows all of it, and itself in place of its draft.
        places = [
            (int(r), int(k)) for r, k in path.table[["n_components", "cardinality"]].to_numpy()
        ]
        chosen = (self.n_components_, self.cardinality_)  # type: ignore[attr-defined]
        models = [self if place == chosen else path.model(*place) for place in places]
        for name in ("stability", "certificate"):
            shown.pop(name, None)
        said = [self.reason_, rule_sentence(self)]  # type: ignore[attr-defined]
        at = places.index(chosen)
        return path_report(models, path.table, chosen=at, remarks=said, **shown)
