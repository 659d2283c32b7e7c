"""scikit-learn's own checks of the online learners."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos.online import ConfidenceWeighted, KernelPerceptron, Norma, PassiveAggressive, Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")

# The check fits the weighted rows in another order than the repeated ones: what learns row by row cannot pass it,
# whatever it makes of weights.
ROW_BY_ROW = {
    "check_sample_weight_equivalence_on_dense_data": "the result depends on the order of the rows",
    "check_sample_weight_equivalence_on_sparse_data": "the result depends on the order of the rows",
}


@parametrize_with_checks(
    [Perceptron(), PassiveAggressive(), ConfidenceWeighted(), Norma(), KernelPerceptron()],
    expected_failed_checks=lambda estimator: ROW_BY_ROW,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [Perceptron("voted"), Norma(nu=0.2), KernelPerceptron("linear", budget=30, removal="random")],
    expected_failed_checks=lambda estimator: ROW_BY_ROW,
)
def test_scikit_learn_check_of_more_settings(estimator, check):
    check(estimator)
