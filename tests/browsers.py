"""A real browser for tests: Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import pytest

WAY = (
    "no browser: install Chromium (apt-get install chromium), or run "
    "'python -m playwright install chromium', or set REDAC_BROWSER to the path of one"
)
# It runs as any user, draws without a graphics card, and asks nobody on the network for anything.
_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable(own: str) -> str | None:
    """The browser to use: that of a variable, one of the system, or Playwright's own."""
    named = os.environ.get("REDAC_BROWSER")
    if named:
        return named
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        found = shutil.which(name)
        if found:
            return found
    return own if os.path.exists(own) else None


def _give_up(why: str) -> NoReturn:
    """Skip the test; or, where the variable REDAC_NEEDS_BROWSER is set, fail."""
    if os.environ.get("REDAC_NEEDS_BROWSER"):
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def opened_browser() -> Iterator[Any]:
    """A browser without windows; the test is skipped where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _give_up("Playwright is not installed: pip install playwright")
    with sync_playwright() as driver:
        path = executable(driver.chromium.executable_path)
        if path is None:
            _give_up(WAY)
        browser = driver.chromium.launch(executable_path=path, args=_OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page of the browser that must not complain of anything.

    What a page of others always says, and may say, begins with ``chatter``.
    """

    def __init__(
        self, browser: Any, *, width: int = 1280, chatter: str | None = None, **options: Any
    ) -> None:
        settings = {"offline": True, "viewport": {"width": width, "height": 900}} | options
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(180_000)  # milliseconds; the machine may be busy
        self.complaints: list[str] = []
        self._chatter = chatter
        self.page.on("console", lambda message: self._note(message.text))
        self.page.on("pageerror", lambda error: self._note(str(error)))

    def _note(self, text: str) -> None:
        if self._chatter is None or not text.startswith(self._chatter):
            self.complaints.append(text)

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, kind: Any, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.complaints == []
