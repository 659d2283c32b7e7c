"""What every certified classifier does, whatever its rows are: check, encode, solve, certify, write."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pegasos import theory
from pegasos.certificate import Certificate, certify, combine
from pegasos.errors import PegasosError
from pegasos.estimators import _parameters as check
from pegasos.estimators._inputs import check_weights, names_kept_on_failure
from pegasos.estimators._reductions import add_traces, merge_traces, solve_all, worst_status
from pegasos.estimators._schemes import Scheme, schemes
from pegasos.estimators._targets import (
    Terms,
    class_factors,
    class_totals,
    encode,
    encode_known,
    find_classes,
)
from pegasos.estimators._watching import CallbackSupportMixin, Onlookers, n_frames
from pegasos.estimators.warnings import GapWarning
from pegasos.problem import Problem
from pegasos.solution import Solution, Status, Trace
from pegasos.solvers.driver import Solver, Stop
from pegasos.solvers.pegasos import Pegasos

default_lam = 1e-4
_satisfied = (Status.CERTIFIED, Status.COMPLETED, Status.REDUCED, Status.STOPPED)  # nobody need be warned


def split(stacked: npt.NDArray[Any], problems: list[Any]) -> list[npt.NDArray[Any]]:
    """What belongs to each problem, of vectors that lie one below the other: one vector, or as many as classes."""
    return [part[0] if len(part) == 1 else part for part in np.split(stacked, len(problems))]


class CertifiedClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Base of the classifiers; the parameters are those of the subclasses."""

    _solvers: tuple[str, ...]

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_parameters()
        with names_kept_on_failure(self):
            rows, y, weights = self._read_training_rows(X, y, sample_weight)
            classes = find_classes(y, weights)
            codes = encode(y, classes)
            totals = class_totals(codes, len(classes), weights)
            terms = self._terms_of(classes, totals, float(totals.sum()))
            problems = self._scheme.problems(rows, codes, weights, terms, None)
            solver = self._solver(rows, problems[0])
            seed = self._seed()
            onlookers = Onlookers(self, X, y, classes, len(problems))
            solutions = solve_all(
                problems,
                solver,
                Stop(self.tol, self.max_iter, self.time_budget),
                seed=seed,
                n_jobs=self._jobs(problems),
                states=self._warm_states(solver, problems, seed),
                watchers=[onlookers.watcher(k) for k in range(len(problems))],
            )
            solutions = self._finish(problems, solutions)
            self.classes_, self._terms = classes, terms
            self._write(solutions, merge_traces(problems, solutions), X)
            self._remember(solutions, rows.n_rows, totals, seed)
            onlookers.end()
            if worst_status(solutions) not in _satisfied:
                warnings.warn(self.status_, GapWarning, stacklevel=3 + n_frames)
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_rows,) for two classes, positive for ``classes_[1]``; else (n_rows, n_classes)."""
        check_is_fitted(self, "classes_")
        return self._scheme.decisions(self._scores(X), len(self.classes_))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(scores > 0.0).astype(np.intp)])
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data and the stored dual point, trusting no solver.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, in the same order.
        """
        check_is_fitted(self, "certificate_")
        rows, y = self._read_rows_again(X, y)
        alphas = np.atleast_2d(self.alpha_)
        if rows.n_rows != alphas.shape[1]:
            raise PegasosError(
                f"alpha_ belongs to the {alphas.shape[1]} rows of the last fit, got {rows.n_rows} rows; "
                "certify needs the same rows in the same order."
            )
        weights = check_weights(sample_weight, rows.n_rows)
        codes = encode_known(y, self.classes_, weights)
        problems = self._scheme.problems(rows, codes, weights, self._terms, None)
        return combine([certify(*each) for each in self._points(problems, alphas, X)])

    def certified(self, X: Any) -> npt.NDArray[np.bool_]:
        """For each row: whether no exact solution of the training problem can predict another class.

        An exact solution's weights lie within ``weight_radius`` of ours, so its score of a row x lies within
        ``|x| weight_radius``.
        """
        check_is_fitted(self, "certificate_")
        scores, lengths, rounding = self._scores_with_lengths(X)
        radii = np.array([part.weight_radius for part in self.certificate_.parts])
        # A little more than the bound, for the rounding of the scores themselves.
        reach = lengths[:, None] * (radii * (1.0 + 1e-9) + rounding)
        return self._scheme.certified(scores, reach, len(self.classes_))

    def _check_parameters(self) -> None:
        check.check_positive("lam", self.lam)
        if self.C is not None:
            check.check_positive("C", self.C)
            if self.lam != default_lam:
                raise PegasosError(f"give lam or C, not both: got lam={self.lam!r} and C={self.C!r}.")
        check.check_word("solver", self.solver, self._solvers)
        if self.batch_size != "all":
            check.check_count("batch_size", self.batch_size)
        check.check_word("sampling", self.sampling, ("shuffle", "uniform"))
        check.check_word("average", self.average, (None, "uniform", "tail"))
        check.check_word("multi_class", self.multi_class, tuple(schemes))
        for name in ("projection", "fit_intercept", "regularize_intercept", "warm_start"):
            check.check_flag(name, getattr(self, name))
        if self.fit_intercept and not self.regularize_intercept:
            raise PegasosError(
                "regularize_intercept=False is not offered by this version; raise intercept_scaling (10, say) to "
                "regularise the intercept less."
            )
        check.check_jobs(self.n_jobs)
        check.check_positive("intercept_scaling", self.intercept_scaling)
        check.check_class_weight(self.class_weight)
        check.check_optional("tol", self.tol)
        check.check_count("max_iter", self.max_iter)
        check.check_optional("time_budget", self.time_budget)

    def _check_stream_parameters(self) -> None:
        self._check_parameters()
        if self.C is not None:
            raise PegasosError(f"C={self.C!r} needs the number of rows, which a stream has not; give lam instead.")

    @property
    def _scheme(self) -> Scheme:
        return schemes[self.multi_class]

    @property
    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _terms_of(self, classes: npt.NDArray[Any], totals: npt.NDArray[np.float64], total: float) -> Terms:
        """The terms of rows of this total weight; the totals of the classes say what balances them."""
        factors = class_factors(self.class_weight, classes, totals)
        lam = float(self.lam) if self.C is None else theory.lam_of_c(float(self.C), total)
        if not 0.0 < lam < np.inf:
            raise PegasosError(f"C={self.C!r} makes lam = 1 / (C N) = {lam}, which is no positive number; change C.")
        return Terms(lam, self._bias, factors, total, len(classes))

    def _pegasos(self, n: int, dtype: npt.DTypeLike, *, at_most_all: bool = False) -> Pegasos:
        """A batch larger than the rows is refused, but in a stream, whose blocks may be of any size."""
        size = n if self.batch_size == "all" else int(self.batch_size)
        if at_most_all:
            size = min(size, n)
        if size > n:
            raise PegasosError(f"batch_size={size} exceeds the {n} rows; use batch_size='all' for all of them.")
        sampling: Any = "sequential" if size == n and self.sampling == "shuffle" else self.sampling
        average: Any = self.average
        return Pegasos(size, sampling, bool(self.projection), average, dtype)

    def _write(self, solutions: list[Solution], trace: Trace, X: Any) -> None:
        """Every fitted attribute, in one place."""
        self.__dict__.update(self._weights_as_attributes(np.vstack([s.weights for s in solutions]), X))
        alphas = np.vstack([s.alpha.T for s in solutions])
        self.alpha_ = alphas[0] if len(alphas) == 1 else alphas
        self.certificate_ = combine([s.certificate for s in solutions])
        self.trace_ = trace
        self.n_iter_ = max(s.n_epochs for s in solutions)
        self.n_steps_ = sum(s.n_steps for s in solutions)
        status = worst_status(solutions)
        self.status_ = f"{status.value} {str(self.certificate_).capitalize()}."

    def _write_pass(self, solutions: list[Solution], X: Any) -> None:
        self._write(solutions, add_traces(solutions), X)

    def _jobs(self, problems: list[Problem]) -> int | None:
        """Threads for the problems."""
        jobs: int | None = self.n_jobs
        return jobs

    def _read_training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, Any, npt.NDArray[np.float64] | None]:
        """The rows to train on, y as an array of the same length, and the weights."""
        raise NotImplementedError

    def _read_rows_again(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The same rows for a fitted model."""
        raise NotImplementedError

    def _finish(self, problems: list[Problem], solutions: list[Solution]) -> list[Solution]:
        """What is done to the solutions before they become a model."""
        return solutions

    def _solver(self, rows: Any, problem: Any) -> Solver:
        raise NotImplementedError

    def _warm_states(self, solver: Solver, problems: list[Problem], seed: int) -> list[Any]:
        """Where the last fit ended, as far as it fits these rows; None: begin anew."""
        raise NotImplementedError

    def _remember(self, solutions: list[Solution], n_rows: int, totals: npt.NDArray[np.float64], seed: int) -> None:
        """What a warm start or a stream goes on from."""
        raise NotImplementedError

    def _points(self, problems: list[Problem], alphas: npt.NDArray[np.float64], X: Any) -> Any:
        """Each problem with its weights and its dual point."""
        weights = self._weights(problems[0].rows.bias)
        return zip(problems, split(weights, problems), (a.T for a in split(alphas, problems)), strict=True)

    def _weights(self, bias: float) -> npt.NDArray[np.float64]:
        """The weights of the fitted model, one row a problem, for rows whose constant column has this value."""
        raise NotImplementedError

    def _weights_as_attributes(self, weights: npt.NDArray[np.float64], X: Any) -> dict[str, Any]:
        """What `predict` needs, from the weights of each problem."""
        raise NotImplementedError

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        raise NotImplementedError

    def _scores_with_lengths(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Any]:
        """Scores, the length |x| of each row, and the rounding of each problem's scores at length 1."""
        raise NotImplementedError
