"""How to add a task: two complete ones, of classes that are a scale and of numbers without classes."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.fitting import fit, pass_over, recertify
from pegasos.machines import Data, Kernel, KernelChoice, Linear, Settings
from pegasos.problem import Problem, constant
from pegasos.tasks import CLASSIFICATIONS, Known, OneVsRest

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 4))
GRADES = np.digitize(X[:, 0] + 0.3 * RANDOM.normal(size=300), [-0.7, 0.0, 0.7])


class Ordinal(OneVsRest):
    """Classes on a scale: problem k asks whether a row is beyond class k (Frank and Hall 2001)."""

    name = "ordinal"
    noun = "threshold"
    words = "every threshold of the scale"

    def problem_names(self, names):
        return [f"beyond {name}" for name in names[:-1]]

    @property
    def n_problems(self):
        return self.n_classes - 1

    def signs(self, target):
        return [np.where(target > k, np.int8(1), np.int8(-1)) for k in range(self.n_problems)]

    def decisions(self, scores):
        if self.n_classes == 2:
            return scores[:, 0]
        edge = np.full((len(scores), 1), np.inf)
        return np.minimum(np.hstack([edge, scores]), np.hstack([-scores, edge]))

    def settled(self, scores, reach):
        return np.asarray((np.abs(scores) > reach).all(axis=1))

    def margins(self, scores, target, products):
        lengths = 1.0 if products is None else np.sqrt(np.diag(products))
        return np.min(np.column_stack(self.signs(target)) * scores / lengths, axis=1)


@pytest.fixture
def ordinal(monkeypatch):
    """The one line that gives the classifiers the new task."""
    monkeypatch.setitem(CLASSIFICATIONS, Ordinal.name, Ordinal)


@pytest.mark.usefixtures("ordinal")
@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_a_new_task_fits_predicts_certifies_saves_and_reports(make, tmp_path):
    model = make(multi_class="ordinal", lam=1e-3, random_state=0).fit(X, GRADES)
    assert model.certificate_.relative_gap <= 1e-3
    assert len(model.certificate_.parts) == 3
    assert model.score(X, GRADES) > 0.6
    assert model.certify(X, GRADES).gap == pytest.approx(model.certificate_.gap, rel=1e-6)
    assert (model.margin(X, GRADES)[model.predict(X) != GRADES] <= 0.0).all()
    model.save(tmp_path / "model.pegasos")
    again = pegasos.load(tmp_path / "model.pegasos")
    assert again.fitted_.task.name == "ordinal"
    assert np.array_equal(again.predict(X), model.predict(X))
    html = model.report(X, GRADES).html
    assert "beyond 1" in html
    assert "every threshold of the scale" in html


@pytest.mark.usefixtures("ordinal")
def test_a_new_task_learns_from_a_stream():
    model = PegasosClassifier(multi_class="ordinal", lam=1e-2, random_state=0)
    for begin in range(0, 300, 100):
        model.partial_fit(X[begin : begin + 100], GRADES[begin : begin + 100], classes=range(4))
    assert model.score(X, GRADES) > 0.4


@dataclass(frozen=True, eq=False)
class AboveMean:
    """Numbers, not classes: which of them are above their mean. Nothing of it is known to machines or fits."""

    mean: float = np.nan
    total: float = 0.0
    n_rows: int = 0
    name = "above mean"
    noun = "problem"
    n_problems = 1
    n_vectors = 1
    factors_range = (1.0, 1.0)

    @property
    def learnt(self):
        return {"mean": self.mean}

    def learn(self, y, weights):
        weights = np.ones(len(y)) if weights is None else weights
        return replace(self, mean=float(weights @ y / weights.sum()), total=float(weights.sum()), n_rows=len(y))

    def follow(self, y, weights):
        total = float(len(y) if weights is None else weights.sum())
        return replace(self, total=self.total + total, n_rows=self.n_rows + len(y))

    def target(self, y, weights):
        return np.asarray(y, np.float64)

    def check_seen(self, target, weights):
        """Any number may come."""

    def members(self, target):
        return [slice(None)]

    def rows_per_problem(self, n_rows):
        return n_rows

    def is_present(self, target, weights):
        return [True]

    def problems(self, rows, target, weights, terms, known=Known()):  # noqa: B008
        sign = np.where(target > self.mean, np.int8(1), np.int8(-1))
        cost = constant(1.0, rows.n_rows) if weights is None else weights
        return [Problem(rows, sign, cost, constant(0.0, rows.n_rows), terms.lam, terms.total)]

    def units(self, target, weights):
        return [1.0]

    def decisions(self, scores):
        return scores[:, 0]

    def answer(self, decisions):
        return decisions > 0.0

    def settled(self, scores, reach):
        return np.asarray(np.abs(scores[:, 0]) > reach[:, 0])


SETTINGS = Settings(1e-2, None, "auto", 1.0, False, None, 1e-3, 1000, None, 0, None)
MACHINES = {"linear": Linear(), "kernel": Kernel(KernelChoice("rbf"))}


@pytest.mark.parametrize("kind", MACHINES)
def test_machines_and_fits_know_nothing_of_classes(kind):
    machine, data = MACHINES[kind], Data(X, X[:, 0] + 3.0, given=X)
    fitted = fit(machine, AboveMean(), SETTINGS, data)
    assert fitted.certificate.relative_gap <= 1e-3
    answers = fitted.task.answer(fitted.task.decisions(fitted.scores(data)))
    assert np.mean(answers == (X[:, 0] > X[:, 0].mean())) > 0.95
    assert recertify(machine, fitted, data).gap == pytest.approx(fitted.certificate.gap, rel=1e-6)
    assert fitted.settled(data).mean() <= 1.0
    assert np.isfinite(fitted.margins).all()


@pytest.mark.parametrize("kind", MACHINES)
def test_a_stream_needs_no_classes_either(kind):
    machine, fitted, task = MACHINES[kind], None, AboveMean(mean=0.0)
    for begin in range(0, 300, 100):
        data = Data(X[begin : begin + 100], X[begin : begin + 100, 0])
        fitted = pass_over(machine, task if fitted is None else fitted.task, SETTINGS, data, fitted)
    assert fitted.task.n_rows == 300
    whole = Data(X, X[:, 0])
    answers = fitted.task.answer(fitted.task.decisions(fitted.scores(whole)))
    assert np.mean(answers == (X[:, 0] > 0.0)) > 0.8
