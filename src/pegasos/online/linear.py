"""Online learners with weights: rows in, coef_ out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.errors import PegasosError
from pegasos.estimators.inputs import read_rows, read_rows_and_target
from pegasos.layouts import classes as layout
from pegasos.machines.inputs import check_weights
from pegasos.online.base import OnlineClassifier
from pegasos.problem import Rows
from pegasos.solvers.online import Labels, OnlineLearner, OnlineState, Order
from pegasos.tasks import Weights


class LinearOnlineClassifier(OnlineClassifier):
    """A subclass gives its parameters, and the learner that they mean."""

    _saved = layout.online
    coef_: npt.NDArray[np.float64]
    intercept_: npt.NDArray[np.float64]

    @abstractmethod
    def _learner(self) -> OnlineLearner:
        """What the parameters mean."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Rows, Any, Weights | None]:
        rows, y = read_rows_and_target(self, X, y, self._bias, reset=first)
        return rows, y, check_weights(sample_weight, rows.n_rows)

    def _start(self, rows: Rows, n_problems: int) -> OnlineState:
        return self._learner().start(n_problems, rows.n_features)

    def _go_on(self, state: OnlineState, rows: Rows) -> OnlineState:
        keep = self._learner().keep
        if state.keep != keep:
            raise PegasosError(
                f"the stream began with the {state.keep} vector and cannot continue with the {keep} one; call fit, or "
                "begin with a clone."
            )
        return state

    def _advance(self, state: OnlineState, rows: Rows, labels: Labels, order: Order) -> None:
        self._learner().advance(state, rows, labels, order)

    def _model(self, state: OnlineState, rows: Rows) -> dict[str, Any]:
        weights = self._learner().weights(state)
        return {"coef_": weights[:, :-1], "intercept_": self._bias * weights[:, -1]}

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        rows = read_rows(self, X, 1.0)
        weights = np.column_stack([self.coef_, self.intercept_])
        scores = np.empty((rows.n_rows, len(weights)))
        _core.scores(rows.native, weights, scores)
        return scores
