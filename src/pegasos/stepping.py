"""One step at a time: what an algorithm draws, tests and changes, to show how it works.

`steps` runs the loops of `fit`, one step per call. Linear iterates are bit-identical to those of a fit with the same
order of rows; those of a kernel are equal up to the rounding of sums in blocks.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from pegasos import _core
from pegasos.certificate import certify
from pegasos.errors import PegasosError
from pegasos.estimators.assembly import data_of, plan_of
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.fitting import GivenWeights
from pegasos.fitting.fit import terms_of
from pegasos.machines.base import known_of
from pegasos.online.kernel_perceptron import KernelPerceptron
from pegasos.online.norma import Norma
from pegasos.problem import Problem, Rows, constant
from pegasos.solvers.pegasos import Pegasos

__all__ = ["Step", "steps"]

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Step:
    """One step of an algorithm, as yielded by `steps`.

    Attributes
    ----------
    number : int
        t, starting at 1.
    eta : float or None
        The length of the step, 1/(lam t) for Pegasos; None for learners whose step depends on the sample.
    rows : array of int
        The samples drawn; A_t in the lectures.
    margins : array
        sign_i score_i of these samples before the step.
    violated : array of bool
        Which of them moved the weights.
    coef : array of shape (n_features,) or None
        The weights after the step; None for kernels.
    intercept : float
        The intercept after the step.
    alpha : array of shape (n_samples,) or None
        The dual point after the step, for Pegasos: w = sum_i alpha_i sign_i x_i / (lam n).
    counts : array of int or None
        The number of steps in which each sample violated its margin: beta in the lectures. For kernel Pegasos with
        batches of one sample.
    primal, dual : float or None
        The objective of the iterate and the lower bound proved by its dual point, if requested.

    Examples
    --------
    >>> from pegasos import steps
    >>> first = next(steps([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, -1], lam=0.5, sampling="sequential"))
    >>> first.number, first.eta, bool(first.violated[0])
    (1, 2.0, True)
    """

    number: int
    eta: float | None
    rows: Numbers
    margins: Vector
    violated: npt.NDArray[np.bool_]
    coef: Vector | None
    intercept: float
    alpha: Vector | None = None
    counts: Numbers | None = None
    primal: float | None = None
    dual: float | None = None


def steps(
    X: Any,
    y: Any,
    learner: Any = None,
    *,
    lam: float = 1e-4,
    kernel: Any = None,
    batch_size: int = 1,
    projection: bool = False,
    sampling: str = "shuffle",
    fit_intercept: bool = True,
    n_steps: int | None = None,
    initial: Any = None,
    objectives: bool = False,
    seed: int = 0,
) -> Iterator[Step]:
    """Iterate over the steps of an algorithm, indefinitely unless ``n_steps`` is given.

    Parameters
    ----------
    X : array or CSR of shape (n_samples, n_features); with a kernel, what the kernel takes
    y : array of shape (n_samples,), of two classes; the second one in sorted order has the sign +1
    learner : estimator of `pegasos.online`, optional
        A perceptron, passive-aggressive, confidence-weighted or NORMA learner with its own parameters. By default
        Pegasos, with the parameters below, which mean the same as in `PegasosClassifier`.
    lam, batch_size, projection, sampling, fit_intercept
        As in `PegasosClassifier`. `sampling="sequential"` visits the samples in their order, as in the lecture's first
        algorithm.
    kernel : as for `KernelPegasosClassifier`, optional
        By default the linear algorithm.
    n_steps : int, optional
        Number of steps after which to end.
    initial : array of shape (n_features,), or a pair of that and an intercept; optional
        The weights before the first step, by default 0; linear Pegasos only; `coef_init` and `intercept_init` of `fit`.
        The first step multiplies them by 0; they only decide whether its samples violate the margin.
    objectives : bool, default=False
        Whether to compute the primal and the dual objective after each step: a pass over all rows.
    seed : int, default=0
        The `random_state` of the corresponding fit.

    Yields
    ------
    Step

    Examples
    --------
    >>> import numpy as np
    >>> import pegasos
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, -1])
    >>> for step in pegasos.steps(X, y, lam=0.5, sampling="sequential", fit_intercept=False, n_steps=3):
    ...     print(step.number, step.eta, step.rows, step.violated, step.coef)
    1 2.0 [0] [ True] [2. 0.]
    2 1.0 [1] [ True] [1. 1.]
    3 0.6666666666666666 [2] [False] [0.66666667 0.66666667]
    """
    if learner is not None:
        if initial is not None or kernel is not None:
            raise PegasosError("initial and kernel belong to Pegasos; a learner has its own parameters.")
        return _limited(_of_learner(learner, X, y, seed), n_steps)
    parameters: dict[str, Any] = {
        "lam": lam,
        "solver": "pegasos",
        "batch_size": batch_size,
        "projection": projection,
        "sampling": sampling,
        "fit_intercept": fit_intercept,
        "random_state": seed,
    }
    if kernel is None:
        return _limited(_linear(PegasosClassifier(**parameters), X, y, initial, objectives=objectives), n_steps)
    if initial is not None:
        raise PegasosError("initial weights are for the linear algorithm; with a kernel, it starts at 0.")
    return _limited(_kernel(KernelPegasosClassifier(kernel, **parameters), X, y, objectives=objectives), n_steps)


def _limited(all_steps: Iterator[Step], n_steps: int | None) -> Iterator[Step]:
    if n_steps is not None and n_steps < 0:
        raise PegasosError(f"n_steps must not be negative; got {n_steps}.")
    return all_steps if n_steps is None else (step for step, _ in zip(all_steps, range(n_steps), strict=False))


class _Plan(NamedTuple):
    problem: Problem
    solver: Any
    seed: int


def _plan(model: Any, X: Any, y: Any) -> _Plan:
    """The single problem of two classes, built as in `fit`."""
    machine, task, settings = plan_of(model)
    data = data_of(model, X, y)
    task = task.learn(data.y, data.weights)
    if task.n_problems != 1:
        raise PegasosError(f"steps show one problem of two classes; y has {len(task.classes)}.")
    machine, rows = machine.read(data, settings, task)
    terms = terms_of(rows, task, settings, data)
    known = known_of(machine.read_prior(settings, task, data), data, rows)
    problem = task.problems(rows, task.target(data.y, data.weights), data.weights, terms, known)[0]
    solver = machine.solver_for(rows, rows.n_rows, settings, task, terms)
    return _Plan(problem, solver, settings.draw_seed())


def _linear(model: PegasosClassifier, X: Any, y: Any, initial: Any, *, objectives: bool) -> Iterator[Step]:
    problem, pegasos, seed = _plan(model, X, y)
    n = problem.rows.n_rows
    state = pegasos.start(problem, seed)
    if initial is not None:
        given = initial if isinstance(initial, tuple) and len(initial) == 2 and np.ndim(initial[0]) else (initial,)
        state = GivenWeights(*given).entered([pegasos], [problem], seed)[0]
    while True:
        drawn = _drawn(problem, pegasos, state)
        before, alpha_before = pegasos.point(problem, state)
        scores = problem.rows.view(drawn.astype(np.uint32)).scores_of(before)
        margins = problem.sign[drawn] * (scores + problem.offset[drawn])
        pegasos.step(problem, state, 1)
        after, alpha = pegasos.point(problem, state)
        number = state.counters.step
        kept = (1.0 - 1.0 / number) * alpha_before[drawn].astype(np.float64)
        moved = alpha[drawn] > kept + 1e-12 * n / (number * pegasos.batch_size)
        certificate = certify(problem, after, alpha) if objectives else None
        yield Step(
            number,
            1.0 / (problem.lam * number),
            drawn,
            margins,
            moved,
            after[:-1],
            problem.rows.constant_score(after),
            alpha.astype(np.float64),
            primal=None if certificate is None else certificate.primal,
            dual=None if certificate is None else certificate.dual,
        )


def _drawn(problem: Problem, pegasos: Pegasos, state: Any) -> Numbers:
    """The rows of the next step: those that move on a problem where every row violates."""
    n = problem.rows.n_rows
    blank = Rows.of(np.zeros((n, 1)), 0.0)
    every = Problem(blank, problem.sign, constant(1.0, n), constant(0.0, n), 1.0, float(n))
    trial = Pegasos(pegasos.batch_size, pegasos.sampling).start(every, 0)
    trial.order = state.order.copy()
    trial.counters.position, trial.counters.random = state.counters.position, state.counters.random
    Pegasos(pegasos.batch_size, pegasos.sampling).step(every, trial, 1)
    return np.flatnonzero(trial.alphas)


def _kernel(model: KernelPegasosClassifier, X: Any, y: Any, *, objectives: bool) -> Iterator[Step]:
    problem, solver, seed = _plan(model, X, y)
    n, size = problem.rows.n_rows, solver.pegasos.batch_size
    state = solver.start(problem, seed)
    while True:
        ahead = copy.deepcopy(state)
        drawn = np.unique(solver.draw(ahead, size)[0])
        scores, before = state.scores[:-1].copy(), state.alpha.copy()
        margins = problem.sign[drawn] * (scores[drawn] + problem.offset[drawn])
        solver.step(problem, state, 1)
        number = state.step
        moved = state.alpha[drawn] > (1.0 - 1.0 / number) * before[drawn] + 1e-12 * n / (number * size)
        coefficients, alpha = solver.point(problem, state)
        certificate = certify(problem, coefficients, alpha) if objectives else None
        yield Step(
            number,
            1.0 / (problem.lam * number),
            drawn,
            margins,
            moved,
            None,
            problem.rows.constant_score(coefficients),
            alpha.astype(np.float64),
            np.rint(alpha * number / n).astype(np.intp) if size == 1 and not solver.pegasos.projection else None,
            primal=None if certificate is None else certificate.primal,
            dual=None if certificate is None else certificate.dual,
        )


def _of_learner(learner: Any, X: Any, y: Any, seed: int) -> Iterator[Step]:
    """Run an online learner row by row, in the order of its fit."""
    y = np.asarray(y)
    classes = np.unique(y)
    if len(classes) != 2:
        raise PegasosError(f"steps show one problem of two classes; y has {len(classes)}.")
    model = clone(learner)
    if not hasattr(model, "kernel") and not sp.issparse(X):
        X = np.asarray(X)
    sign = np.where(y == classes[1], 1, -1)
    order = np.arange(len(y), dtype=np.uint32)
    random = int(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))
    number = 0
    while True:
        if model.shuffle:
            random = _core.shuffle(order, random)
        for i in order.tolist():
            item, is_first = X[i : i + 1], number == 0
            margin = 0.0 if is_first else float(sign[i] * _score(model, item))
            before = None if is_first else model._state.copy()
            model.partial_fit(item, y[i : i + 1], classes=classes if is_first else None)
            number += 1
            yield Step(
                number,
                None,
                np.array([i]),
                np.array([margin]),
                np.array([_has_violated(model, before, margin)]),
                np.asarray(model.coef_[0], np.float64) if hasattr(model, "coef_") else None,
                float(model.intercept_[0]),
            )


def _score(model: Any, item: Any) -> float:
    """The score by the last weights, even if the model predicts with others."""
    if not hasattr(model, "coef_"):
        return float(model.decision_function(item)[0])
    *weights, constant = model._state.vectors[0]
    return float((item @ np.array(weights))[0] + (constant if model.fit_intercept else 0.0))


def _has_violated(model: Any, before: Any, margin: float) -> bool:
    """Whether the row moved the weights; with a kernel, all coefficients may shrink at every step."""
    if isinstance(model, Norma):
        return margin < (1.0 if before is None else float(before.rho[0]))
    if isinstance(model, KernelPerceptron):
        return margin <= 0.0
    now = model._state.vectors
    return bool(now.any()) if before is None else not np.array_equal(now, before.vectors)
