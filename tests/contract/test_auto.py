"""scikit-learn's own checks of the classifier that chooses everything itself."""

import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import AutoPegasos

pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::pegasos.GapWarning", "ignore::UserWarning", "ignore::FutureWarning")


@parametrize_with_checks([AutoPegasos(time_budget=None, n_trials=2, cv=StratifiedKFold(2))])
def test_scikit_learn_check(estimator, check):
    check(estimator)
