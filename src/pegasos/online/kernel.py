"""Online learners with support vectors: any collection that the kernel takes in, dual_coef_ out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import available_if

from pegasos import checks as check
from pegasos.estimators.items import as_collection, check_target
from pegasos.kernels import Kernel, Precomputed
from pegasos.kernels.base import Items
from pegasos.kernels.series import IndefiniteKernelWarning
from pegasos.layouts import classes as layout
from pegasos.machines.inputs import check_weights
from pegasos.machines.kernel_choice import WORDS, KernelChoice, doubt, joined, kernel_of
from pegasos.online.base import OnlineClassifier
from pegasos.solvers.kernel_online import KernelOnlineLearner, KernelOnlineState
from pegasos.solvers.online import Labels, Order
from pegasos.tasks import Weights

_BLOCK_VALUES = 1 << 21  # kernel values at once, at predict


def _can_stream(model: Any) -> bool:
    """A precomputed matrix holds only the rows of one fit."""
    return not KernelChoice(model.kernel).is_precomputed


@dataclass(frozen=True)
class Sample:
    """Items of a kernel: the support so far in front, the new ones behind it."""

    kernel: Kernel
    collection: Any
    items: Items
    n_old: int


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """The kernel of a learner."""

    kernel: Any = field(default="rbf", kw_only=False)
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 1.0


class KernelOnlineClassifier(KernelParameters, OnlineClassifier):
    """A subclass gives its parameters, and the learner that they mean."""

    _saved = layout.kernel_online
    kernel_: Kernel
    support_: npt.NDArray[np.intp]
    support_vectors_: Any
    dual_coef_: npt.NDArray[np.float64]
    intercept_: npt.NDArray[np.float64]

    @available_if(_can_stream)
    def partial_fit(self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: Any = None) -> Self:
        """Visit each item once, in the order given; splitting a stream into blocks does not change the result.

        The first block settles the kernel (``gamma="scale"``). An interrupt between two blocks of items is raised as
        usual and leaves the model reached so far.

        Parameters
        ----------
        X : as in `fit`
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All classes that will occur; needed at the first call.
        sample_weight : array of shape (n_rows,), optional
        """
        return super().partial_fit(X, y, classes, sample_weight)

    @abstractmethod
    def _learner(self) -> KernelOnlineLearner:
        """What the parameters mean."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = not _can_stream(self)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.kernel, str):
            check.check_word("kernel", self.kernel, WORDS)

    def _read(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Sample, Any, Weights | None]:
        if not first:
            X = as_collection(self, self.kernel_, X, reset=False)
            y = check_target(X, y)
            n_old = len(self.support_)
            together = joined(self.support_vectors_, X) if n_old else X
            sample = Sample(self.kernel_, together, self.kernel_.read(together), n_old)
            return sample, y, check_weights(sample_weight, len(y))
        choice = KernelChoice(self.kernel, self.gamma, self.degree, self.coef0)
        X = as_collection(self, choice.reader, X, reset=True)
        y = check_target(X, y)
        weights = check_weights(sample_weight, len(y))
        kernel = kernel_of(choice, X, weights)
        items = kernel.read(X)
        if doubt(kernel, items) is not None:
            warnings.warn(
                f"{kernel} is not positive semi-definite on these items: no bound on mistakes holds.",
                IndefiniteKernelWarning,
                stacklevel=3,
            )
        return Sample(kernel, X, items, 0), y, weights

    def _start(self, rows: Sample, n_problems: int) -> KernelOnlineState:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return self._learner().start(n_problems, len(rows.items), seed)

    def _go_on(self, state: KernelOnlineState, rows: Sample) -> KernelOnlineState:
        return state.move_to(len(rows.items))

    def _advance(self, state: KernelOnlineState, rows: Sample, labels: Labels, order: Order) -> None:
        old = rows.n_old
        labels = Labels(np.pad(labels.codes, (old, 0)), np.pad(labels.cost, (old, 0)))
        self._learner().advance(state, rows.kernel, rows.items, labels, order + np.uint32(old))

    def _model(self, state: KernelOnlineState, rows: Sample) -> dict[str, Any]:
        support = state.support_numbers
        coefficients = state.vectors[:, support]
        state.move_to(len(support))  # what is not a support is forgotten
        is_known = not isinstance(rows.kernel, Precomputed)
        return {
            "kernel_": rows.kernel,
            "support_": support,
            "support_vectors_": _safe_indexing(rows.collection, support) if is_known else np.empty((0, 0)),
            "dual_coef_": coefficients,
            "intercept_": self._bias**2 * coefficients.sum(axis=1),
            "_n_training": len(rows.items),
        }

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        X = as_collection(self, self.kernel_, X, reset=False)
        if isinstance(self.kernel_, Precomputed):
            block = self.kernel_.read_against(X, self._n_training, self.support_)
            return np.asarray(block @ self.dual_coef_.T + self.intercept_)
        items = self.kernel_.read(X)
        scores = np.tile(np.asarray(self.intercept_, np.float64), (len(items), 1))
        if len(self.support_):
            support = self.kernel_.read(self.support_vectors_)
            n_at_once = max(1, _BLOCK_VALUES // len(support))
            for begin in range(0, len(items), n_at_once):
                part = items.take(np.arange(begin, min(begin + n_at_once, len(items))))
                scores[begin : begin + len(part)] += self.kernel_.evaluate(part, support) @ self.dual_coef_.T
        return scores
