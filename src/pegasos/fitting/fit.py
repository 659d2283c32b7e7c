"""One fit, from checked rows to a frozen `Fit`: the same for every machine and every task."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from pegasos.fitting.nu import met, solve_nu
from pegasos.fitting.probability import cross_fitted
from pegasos.fitting.result import Fit, Proof
from pegasos.fitting.starts import Ready, Start
from pegasos.fitting.watching import told
from pegasos.machines.base import Data, Plan, known_of
from pegasos.machines.settings import Settings
from pegasos.machines.solving import merge_traces
from pegasos.solvers.driver import Model as Point
from pegasos.solvers.driver import Watcher
from pegasos.solvers.pegasos import steps_worth
from pegasos.solvers.units import from_units, heard_in_units, in_units
from pegasos.tasks.base import Members, sizes
from pegasos.tasks.one_vs_one import Pairs, lams_and_norms, losses_of_zero
from pegasos.tasks.terms import Terms


class Audience(Protocol):
    """The observer of a running fit."""

    is_seen: bool  # whether every epoch is reported

    def begin(self, task: Any, model_at: Callable[[Point], Fit]) -> list[Watcher]:
        """Return the watcher of each problem; `model_at` builds a model from an intermediate point."""

    def end(self, fitted: Fit) -> None:
        """The fit is over."""


class Listeners:
    """No observer, except for a listener of `fitting.watching`, if there is one."""

    is_seen = False

    def begin(self, task: Any, model_at: Callable[[Point], Fit]) -> list[Watcher]:
        """Create one watcher per problem, which reports its certificates."""
        watchers = [Watcher() for _ in range(task.n_problems)]
        for k, watcher in enumerate(watchers):
            watcher.on_review = told(k, len(watchers), watcher.on_review)
        return watchers

    def end(self, fitted: Fit) -> None:
        """Nothing to do."""


def fit(
    machine: Any,
    task: Any,
    settings: Settings,
    data: Data,
    *,
    start: Start | None = None,
    audience: Audience | None = None,
) -> Fit:
    """Read, encode, solve, certify.

    Parameters
    ----------
    machine : Machine, what rows are
    task : Task, what y means
    settings : Settings, how strongly to regularize, which solver, when to stop
    data : Data, rows, targets and weights
    start : where to start, by default at 0
    audience : observer of the fit
    """
    audience = Listeners() if audience is None else audience
    asked, settings = settings, settings if settings.nu is None else settings.of_search
    task = task.learn(data.y, data.weights)
    given, (machine, rows) = machine, machine.read(data, settings, task)
    terms = terms_of(rows, task, settings, data)
    prior = machine.read_prior(settings, task, data)
    target = task.target(data.y, data.weights)
    problems = task.problems(rows, target, data.weights, terms, known_of(prior, data, rows))
    members: list[Members] = [*problems.members] if isinstance(problems, Pairs) else task.members(target)
    has_units = settings.solver != "pegasos"  # states of Pegasos continue with another block, in the units of the data
    units = task.units(target, data.weights) if has_units else [1.0] * task.n_problems
    del target  # frees eight bytes per row that are not used any more
    n_rows, seed = sizes(members, rows.n_rows), settings.draw_seed()
    solver_of = {n: machine.solver_for(rows, n, settings, task, terms) for n in dict.fromkeys(n_rows)}
    solvers = [solver_of[n] for n in n_rows]

    def model_at(point: Point) -> Fit:
        return Fit(machine.model_of([point], members, data, prior=prior, bias=settings.bias), task)

    if any(unit != 1.0 for unit in units):
        problems = [in_units(problem, unit) for problem, unit in zip(problems, units, strict=True)]
    ready = Ready(machine, task, solvers, problems, n_rows, seed, data, terms)
    states = [None] * len(problems) if start is None else start.states(ready)
    heard = zip(audience.begin(task, model_at), units, strict=True)
    watchers = [heard_in_units(watcher, unit) for watcher, unit in heard]
    plan = Plan(settings, task, terms, seed, states, watchers, audience.is_seen)
    stop = settings.stop(seconds=data.seconds, is_hard=terms.is_hard)
    with machine.threads_within(problems):
        if settings.nu is None:
            solutions = machine.solve(problems, solvers, stop, plan)
        else:
            problems, solutions, values = solve_nu(machine, problems, solvers, stop=stop, plan=plan, asked=asked)
            task = task.with_found(tuple(value * unit for value, unit in zip(values, units, strict=True)))
    solutions = machine.finish(rows, problems, solutions, plan)
    if settings.nu is not None:
        solutions = task.completed(problems, [met(solution, asked.tol) for solution in solutions], settings.nu)
    steps = [solution.n_steps for solution in solutions]
    if settings.solver != "pegasos":
        each = zip(lams_and_norms(problems), solutions, strict=True)
        steps = [steps_worth(lam, norm, solution) for (lam, norm), solution in each]

    def losses_at_zero() -> list[float]:
        return [loss * unit for loss, unit in zip(losses_of_zero(problems), units, strict=True)]

    solutions = [from_units(solution, unit) for solution, unit in zip(solutions, units, strict=True)]
    calibration = None
    if settings.probability:
        calibration = cross_fitted(fit, given, task, settings, data, rows=rows, seed=seed, so_far=solutions)
    model = machine.model_of(solutions, members, data, prior=prior, bias=settings.bias)
    proof = Proof.of(solutions, merge_traces(losses_at_zero, solutions), members)
    state = machine.state_after(solutions, model, rows.n_rows, seed, steps)
    fitted = Fit(model, task, terms, proof, state, calibration)
    fitted = fitted if machine.doubt is None else fitted.in_doubt
    audience.end(fitted)
    return fitted


def terms_of(rows: Any, task: Any, settings: Settings, data: Data) -> Terms:
    """The terms of a fit of these rows."""
    least = 1.0 if data.weights is None else float(data.weights[data.weights > 0.0].min())
    return Terms.of(
        settings.lam,
        settings.C,
        bias=settings.bias,
        is_free=settings.is_free,
        total=task.total,
        largest_norm=math.sqrt(float(rows.squared_norms.max())),
        least_cost=least * task.factors_range[0],
        loss=settings.loss,
    )
