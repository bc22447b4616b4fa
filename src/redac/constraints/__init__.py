"""What a loading vector may be: the closed-form updates of the paper, and rules that keep them so.

``L0`` and ``L1`` bound the number and the sum of loadings, ``Nonnegative`` forbids negative ones.
``Excluding`` and ``Requiring`` name features, ``MaxPerGroup`` and ``WholeGroups`` know groups of
them, ``Budget`` their costs.
"""

from redac.constraints.cardinality import L0
from redac.constraints.costs import Budget
from redac.constraints.coupling import Coupling as Coupling
from redac.constraints.coupling import Disjoint as Disjoint
from redac.constraints.coupling import TotalCardinality as TotalCardinality
from redac.constraints.features import Excluding, Requiring
from redac.constraints.grouped import Groups as Groups
from redac.constraints.grouped import MaxPerGroup, WholeGroups
from redac.constraints.l1 import L1
from redac.constraints.nonnegative import Nonnegative
from redac.constraints.sets import Constraint
from redac.constraints.sets import Vector as Vector
from redac.constraints.sets import is_unit as is_unit
from redac.constraints.sets import largest as largest
from redac.constraints.sets import limited as limited
from redac.constraints.sets import maximize_curved as maximize_curved
from redac.constraints.sets import may_collapse as may_collapse
from redac.constraints.sets import may_enter as may_enter
from redac.constraints.sets import may_join as may_join
from redac.constraints.sets import normalized as normalized
from redac.constraints.sets import oriented as oriented
from redac.constraints.sets import required as required
from redac.constraints.sets import usable as usable
from redac.constraints.supports import Supports as Supports

__all__ = [
    "L0",
    "L1",
    "Budget",
    "Constraint",
    "Excluding",
    "MaxPerGroup",
    "Nonnegative",
    "Requiring",
    "WholeGroups",
]
