"""Tests of the site that `make docs` builds use the browser of the other tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
