"""What every certified classifier does, whatever its rows are: check, encode, solve, certify, write."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from pegasos import theory
from pegasos.certificate import Certificate, balanced, certify, certify_around, combine, intercept_reach
from pegasos.errors import PegasosError
from pegasos.estimators import _parameters as check
from pegasos.estimators import _settled
from pegasos.estimators._inputs import check_weights, kept_on_failure
from pegasos.estimators._prior import check_prior
from pegasos.estimators._probability import Calibration, agreeing, cross_fitted, most_folds
from pegasos.estimators._reductions import add_traces, merge_traces, solve_all, worst_status
from pegasos.estimators._schemes import Members, Scheme, decided, losses_of_zero, pairs_of, schemes, sizes, winners
from pegasos.estimators._targets import (
    Terms,
    class_factors,
    class_totals,
    encode,
    encode_known,
    find_classes,
)
from pegasos.estimators._until import until_certified
from pegasos.estimators._watching import CallbackSupportMixin, Onlookers, n_frames
from pegasos.estimators.warnings import GapWarning
from pegasos.persistence import Saved
from pegasos.problem import Problem, Rows
from pegasos.rounding import Carried
from pegasos.solution import Solution, Status, Trace
from pegasos.solvers.driver import Model, Solver, Stop
from pegasos.solvers.pegasos import Pegasos

default_lam = 1e-4
# What others have trained, beside the parameters.
_of_weights = ("coef_", "intercept_", "_free_intercepts", "support_", "support_vectors_", "dual_coef_", "_origin")
satisfied = (Status.CERTIFIED, Status.COMPLETED, Status.REDUCED, Status.STOPPED)  # nobody need be warned


def can_stream(model: Any) -> bool:
    """Whether the model may learn block by block."""
    if model._is_free:
        raise AttributeError("a stream knows no intercept that is not regularised; give regularize_intercept=True.")
    if model.probability:
        raise AttributeError("a stream keeps no rows to fit probabilities on; give probability=False.")
    return True


def _has_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError("probabilities are fitted only with probability=True.")
    return True


def split(stacked: npt.NDArray[Any], problems: Sequence[Any]) -> list[npt.NDArray[Any]]:
    """What belongs to each problem, of vectors that lie one below the other: one vector, or as many as classes."""
    return [part[0] if len(part) == 1 else part for part in np.split(stacked, len(problems))]


class CertifiedClassifier(Saved, CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers; the parameters are those of the subclasses."""

    _solvers: tuple[str, ...]
    _prior: Any = None  # what a fit has read of the parameter

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_parameters()
        begun = perf_counter()
        with kept_on_failure(self):
            rows, y, weights = self._read_training_rows(X, y, sample_weight)
            classes = find_classes(y, weights)
            codes = encode(y, classes)
            counts = class_totals(codes, len(classes), None)
            totals = counts if weights is None else class_totals(codes, len(classes), weights)
            largest_norm = math.sqrt(float(rows.squared_norms.max()))
            least_weight = 1.0 if weights is None else float(weights[weights > 0.0].min())
            extent = {"total": float(totals.sum()), "largest_norm": largest_norm, "least_weight": least_weight}
            terms = self._terms_of(classes, totals, counts, **extent)
            self._prior = None if self.prior is None else self._read_prior(classes, rows)
            rows = self._shared(rows, self._scheme.n_problems(len(classes)))
            members = self._scheme.members(codes, len(classes))
            prior = self._offsets(X, rows)
            problems = self._scheme.problems(rows, codes, weights, terms, prior, carried=self._carried(rows))
            del codes  # eight bytes a row that nobody reads any more
            is_joint = self._scheme.n_vectors(len(classes)) > 1
            kind = {"is_joint": is_joint, "single": terms.suits_single}
            solvers = [self._solver(rows, n, **kind) for n in sizes(members, rows.n_rows)]
            seed = self._seed()
            onlookers = Onlookers(self, X, y, classes, len(problems))
            with self._threads_within(problems):
                solutions = self._solve_all(
                    problems,
                    solvers,
                    Stop(self.tol, check.epochs_of(self), self._time_left(begun), terms.is_hard),
                    seed=seed,
                    states=self._warm_states(solvers, problems, sizes(members, rows.n_rows), seed),
                    watchers=[onlookers.watcher(k) for k in range(len(problems))],
                )
            if isinstance(rows, Rows):
                rows.check_unchanged()
            solutions = self._finish(problems, solutions)
            calibration = None
            if self.probability:
                plan = {"rows": rows, "classes": classes, "scheme": self._scheme, "seed": seed, "begun": begun}
                calibration = cross_fitted(self, self._collection(X, rows), y, weights, **plan)
            self.classes_, self._terms, self._calibration = classes, terms, calibration
            self._write(solutions, merge_traces(losses_of_zero(problems), solutions), X, members)
            self._remember(solutions, rows.n_rows, terms, seed)
            if not self.__dict__.get("_is_doubted", False):
                _settled.remember(self, X, y, sample_weight)
            onlookers.end()
            is_met = worst_status(solutions) in satisfied
            if self.certified_share is not None and hasattr(self, "_evidence"):
                is_met &= until_certified(self, X, y, sample_weight, begun)
        if not is_met:
            warnings.warn(self.status_, GapWarning, stacklevel=3 + n_frames)
        return self

    @property
    def solved_lam_(self) -> Any:
        """The lam of the problem that was solved; for ``multi_class="ovo"`` one for each pair.

        With C it is 1 / (C N), and for ``C=inf`` so small that no dual variable reaches its bound. The dual variables
        of the textbook, with w = sum_i a_i y_i x_i, are ``alpha_ / (solved_lam_ * N)``, N being the sum of the weights.
        """
        check_is_fitted(self, "classes_")
        if self._terms.multi_class != "ovo" or len(self.classes_) == 2:
            return self._terms.lam
        counts, pairs = self._terms.counts, pairs_of(len(self.classes_))
        return np.array([self._terms.of_classes(pair, int(counts[list(pair)].sum()))[0] for pair in pairs])

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_rows,) for two classes, positive for ``classes_[1]``; else (n_rows, n_classes)."""
        check_is_fitted(self, "classes_")
        return self._fitted_scheme.decisions(self._scores(X), len(self.classes_))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row."""
        decisions = self.decision_function(X)
        return decided(decisions, self.classes_)

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data and the stored dual point, trusting no solver.

        A pair of classes without rows in the last block of a stream keeps the certificate it had. A model that others
        have trained (`pegasos.export`) came without a dual point: that of a fit of these rows is put beside its
        weights.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, in the same order.
        """
        check_is_fitted(self, "classes_")
        if self._is_foreign:
            return self._with_dual_point(X, y, sample_weight)._recertified(X, y, sample_weight)
        certificate = self._recertified(X, y, sample_weight)
        _settled.remember_anew(self, certificate, X, y, sample_weight)
        return certificate

    @property
    def _is_foreign(self) -> bool:
        """Whether others have trained the model."""
        return "_origin" in self.__dict__

    def _with_dual_point(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """The weights at hand with the dual point of a fit of these rows: the bound holds for any weights."""
        self._check_aim()
        validate_data(self, X, reset=False, skip_check_array=True)
        weights = check_weights(sample_weight, _num_samples(X))
        present = class_totals(encode_known(np.asarray(y), self.classes_, weights), len(self.classes_), weights) > 0.0
        if not present.all():
            raise PegasosError(
                f"y has no row of class {self.classes_.tolist()[present.argmin()]!r}, which the model knows; certify "
                "needs the rows that it was trained on."
            )
        twin = clone(self).set_params(probability=False, multi_class=self._fitted_multi_class)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GapWarning)  # the certificate says it
            twin.fit(X, y, sample_weight)
        twin.__dict__.update({name: value for name, value in vars(self).items() if name in _of_weights})
        return twin  # type: ignore[no-any-return]

    def _recertified(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        points = zip(self._points_again(X, y, sample_weight), self.certificate_.parts, strict=True)
        return combine(
            [self._certified_anew(k, *point) if here else before for k, ((point, here), before) in enumerate(points)]
        )

    def _points_again(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, bool]]:
        """Each problem of the rows of the fit with its weights and its dual point, and whether it has any rows."""
        check_is_fitted(self, "certificate_")
        rows, y = self._read_rows_again(X, y)
        weights = check_weights(sample_weight, rows.n_rows)
        codes = encode_known(y, self.classes_, weights)
        members = self._fitted_scheme.members(codes, len(self.classes_))
        present = class_totals(codes, len(self.classes_), weights)
        strange = (present > 0.0) & (self._terms.totals <= 0.0)
        if strange.any():
            label = self.classes_.tolist()[strange.argmax()]
            raise PegasosError(f"the model has seen no row of class {label!r}; certify needs the rows of its fit.")
        alphas = self._alphas()
        if not alphas:
            raise PegasosError("the model has no dual point, which stayed on the cluster of its fit; see certificate_.")
        if [len(alpha) for alpha in alphas] != sizes(members, rows.n_rows):
            # Of pairs, each row is in one less than there are classes.
            is_shared = isinstance(members[0], slice)
            n_fitted = len(alphas[0]) if is_shared else sum(map(len, alphas)) // (len(self.classes_) - 1)
            raise PegasosError(
                f"alpha_ belongs to the {n_fitted} rows of the last fit, got {rows.n_rows} rows; "
                "certify needs the same rows in the same order."
            )
        prior = self._offsets(X, rows)
        problems = self._fitted_scheme.problems(rows, codes, weights, self._terms, prior, carried=self._carried(rows))
        is_present = self._fitted_scheme.is_present(present)
        with self._threads_within(problems):
            yield from zip(self._points(problems, members, alphas, X), is_present, strict=True)

    def _certified_anew(self, k: int, problem: Problem, weights: npt.NDArray[np.float64], alpha: Any) -> Certificate:
        if not self._terms.is_free:
            return certify(problem, weights, alpha)
        return certify_around(problem, weights, balanced(problem, alpha), float(self._free_intercepts[k]))

    def certified(self, X: Any, *, region: str = "ellipsoid") -> npt.NDArray[np.bool_]:
        """For each row: whether no exact solution of the training problem can predict another class.

        A statement about the training problem, not about the truth of the class. An exact solution's weights lie in an
        ellipsoid that follows from the primal and the dual point of the fit; it is computed at the first call, from the
        arrays given to ``fit``, to which the model keeps a reference. A model without them (loaded, or trained on a
        stream) uses the ball of radius ``certificate_.weight_radius``, which certifies fewer rows, until ``certify`` is
        called with the rows of the fit.

        Parameters
        ----------
        X : rows, as in `predict`
        region : {"ellipsoid", "ball"}, default="ellipsoid"
            "ball" uses ``weight_radius`` alone: at the price of a prediction, without the rows of the fit.
        """
        self._check_certified()
        check.check_word("region", region, ("ellipsoid", "ball"))
        return _settled.certified(self, X, region)

    def score_interval(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Lower and upper bounds of the scores that any exact solution of the training problem gives to rows.

        They follow from the same ellipsoid as `certified`.

        Parameters
        ----------
        X : rows, as in `predict`

        Returns
        -------
        lower, upper : arrays of shape (n_rows,) for two classes, else (n_rows, n_classes)
            With ``multi_class="ovo"`` of shape (n_rows, n_pairs): the scores of the pairs, not the votes.
        """
        self._check_certified()
        found = _settled.intervals(self, X)
        is_single = found.scores.shape[1] == 1
        return (found.lower[:, 0], found.upper[:, 0]) if is_single else (found.lower, found.upper)

    def certified_support(self, X: Any, y: Any) -> npt.NDArray[np.int8]:
        """For rows of the fit: whether they are support vectors of every exact solution, or of none.

        Parameters
        ----------
        X : rows of the fit, any of them
        y : array of shape (n_rows,)
            Their classes.

        Returns
        -------
        array of int8, of shape (n_rows,) for two classes, else (n_rows, n_problems)
            1: a support vector of every exact solution, its dual variable at the upper bound. -1: a support vector of
            none. 0: not proved either way.
        """
        self._check_certified()
        status = _settled.support(self, X, y)
        return status[:, 0] if status.shape[1] == 1 else status

    @property
    def certified_share_(self) -> float:
        """The share of the rows of the fit, by sample weight, whose prediction is `certified`; computed when asked."""
        self._check_certified()
        return _settled.share(self)

    def _check_certified(self) -> None:
        if self._is_foreign:
            raise PegasosError(f"the model was read from {self._origin} and has no certificate of its own; fit one.")
        check_is_fitted(self, "certificate_")

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows of the fit."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_evidence"}

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, of shape (n_rows, n_classes); the class predicted has the largest.

        By Platt's method, on scores of rows that their model had not seen. Needs ``probability=True`` at the fit.
        """
        check_is_fitted(self, "classes_")
        calibration: Calibration | None = getattr(self, "_calibration", None)
        if calibration is None:
            raise PegasosError("the model was fitted without probabilities; fit it with probability=True.")
        scores, n_classes = self._scores(X), len(self.classes_)
        against = self._fitted_scheme.against_others(scores, n_classes)
        found = self._fitted_scheme.probabilities(calibration.of_problems(against), n_classes)
        return agreeing(found, winners(self._fitted_scheme.decisions(scores, n_classes)))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def margin(self, X: Any, y: Any, *, geometric: bool = False) -> npt.NDArray[np.float64]:
        """How far each row is on the right side; negative where the prediction is wrong.

        Parameters
        ----------
        X : rows, as in `predict`
        y : array of shape (n_rows,)
            Their classes.
        geometric : bool, default=False
            False: the functional margin, y (<w, x> + b), for several classes the score of the right one above the
            best other. True: the distance from the boundary, in the space of the features; that over |w|.
        """
        check_is_fitted(self, "classes_")
        scores = self._scores(X)
        codes = self._codes_of(y, len(scores))
        check.check_flag("geometric", geometric)
        products = self._weight_products() if geometric else None
        return self._fitted_scheme.margins(scores, codes, products, len(self.classes_))

    def _codes_of(self, y: Any, n_rows: int) -> npt.NDArray[np.intp]:
        """The number of the class of each row."""
        y = np.asarray(y)
        if y.shape != (n_rows,):
            raise PegasosError(f"y must name the class of each of the {n_rows} rows, got shape {y.shape}.")
        try:
            return encode_known(y, self.classes_, None)
        except TypeError as error:
            raise PegasosError(f"y must hold classes such as {self.classes_[0]!r}: {error}.") from error

    def report(self, X: Any, y: Any, path: Any = None) -> Any:
        """One HTML page about the model: what is proved, how it does on these rows, what it looks at.

        The page is a single file that needs no network; `pegasos.report` says more.

        Parameters
        ----------
        X : rows, as in `predict`
            Those of the fit, or others: the page says which.
        y : array of shape (n_rows,)
            Their classes.
        path : path, optional
            A file to write the page to, such as "report.html".

        Returns
        -------
        Report
            Has the page in ``html``, writes it by ``write``, and shows it in a notebook.
        """
        from pegasos import report  # which knows the estimators: imported only here

        if path is not None:
            report.check_path(path)  # before the work
        page = report.make(self, X, y)
        if path is not None:
            page.write(path)
        return page

    def __sklearn_clone__(self) -> Any:
        """A clone keeps its prior as it is, fitted: that is what the prior is for."""
        clone = super().__sklearn_clone__()
        clone.prior = self.prior
        return clone

    def _check_aim(self) -> None:
        """Whether anybody has said how much the weights are to be regularised."""
        if self.lam is None and self.C is None and self._is_foreign:
            raise PegasosError(
                f"the model was read from {self._origin}, which does not say how it was regularised: give C or lam, as "
                "in model.set_params(C=1.0)."
            )
        if self.C is None:
            check.check_positive("lam", self.lam)

    def _check_parameters(self) -> None:
        if self.lam is not None:
            check.check_positive("lam", self.lam)
        if self.C is not None:
            check.check_positive("C", self.C, or_infinite=True)
            if np.inf == self.C and self.prior is not None:
                raise PegasosError("C=inf knows no prior: weights that must separate the classes cannot stay near it.")
            if self.lam not in (None, default_lam):
                raise PegasosError(f"give lam or C, not both: got lam={self.lam!r} and C={self.C!r}.")
        check.check_word("solver", self.solver, self._solvers)
        if self.batch_size != "all":
            check.check_count("batch_size", self.batch_size)
        check.check_word("sampling", self.sampling, ("shuffle", "uniform", "balanced"))
        check.check_word("average", self.average, (None, "uniform", "tail"))
        check.check_word("multi_class", self.multi_class, tuple(schemes))
        for name in ("projection", "fit_intercept", "regularize_intercept", "warm_start", "probability"):
            check.check_flag(name, getattr(self, name))
        if self.multi_class == "crammer_singer":
            self._check_joint()
        if self._is_free and self.solver == "pegasos":
            raise PegasosError(
                "solver='pegasos' knows no intercept that is not regularised: give regularize_intercept=True, raise "
                "intercept_scaling to regularise it less, or leave the solver to 'auto'."
            )
        check.check_jobs(self.n_jobs)
        check.check_positive("intercept_scaling", self.intercept_scaling)
        check.check_class_weight(self.class_weight)
        check_prior(self.prior)
        check.check_optional("tol", self.tol)
        if self.max_iter is not None:
            check.check_count("max_iter", self.max_iter)
        check.check_optional("time_budget", self.time_budget)
        check.check_share("certified_share", self.certified_share)
        if self.certified_share is not None and self.tol is None:
            raise PegasosError("certified_share needs a tol to begin with; give tol=1e-3, or certified_share=None.")

    def _check_joint(self) -> None:
        """What the problem of all classes at once does not offer."""
        if self.solver == "cutting_plane":
            raise PegasosError("solver='cutting_plane' knows two signs only, not 'crammer_singer'; use 'ovr' or 'ovo'.")
        if self._is_free:
            raise PegasosError("multi_class='crammer_singer' has a regularised intercept; use 'ovr' or 'ovo'.")
        if self.sampling == "balanced":
            raise PegasosError(
                "sampling='balanced' draws two signs in turn, which 'crammer_singer' has not; use 'ovr'."
            )

    def _check_stream_parameters(self) -> None:
        self._check_parameters()
        if self.C is not None:
            raise PegasosError(f"C={self.C!r} needs the number of rows, which a stream has not; give lam instead.")
        if self._is_foreign:
            raise PegasosError(
                f"a stream cannot go on from weights that were read from {self._origin}; begin with a new model, and "
                "give it this one as its prior."
            )
        if not hasattr(self, "_terms"):
            return
        if self._terms.multi_class != self.multi_class:
            raise PegasosError(
                f"multi_class={self.multi_class!r} cannot go on from a model with {self._terms.multi_class!r}; call "
                "fit, or begin with a new model."
            )
        if not self._terms.is_free and self._terms.bias != self._bias:
            raise PegasosError(
                f"the intercept had a constant column of {self._terms.bias:g} so far, and would have one of "
                f"{self._bias:g} now: fit_intercept and intercept_scaling must not change in the middle of a stream; "
                "call fit, or begin with a new model."
            )
        if self._terms.is_free:
            raise PegasosError(
                "a stream cannot go on from a fit whose intercept was not regularised; begin with a new model."
            )

    def _prior_of_stream(self, classes: npt.NDArray[Any], rows: Any, *, first: bool) -> Any:
        """The prior, which is read once: what has been learnt since is the difference to it."""
        if first:
            return None if self.prior is None else self._read_prior(classes, rows)
        if self.prior is not (None if self._prior is None else self._prior.source):
            raise PegasosError("prior must not change in the middle of a stream; call fit, or begin with a new model.")
        return self._prior

    @property
    def _scheme(self) -> Scheme:
        return schemes[self.multi_class]

    @property
    def _fitted_multi_class(self) -> str:
        """That of the fitted model, whatever the parameter says now."""
        known: Any = self._origin if self._is_foreign else getattr(self, "_terms", self)
        return str(known.multi_class)

    @property
    def _fitted_scheme(self) -> Scheme:
        return schemes[self._fitted_multi_class]

    @property
    def _is_free(self) -> bool:
        """Whether there is an intercept that is not regularised."""
        return bool(self.fit_intercept and not self.regularize_intercept)

    @property
    def _bias(self) -> float:
        """The value of the constant column that carries a regularised intercept."""
        return float(self.intercept_scaling) if self.fit_intercept and self.regularize_intercept else 0.0

    @property
    def _time_share(self) -> float | None:
        """Of the fit of all rows: with probabilities, those of the folds take as much each."""
        whole: float | None = self.time_budget
        return whole / (most_folds + 1) if whole is not None and self.probability else whole

    def _time_left(self, begun: float) -> float | None:
        """What is left of that share, for a fit that began then: reading rows takes time, too."""
        share = self._time_share
        return None if share is None else max(0.0, share - (perf_counter() - begun))

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _terms_of(
        self,
        classes: npt.NDArray[Any],
        totals: npt.NDArray[np.float64],
        counts: npt.NDArray[np.float64],
        *,
        total: float,
        largest_norm: float = 0.0,
        least_weight: float = 1.0,
    ) -> Terms:
        """The terms of rows of this total weight; the totals and counts of the classes so far say what balances."""
        self._check_aim()
        factors = class_factors(self.class_weight, classes, totals)
        C = None if self.C is None else float(self.C)
        least_cost = least_weight * (1.0 if factors is None else float(np.min(factors[factors > 0.0], initial=np.inf)))
        lam = float(self.lam) if C is None else theory.lam_of_c(C, total, largest_norm, least_cost)
        if not 0.0 < lam < np.inf:
            raise PegasosError(f"C={self.C!r} makes lam = 1 / (C N) = {lam}, which is no positive number; change C.")
        return Terms(
            lam,
            self._bias,
            self._is_free,
            factors,
            total,
            len(classes),
            C=C,
            largest_norm=largest_norm,
            least_cost=least_cost,
            multi_class=self.multi_class,
            totals=totals,
            counts=counts,
        )

    def _pegasos(self, n: int, dtype: npt.DTypeLike, *, at_most_all: bool = False) -> Pegasos:
        """A batch larger than the rows is refused, but in a stream, whose blocks may be of any size."""
        size = n if self.batch_size == "all" else int(self.batch_size)
        if at_most_all:
            size = min(size, n)
        if size > n:
            whose = f"the {n} rows" + (" of a pair of classes" if self.multi_class == "ovo" else "")
            raise PegasosError(f"batch_size={size} exceeds {whose}; use batch_size='all' for all of them.")
        # All rows at once are all rows: there is nothing to shuffle, and both signs are there as often as they are.
        sampling: Any = "sequential" if size == n and self.sampling != "uniform" else self.sampling
        average: Any = self.average
        return Pegasos(size, sampling, bool(self.projection), average, dtype)

    def _write(self, solutions: list[Solution], trace: Trace, X: Any, members: list[Members]) -> None:
        """Every fitted attribute, in one place."""
        self.__dict__.pop("_origin", None)  # from here on the weights are our own
        _settled.forget(self)
        self.__dict__.update(self._as_attributes(solutions, members, X))
        self._free_intercepts = np.array([s.intercept for s in solutions])
        self._intercept_reach = np.array([s.intercept_reach for s in solutions])
        alphas: list[Any] = [s.alpha.T for s in solutions]
        if len(alphas) == 1:
            self.alpha_: Any = alphas[0]
        else:
            self.alpha_ = np.stack(alphas) if isinstance(members[0], slice) else alphas
        self.certificate_ = combine([s.certificate for s in solutions])
        self.trace_ = trace
        self.n_iter_ = max(s.n_epochs for s in solutions)
        self.n_steps_ = sum(s.n_steps for s in solutions)
        status = worst_status(solutions)
        self.margin_ = self._least_margins(self.certificate_)
        self.status_ = f"{status.value} {str(self.certificate_).capitalize()}."
        if np.inf == self.C and status is not Status.INSEPARABLE:
            self.status_ += f" The geometric margin is {np.min(self.margin_):.6g}."

    def _write_pass(self, solutions: list[Solution], X: Any, members: list[Members]) -> None:
        self._calibration = None  # it belonged to other weights
        self._write(solutions, add_traces(solutions), X, members)

    def _stacked(self, models: Sequence[Model | Solution], members: list[Members], X: Any) -> npt.NDArray[np.float64]:
        """The weights of the problems, one row each."""
        return np.vstack([model.weights for model in models])

    def _solve_all(
        self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, **settings: Any
    ) -> list[Solution]:
        """One solution for each problem."""
        return solve_all(problems, solvers, stop, n_jobs=self._jobs(problems), settle=self._settle, **settings)

    def _alphas(self) -> list[npt.NDArray[np.float64]]:
        """The dual points of the last fit, one a problem."""
        alphas: Any = getattr(self, "alpha_", [])
        if isinstance(alphas, list):
            return alphas
        is_joint = hasattr(self, "classes_") and self._fitted_scheme.n_vectors(len(self.classes_)) > 1
        return [alphas.T] if is_joint else list(np.atleast_2d(alphas))

    def _jobs(self, problems: Sequence[Problem]) -> int | None:
        """Threads for the problems."""
        jobs: int | None = self.n_jobs
        return jobs

    def _threads_within(self, problems: Sequence[Problem]) -> AbstractContextManager[Any]:
        """While this lasts, a problem has the threads that suit it for itself."""
        return nullcontext()

    def _shared(self, rows: Any, n_problems: int) -> Any:
        """The rows, for so many problems to be solved at a time."""
        return rows

    @abstractmethod
    def _read_training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, Any, npt.NDArray[np.float64] | None]:
        """The rows to train on, y as an array of the same length, and the weights."""

    @abstractmethod
    def _collection(self, X: Any, rows: Any) -> Any:
        """What was read, in a form that a fit takes."""

    @abstractmethod
    def _read_prior(self, classes: npt.NDArray[Any], rows: Any) -> Any:
        """The prior for these classes and features."""

    @abstractmethod
    def _offsets(self, X: Any, rows: Any) -> list[npt.NDArray[np.float64]] | None:
        """The scores of the prior, for each problem; None when there is none."""

    def _carried(self, rows: Any) -> list[Carried] | None:
        """What the models carry of a prior; None where its scores are all that is known of it."""
        return None

    @abstractmethod
    def _read_rows_again(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The same rows for a fitted model."""

    def _settle(self, problem: Problem, solution: Solution) -> Solution:
        """What is done to a solution while its problem is at hand: with a free intercept, find how far it may be."""
        if not self._is_free:
            return solution
        reach = intercept_reach(problem, solution.alpha, solution.intercept, solution.certificate.weight_radius)
        return replace(solution, intercept_reach=reach)

    def _finish(self, problems: Sequence[Problem], solutions: list[Solution]) -> list[Solution]:
        """What is done to the solutions before they become a model."""
        return solutions

    @abstractmethod
    def _solver(self, rows: Any, n: int, *, is_joint: bool = False, single: bool = True) -> Solver:
        """The solver of a problem about n of the rows, or of that of all classes at once.

        `single`: whether the costs are within the range of single precision.
        """

    @abstractmethod
    def _warm_states(
        self, solvers: Sequence[Solver], problems: Sequence[Problem], n_rows: list[int], seed: int
    ) -> list[Any]:
        """Where the last fit ended, as far as it fits these rows; None: begin anew."""

    @abstractmethod
    def _remember(self, solutions: list[Solution], n_rows: int, terms: Terms, seed: int) -> None:
        """What a warm start or a stream goes on from."""

    def _least_margins(self, certificate: Certificate) -> Any:
        """The geometric margin of the rows of the fit, for each problem."""
        least = np.array([part.least_margin for part in certificate.parts])
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = least / self._weight_lengths(certificate)
        return float(margins[0]) if len(margins) == 1 else margins

    @abstractmethod
    def _weight_lengths(self, certificate: Certificate) -> npt.NDArray[np.float64]:
        """|w| of each problem, without what carries the intercept; NaN where it is not known."""

    @abstractmethod
    def _weight_products(self) -> npt.NDArray[np.float64]:
        """<w_k, w_l> of the weights of all problems, without intercepts."""

    def _points(
        self, problems: Sequence[Problem], members: list[Members], alphas: list[npt.NDArray[np.float64]], X: Any
    ) -> Any:
        """Each problem with its weights and its dual point."""
        return zip(problems, split(self._weights(self._terms.bias), problems), alphas, strict=True)

    @abstractmethod
    def _weights(self, bias: float) -> npt.NDArray[np.float64]:
        """The weights of the fitted model, one row a problem, for rows whose constant column has this value."""

    def _as_attributes(self, models: Sequence[Model | Solution], members: list[Members], X: Any) -> dict[str, Any]:
        """What `predict` needs, from the model of each problem."""
        attributes = self._weights_as_attributes(self._stacked(models, members, X), X)
        attributes["intercept_"] = attributes["intercept_"] + np.array([model.intercept for model in models])
        return attributes

    @abstractmethod
    def _weights_as_attributes(self, weights: npt.NDArray[np.float64], X: Any) -> dict[str, Any]:
        """What `predict` needs, from the weights of each problem."""

    @abstractmethod
    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores of all problems, one column each."""

    @abstractmethod
    def _scores_with_lengths(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Any, Any]:
        """Scores, the length |x| of each row, the rounding of each problem's scores at length 1, and the rows read."""
