"""What the fuzz reports: something that should always hold, and once did not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """A case in which something that must hold does not.

    Attributes
    ----------
    kind : what does not hold; violations of one kind are reported together.
    reproduce : one command line that runs this case alone.
    details : what was found, and in which case.
    """

    kind: str
    reproduce: str
    details: str
