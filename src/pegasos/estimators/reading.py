"""How estimators read X: as rows of numbers for a linear machine, or as items of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from sklearn.utils.validation import _num_samples, validate_data

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.estimators.inputs import (
    are_plain_numbers,
    as_plain,
    is_csr,
    is_dense,
    is_plain_target,
    note_features,
    read_values,
)
from pegasos.estimators.items import as_collection
from pegasos.machines.base import Data
from pegasos.machines.inputs import check_weights, how_to_read
from pegasos.machines.kernel import Kernel
from pegasos.machines.kernel_choice import WORDS, KernelChoice
from pegasos.machines.linear import Linear


class ReadsRows:
    """An estimator over rows of numbers."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _machine(self) -> Linear:
        return Linear()

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Data:
        return read_rows(self, X, y, sample_weight, reset=reset, **self._how_to_read_target(y))  # type: ignore[attr-defined]

    def _read_new(self, X: Any) -> Data:
        return Data(read_values(self, X))


def read_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, **of_target: Any) -> Data:
    """Rows of numbers, their targets and weights, checked as scikit-learn does; ``of_target`` is for its check of y."""
    begun = perf_counter()
    if of_target.pop("is_absent", False):
        X, y = validate_data(estimator, X, reset=reset, **how_to_read(X)), None
    elif reset and _are_plain(X, y, is_number=bool(of_target)):
        note_features(estimator, X)  # where there is nothing to convert, the checks would take longer than a small fit
        X = as_plain(X)
    else:
        X, y = validate_data(estimator, X, y, reset=reset, **how_to_read(X), **of_target)
    weights = check_weights(sample_weight, X.shape[0])
    return Data(X, y, weights, names=getattr(estimator, "feature_names_in_", None), begun=begun)


def _are_plain(X: Any, y: Any, *, is_number: bool) -> bool:
    """Whether scikit-learn's checks would find nothing to convert or to refuse, except for the order of X."""
    return (is_dense(X) or is_csr(X)) and (are_plain_numbers if is_number else is_plain_target)(y, X.shape[0])


@dataclass(eq=False, repr=False, kw_only=True)
class ReadsItems:
    """The parameters of an estimator over items of a kernel."""

    kernel: Any = field(default="rbf", kw_only=False)
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 1.0
    sigma: float | None = None
    cache_size: float = 1000
    max_support: int | None = None
    max_iter: int | None = 1000

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._choice.is_precomputed
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _check_kernel(self) -> None:
        check.check_positive("cache_size", self.cache_size)
        if self.max_support is None:
            return
        check.check_count("max_support", self.max_support)
        if self._is_free:  # type: ignore[attr-defined]
            raise PegasosError(
                f"max_support={self.max_support!r} needs a regularized intercept: dropping support vectors would "
                "unbalance a free one; give regularize_intercept=True."
            )

    def _why_not_a_stream(self) -> str | None:
        if self._choice.is_precomputed:
            return "partial_fit does not support a precomputed kernel matrix, which holds the rows of one fit only."
        refusal: str | None = super()._why_not_a_stream()  # type: ignore[misc]
        return refusal

    @property
    def _choice(self) -> KernelChoice:
        return KernelChoice(self.kernel, self.gamma, self.degree, self.coef0, self.sigma)

    def _machine(self) -> Kernel:
        return Kernel(self._choice, float(self.cache_size), self.max_support)

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Data:
        begun = perf_counter()
        model: Any = None if reset else self.fitted_.model  # type: ignore[attr-defined]
        if reset and isinstance(self.kernel, str):
            check.check_word("kernel", self.kernel, WORDS)
        items = as_collection(self, self._choice.reader if reset else model.kernel, X, reset=reset)
        target = self._check_target(items, y)  # type: ignore[attr-defined]
        weights = check_weights(sample_weight, _num_samples(items))
        has_prior = self.prior is not None or (not reset and model.prior is not None)  # type: ignore[attr-defined]
        given = X if has_prior else None  # which may know its columns by name
        return Data(items, target, weights, given, getattr(self, "feature_names_in_", None), begun)

    def _read_new(self, X: Any) -> Data:
        return Data(as_collection(self, self.kernel_, X, reset=False), given=X)  # type: ignore[attr-defined]
