"""scikit-learn's own checks, sample-weight equivalence included."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosOneClass,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosOneClass,
    PegasosRegressor,
    PegasosRegressorCV,
)

pytestmark = pytest.mark.filterwarnings("ignore::pegasos.GapWarning", "ignore::UserWarning", "ignore::FutureWarning")

# Rows in a random order are not equivalent to rounding, whatever the weights.
RANDOM_ORDER = {
    "check_sample_weight_equivalence_on_dense_data": "the rows are visited in a random order",
    "check_sample_weight_equivalence_on_sparse_data": "the rows are visited in a random order",
}


# One of the two data sets of this check has a class of a single row, which cannot be on both sides of a fold.
FOLDS = dict.fromkeys(RANDOM_ORDER, "a class of one row has no probability")


# Costs that differ by the factor 1e7 are to outweigh the data: accuracy prefers a lam with which they do not.
CHOICE = {"check_class_weight_classifiers": "lam is chosen by the accuracy, which ignores class weights"}


def expected_failures(estimator):
    if isinstance(estimator, PegasosClassifierCV):
        return CHOICE
    if getattr(estimator, "probability", False):
        return FOLDS
    by_rows = getattr(estimator, "solver", "auto") == "pegasos" and getattr(estimator, "batch_size", None) == 1
    return RANDOM_ORDER if by_rows else {}


@parametrize_with_checks(
    [
        PegasosClassifier(solver="auto", tol=1e-12),
        PegasosClassifier(solver="pegasos", batch_size="all"),
        PegasosClassifier(solver="pegasos"),
        PegasosClassifier(multi_class="ovo", tol=1e-12),
        PegasosClassifier(multi_class="crammer_singer", tol=1e-12),
        PegasosClassifierCV(4, cv=3, tol=1e-10),
        PegasosClassifier(loss="squared_hinge", tol=1e-12),
        # Fewer epochs than by default: near the rounding of the machine the rest of them only take time.
        KernelPegasosClassifier(tol=1e-12, max_iter=100),
        PegasosRegressor(tol=1e-12),
        PegasosRegressorCV(3, epsilons=2, cv=3, tol=1e-10),
        KernelPegasosRegressor(tol=1e-12, max_iter=100),
        PegasosOneClass(tol=1e-12),
        KernelPegasosOneClass(tol=1e-12, max_iter=100),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        PegasosClassifier(probability=True, tol=1e-10),
        PegasosClassifier(solver="dual", tol=1e-12),
        PegasosClassifier(solver="cutting_plane", tol=1e-10),
        PegasosClassifier(regularize_intercept=False, tol=1e-13),
        PegasosClassifier(multi_class="ovo", solver="pegasos", batch_size="all"),
        PegasosClassifier(loss="huber_hinge", tol=1e-12),
        PegasosClassifier(loss="squared_hinge", regularize_intercept=False, tol=1e-12),
        KernelPegasosClassifier(loss="squared_hinge", tol=1e-10, max_iter=200),
        PegasosClassifier(multi_class="crammer_singer", solver="pegasos", batch_size="all"),
        KernelPegasosClassifier(regularize_intercept=False, tol=1e-10, max_iter=200),
        KernelPegasosClassifier(probability=True, tol=1e-10, max_iter=200),
        KernelPegasosClassifier(solver="pegasos", batch_size="all", max_iter=200),
        KernelPegasosClassifier(kernel="linear", tol=1e-12, max_iter=100),
        KernelPegasosClassifier(kernel="poly", tol=1e-10, max_iter=100),
        KernelPegasosClassifier(multi_class="ovo", tol=1e-12, max_iter=100),
        PegasosRegressor(loss="quantile", tol=1e-12),
        PegasosRegressor(loss="squared_epsilon_insensitive", tol=1e-12),
        PegasosRegressor(loss="huber", tol=1e-12),
        PegasosRegressor(regularize_intercept=False, tol=1e-13),
        PegasosRegressor(solver="pegasos", batch_size="all"),
        PegasosRegressor(solver="dual", tol=1e-12),
        PegasosRegressor(nu=0.5, tol=1e-12),
        KernelPegasosRegressor(regularize_intercept=False, tol=1e-10, max_iter=200),
        KernelPegasosRegressor(loss="quantile", tol=1e-12, max_iter=100),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check_of_more_settings(estimator, check):
    check(estimator)
