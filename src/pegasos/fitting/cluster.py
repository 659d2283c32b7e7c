"""Fit rows that are on many machines: one run of the driver per problem, all of them over the same passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pegasos.distributed import Engine, PartitionsElsewhere, Passes, Plan, Whole
from pegasos.distributed.partitions import Size
from pegasos.errors import PegasosError
from pegasos.fitting.fit import Audience, Listeners
from pegasos.fitting.result import Fit, Proof
from pegasos.losses import Loss
from pegasos.machines.base import Data
from pegasos.machines.linear import Linear
from pegasos.machines.prior import LinearPrior
from pegasos.machines.settings import Settings
from pegasos.machines.solving import merge_traces, solve_all
from pegasos.solution import Solution
from pegasos.solvers.partitioned import PartitionedProblem
from pegasos.solvers.partitioned_newton import PartitionedNewton
from pegasos.solvers.passes import Vector
from pegasos.solvers.units import from_units, heard_in_units
from pegasos.tasks import CrammerSinger, Terms
from pegasos.tasks.one_vs_one import OneVsOne, pairs_of


def refuse_elsewhere(settings: Settings, task: Any) -> None:
    """Raise an error for what a cluster does not support, before any rows are read."""
    if isinstance(task, CrammerSinger):
        raise PegasosError(
            f"multi_class={task.name!r} is one problem of all classes, which partitions do not support; use 'ovr' or "
            "'ovo', or one machine."
        )
    if settings.probability:
        raise PegasosError(
            "probability is not supported on partitions; fit without, and calibrate the model of to_local() on rows "
            "that it has not seen (sklearn.calibration.CalibratedClassifierCV)."
        )
    if settings.nu is not None:
        raise PegasosError("nu is not supported on partitions; give lam or C.")
    if settings.C is not None and math.isinf(settings.C):
        raise PegasosError("C=inf, a hard margin, is not supported on partitions; give a finite C, or use one machine.")


def plan_of_partitions(task: Any, settings: Settings, whole: Whole, classes: Any, names: Any) -> Plan:
    """The plan that turns the partitions into problems, for all of them."""
    task = whole.learnt(task, classes)
    if getattr(task, "factors", None) is not None and not task.factors.any():
        raise PegasosError("class_weight is zero for every class: no row would count.")
    terms = Terms.of(
        settings.lam,
        settings.C,
        bias=settings.bias,
        is_free=settings.is_free,
        total=task.total,
        largest_norm=math.sqrt(whole.largest_square),
        least_cost=whole.least_weight * task.factors_range[0],
        loss=settings.loss,
    )
    prior = None
    if settings.prior is not None:
        prior = LinearPrior.read(settings.prior, task, names, whole.n_features)
    bias = whole.usual_length if settings.is_free else settings.bias
    totals = tuple(_lam_and_total(task, terms, k)[1] for k in range(task.n_problems))
    return Plan(task, terms, prior, bias, totals, whole.units(task))


def _lam_and_total(task: Any, terms: Terms, k: int) -> tuple[float, float]:
    """Return lam and total of problem k over all partitions."""
    if isinstance(task, OneVsOne) and task.n_classes > 2:
        pair = pairs_of(task.n_classes)[k]
        lam, total = task.lam_and_total(pair, int(task.counts[list(pair)].sum()), terms)
        return lam, total
    return terms.lam, terms.total


@dataclass(frozen=True)
class Elsewhere:
    """Prepared partitions: who has them, what their problems are, and how large they are."""

    engine: Engine
    plan: Plan
    whole: Whole
    sizes: Sequence[Sequence[Size]]  # per partition and problem

    def start_at(self, model: Any, names: Any) -> list[Vector]:
        """Initial weights from a fitted linear model, matched by class and feature name."""
        plan = self.plan
        start = LinearPrior.read(model, plan.task, names, self.whole.n_features)
        coef, intercept = start.coef, start.intercept
        if plan.prior is not None:
            coef, intercept = coef - plan.prior.coef, intercept - plan.prior.intercept
        last = intercept / plan.bias if plan.bias > 0.0 else np.zeros(len(intercept))
        units = np.array(plan.units)[:, None]
        return list(np.ascontiguousarray(np.column_stack([coef, last]) / units))

    def fit(
        self, settings: Settings, *, start: Sequence[Vector] | None = None, audience: Audience | None = None
    ) -> tuple[Fit, int]:
        """Fit all partitions; also return the number of passes."""
        audience = Listeners() if audience is None else audience
        plan, n = self.plan, self.plan.task.n_problems
        terms = replace(plan.terms, lam=float(settings.lam)) if settings.C is None and settings.lam else plan.terms
        passes = Passes(self.engine, n)
        problems: Any = [self._problem(passes, terms, k) for k in range(n)]
        machine = Linear()

        def model_at(point: Any) -> Fit:
            return Fit(machine.model_of([point], [], Data(None), prior=plan.prior, bias=settings.bias), plan.task)

        def complete(problem: Any, solution: Solution) -> Solution:
            passes.leave()
            reach = math.inf if plan.terms.is_free else 0.0
            return replace(solution, alpha=np.empty(0), state=None, intercept_reach=reach)

        heard = zip(audience.begin(plan.task, model_at), plan.units, strict=True)
        firsts = [None] * n if start is None else start
        solutions = solve_all(
            problems,
            [PartitionedNewton(settings.tol, first) for first in firsts],
            settings.stop(),
            seed=settings.draw_seed(),
            n_jobs=n,  # each thread waits for passes that all of them share
            states=[None] * n,
            watchers=[heard_in_units(watcher, unit) for watcher, unit in heard],
            complete=complete,
        )
        solutions = [from_units(solution, unit) for solution, unit in zip(solutions, plan.units, strict=True)]
        zero = [problem.loss_of_zero * unit for problem, unit in zip(problems, plan.units, strict=True)]
        model = machine.model_of(solutions, [], Data(None), prior=plan.prior, bias=settings.bias)
        proof = Proof.of(solutions, merge_traces(zero, solutions), [slice(None)] * n)
        fitted = Fit(model, plan.task, terms, proof.without_alpha)
        audience.end(fitted)
        return fitted, passes.n_passes

    def _problem(self, passes: Passes, terms: Terms, k: int) -> PartitionedProblem:
        """Problem k, in its unit."""
        plan, mine, unit = self.plan, [sizes[k] for sizes in self.sizes], self.plan.units[k]
        lam, total = _lam_and_total(plan.task, terms, k)
        there = PartitionsElsewhere(
            passes,
            k,
            lam,
            n_partitions=len(mine),
            n_rows=sum(size.n_rows for size in mine),
            n_features=self.whole.n_features,
            n_stored=sum(size.n_stored for size in mine),
        )
        loss = Loss(terms.cap, terms.ridge / unit)
        zero = sum(size.loss_of_zero for size in mine) / total
        return PartitionedProblem(there, lam * unit, total, zero, plan.bias, loss, terms.is_free)
