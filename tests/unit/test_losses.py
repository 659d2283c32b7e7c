"""Losses as data: the two numbers, the certificate they lead to, and every linear solver on them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV, lam_path, load, losses
from pegasos.data import ArraySource
from pegasos.errors import PegasosError
from pegasos.export import from_sklearn, to_sklearn
from pegasos.losses import LOSSES, Loss, loss_of
from pegasos.problem import Problem, Rows
from pegasos.solvers.auto import Auto
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.split_ascent import SplitAscent

FAMILY = [Loss(), Loss(np.inf, 0.5), Loss(1.0, 0.3), Loss(1.0, 1e-3), Loss(0.7, 1.0), Loss(2.5, 0.0)]


def by_search(loss, r):
    """Phi from its definition, by trying many values of a."""
    largest = loss.cap if np.isfinite(loss.cap) else max(0.0, r) / loss.ridge + 1.0
    a = np.linspace(0.0, largest, 200_001)
    return np.max(a * r - 0.5 * loss.ridge * a**2)


@pytest.mark.parametrize("loss", FAMILY)
def test_the_value_and_the_slope_are_those_of_the_definition(loss):
    r = np.array([-2.0, -1e-9, 0.0, 0.1, 0.3, 0.7, 1.0, 4.0])
    assert loss.value(r) == pytest.approx([by_search(loss, one) for one in r], abs=1e-8)
    step = 1e-6
    inside = r[np.abs(r) > step]
    slopes = (loss.value(inside + step) - loss.value(inside - step)) / (2.0 * step)
    assert loss.slope(inside) == pytest.approx(slopes, abs=2e-3)


def test_the_names_are_the_formulas_they_stand_for():
    r = np.linspace(-1.0, 3.0, 41)
    positive = np.maximum(r, 0.0)
    assert loss_of("hinge").value(r) == pytest.approx(positive)
    assert loss_of("squared_hinge").value(r) == pytest.approx(positive**2)
    assert loss_of("huber_hinge", 0.5).value(r) == pytest.approx(np.where(r < 0.5, positive**2 / 1.0, positive - 0.25))
    assert loss_of("huber", 1.5).value(r) == pytest.approx(np.where(r < 1.5, positive**2 / 2.0, 1.5 * positive - 1.125))
    assert set(LOSSES) >= {"epsilon_insensitive", "squared_epsilon_insensitive", "quantile"}
    with pytest.raises(ValueError, match="loss must be one of"):
        loss_of("logistic")


def make_problem(loss, n=120, d=6):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    sign = np.where(X @ random.normal(size=d) + random.normal(size=n) > 0.0, 1, -1).astype(np.int8)
    problem = replace(Problem.plain(Rows.of(X, 1.0), sign, 0.01), cap=loss.cap, ridge=loss.ridge)
    cost = random.integers(0, 3, n) * random.uniform(0.1, 2.0, n)
    return replace(problem, cost=cost, offset=0.3 * random.normal(size=n))


def objective(problem, weights):
    rows = np.column_stack([problem.rows.values, np.full(problem.rows.n_rows, problem.rows.bias)])
    r = 1.0 - problem.sign * (rows @ weights + problem.offset)
    phi = [by_search(problem.loss, one) for one in r]
    return 0.5 * problem.lam * weights @ weights + problem.cost @ phi / problem.total


@pytest.mark.parametrize("loss", FAMILY)
@pytest.mark.parametrize(
    ("solver", "tol"),
    [
        (DualAscent(), 1e-9),
        (SplitAscent(), 1e-9),
        (Auto(Pegasos(), SplitAscent(), 1e-9), 1e-9),
        (Pegasos(), 5e-2),
        (Pegasos(batch_size=10, average="tail"), 5e-2),
    ],
    ids=["dual", "split", "auto", "pegasos", "batches"],
)
def test_every_solver_reaches_the_gap_and_its_primal_is_the_objective(loss, solver, tol):
    problem = make_problem(loss)
    solution = run(problem, solver, Stop(tol, 3000, None), seed=0)
    certificate = solution.certificate
    assert certificate.relative_gap <= tol
    assert certificate.primal == pytest.approx(objective(problem, solution.weights), rel=1e-7)
    assert (solution.alpha >= 0.0).all()
    assert (solution.alpha <= problem.bound).all()
    assert (solution.alpha[problem.cost == 0.0] == 0.0).all()


def rows_of_two_classes(n=200, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0.0, "yes", "no")


def test_a_loss_is_added_by_its_two_numbers(monkeypatch):
    """A parabola up to slopes of 3, and a line beyond."""
    monkeypatch.setitem(LOSSES, "steep_huber", lambda smoothing: Loss(3.0, smoothing))
    names = (*losses.CLASSIFICATION_LOSSES, "steep_huber")
    monkeypatch.setattr("pegasos.estimators._checks.CLASSIFICATION_LOSSES", names)
    X, y = rows_of_two_classes()
    model = PegasosClassifier(loss="steep_huber", smoothing=0.25, lam=0.01, tol=1e-8).fit(X, y)
    r = 1.0 - np.where(y == "yes", 1.0, -1.0) * model.decision_function(X)
    phi = np.where(r < 0.75, np.maximum(r, 0.0) ** 2 / 0.5, 3.0 * r - 0.5 * 0.25 * 9.0)
    square = np.sum(model.coef_**2) + model.intercept_[0] ** 2
    assert model.certificate_.primal == pytest.approx(0.005 * square + phi.mean(), rel=1e-9)
    assert model.certificate_.relative_gap <= 1e-8
    assert model.certified(X).mean() > 0.9


@pytest.mark.parametrize("kind", [PegasosClassifier, KernelPegasosClassifier])
@pytest.mark.parametrize("loss", ["squared_hinge", "huber_hinge"])
def test_a_model_file_keeps_the_loss(kind, loss, tmp_path):
    X, y = rows_of_two_classes()
    model = kind(loss=loss, lam=0.01, smoothing=0.3).fit(X, y)
    model.save(tmp_path / "model")
    same = load(tmp_path / "model")
    assert same.fitted_.terms.loss == loss_of(loss, 0.3)
    assert same.certify(X, y).primal == pytest.approx(model.certificate_.primal, rel=1e-12)


def test_a_stream_learns_with_its_loss_and_keeps_it():
    X, y = rows_of_two_classes(2000)
    model = PegasosClassifier(loss="squared_hinge", lam=0.1, average="uniform", random_state=0)
    for block in range(10):
        model.partial_fit(X[block::10], y[block::10], classes=["no", "yes"])
    whole = PegasosClassifier(loss="squared_hinge", lam=0.1).fit(X, y)
    assert np.mean(model.predict(X) == whole.predict(X)) > 0.97
    assert model.certificate_.relative_gap < 0.5
    with pytest.raises(PegasosError, match="loss must not change in the middle of a stream"):
        model.set_params(loss="hinge").partial_fit(X[:10], y[:10])


@pytest.mark.parametrize("loss", ["squared_hinge", "huber_hinge"])
@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
def test_a_source_is_trained_to_the_same_optimum(loss, solver):
    X, y = rows_of_two_classes(600)
    tol = 1e-6 if solver != "pegasos" else 0.05
    model = PegasosClassifier(loss=loss, lam=0.01, solver=solver, tol=tol, random_state=0)
    outside = model.fit_source(ArraySource(X, y, block_rows=100))
    assert outside.certificate_.relative_gap <= tol
    inside = PegasosClassifier(loss=loss, lam=0.01, tol=1e-8).fit(X, y)
    assert outside.certificate_.primal == pytest.approx(inside.certificate_.primal, rel=1.1 * tol)


def test_paths_and_the_choice_of_lam_take_the_loss():
    X, y = rows_of_two_classes()
    path = lam_path(X, y, loss="squared_hinge", n_lams=6, eps=1e-2)
    for lam, coef, certificate in zip(path.lams, path.coefs, path.certificates, strict=True):
        alone = PegasosClassifier(lam, loss="squared_hinge", tol=1e-8).fit(X, y)
        assert certificate.relative_gap <= 1e-3
        assert certificate.dual <= alone.certificate_.primal * (1.0 + 1e-12)
        apart = certificate.weight_radius + alone.certificate_.weight_radius
        np.testing.assert_allclose(coef, alone.coef_, rtol=0.0, atol=apart)
    chosen = PegasosClassifierCV(4, loss="huber_hinge", smoothing=0.3, cv=3, tol=1e-4).fit(X, y)
    assert chosen.certificate_.relative_gap <= 1e-4
    assert chosen.fitted_.terms.ridge == 0.3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"multi_class": "crammer_singer"}, "crammer_singer.*does not support loss='squared_hinge'"),
        ({"solver": "cutting_plane"}, "cutting_plane' supports loss='hinge' alone, got loss='squared_hinge'"),
        (
            {"solver": "cutting_plane", "regularize_intercept": False},
            "cutting_plane' supports loss='hinge' alone, got loss='squared_hinge'",
        ),
        ({"C": np.inf}, "C=inf is a hard margin"),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"loss": "huber_hinge", "smoothing": 0.0}, "smoothing must be"),
    ],
)
def test_what_a_loss_does_not_support_is_an_error_that_names_it(parameters, message):
    X, y = rows_of_two_classes(40)
    with pytest.raises(PegasosError, match=message):
        PegasosClassifier(**{"loss": "squared_hinge", **parameters}).fit(X, y)


def test_models_of_scikit_learn_keep_their_loss():
    X, y = rows_of_two_classes()
    rival = LinearSVC(C=0.1, tol=1e-8, max_iter=100_000).fit(X, y)
    ours = from_sklearn(rival)
    assert ours.loss == "squared_hinge"
    assert ours.certify(X, y).relative_gap <= 1e-3
    assert to_sklearn(PegasosClassifier(loss="squared_hinge").fit(X, y)).loss == "squared_hinge"
