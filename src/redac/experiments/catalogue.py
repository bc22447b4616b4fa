"""All experiments by name, in the order of the paper."""

from __future__ import annotations

from redac.experiments.faces import FACE_CLASSIFICATION, FACES
from redac.experiments.model import Experiment
from redac.experiments.real import COLON, COLON_NONNEGATIVE, PITPROPS
from redac.experiments.synthetic import HASTIE, TOY, TOY_NONNEGATIVE

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
