"""The classifier with one problem of all classes: what a fit returns, and what it continues from."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification

from pegasos import PegasosClassifier
from tests.problems import joint_problem_of
from tests.reference.joint_objective import PlainJointProblem

X, Y = make_classification(400, 8, n_informative=6, n_classes=4, class_sep=1.5, random_state=1)
NAMES = np.array(["ash", "elm", "fir", "oak"])


def model_of(**settings):
    return PegasosClassifier(**{"lam": 0.01, "multi_class": "crammer_singer", "random_state": 0, **settings})


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
def test_a_fit_returns_one_certified_problem(solver):
    model = model_of(solver=solver, tol=0.05).fit(X, NAMES[Y])
    assert model.coef_.shape == (4, 8)
    assert model.intercept_.shape == (4,)
    assert model.alpha_.shape == (4, 400)
    assert model.certificate_.relative_gap <= 0.05
    assert len(model.certificate_.parts) == 1
    plain = PlainJointProblem.of(joint_problem_of(X, Y, lam=0.01, bias=1.0))
    weights = np.column_stack([model.coef_, model.intercept_])
    assert plain.primal(weights) == pytest.approx(model.certificate_.primal, rel=1e-10)
    assert plain.dual(plain.clip(model.alpha_.T)) == pytest.approx(model.certificate_.dual, rel=1e-9)
    assert model.support_.tolist() == np.flatnonzero(model.alpha_.any(axis=0)).tolist()
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)
    assert (model.predict(X) == NAMES[(X @ model.coef_.T + model.intercept_).argmax(axis=1)]).all()
    assert model.score(X, NAMES[Y]) > 0.7


def test_certify_recomputes_the_certificate_from_the_rows():
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 400)
    model = model_of(class_weight="balanced").fit(X, Y, sample_weight=weights)
    again = model.certify(X, Y, weights)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-12)


def test_no_exact_solution_decides_a_certified_row_otherwise():
    exact = model_of(tol=1e-9, max_iter=100_000).fit(X, Y)
    shares = []
    for tol in (0.1, 1e-2, 1e-4):
        rough = model_of(tol=tol).fit(X, Y)
        certified = rough.certified(X)
        assert (rough.predict(X)[certified] == exact.predict(X)[certified]).all()
        distance = np.sqrt(
            np.sum((rough.coef_ - exact.coef_) ** 2) + np.sum((rough.intercept_ - exact.intercept_) ** 2)
        )
        assert distance <= rough.certificate_.weight_radius
        shares.append(certified.mean())
    assert shares == sorted(shares)
    assert 0.0 < shares[-1] < 1.0


def test_dense_and_sparse_rows_agree_and_threads_do_not_matter():
    dense = model_of(n_jobs=1).fit(X, Y)
    sparse = model_of(n_jobs=2).fit(sp.csr_matrix(X), Y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)


def test_float32_rows_are_near():
    narrow, wide = (model_of().fit(X.astype(kind), Y) for kind in (np.float32, np.float64))
    assert narrow.alpha_.dtype == np.float32
    apart = np.sqrt(np.sum((narrow.coef_ - wide.coef_) ** 2))
    assert apart <= narrow.certificate_.weight_radius + wide.certificate_.weight_radius


def test_rows_of_no_weight_may_be_of_no_class():
    weights = np.ones(402)
    weights[400:] = 0.0
    model = model_of(tol=1e-8).fit(np.vstack([X, X[:2]]), np.append(Y, [7, -3]), sample_weight=weights)
    plain = model_of(tol=1e-8).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-7)
    assert model.classes_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
def test_a_warm_start_continues_from_where_the_last_fit_ended(solver):
    model = model_of(solver=solver, tol=0.1, warm_start=True).fit(X, Y)
    before = model.certificate_
    model.set_params(tol=0.02).fit(X, Y)
    assert model.certificate_.relative_gap <= 0.02
    # A first look from the zero point would see less than this.
    assert model.trace_["dual"][0] >= 0.98 * before.dual
    cold = model_of(solver=solver, tol=0.02).fit(X, Y)
    assert model.n_iter_ < cold.n_iter_ or solver == "pegasos"  # which counts the epochs before


def test_a_stream_learns_and_certifies_its_block():
    model = model_of(solver="pegasos")
    for _ in range(5):
        for begin in range(0, 400, 100):
            model.partial_fit(X[begin : begin + 100], Y[begin : begin + 100], classes=[0, 1, 2, 3])
    assert model.n_steps_ == 2000
    assert model.score(X, Y) > model_of().fit(X, Y).score(X, Y) - 0.05
    again = model.certify(X[300:], Y[300:])
    assert again.gap == pytest.approx(model.certificate_.gap, rel=1e-9)
    best = model_of(tol=1e-6, max_iter=10_000).fit(X[300:], Y[300:]).certificate_
    assert model.certificate_.dual <= best.primal <= model.certificate_.primal


def test_a_fit_continues_as_a_stream_and_a_stream_before_any_row_is_zero():
    model = model_of().fit(X, Y)
    accuracy, steps = model.score(X, Y), model.n_steps_
    model.partial_fit(X[:50], Y[:50])
    assert model.n_steps_ > steps + 50  # as many as the fit is worth
    assert model.score(X, Y) > accuracy - 0.02
    empty = model_of().partial_fit(X[:20], Y[:20], classes=[0, 1, 2, 3], sample_weight=np.zeros(20))
    assert not empty.coef_.any()
    assert empty.coef_.shape == (4, 8)


def test_a_change_of_multi_class_starts_over():
    model = model_of(warm_start=True).fit(X, Y)
    model.set_params(multi_class="ovr").fit(X, Y)
    assert len(model.certificate_.parts) == 4
    assert model.certificate_.relative_gap <= 1e-3


def test_verbose_prints_a_line_for_each_certificate(capsys):
    model_of(verbose=1).fit(X, Y)
    assert "relative gap" in capsys.readouterr().out
