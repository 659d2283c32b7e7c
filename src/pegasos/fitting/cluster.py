"""Fit rows that are on many machines: one run of the driver per problem, all of them over the same passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pegasos.distributed import Asked, Engine, HeldOut, PartitionsElsewhere, Passes, Plan, Whole, summarize_folds
from pegasos.distributed.partitions import Size
from pegasos.errors import PegasosError
from pegasos.fitting.fit import Audience, Listeners
from pegasos.fitting.probability import curves_of
from pegasos.fitting.result import Fit, Proof
from pegasos.losses import Loss
from pegasos.machines.base import Data
from pegasos.machines.linear import Linear
from pegasos.machines.prior import LinearPrior
from pegasos.machines.settings import FOLDS, Settings
from pegasos.machines.solving import merge_traces, solve_all
from pegasos.solution import Solution
from pegasos.solvers.driver import Watcher
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
    if settings.nu is not None:
        raise PegasosError("nu is not supported on partitions; give lam or C.")
    if settings.C is not None and math.isinf(settings.C):
        raise PegasosError("C=inf, a hard margin, is not supported on partitions; give a finite C, or use one machine.")


def plans_of_partitions(
    task: Any, settings: Settings, whole: Whole, each: Callable[[Any], list[Any]], *, classes: Any, names: Any
) -> tuple[Plan, ...]:
    """The plan that turns the partitions into problems, and with probabilities those without each fold.

    ``each`` applies a function to every partition that has rows, where it is.
    """
    plan = _plan(task, settings, whole, classes, names)
    if not settings.probability:
        return (plan,)
    counts = plan.task.counts
    n_folds = int(min(FOLDS, counts.min()))
    if n_folds < 2:
        raise _too_few(plan.task.classes, counts, int(counts.argmin()))
    found = each(partial(summarize_folds, n_folds=n_folds))
    parts = [[of_partition[fold] for of_partition in found] for fold in range(n_folds)]
    plans = [_plan(task, settings, Whole.of(each), plan.task.classes, names) for each in parts]
    for of_fold in plans:
        if not of_fold.task.totals.all():
            raise _too_few(plan.task.classes, counts, int(of_fold.task.totals.argmin()))
    return (plan, *plans)


def _too_few(classes: Any, counts: Vector, k: int) -> PegasosError:
    return PegasosError(
        f"probability=True needs rows of each class in at least two folds, but class {classes.tolist()[k]!r} has only "
        f"{counts[k]:g}: give more rows, or probability=False."
    )


def _plan(task: Any, settings: Settings, whole: Whole, classes: Any, names: Any) -> Plan:
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
    plans: tuple[Plan, ...]
    whole: Whole
    sizes: Sequence[Sequence[Size]]  # per partition and problem of each plan

    @property
    def plan(self) -> Plan:
        """The plan of all rows."""
        return self.plans[0]

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
        self,
        settings: Settings,
        *,
        start: Sequence[Vector] | None = None,
        audience: Audience | None = None,
        on_pass: Callable[[int, int, float], None] | None = None,
    ) -> tuple[Fit, int]:
        """Fit all partitions; also return the number of passes.

        With probabilities, the problems without each fold share the passes of the fit. ``on_pass`` is called after each
        pass with its number, how many problems asked, and its seconds.
        """
        audience = Listeners() if audience is None else audience
        plan, n, n_all = self.plan, self.plan.task.n_problems, self.plan.task.n_problems * len(self.plans)
        passes = Passes(self.engine, n_all, on_pass)
        terms = [_terms(each, settings) for each in self.plans]
        problems: Any = [self._problem(passes, terms[p], p, k) for p in range(len(self.plans)) for k in range(n)]
        machine = Linear()

        def model_of(solutions: Any) -> Any:
            return machine.model_of(solutions, [], Data(None), prior=plan.prior, bias=settings.bias)

        def complete(problem: Any, solution: Solution) -> Solution:
            passes.leave()
            reach = math.inf if plan.terms.is_free else 0.0
            return replace(solution, alpha=np.empty(0), state=None, intercept_reach=reach)

        heard = zip(audience.begin(plan.task, lambda point: Fit(model_of([point]), plan.task)), plan.units, strict=True)
        watchers = [heard_in_units(watcher, unit) for watcher, unit in heard]
        firsts = [None] * n if start is None else start
        found = solve_all(
            problems,
            [PartitionedNewton(settings.tol, first) for first in (*firsts, *[None] * (n_all - n))],
            replace(settings, probability=False).stop(),  # folds take no time of their own
            seed=settings.draw_seed(),
            n_jobs=n_all,  # each thread waits for passes that all of them share
            states=[None] * n_all,
            watchers=[*watchers, *(Watcher() for _ in range(n_all - n))],
            complete=complete,
        )
        solutions = [from_units(solution, unit) for solution, unit in zip(found[:n], plan.units, strict=True)]
        zero = [problem.loss_of_zero * unit for problem, unit in zip(problems[:n], plan.units, strict=True)]
        proof = Proof.of(solutions, merge_traces(lambda: zero, solutions), [slice(None)] * n)
        without = [model_of(found[k : k + n]) for k in range(n, n_all, n)]
        calibration = self._calibration(without, settings.probability) if without else None
        fitted = Fit(model_of(solutions), plan.task, terms[0], proof.without_alpha, calibration=calibration)
        audience.end(fitted)
        return fitted, passes.n_passes + bool(without)

    def _calibration(self, models: Sequence[Any], kind: Any) -> Any:
        """Fit curves to the scores of held-out rows: one more pass."""
        question = HeldOut(tuple(each.coef for each in models), tuple(each.intercept for each in models))
        (found,) = self.engine.answers([Asked(None, 0.0, question)])
        return curves_of([(each.scores, each.is_positive, each.weights) for each in found], kind)

    def _problem(self, passes: Passes, terms: Terms, of_plan: int, k: int) -> PartitionedProblem:
        """Problem k of a plan, in its unit."""
        plan, unit = self.plans[of_plan], self.plans[of_plan].units[k]
        mine = [sizes[of_plan * plan.task.n_problems + k] for sizes in self.sizes]
        lam, total = _lam_and_total(plan.task, terms, k)
        there = PartitionsElsewhere(
            passes,
            k,
            lam,
            n_partitions=len(mine),
            n_rows=sum(size.n_rows for size in mine),
            n_features=self.whole.n_features,
            n_stored=sum(size.n_stored for size in mine),
            of_plan=of_plan,
        )
        loss = Loss(terms.cap, terms.ridge / unit)
        zero = sum(size.loss_of_zero for size in mine) / total
        return PartitionedProblem(there, lam * unit, total, zero, plan.bias, loss, terms.is_free)


def _terms(plan: Plan, settings: Settings) -> Terms:
    """The terms of a plan with the lam of the settings, which changes along a path."""
    return replace(plan.terms, lam=float(settings.lam)) if settings.C is None and settings.lam else plan.terms
