"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from redac import SparsePCA, SparsePCACV


@parametrize_with_checks(
    [
        SparsePCA(),
        SparsePCA(cardinality=2),
        SparsePCA(l1_bound=1.2, standardize=True),
        SparsePCA(cardinality=0.5, nonnegative=True, n_perturbations=2, ridge=0.01),
        SparsePCA(cardinality=2, init="random", n_init=2),
        SparsePCACV((1, 2), (1, 2), cv=3),
        SparsePCACV(cardinality=0.5, rule="ebic"),
    ]
)
@pytest.mark.filterwarnings("ignore::redac.exceptions.ExhaustedWarning")
@pytest.mark.filterwarnings("ignore::redac.exceptions.NoComponentsWarning")
@pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check(estimator, check):
    check(estimator)
