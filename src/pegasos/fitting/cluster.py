"""A fit of rows that are on many machines: one run of the driver per problem, over the same partitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pegasos.distributed import Whole
from pegasos.errors import PegasosError
from pegasos.fitting.fit import Audience, Listeners
from pegasos.fitting.result import Fit, Proof
from pegasos.machines.base import Data
from pegasos.machines.linear import Linear
from pegasos.machines.settings import Settings
from pegasos.machines.solving import merge_traces, solve_all
from pegasos.solvers.cocoa import Cocoa, PartitionedProblem
from pegasos.tasks import OneVsRest, Terms

_LONGEST_IN_SINGLE = 1e12  # |x|^2 beyond which single precision does not suit the weights


def terms_of_partitions(task: OneVsRest, settings: Settings, whole: Whole, classes: Any) -> tuple[OneVsRest, Terms]:
    """The task and the terms of all partitions together."""
    found = whole.classes(classes)
    task = task.counted(found, *whole.of_classes(found))
    if task.factors is not None and not task.factors.any():
        raise PegasosError("class_weight is zero for every class: no row would count.")
    common: dict[str, Any] = {"bias": settings.bias, "is_free": False, "total": task.total}
    extent: dict[str, Any] = {
        "largest_norm": math.sqrt(whole.largest_square),
        "least_cost": whole.least_weight * task.factors_range[0],
    }
    return task, Terms.of(settings.lam, settings.C, **common, **extent)


def fit_partitions(
    partitions_of: Callable[[int], Any],
    task: OneVsRest,
    terms: Terms,
    settings: Settings,
    whole: Whole,
    *,
    local_epochs: int,
    audience: Audience | None,
) -> Fit:
    """The fit of all partitions; ``partitions_of`` gives those of each problem, and their dual points stay there."""
    audience = Listeners() if audience is None else audience
    n, loss = task.n_problems, _loss_of_zero(task, terms)
    problems: Any = [PartitionedProblem(partitions_of(k), terms.lam, terms.total, loss) for k in range(n)]
    suits = not settings.is_exact and whole.largest_square < _LONGEST_IN_SINGLE
    machine = Linear()

    def model_at(point: Any) -> Fit:
        return Fit(machine.model_of([point], [], Data(None), prior=None, bias=settings.bias), task)

    solutions = solve_all(
        problems,
        [Cocoa(local_epochs, np.float32 if suits else np.float64)] * n,
        settings.stop(),
        seed=settings.draw_seed(),
        n_jobs=settings.n_jobs,
        states=[None] * n,
        watchers=audience.begin(task, model_at),
    )
    plain = [replace(solution, alpha=np.empty(0), state=None) for solution in solutions]
    model = machine.model_of(plain, [], Data(None), prior=None, bias=settings.bias)
    proof = Proof.of(plain, merge_traces([loss] * n, plain), [slice(None)] * n)
    fitted = Fit(model, task, terms, proof.without_alpha)
    audience.end(fitted)
    return fitted


def _loss_of_zero(task: OneVsRest, terms: Terms) -> float:
    """The objective of the zero vector."""
    factors = np.ones(task.n_classes) if task.factors is None else task.factors
    return float(factors @ task.totals) / terms.total
