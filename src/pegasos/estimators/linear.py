"""The linear support vector machine with its certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import _core
from pegasos.estimators._base import CertifiedClassifier, default_lam, split
from pegasos.estimators._inputs import check_weights, read_rows, read_rows_and_target
from pegasos.estimators._stream import Stream
from pegasos.estimators._targets import check_classes, class_totals, encode_known
from pegasos.estimators._watching import with_callbacks
from pegasos.joint_problem import JointProblem
from pegasos.problem import Problem, Rows
from pegasos.solution import Solution, Trace
from pegasos.solvers.auto import Auto
from pegasos.solvers.crammer_singer import JointAscent, JointAuto, JointPegasos
from pegasos.solvers.driver import Solver
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos


class PegasosClassifier(CertifiedClassifier):
    """Linear support vector machine that proves how good its solution is.

    Minimises ``lam/2 |w|^2 + (1/N) sum_i cost_i max(0, 1 - y_i (<w, x_i> + b))`` and stops when the result is
    *provably* within a relative duality gap of ``tol``, or at ``max_iter`` or ``time_budget``; it always hands over the
    certificate it reached.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the regularisation.
    C : float, optional
        The other convention: sets ``lam = 1 / (C N)``, N being the sum of the sample weights. Give one of the two.
    solver : {"auto", "pegasos", "dual"}, default="auto"
        "pegasos" is the paper's algorithm and nothing else; "dual" is dual coordinate ascent; "auto" begins with
        Pegasos where that is enough, goes on with dual ascent as soon as that closes the gap faster, and helps it with
        an interior point where it crawls.
    batch_size : int or "all", default=1
        Rows of a Pegasos step; "all" is the deterministic sub-gradient method.
    sampling : {"shuffle", "uniform"}, default="shuffle"
        Pegasos visits the rows by shuffled epochs, or draws them uniformly at random as in the paper.
    projection : bool, default=False
        Keep the Pegasos iterates within the ball that is known to hold the optimum.
    average : {None, "uniform", "tail"}, default=None
        Return the last Pegasos iterate, the mean of all, or the mean since the last epoch that is a power of two.
    fit_intercept : bool, default=True
    regularize_intercept : bool, default=True
        The intercept is the weight of a constant column of value ``intercept_scaling``, regularised like the others.
    intercept_scaling : float, default=1.0
        A larger value regularises the intercept less.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        More than two classes: "ovr" is one problem a class, against the rest, in parallel threads; "crammer_singer" one
        problem of all classes, ``lam/2 |W|^2 + (1/N) sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i>)``. Of two
        classes the latter is solved for w_1 - w_0, as an ordinary problem with half the lam.
    class_weight : dict, "balanced" or None, default=None
        What multiplies the cost of a mistake on each class; "balanced" is ``N / (n_classes * N_class)``.
    tol : float or None, default=1e-3
        The relative duality gap at which the fit ends. None: run ``max_iter`` epochs.
    max_iter : int, default=1000
        Epochs at most; an epoch visits as many rows as there are.
    time_budget : float, optional
        Seconds at most. Kept to within one chunk of work, about 0.05 s.
    warm_start : bool, default=False
        Begin the next fit where the last one ended: with the same number of rows from its dual point, otherwise (for
        ``solver="pegasos"``) from its weights and step count.
    n_jobs : int, optional
        Threads for the problems of several classes. The result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1: a line for each certificate.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array of shape (n_classes,)
    certificate_ : Certificate
        primal, dual, gap, relative_gap, weight_radius, and one part for each binary problem.
    status_ : str
        Why the fit ended, and what is proved.
    alpha_ : array of shape (n_rows,) or (n_classes, n_rows)
        The dual point: 0 <= alpha_i <= cost_i. For "crammer_singer" of shape (n_classes, n_rows): the sum over the
        classes is at most cost_i, and the entry of the row's own class is 0.
    support_ : array of int
        Rows with alpha above 0, for any class.
    trace_ : Trace
        Columns step, epoch, seconds, primal, dual, gap: ``dict(est.trace_)``.
    n_iter_ : int
        Epochs, of the problem that took the most.
    n_steps_ : int
        Steps, of all problems.
    n_features_in_ : int
    feature_names_in_ : array of str, when X has names

    Notes
    -----
    What costs a copy: float32 and float64 in C order and CSR of those with int32 or int64 indices are read in place,
    memory maps included. F-ordered arrays are copied once; bool, 8- and 16-bit integers and float16 become float32,
    other integers float64; other sparse formats become CSR; CSR with unsorted or
    repeated columns in a row is sorted and summed in a copy.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM. Mathematical
    Programming 127, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PegasosClassifier(lam=1e-3, random_state=0).fit(scale(X), y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> round(model.score(scale(X), y), 2)
    0.99
    """

    _solvers = ("auto", "pegasos", "dual")

    def __init__(
        self,
        lam: float = default_lam,
        *,
        C: float | None = None,
        solver: str = "auto",
        batch_size: int | str = 1,
        sampling: str = "shuffle",
        projection: bool = False,
        average: str | None = None,
        fit_intercept: bool = True,
        regularize_intercept: bool = True,
        intercept_scaling: float = 1.0,
        multi_class: str = "ovr",
        class_weight: Any = None,
        tol: float | None = 1e-3,
        max_iter: int = 1000,
        time_budget: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.lam = lam
        self.C = C
        self.solver = solver
        self.batch_size = batch_size
        self.sampling = sampling
        self.projection = projection
        self.average = average
        self.fit_intercept = fit_intercept
        self.regularize_intercept = regularize_intercept
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_budget = time_budget
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosClassifier:
        """Train until the gap is proved, or a budget ends.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 is the same as that row twice, a row of weight 0 the same as no row.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: Any = None
    ) -> PegasosClassifier:
        """One pass of Pegasos over a block of rows; the step count goes on.

        The certificate speaks of the last block alone: the rows before are gone. A block whose weights are all 0 is
        skipped.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All classes that will ever come; needed at the first call.
        sample_weight : array of shape (n_rows,), optional
        """
        self._check_stream_parameters()
        rows, y = read_rows_and_target(self, X, y, self._bias, reset=not hasattr(self, "_stream"))
        weights = check_weights(sample_weight, rows.n_rows)
        known = check_classes(classes, self.classes_ if hasattr(self, "_stream") else None)
        codes = encode_known(y, known, weights)
        if not hasattr(self, "_stream"):
            n_problems, n_vectors = self._scheme.n_problems(len(known)), self._scheme.n_vectors(len(known))
            shape = (rows.n_features + 1,) if n_vectors == 1 else (n_vectors, rows.n_features + 1)
            self._stream = Stream.begin(n_problems, shape, len(known), self._seed())
            self.classes_ = known
        totals = class_totals(codes, len(self.classes_), weights)
        if totals.sum() == 0.0:
            if not hasattr(self, "coef_"):
                self._write_zero(X)
            return self
        running = self._stream.totals + totals
        mean_weight = float(running.sum()) / (self._stream.n_rows + rows.n_rows)
        terms = self._terms_of(known, running, rows.n_rows * mean_weight)
        problems = self._scheme.problems(rows, codes, weights, terms, None)
        solver = self._pegasos_for(problems[0], np.float64, at_most_all=True)
        solutions = self._stream.learn(problems, solver, totals, self.n_jobs)
        self._terms = terms
        self._write_pass(solutions, X)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read_training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, Any, npt.NDArray[np.float64] | None]:
        rows, y = read_rows_and_target(self, X, y, self._bias, reset=True)
        return rows, y, check_weights(sample_weight, rows.n_rows)

    def _read_rows_again(self, X: Any, y: Any) -> tuple[Rows, Any]:
        return read_rows_and_target(self, X, y, self._terms.bias, reset=False)

    def _solver(self, rows: Rows, problem: Problem | JointProblem) -> Solver:
        # Single precision weights carry a gap of 1e-5; Pegasos adds up more and smaller steps than that.
        fine = self.tol is not None and self.tol < 1e-5
        narrow = rows.dtype == np.float32 and not fine and float(rows.squared_norms.max()) < 1e12
        dtype = np.float32 if narrow else np.float64
        joint = isinstance(problem, JointProblem)
        if self.solver == "pegasos":
            return self._pegasos_for(problem, np.float64)
        ascent = JointAscent(dtype) if joint else DualAscent(dtype)
        if self.solver == "dual":
            return ascent
        return (JointAuto if joint else Auto)(self._pegasos_for(problem, dtype), ascent, self.tol)

    def _pegasos_for(
        self, problem: Problem | JointProblem, dtype: npt.DTypeLike, *, at_most_all: bool = False
    ) -> Pegasos:
        pegasos = self._pegasos(problem.rows.n_rows, dtype, at_most_all=at_most_all)
        return JointPegasos(**vars(pegasos)) if isinstance(problem, JointProblem) else pegasos

    def _warm_states(self, solver: Solver, problems: list[Problem], seed: int) -> list[Any]:
        stream = getattr(self, "_stream", None)
        shapes = [problem.weights_shape for problem in problems]
        if not self.warm_start or stream is None or [w.shape for w in stream.weights] != shapes:
            return [None] * len(problems)
        if isinstance(solver, Pegasos):
            return [
                solver.resume(problem, state, weights, step=step, seed=seed)
                for problem, state, weights, step in zip(
                    problems, stream.states, stream.weights, stream.steps, strict=True
                )
            ]
        alphas = np.atleast_2d(getattr(self, "alpha_", np.empty(0)))
        if alphas.shape[1] != problems[0].rows.n_rows or not isinstance(solver, Auto | DualAscent):
            return [None] * len(problems)
        points = zip(problems, split(alphas, problems), strict=True)
        return [solver.enter(problem, alpha.T, seed) for problem, alpha in points]

    def _remember(self, solutions: list[Solution], n_rows: int, totals: npt.NDArray[np.float64], seed: int) -> None:
        self._stream = Stream.after(solutions, n_rows, totals, seed)

    def _weights(self, bias: float) -> npt.NDArray[np.float64]:
        return np.column_stack([self.coef_, self.intercept_ / (bias or 1.0)]).astype(np.float64)

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        return self._scores_of(read_rows(self, X, 1.0))

    def _scores_of(self, rows: Rows) -> npt.NDArray[np.float64]:
        weights = self._weights(rows.bias)
        scores = np.empty((rows.n_rows, len(weights)))
        _core.scores(rows.native, weights, scores)
        return scores

    def _scores_with_lengths(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Any]:
        rows = read_rows(self, X, self._terms.bias)
        lengths = np.sqrt(np.square(self._weights(rows.bias)).sum(axis=1))
        rounding = np.finfo(np.float64).eps * (rows.n_features + 2) * lengths
        return self._scores_of(rows), np.sqrt(rows.squared_norms), rounding

    def _weights_as_attributes(self, weights: npt.NDArray[np.float64], X: Any) -> dict[str, Any]:
        return {"coef_": weights[:, :-1].copy(), "intercept_": self._bias * weights[:, -1]}

    def _write_zero(self, X: Any) -> None:
        """The model before any row counted."""
        self.__dict__.update(self._weights_as_attributes(np.vstack(self._stream.weights), X))
        self.status_ = "No row had a weight above 0 so far; the model is the zero vector."

    def _write(self, solutions: list[Solution], trace: Trace, X: Any) -> None:
        super()._write(solutions, trace, X)
        self.support_ = np.flatnonzero((np.atleast_2d(self.alpha_) > 0.0).any(axis=0))
