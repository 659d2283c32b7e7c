"""Small kernel fits and single predictions: the short ways give what the long ones do."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons

from pegasos import KernelPegasosClassifier
from pegasos.errors import PegasosError
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.pegasos import steps_worth
from pegasos.tasks.one_vs_one import lams_and_norms


def classes(n=150, n_features=6, n_classes=4, seed=0):
    shape = {"n_features": n_features, "n_informative": 4, "n_classes": n_classes}
    return make_classification(n, random_state=seed, **shape)


@pytest.mark.parametrize("n_features", [6, 60])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_one_row_at_a_time_is_scored_like_all_rows(multi_class, n_features):
    X, y = classes(n_features=n_features)
    model = KernelPegasosClassifier(gamma=0.1, C=10.0, multi_class=multi_class).fit(X, y)
    one_by_one = np.vstack([model.decision_function(X[[k]]) for k in range(40)])
    np.testing.assert_allclose(one_by_one, model.decision_function(X[:40]), rtol=1e-10, atol=1e-10)


def test_rows_that_are_read_as_they_are_are_still_checked():
    X, y = make_moons(60, random_state=0)
    model = KernelPegasosClassifier(gamma=1.0, lam=1e-2)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, y)
    model.fit(X, y)
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="NaN"):
        model.predict(bad)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :1])
    with pytest.raises(PegasosError, match="one label per item"):
        model.fit(X, y[:-1])


def test_a_model_that_has_predicted_is_pickled_without_what_it_remembers():
    X, y = make_moons(80, random_state=0)
    model = KernelPegasosClassifier(gamma=1.0, lam=1e-2).fit(X, y)
    before = pickle.dumps(model.fitted_.model)
    scores = model.decision_function(X)
    assert len(pickle.dumps(model.fitted_.model)) == len(before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)


def test_edited_support_vectors_are_those_that_predict():
    X, y = make_moons(80, random_state=0)
    model = KernelPegasosClassifier(gamma=1.0, lam=1e-2).fit(X, y)
    before = model.decision_function(X)
    model.support_vectors_ = model.support_vectors_ + 0.5
    np.testing.assert_allclose(model.decision_function(X + 0.5), before, rtol=1e-10)


def test_pairs_tell_lam_and_norms_without_making_their_problems():
    X, y = classes()
    model = KernelPegasosClassifier(kernel="poly", degree=2, C=3.0, multi_class="ovo", class_weight="balanced")
    seen = []
    fit = model.fit(X, y).fitted_
    machine, task = model._machine(), fit.task
    data = model._read(X, y, None, reset=False)
    rows = machine.read_again(data, fit.model, fit.terms)
    target = task.target(y, None)
    pairs = task.problems(rows, target, None, fit.terms)
    for (lam, norm), problem in zip(lams_and_norms(pairs), pairs, strict=True):
        assert lam == problem.lam
        assert norm == pytest.approx(np.mean(problem.rows.squared_norms), rel=1e-12)
        seen.append(lam)
    assert len(seen) == 6


def test_steps_worth_follow_the_gap():
    X, y = make_moons(80, random_state=0)
    loose, tight = (KernelPegasosClassifier(gamma=1.0, lam=1e-2, tol=tol).fit(X, y) for tol in (0.3, 1e-2))
    each = [model.fitted_.state.steps[0] for model in (loose, tight)]
    assert each[1] >= each[0] >= loose.n_steps_
    assert steps_worth(1e-2, 1.0, tight.fitted_.proof) >= steps_worth(1e-1, 1.0, tight.fitted_.proof)


def test_the_limit_of_blas_ends_with_the_last_of_those_who_set_it():
    from threadpoolctl import threadpool_info

    def threads():
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before = threads()
    with one_thread_of_blas(), one_thread_of_blas():
        assert set(threads()) == {1}
    assert threads() == before
