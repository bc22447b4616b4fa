"""All experiments by name, in the order of the paper."""

from __future__ import annotations

from redac.experiments.experiment import Experiment
from redac.experiments.face_tables import FACE_CLASSIFICATION, FACES
from redac.experiments.real_data_tables import COLON, COLON_NONNEGATIVE, PITPROPS
from redac.experiments.synthetic_tables import HASTIE, TOY, TOY_NONNEGATIVE

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        HASTIE,
        TOY,
        PITPROPS,
        COLON,
        TOY_NONNEGATIVE,
        COLON_NONNEGATIVE,
        FACES,
        FACE_CLASSIFICATION,
    )
}
