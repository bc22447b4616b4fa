"""Problems for the solver: some to tune its numbers on, others to see what that was worth.

``tuning()`` and ``heldout()`` give lists of ``TestProblem``. They share no seed and no matrix; no
number of the solver may be chosen by the held-out ones.
"""

from benchmarks.problems.heldout import heldout
from benchmarks.problems.model import TestProblem
from benchmarks.problems.tuning import tuning

__all__ = ["TestProblem", "heldout", "tuning"]
