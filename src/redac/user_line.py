"""Warnings that point at the line of the user, through whatever stands between."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sklearn

# What stands between a user and a fit: this package, and pipelines, searches and wrappers of
# scikit-learn. joblib and the standard library only ever stand between those.
_BETWEEN = tuple(f"{Path(file).parent}/" for file in (__file__, sklearn.__file__))
_CARRIERS = ("/joblib/", "/contextlib.py", "/concurrent/", "/threading.py")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn as if the user's own call had done so."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_between(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_between(file: str) -> bool:
    path = file.replace("\\", "/")
    return path.startswith(_BETWEEN) or any(part in path for part in _CARRIERS)
