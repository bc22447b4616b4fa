"""What the paper prints in the cells of its tables."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from redac import metrics
from redac.experiments.problems import ClassificationProblem, ExperimentProblem, RecoveryProblem
from redac.sources.base import Array

ORDERED = "successes"
ANY_ORDER = "successes in any order"
SUPPORTS = "true supports in any order"
PEV, RRE = "PEV", "RRE"
FACES, OTHERS, TOTAL = "faces", "non-faces", "total"

_ALIKE = 0.99
# Hardly any shrinkage: the paper fits plain logistic regression, which is the limit of large C. On
# all pixels that limit does not exist, because a plane separates the training images.
_WEAK_PENALTY = 1e4


def explained(problem: ExperimentProblem, components: Array) -> dict[str, float]:
    """PEV and RRE."""
    matrix, covariance = problem.matrix, problem.covariance
    return {
        PEV: metrics.pev(matrix, components, covariance=covariance),
        RRE: metrics.rre(matrix, components, covariance=covariance),
    }


def recovered(problem: RecoveryProblem, components: Array) -> dict[str, float]:
    """Whether both components agree with the true ones, |v̂ᵀv| ≥ 0.99: in order, in any order.

    The paper compares the first with the first and the second with the second. Their variances are
    so close that samples often exchange them, so that order is counted apart.
    """
    agree = np.abs(components @ _truth(problem).T) >= _ALIKE
    ordered = bool(agree.diagonal().all())
    return {ORDERED: float(ordered), ANY_ORDER: float(ordered or agree[::-1].diagonal().all())}


def supports_recovered(problem: RecoveryProblem, components: Array) -> dict[str, float]:
    """Whether the components use the features of the true ones: in order, in any order."""
    same = (components[:, None, :] != 0) == (_truth(problem)[None, :, :] != 0)
    agree = same.all(axis=2)
    ordered = bool(agree.diagonal().all())
    return {ORDERED: float(ordered), ANY_ORDER: float(ordered or agree[::-1].diagonal().all())}


def classified(problem: ClassificationProblem, components: Array) -> dict[str, float]:
    """Accuracy in percent of logistic regression on the scores, for test data."""
    train, test = problem.matrix, problem.test
    labels, truth = problem.train_labels, problem.test_labels
    if test is None or labels is None or truth is None:
        raise ValueError("A classification problem needs labels and test data.")
    projection = components.T @ np.linalg.pinv(components @ components.T, hermitian=True)
    # Newton steps, as statistical packages take them. Gradient methods end far from the optimum
    # where the penalty is weak, which acts like a stronger one.
    classifier = make_pipeline(
        StandardScaler(), LogisticRegression(C=_WEAK_PENALTY, solver="newton-cholesky")
    )
    classifier.fit(train @ projection, labels)
    right = classifier.predict(test @ projection) == truth
    return {
        FACES: 100 * float(right[truth == 1].mean()),
        OTHERS: 100 * float(right[truth == 0].mean()),
        TOTAL: 100 * float(right.mean()),
    }


def _truth(problem: RecoveryProblem) -> Array:
    if problem.truth is None:
        raise ValueError("A recovery problem needs the true components.")
    return problem.truth
