"""What every online learner does: check, encode, visit row by row, write the model reached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pegasos import _core
from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.estimators.inputs import KeptOnFailure
from pegasos.persistence import Saved
from pegasos.solvers.online import Labels, Order
from pegasos.tasks import OneVsRest, Weights
from pegasos.tasks.labels import costs_of


@dataclass(eq=False, repr=False, kw_only=True)
class OnlineParameters:
    """The parameters of every online learner."""

    fit_intercept: bool = True
    max_iter: int = 5
    shuffle: bool = True
    random_state: Any = None


@dataclass(eq=False, repr=False, kw_only=True)
class WeighsClasses:
    """The parameter of rules that support class weights."""

    class_weight: Any = None


class OnlineClassifier(OnlineParameters, Saved, ClassifierMixin, BaseEstimator, ABC):
    """Base of the online learners; the parameters are those of the subclasses.

    A state is what the rows seen so far have left: it has ``copy``, ``is_finite``, ``vectors``, ``counters`` and a
    ``curve``.
    """

    class_weight: Any = None  # a parameter only of learners that inherit WeighsClasses
    _state: Any
    _totals: Weights  # the sample weight of each class so far

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Start from scratch and go over the rows ``max_iter`` times, or until a pass changes nothing.

        An interrupt between two chunks of rows is raised as usual and leaves the model reached so far.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features); for a kernel any collection that it takes
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            What it multiplies is said above; a row of weight 0 is left out.
        """
        self._check_parameters()
        with KeptOnFailure(self):
            rows, y, weights = self._read(X, y, sample_weight, first=True)
            task = OneVsRest(self.class_weight).learn(y, weights)
            labels = self._labels(task, y, weights)
            state = self._start(rows, task.n_problems)
            n_passes, interrupt = self._passes(state, rows, labels)
            self._write(state, rows, task)
            self.n_iter_ = n_passes
        if interrupt is not None:
            raise interrupt
        return self

    def partial_fit(self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: Any = None) -> Self:
        """Visit each row once, in the order given; splitting a stream into blocks does not change the result.

        An interrupt between two chunks of rows is raised as usual and leaves the model reached so far.

        Parameters
        ----------
        X : as in `fit`
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All classes that will occur; needed at the first call.
        sample_weight : array of shape (n_rows,), optional
        """
        self._check_parameters()
        first = not hasattr(self, "_state")
        with KeptOnFailure(self):
            rows, y, weights = self._read(X, y, sample_weight, first=first)
            task = self._task_so_far(classes, first=first).follow(y, weights)
            labels = self._labels(task, y, weights)
            state = self._start(rows, task.n_problems) if first else self._go_on(self._state.copy(), rows)
            interrupt = self._visit(state, rows, labels, _counted(labels))
            self._write(state, rows, task)
        if interrupt is not None:
            raise interrupt
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_rows,) for two classes, positive for ``classes_[1]``; else (n_rows, n_classes)."""
        check_is_fitted(self, "classes_")
        return OneVsRest.of(self.classes_).decisions(self._scores(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        decisions = self.decision_function(X)
        return OneVsRest.of(self.classes_).answer(decisions)

    def _passes(self, state: Any, rows: Any, labels: Labels) -> tuple[int, KeyboardInterrupt | None]:
        """All passes of a fit: how many there were, and the interrupt that ended them early, if one did."""
        random = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        order = _counted(labels)
        interrupt = None
        n_passes = 0
        is_at_rest = False
        while n_passes < self.max_iter and interrupt is None and not is_at_rest:
            if self.shuffle:
                random = _core.shuffle(order, random)
            before = state.vectors
            interrupt = self._visit(state, rows, labels, order)
            n_passes += 1
            is_at_rest = np.array_equal(before, state.vectors)
        return n_passes, interrupt

    def _visit(self, state: Any, rows: Any, labels: Labels, order: Order) -> KeyboardInterrupt | None:
        interrupt = None
        try:
            self._advance(state, rows, labels, order)
        except KeyboardInterrupt as caught:
            if state.counters.step == 0:
                raise  # nothing was learned
            interrupt = caught
        if not state.is_finite:
            raise PegasosError("the numbers left the range of the machine; scale the features to about 1.")
        return interrupt

    def _task_so_far(self, classes: Any, *, first: bool) -> OneVsRest:
        """The classes of the stream, and how much of each came so far."""
        task = OneVsRest(self.class_weight)
        if first:
            return task.begin(classes)
        task = replace(task, classes=self.classes_, totals=self._totals, counts=np.zeros(len(self.classes_)))
        task.goes_on(classes)
        return task

    def _labels(self, task: OneVsRest, y: Any, weights: Weights | None) -> Labels:
        codes = task.target(y, weights)
        cost = costs_of(codes, weights, task.factors)
        # A label outside the classes has weight 0 and must not count.
        cost = np.where(codes < 0, 0.0, cost) if weights is not None else cost
        refusal = self._why_costs_are_refused()
        if refusal is not None and not np.isin(cost, (0.0, 1.0)).all():
            raise PegasosError(refusal)
        return Labels(codes, cost)

    def _why_costs_are_refused(self) -> str | None:
        """The error message of a rule that has no place for costs other than 0 and 1."""
        return None

    def _write(self, state: Any, rows: Any, task: OneVsRest) -> None:
        """Every fitted attribute, in one place."""
        self.classes_, self._state, self._totals = task.classes, state, task.totals
        now = state.counters
        self.mistakes_ = now.mistakes
        self.n_steps_ = now.step
        self.mistake_curve_, self.loss_curve_ = state.curve.up_to(now)
        self.__dict__.update(self._model(state, rows))

    def _check_parameters(self) -> None:
        check.check_count("max_iter", self.max_iter)
        for name in ("shuffle", "fit_intercept"):
            check.check_flag(name, getattr(self, name))
        check.check_class_weight(self.class_weight)

    @property
    def _bias(self) -> float:
        return 1.0 if self.fit_intercept else 0.0

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, Any, Weights | None]:
        """The rows, the labels as an array of the same length, and the weights."""

    @abstractmethod
    def _start(self, rows: Any, n_problems: int) -> Any:
        """The state before the first row."""

    def _go_on(self, state: Any, rows: Any) -> Any:
        """The state of a stream before a new block."""
        return state

    @abstractmethod
    def _advance(self, state: Any, rows: Any, labels: Labels, order: Order) -> None:
        """Visit the rows of the order."""

    @abstractmethod
    def _model(self, state: Any, rows: Any) -> dict[str, Any]:
        """The attributes that `predict` needs."""

    @abstractmethod
    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores, of shape (n_rows, n_problems)."""


def _counted(labels: Labels) -> Order:
    """The rows with a positive weight, in the order given."""
    return np.flatnonzero(labels.cost > 0.0).astype(np.uint32)
