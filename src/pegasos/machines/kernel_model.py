"""The model of a kernel machine: support vectors with their coefficients, and how they score items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.gram import KernelRows, with_fast_products
from pegasos.kernels import Kernel, Precomputed
from pegasos.kernels.base import Items, unit_of
from pegasos.kernels.vector import products
from pegasos.machines.base import BoundedScores, Data, Settled
from pegasos.machines.kernel_choice import is_matrix, joined
from pegasos.machines.prior import ScoredPrior
from pegasos.problem import Floats, Problem
from pegasos.tasks.base import Members, Scores

_BLOCK_BYTES = 1 << 24  # bytes of kernel values per block in predict
_LARGEST_ERROR = 0.05  # largest error of a score in single precision; where more is possible, scores are in double
_AT_ONCE = 128  # values summed in single precision


@dataclass(frozen=True, eq=False)
class KernelModel:
    """score(x) = dual_coef @ K(support_vectors, x) + intercept, plus the score of the prior."""

    kernel: Kernel
    support: npt.NDArray[np.intp]  # numbers of training rows
    support_vectors: Any  # those rows in their original form; empty for a precomputed matrix
    dual_coef: npt.NDArray[np.float64]
    intercept: npt.NDArray[np.float64]
    n_training: int
    prior: ScoredPrior | None = None
    # whether `support` refers to rows of the last fit, not to those of a stream or of another library
    indexed: bool = True

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        coefficients: npt.NDArray[np.float64],
        collection: Any,
        *,
        bias: float,
        prior: Any,
        intercepts: npt.NDArray[np.float64] | float = 0.0,
    ) -> KernelModel:
        """Build the model from coefficients of all training rows, one row per problem, and further intercepts."""
        (support,) = (coefficients[0] if len(coefficients) == 1 else np.any(coefficients, axis=0)).nonzero()
        is_known = not isinstance(kernel, Precomputed)
        is_array = isinstance(collection, np.ndarray)  # scikit-learn's function takes longer for arrays
        rows = collection[support] if is_array else _safe_indexing(collection, support) if is_known else None
        vectors = rows if is_known else np.empty((0, 0))
        intercept = bias**2 * coefficients.sum(axis=1) + intercepts
        return cls(kernel, support, vectors, coefficients[:, support], intercept, coefficients.shape[1], prior)

    @property
    def vectors(self) -> dict[str, Any]:
        """The kernel, the support and the coefficients."""
        names = ("kernel", "support", "support_vectors", "dual_coef", "intercept")
        return {name: getattr(self, name) for name in names}

    def edited(self, attributes: dict[str, Any]) -> KernelModel:
        """The model with the current vectors of an estimator."""
        now = {name: attributes[f"{name}_"] for name in self.vectors}
        return self if all(now[name] is value for name, value in self.vectors.items()) else replace(self, **now)

    @property
    def is_precomputed(self) -> bool:
        """Whether the user provides the kernel values."""
        return isinstance(self.kernel, Precomputed)

    def scores(self, data: Data, settled: Settled, threads: int = 1) -> Scores:
        """The scores of all problems, one column each."""
        own = self._own_scores(data.X, settled)
        return own if self.prior is None else own + self.prior.scores(data.given)

    def _own_scores(self, X: Any, settled: Settled) -> Scores:
        if isinstance(self.kernel, Precomputed):
            block = self.kernel.read_against(X, self.n_training, self.support)
            return np.asarray(block @ self.dual_coef.T + self.intercept)
        return self.scores_of(self.kernel.read(X), settled)

    def scores_of(self, items: Items, settled: Settled) -> Scores:
        """The scores of items that the kernel has read, without those of the prior."""
        if not len(self.support):
            return np.tile(np.asarray(self.intercept, np.float64), (len(items), 1))
        support = self._support_items
        if self.kernel.has_features:
            mine, theirs = self.kernel.map(items, support)
            return np.asarray(mine @ (theirs.T @ self.dual_coef.T) + self.intercept)
        if self.kernel.result_type(items, support) == np.float64:
            return np.asarray(self._sums_of(items, support, np.dtype(np.float64)) + self.intercept)
        return self._scores_from_single(items, support, settled)

    @cached_property
    def _support_items(self) -> Items:
        """The support vectors in the form that the kernel reads."""
        return with_fast_products(self.kernel.read(self.support_vectors))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields only."""
        return {name: value for name, value in vars(self).items() if name != "_support_items"}

    def _scores_from_single(self, items: Items, support: Items, settled: Settled) -> Scores:
        """Scores from kernel values in single precision; in double where those leave the answer open."""
        unit = unit_of(np.float32)
        error = _value_error(self.kernel, (items, support), np.float32) + (_AT_ONCE + 8.0) * unit
        reach = error * (np.abs(self.dual_coef) @ self._lengths_alone(support))
        double = np.dtype(np.float64)
        lengths = self._lengths_alone(items)
        if not float(lengths.max(initial=0.0)) * float(reach.max()) <= _LARGEST_ERROR:
            return np.asarray(self._sums_of(items, support, double) + self.intercept)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._sums_of(items, support, np.dtype(np.float32)) + self.intercept
            is_settled = settled(scores, lengths[:, None] * reach)
        again = np.flatnonzero(~is_settled)
        if len(again) > 0:
            scores[again] = self._sums_of(items.take(again), support, double) + self.intercept
        return np.asarray(scores)

    def _sums_of(self, items: Items, support: Items, dtype: np.dtype[Any]) -> Scores:
        """Sums over the support vectors, from kernel values of this type; few are summed in single precision."""
        scores = np.zeros((len(items), len(self.dual_coef)))
        coefficients = np.ascontiguousarray(self.dual_coef, dtype)
        stretch = _AT_ONCE if dtype == np.float32 else len(support)
        n_at_once = max(1, min(len(items), _BLOCK_BYTES // (coefficients.itemsize * len(support))))
        block = np.empty((n_at_once, len(support)), coefficients.dtype)
        for begin in range(0, len(items), n_at_once):
            is_whole = n_at_once == len(items)
            part = items if is_whole else items.take(np.arange(begin, min(begin + n_at_once, len(items))))
            self.kernel.fill(part, support, block[: len(part)], 0.0)
            for first in range(0, len(support), stretch):
                mine = slice(first, first + stretch)
                scores[begin : begin + len(part)] += products(block[: len(part), mine], coefficients[:, mine])
        return scores

    def measured(self, data: Data, bias: float, settled: Settled) -> BoundedScores:
        """Scores with the lengths of the items in feature space, constant column included."""
        if self.is_precomputed:
            raise PegasosError("certified needs k(x, x) of new rows, which a precomputed matrix does not hold.")
        # In double, because what is certified must not depend on the rounding of a score.
        X = data.X.astype(np.float64) if is_matrix(self.kernel, data.X) else data.X
        items = self.kernel.read(X)
        lengths = np.sqrt(self.kernel.evaluate_diagonal(items) + bias * bias)
        scores = self.scores_of(items, settled)
        if self.prior is not None:
            scores += self.prior.scores(data.given)
        if not len(self.support):
            return BoundedScores(scores, lengths, 0.0, items)
        support = self.kernel.read(self.support_vectors)
        error = _value_error(self.kernel, (items, support), np.float64)
        error += (len(self.support) + 8.0) * unit_of(np.float64)
        reach = np.sqrt(self.kernel.evaluate_diagonal(support) + bias * bias)
        return BoundedScores(scores, lengths, error * (np.abs(self.dual_coef) @ reach), items)

    def _lengths_alone(self, items: Items) -> npt.NDArray[np.float64]:
        """|x| without the constant column."""
        return np.sqrt(self.kernel.evaluate_diagonal(items))

    def lengths(self, certificate: Certificate, bias: float) -> npt.NDArray[np.float64]:
        """|w| of each problem, without the part for the intercept; NaN where that of a prior is unknown."""
        if self.prior is not None:
            return np.full(len(certificate.parts), np.nan)
        carried = 0.0 if bias == 0.0 else np.ravel(self.intercept) / bias
        carried = np.square(carried)
        if len(certificate.parts) < len(self.intercept):  # one problem with a vector for each class
            carried = np.sum(carried)
        squares = np.array([part.squared_norm for part in certificate.parts]) - carried
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(squares))

    def products(self) -> npt.NDArray[np.float64]:
        """<w_k, w_l> of all problems."""
        if self.prior is not None:
            raise PegasosError("the geometric margin needs |w|, and that of the prior is not known.")
        if self.is_precomputed:
            raise PegasosError("the geometric margin needs the kernel of the support vectors, which the model lacks.")
        n = len(self.dual_coef)
        if not len(self.support):
            return np.zeros((n, n))
        scores = self.scores_of(self.kernel.read(self.support_vectors), _nothing_settled) - self.intercept
        return np.asarray(self.dual_coef @ scores)

    def squares(self, bias: float, X: Any) -> npt.NDArray[np.float64]:
        """|w|^2 of each score, relative to the prior, with the weight of a constant column of this value."""
        constant = np.square(bias * self.dual_coef.sum(axis=1))
        if not len(self.support):
            return np.asarray(constant)
        if not self.is_precomputed:
            scores = self.scores_of(self.kernel.read(self.support_vectors), _nothing_settled) - self.intercept
        elif X.shape == (self.n_training, self.n_training):
            scores = np.asarray(X, np.float64)[np.ix_(self.support, self.support)] @ self.dual_coef.T
        else:
            raise PegasosError(
                "the objective needs |w|, and with it the kernel of the support vectors: give the square kernel matrix "
                f"of the {self.n_training} rows of the fit, got shape {X.shape}."
            )
        return np.asarray(np.sum(self.dual_coef.T * scores, axis=0) + constant)

    def points(
        self,
        problems: Sequence[Problem],
        members: list[Members],
        alphas: list[Floats],
        *,
        data: Data,
        bias: float,
        rows_of: Callable[[Kernel, Items, float], KernelRows],
    ) -> Any:
        """Each problem with its weights and its dual point."""
        if self.is_precomputed or self.indexed:
            weights = np.zeros((len(self.dual_coef), self.n_training))
            weights[:, self.support] = self.dual_coef
            own = [_of_members(weights[k], mine) for k, mine in enumerate(members)]
            return zip(problems, own, alphas, strict=True)
        # The weights belong to support vectors from any block of a stream, or from other rows.
        is_shared = isinstance(members[0], slice)
        blocks = [data.X] if is_shared else (_safe_indexing(data.X, mine) for mine in members)
        read = (rows_of(self.kernel, self.kernel.read(joined(self.support_vectors, X)), bias) for X in blocks)
        rows = [*read] * len(problems) if is_shared else read
        each = zip(problems, rows, self.dual_coef, alphas, strict=True)
        return (self._beside_support(*one) for one in each)

    def _beside_support(
        self, problem: Problem, rows: KernelRows, coefficients: npt.NDArray[np.float64], alpha: Any
    ) -> tuple[Problem, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The problem with the support vectors first, the weights, which are theirs, and the dual point."""
        old = len(self.support)
        weights = np.concatenate([coefficients, np.zeros(len(alpha))])
        return behind_support(problem, rows, old), weights, np.concatenate([np.zeros(old), alpha])


def behind_support(problem: Problem, rows: KernelRows, n_support: int) -> Problem:
    """The problem of a block after support vectors of cost 0, which only carry their part of the weights."""
    return replace(
        problem,
        rows=rows,
        sign=np.concatenate([np.ones(n_support, np.int8), problem.sign]),
        cost=np.concatenate([np.zeros(n_support), problem.cost]),
        offset=np.concatenate([np.zeros(n_support), problem.offset]),
    )


def _of_members(coefficients: npt.NDArray[np.float64], mine: Members) -> npt.NDArray[np.float64]:
    """The coefficients of the rows of a problem; a row that occurs twice has its coefficient once."""
    own = coefficients[mine]
    if len(own) > len(coefficients):
        first = np.unique(np.asarray(mine), return_index=True)[1]
        own = np.where(np.isin(np.arange(len(own)), first), own, 0.0)
    return own


def _nothing_settled(scores: Scores, reach: Scores) -> npt.NDArray[np.bool_]:
    """Every score is made in double."""
    return np.zeros(len(scores), bool)


def _value_error(kernel: Kernel, collections: tuple[Items, ...], dtype: npt.DTypeLike) -> float:
    """Error bound of a kernel value of two items of these collections, relative to the lengths of both."""
    return max(kernel.value_error(items, dtype) for items in collections)
