"""Permissions apply to all users but root; tests of them become somebody else for a while."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# By convention the user who owns nothing.
_NOBODY = 65534


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Within this context permissions apply: root acts as a user who owns nothing.

    Such a user may not read the modules of an environment that is root's own: import before.
    """
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
