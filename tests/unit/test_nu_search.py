"""How a search for nu ends: within its budget, after an interrupt, and where none is needed."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import scale
from sklearn.svm import NuSVC, NuSVR, OneClassSVM

from pegasos import GapWarning, PegasosOneClass, _core, svm
from pegasos.machines.kernel import Kernel
from pegasos.machines.linear import Linear
from pegasos.solution import Status

X = np.random.default_rng(0).normal(size=(400, 5)) + 1.0


class Solves:
    """Records the budget of every solve of a machine; the solve of a given number ends with a status or an error."""

    def __init__(self, monkeypatch, machine, *, at=None, status=None, error=None):
        self.budgets, solve = [], machine.solve

        def recorded(own, problems, solvers, stop, plan):
            self.budgets.append(stop.time_budget)
            is_last = len(self.budgets) == at
            if is_last and error is not None:
                raise error
            found = solve(own, problems, solvers, stop, plan)
            if not is_last or status is None:
                return found
            for each in found:
                object.__setattr__(each, "status", status)
            return found

        monkeypatch.setattr(machine, "solve", recorded)


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
@pytest.mark.parametrize("status", [Status.TIME, Status.INTERRUPTED, Status.STOPPED])
@pytest.mark.parametrize("at", [1, 3])
def test_the_search_ends_with_a_solve_that_has_ended(monkeypatch, status, at):
    solves = Solves(monkeypatch, Linear, at=at, status=status)
    model = PegasosOneClass(nu=0.1, tol=1e-6, random_state=0).fit(X)
    assert len(solves.budgets) == at
    assert model.status_.startswith(status.value)
    assert model.certificate_.is_finite


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_an_interrupt_between_two_solves_returns_the_best_model_so_far(monkeypatch):
    solves = Solves(monkeypatch, Linear, at=3, error=KeyboardInterrupt())
    model = PegasosOneClass(nu=0.1, tol=1e-6, random_state=0).fit(X)
    assert len(solves.budgets) == 3
    assert model.status_.startswith(Status.INTERRUPTED.value)
    assert model.certificate_.relative_gap <= 1e-6


def test_an_interrupt_of_the_first_solve_is_raised(monkeypatch):
    Solves(monkeypatch, Linear, at=1, error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        PegasosOneClass(nu=0.1, tol=1e-6, random_state=0).fit(X)


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
@pytest.mark.parametrize("model", [svm.NuSVC(nu=0.1), svm.NuSVR(), svm.OneClassSVM(nu=0.1)], ids=repr)
def test_an_interrupt_in_the_native_call_leaves_the_point_that_it_reached(monkeypatch, model):
    solve = _core.small_solve

    def interrupted(*given):
        solve(*given)
        raise KeyboardInterrupt

    native = SimpleNamespace(**vars(_core) | {"small_solve": interrupted})
    monkeypatch.setattr("pegasos.machines.small_problems._core", native)
    rows, y = _data("iris")
    model.fit(rows, y)
    expected = clone(model)
    monkeypatch.undo()
    expected.fit(rows, y)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)


@pytest.mark.parametrize("model", [svm.NuSVC(nu=0.1), svm.NuSVR(), svm.OneClassSVM(nu=0.1)], ids=repr)
def test_an_interrupt_in_the_native_call_before_its_first_step_is_raised(monkeypatch, model):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pegasos.machines.small_problems._core", SimpleNamespace(small_solve=interrupted))
    with pytest.raises(KeyboardInterrupt):
        model.fit(*_data("iris"))


def test_every_solve_gets_what_is_left_of_the_budget(monkeypatch):
    solves = Solves(monkeypatch, Linear)
    PegasosOneClass(nu=0.1, tol=1e-6, time_budget=100.0, random_state=0).fit(X)
    assert len(solves.budgets) > 2
    assert solves.budgets[0] <= 100.0
    assert np.all(np.diff(solves.budgets) < 0.0)


def test_a_budget_that_ends_is_the_status():
    rows = np.random.default_rng(0).normal(size=(300, 80))  # too many features to be solved in one call
    with pytest.warns(GapWarning, match="time_budget"):
        model = PegasosOneClass(nu=0.1, tol=1e-12, time_budget=0.0, random_state=0).fit(rows)
    assert model.status_.startswith(Status.TIME.value)


def _data(name):
    rows, y = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}[name](return_X_y=True)
    return scale(rows), y


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("name", ["iris", "wine", "cancer"])
def test_small_nu_machines_agree_with_libsvm_and_need_no_search_with_rbf(monkeypatch, name, kernel):
    rows, y = _data(name)
    solves = Solves(monkeypatch, Kernel)
    for ours, theirs, args in (
        (svm.NuSVC, NuSVC, (rows, y)),
        (svm.NuSVR, NuSVR, (rows, rows[:, 0] + np.sin(rows[:, 1]))),
        (svm.OneClassSVM, OneClassSVM, (rows + 2.0,)),
    ):
        solves.budgets.clear()
        model, reference = ours(nu=0.3, kernel=kernel).fit(*args), theirs(nu=0.3, kernel=kernel, tol=1e-8).fit(*args)
        # A linear kernel may need more steps than are taken at once, and is searched for then.
        assert len(solves.budgets) <= 1 or ours is svm.OneClassSVM or kernel != "rbf"
        of = "predict" if ours is svm.NuSVR else "decision_function"
        found, expected = getattr(model, of)(args[0]), getattr(reference, of)(args[0])
        assert found == pytest.approx(expected, abs=2e-3 * np.ptp(expected))
        assert model.certificate_.relative_gap <= 1e-6
        spent = [alpha.sum() / len(alpha) for alpha in model.fitted_.alphas]
        share = 0.15 if ours is svm.NuSVR else 0.3
        assert spent == pytest.approx([share] * len(spent), rel=1e-5 if kernel == "rbf" else 1e-3)


def test_weights_count_in_what_a_nu_machine_spends():
    rows, y = _data("cancer")
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for ours, theirs in ((svm.NuSVC(nu=0.2), NuSVC(nu=0.2, tol=1e-8)), (svm.NuSVR(nu=0.4), NuSVR(nu=0.4, tol=1e-8))):
        ours.fit(rows, y, weights)
        theirs.fit(rows, y, weights)
        of = "predict" if isinstance(theirs, NuSVR) else "decision_function"
        assert getattr(ours, of)(rows) == pytest.approx(getattr(theirs, of)(rows), abs=1e-4)
