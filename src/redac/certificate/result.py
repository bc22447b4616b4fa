"""What a certificate says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from redac.sources.base import Array

# Below this many percentage points the question is settled for every practical purpose.
_PROVED = 0.05


@dataclass(frozen=True)
class Certificate:
    """How far components can be from the best of their kind.

    Attributes
    ----------
    value : percentage of the variance that the components explain (PEV).
    upper_bound : no loadings with these cardinalities explain a larger percentage.
    gap : the difference of the two, in percentage points.
    method : the bound that won: "eigenvalues", "variances", "norms", "mixture", "blocks" or "lifted
        dual".
    proved : whether the gap is below 0.05.
    cardinality : the number of non-zeros that each component may have.
    nodes : how many regions of the feasible set were bounded.
    seconds : time taken.
    interrupted : whether Ctrl-C ended the work early; the bound holds all the same.
    better_components : components with the same cardinalities that explain more, if any turned up.
    better_value : what those explain.
    remark : what else to know.
    """

    value: float
    upper_bound: float
    method: str
    cardinality: tuple[int, ...]
    nodes: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    better_components: Array | None = field(default=None, repr=False, compare=False)
    better_value: float | None = None
    remark: str = ""

    @property
    def gap(self) -> float:
        return max(self.upper_bound - self.value, 0.0)

    @property
    def proved(self) -> bool:
        return self.gap < _PROVED

    def __str__(self) -> str:
        # Rounded outwards, so that what is printed is true as it stands.
        below = math.floor(self.value * 1000) / 1000
        above = math.ceil(self.upper_bound * 1000) / 1000
        lines = [
            f"These components explain {below:.3f} % of the variance.",
            f"No choice of loadings with {self._kind()} can explain more than {above:.3f} %.",
            self._verdict(),
        ]
        if self.better_value is not None:
            lines.append(
                f"Better components are known: they explain {self.better_value:.3f} % "
                "(see better_components)."
            )
        if self.interrupted:
            lines.append("The work was interrupted; more time may lower the bound.")
        if self.remark:
            lines.append(self.remark)
        return "\n".join(lines)

    def _kind(self) -> str:
        if len(set(self.cardinality)) == 1:
            each = " each" if len(self.cardinality) > 1 else ""
            return f"at most {self.cardinality[0]} non-zeros{each}"
        *most, last = map(str, self.cardinality)
        return f"at most {', '.join(most)} and {last} non-zeros"

    def _verdict(self) -> str:
        figures = f"gap {self.gap:.3f} points, by {self.method}, {self.nodes} nodes"
        if self.proved:
            return f"They are optimal, or as good as: {figures}, {self.seconds:.1f} s."
        return f"How good they are within that is open: {figures}, {self.seconds:.1f} s."
