"""scikit-learn's own checks of the estimators that choose everything themselves."""

import pytest
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import AutoPegasos, AutoPegasosRegressor

pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::pegasos.GapWarning", "ignore::UserWarning", "ignore::FutureWarning")


# Scalers, and the distances that widths are measured in, count rows and not their weights.
WEIGHTS = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "columns are scaled by all rows alike",
)


@parametrize_with_checks(
    [
        AutoPegasos(time_budget=None, n_trials=2, cv=StratifiedKFold(2)),
        AutoPegasosRegressor(time_budget=None, n_trials=2, cv=KFold(2)),
    ],
    expected_failed_checks=lambda _: WEIGHTS,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
