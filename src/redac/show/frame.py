"""A page in a frame, for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, repr=False)
class Frame:
    """A page that a notebook shows in a frame; it can neither see nor change the notebook.

    Attributes
    ----------
    page : the whole page as HTML.
    height : of the frame, in pixels.
    """

    page: str
    height: int = 900

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="redac" sandbox="allow-scripts allow-downloads" width="100%" '
            f'height="{int(self.height)}" style="border:0" srcdoc="{escape(self.page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<a page of {len(self.page):,} characters; notebooks show it in a frame>"
