"""The site that `make docs` has built."""

from pathlib import Path

SITE = Path(__file__).parents[1] / "build" / "docs"


def test_there_is_a_site():
    assert (SITE / "index.html").exists()
