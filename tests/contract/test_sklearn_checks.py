"""scikit-learn's own checks, on the supervised form. No failure is expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.contract.small import small_model

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
)


@parametrize_with_checks([small_model()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
