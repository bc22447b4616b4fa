"""The experiments of the paper: which data × which methods × which measure.

``redac reproduce`` runs them and puts ours beside theirs.
"""

from redac.experiments.catalogue import EXPERIMENTS
from redac.experiments.experiment import Experiment
from redac.experiments.reproduction import Reproduction, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "Reproduction", "reproduce"]
