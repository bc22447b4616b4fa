"""The pages that `make docs` has built, as a reader of HTML sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

from pages import ROOT

SITE = ROOT / "build" / "docs"
# Attributes that make a browser load something, by the elements that have them.
_LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


@dataclass(frozen=True)
class Link:
    """Where a link leads: a file, and a place in it."""

    file: Path
    anchor: str


@dataclass
class BuiltPage:
    """What a page links to, loads, and can be linked at."""

    links: set[Link] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)


def is_elsewhere(address: str) -> bool:
    """Whether an address is not one of the site."""
    return bool(urlsplit(address).scheme) or address.startswith("//")


def resolved(page: Path, address: str) -> Link:
    """The file and the place that an address on a page means."""
    parts = urlsplit(address)
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return Link(file, unquote(parts.fragment))


@cache
def soup(page: Path) -> BeautifulSoup:
    """The HTML of a page."""
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def built(page: Path) -> BuiltPage:
    """All about a page that tests ask for."""
    found = BuiltPage()
    for element in soup(page).find_all(True):
        attributes = element.attrs
        found.anchors |= {attributes["id"]} if "id" in attributes else set()
        if element.name == "a" and "href" in attributes and not is_elsewhere(attributes["href"]):
            found.links.add(resolved(page, attributes["href"]))
        address = attributes.get(_LOADING.get(element.name, ""))
        if address and not address.startswith("data:"):
            found.loaded.add(address)
    return found


def all_pages() -> list[Path]:
    """All pages of the site."""
    return sorted(page for page in SITE.rglob("*.html") if "_static" not in page.parts)


def text_at(link: Link) -> str:
    """The text of the section that a link leads to, or of the page."""
    article = soup(link.file).find("article")
    place = soup(link.file).find(id=link.anchor) if link.anchor else article
    assert place is not None, link
    return " ".join(place.get_text(" ").split())
