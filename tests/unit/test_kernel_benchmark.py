"""The judge of the kernel benchmark, which must not depend on what it judges."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmarks.kernels.objective import gap, one_against_one, one_against_rest, values
from pegasos import KernelPegasosClassifier

gamma, C = 0.3, 2.0


def clouds(n_classes):
    rng = np.random.default_rng(n_classes)
    labels = rng.integers(n_classes, size=150)
    return rng.standard_normal((n_classes, 4))[labels] + rng.standard_normal((150, 4)), labels


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_strict_rival_has_hardly_a_gap_and_a_loose_one_has(n_classes):
    X, y = clouds(n_classes)
    strict, loose = (SVC(C=C, gamma=gamma, tol=tol).fit(X, y) for tol in (1e-9, 0.5))
    assert 0 <= gap(X, gamma, C, one_against_one(strict, y)).largest < 1e-7
    assert gap(X, gamma, C, one_against_one(loose, y)).relative > 1e-3


@pytest.mark.parametrize("n_classes", [2, 4])
def test_pairs_give_the_decisions_of_the_rival(n_classes):
    X, y = clouds(n_classes)
    model = SVC(C=C, gamma=gamma, decision_function_shape="ovo").fit(X, y)
    binaries = one_against_one(model, y)
    squares = ((X[binaries.support][:, None] - X) ** 2).sum(axis=2)
    scores = binaries.coefficients @ np.exp(-gamma * squares) + binaries.intercepts[:, None]
    np.testing.assert_allclose(scores.T, model.decision_function(X).reshape(len(X), -1), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_matrix])
def test_values_of_pegasos_are_those_it_certifies(n_classes, as_rows):
    X, y = clouds(n_classes)
    model = KernelPegasosClassifier(C=C, gamma=gamma, tol=1e-6, random_state=0).fit(as_rows(X), y)
    primal, dual = values(as_rows(X), gamma, C, one_against_rest(model, y))
    parts = model.certify(as_rows(X), y).parts
    np.testing.assert_allclose(primal, [C * len(y) * part.primal for part in parts], rtol=1e-9)
    np.testing.assert_allclose(dual, [C * len(y) * part.dual for part in parts], rtol=1e-9)


def test_an_unbalanced_point_is_not_a_bound_until_it_is_balanced():
    X, y = clouds(2)
    model = SVC(C=C, gamma=gamma, tol=1e-9).fit(X, y)
    best = values(X, gamma, C, one_against_one(model, y))[0]
    binaries = one_against_one(model, y)
    binaries.coefficients[binaries.coefficients > 0] *= 0.5
    assert values(X, gamma, C, binaries)[1] < best
