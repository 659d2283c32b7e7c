"""How a search for nu ends: within its budget, and after an interrupt."""

import numpy as np
import pytest

from pegasos import GapWarning, PegasosOneClass
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


def test_every_solve_gets_what_is_left_of_the_budget(monkeypatch):
    solves = Solves(monkeypatch, Linear)
    PegasosOneClass(nu=0.1, tol=1e-6, time_budget=100.0, random_state=0).fit(X)
    assert len(solves.budgets) > 2
    assert solves.budgets[0] <= 100.0
    assert np.all(np.diff(solves.budgets) < 0.0)


def test_a_budget_that_ends_is_the_status(monkeypatch):
    with pytest.warns(GapWarning, match="time_budget"):
        model = PegasosOneClass(nu=0.1, tol=1e-12, time_budget=0.0, random_state=0).fit(X)
    assert model.status_.startswith(Status.TIME.value)
