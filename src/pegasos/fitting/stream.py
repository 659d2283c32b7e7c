"""One pass over a block of a stream: the same for every machine and every task."""

from __future__ import annotations

from typing import Any

from pegasos.errors import PegasosError
from pegasos.fitting.result import Fit, Proof
from pegasos.machines.base import Data, Plan, known_of
from pegasos.machines.settings import Settings
from pegasos.machines.solving import add_traces
from pegasos.tasks.terms import Terms


def pass_over(machine: Any, task: Any, settings: Settings, data: Data, before: Fit | None) -> Fit:
    """Fit one pass of Pegasos over a block; its certificate covers this block only.

    ``task`` is that of the stream so far: its totals determine what "balanced" means, and the weight of a row.
    """
    streaming = machine.streaming(None if before is None else before.model, data)
    followed = task.follow(data.y, data.weights)
    prior = machine.read_prior(settings, task, data) if before is None else _unchanged_prior(before, settings)
    stream = streaming.begin(data, settings, task) if before is None else before.state
    rows = streaming.read(stream, data, settings)
    if data.weights is not None and not data.weights.any():
        return before or Fit(streaming.model_of(stream, prior, settings.bias), followed, state=stream)
    total = rows.n_rows * (followed.total / (stream.n_rows + rows.n_rows))
    terms = Terms.of(settings.lam, None, bias=settings.bias, is_free=False, total=total, loss=settings.loss)
    target = followed.target(data.y, data.weights)
    members = followed.members(target)
    problems = followed.problems(rows, target, data.weights, terms, known_of(prior, data, rows))
    plan = Plan(settings, followed, terms, stream.seed, (), ())
    stream, solutions = streaming.learn(stream, rows, problems, data, plan)
    model = streaming.model_of(stream, prior, settings.bias)
    proof = Proof.of(solutions, add_traces(solutions), members)
    return Fit(model, followed, terms, proof, stream)


def _unchanged_prior(before: Fit, settings: Settings) -> Any:
    """The prior of the first block: everything learned since is relative to it."""
    prior = before.model.prior
    if settings.prior is not (None if prior is None else prior.source):
        raise PegasosError("prior must not change in the middle of a stream; call fit, or start with a new model.")
    return prior


def goes_on_from(before: Fit, task: Any, settings: Settings) -> Any:
    """The task of the stream so far with the current parameters; raise an error where it cannot continue."""
    terms = before.terms
    if before.origin is not None:
        raise PegasosError(
            f"partial_fit cannot continue from weights that were read from {before.origin}; start with a new model, "
            "and give it this one as its prior."
        )
    if before.state is None:
        raise PegasosError(
            "the model has no state from which partial_fit could continue; call fit, or start with a new model."
        )
    if before.task.name != task.name:
        raise PegasosError(
            f"multi_class={task.name!r} cannot continue from a model with {before.task.name!r}; call fit, or start "
            "with a new model."
        )
    if terms is not None and not terms.is_free and terms.bias != settings.bias:
        raise PegasosError(
            f"the intercept had a constant column of {terms.bias:g} so far, and would have one of {settings.bias:g} "
            "now: fit_intercept and intercept_scaling must not change in the middle of a stream; call fit, or begin "
            "with a new model."
        )
    if terms is not None and terms.loss != settings.loss:
        raise PegasosError("the loss must not change in the middle of a stream; call fit, or start with a new model.")
    if terms is not None and terms.is_free:
        raise PegasosError(
            "partial_fit cannot continue from a fit whose intercept was not regularized; start with a new model."
        )
    return before.task.with_parameters_of(task)
