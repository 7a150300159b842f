"""scikit-learn's own checks, on the supervised form."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.helpers.small import small_model

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
)


# sample_weight is a survey weight inside a group's share, not a number of repetitions.
_NOT_OURS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_sample_weights_not_overwritten",
        "check_classifiers_one_label_sample_weights",
    ),
    "unequal weights beside plain labels are refused",
)


@parametrize_with_checks(
    [small_model(n_chains=1, n_draws=20, n_burn=10)], expected_failed_checks=lambda estimator: _NOT_OURS
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
