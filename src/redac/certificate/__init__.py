"""How good is a solution? A proved bound on what any loadings of the same kind can explain."""

from redac.certificate.api import certificate
from redac.certificate.result import Certificate

__all__ = ["Certificate", "certificate"]
