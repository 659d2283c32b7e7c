"""The linear support vector machine with its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from pegasos import _core
from pegasos.certificate import Certificate
from pegasos.estimators import _attributes
from pegasos.estimators._base import CertifiedClassifier, can_stream, default_lam
from pegasos.estimators._inputs import check_weights, keeps_on_failure, read_rows, read_rows_and_target, read_values
from pegasos.estimators._parameters import threads_of
from pegasos.estimators._prior import LinearPrior
from pegasos.estimators._schemes import Members, numbers, sizes
from pegasos.estimators._source import Plan, fit_source
from pegasos.estimators._stream import Stream
from pegasos.estimators._targets import Terms, check_classes, class_totals, encode_known
from pegasos.estimators._watching import with_callbacks
from pegasos.problem import Problem, Rows, scores_of
from pegasos.rounding import Carried
from pegasos.solution import Solution, Trace
from pegasos.solvers.auto import Auto
from pegasos.solvers.crammer_singer import JointAscent, JointAuto, JointPegasos
from pegasos.solvers.cutting_plane import CuttingPlane
from pegasos.solvers.driver import Solver
from pegasos.solvers.free_intercept import FreeIntercept, natural_bias
from pegasos.solvers.pegasos import Pegasos, PegasosState
from pegasos.solvers.split_ascent import SplitAscent


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
        ``inf`` asks for a hard margin: where the classes cannot be separated, the fit proves that and ends.
    solver : {"auto", "pegasos", "dual", "cutting_plane"}, default="auto"
        "pegasos" is the paper's algorithm and nothing else; "dual" is dual coordinate ascent; "cutting_plane" is the
        method of SVM-Perf, one pass over the rows for each plane; "auto" begins with Pegasos where that is enough,
        goes on with dual ascent as soon as that closes the gap faster, and helps it with an interior point where it
        crawls. With many rows and not too many features it takes Newton's method on a smoothed problem.
    batch_size : int or "all", default=1
        Rows of a Pegasos step; "all" is the deterministic sub-gradient method.
    sampling : {"shuffle", "uniform", "balanced"}, default="shuffle"
        Pegasos visits the rows by shuffled epochs, draws them uniformly at random as in the paper, or draws the two
        sides of each problem in turn, however rare one of them is. The objective is the same: a row that is drawn too
        often counts for less.
    projection : bool, default=False
        Keep the Pegasos iterates within the ball that is known to hold the optimum.
    average : {None, "uniform", "tail"}, default=None
        Return the last Pegasos iterate, the mean of all, or the mean since the last epoch that is a power of two.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    regularize_intercept : bool, default=True
        The intercept is the weight of a constant feature of value ``intercept_scaling``, regularised like the others.
        False: it is free, as in the textbook and in LIBSVM; the certificate is that of the joint problem. For the
        solver "pegasos" and in a stream it must be True.
    intercept_scaling : float, default=1.0
        A larger value regularises the intercept less.
    multi_class : {"ovr", "ovo", "crammer_singer"}, default="ovr"
        More than two classes. "ovr": one problem a class, against the rest, in parallel threads. "ovo": one for each
        pair of classes, over the rows of those two; ``lam`` means what it means for two classes alone, ``C`` what it
        means in LIBSVM. "crammer_singer": one problem of all classes,
        ``lam/2 |W|^2 + (1/N) sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i>)``; of two classes it is solved for
        w_1 - w_0, as an ordinary problem with half the lam.
    class_weight : dict, "balanced" or None, default=None
        What multiplies the cost of a mistake on each class; "balanced" is ``N / (n_classes * N_class)``.
    prior : fitted linear classifier, (coef, intercept) or None, default=None
        What was learnt before, from other data: the weights are drawn to it, ``lam/2 |w - w0|^2``, and not to 0. Any
        fitted model with ``coef_``, ``intercept_`` and ``classes_``. How strongly is ``lam``: a large one leaves the
        prior as it is, a small one forgets it. Features are matched by name where the prior and X have names, classes
        by label. In a stream it is that of the first call.
    tol : float or None, default=1e-3
        The relative duality gap at which the fit ends. None: run ``max_iter`` epochs.
    max_iter : int, optional
        Epochs at most; an epoch visits as many rows as there are. By default 100,000 where ``tol`` ends the fit, which
        is far more than "auto" needs; 1,000 for "pegasos" and "cutting_plane", whose last digits take too many, and for
        ``tol=None``.
    time_budget : float, optional
        Seconds at most. Kept to within one chunk of work, about 0.05 s, or one step of Newton's method: some passes
        over the rows.
    certified_share : float, optional
        Go on after ``tol`` is reached until this share of the training rows, by sample weight, has a certified
        prediction: one that no exact solution changes (`certified`). The gap then falls below ``tol`` as far as that
        takes, within ``max_iter`` and ``time_budget``; ``status_`` says what was reached. 0.99 is a good value where
        predictions matter and the objective does not.
    probability : bool, default=False
        Whether to fit `predict_proba` as well: Platt's method on scores of five folds (fewer where a class has fewer
        rows), so that a fit takes six times as long. Each fit has an equal share of ``time_budget``.
    warm_start : bool, default=False
        Begin the next fit where the last one ended: with the same number of rows from its dual point, otherwise (for
        ``solver="pegasos"``) from its weights and step count.
    n_jobs : int, optional
        Threads: for the problems of several classes, whose result does not depend on it, or for passes over the rows
        of a single problem, whose sums are rounded differently for another number.
    random_state : int, RandomState or None, default=None
        Seed of the order in which rows are visited.
    verbose : int, default=0
        1: a line for each certificate.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features); with "ovo" (n_pairs, n_features)
        Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...; a score is positive for the second class of a pair, as for
        two classes.
    intercept_ : array of shape (1,) or (n_classes,); with "ovo" (n_pairs,)
    classes_ : array of shape (n_classes,)
    certificate_ : Certificate
        primal, dual, gap, relative_gap, weight_radius, and one part for each binary problem.
    status_ : str
        Why the fit ended, and what is proved.
    alpha_ : array of shape (n_rows,) or (n_classes, n_rows); with "ovo" a list of n_pairs arrays
        The dual point: 0 <= alpha_i <= cost_i. That of a pair has an entry for each row of its two classes, in the
        order of the rows: n_classes - 1 numbers a row in all. For "crammer_singer" the sum over the classes is at most
        cost_i, and the entry of the row's own class is 0.
    support_ : array of int
        Rows with alpha above 0, for any class. The smaller ``tol``, the fewer beyond those at the margin.
    margin_ : float, or array of shape (n_problems,)
        The geometric margin of the rows of the fit: the least distance on the right side of the boundary, negative
        where a row is on the wrong side.
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

    Joachims: Training linear SVMs in linear time. KDD 2006 ("cutting_plane").

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

    _solvers = ("auto", "pegasos", "dual", "cutting_plane")
    _saved = _attributes.linear
    _prior: LinearPrior | None

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
        prior: Any = None,
        tol: float | None = 1e-3,
        max_iter: int | None = None,
        time_budget: float | None = None,
        certified_share: float | None = None,
        probability: bool = False,
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
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.time_budget = time_budget
        self.certified_share = certified_share
        self.probability = probability
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

    @available_if(can_stream)
    @keeps_on_failure
    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: Any = None
    ) -> PegasosClassifier:
        """One pass of Pegasos over a block of rows; the step count goes on.

        The certificate speaks of the last block alone: the rows before are gone. A block whose weights are all 0 is
        skipped; so is, with ``multi_class="ovo"``, a pair without rows in it, which keeps its last certificate.

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
        self._prior = self._prior_of_stream(known, rows, first=not hasattr(self, "_stream"))
        if not hasattr(self, "_stream"):
            n_problems, n_vectors = self._scheme.n_problems(len(known)), self._scheme.n_vectors(len(known))
            shape = (rows.n_features + 1,) if n_vectors == 1 else (n_vectors, rows.n_features + 1)
            self._stream = Stream.begin(n_problems, shape, len(known), self._seed())
            self.classes_ = known
        totals, counts = (class_totals(codes, len(known), each) for each in (weights, None))
        if totals.sum() == 0.0:
            if not hasattr(self, "coef_"):
                self._write_zero(X)
            return self
        stream = copy(self._stream)
        running, n_seen = stream.totals + totals, stream.n_rows + rows.n_rows
        mean_weight = float(running.sum()) / n_seen
        so_far = stream.counts + counts
        terms = self._terms_of(known, running, so_far, total=rows.n_rows * mean_weight)
        members = self._scheme.members(codes, len(known))
        prior = self._offsets(X, rows)
        problems = self._scheme.problems(rows, codes, weights, terms, prior, carried=self._carried(rows))
        is_joint = self._scheme.n_vectors(len(known)) > 1
        solvers = [
            self._pegasos_for(n, np.float64, is_joint=is_joint, at_most_all=True) for n in sizes(members, rows.n_rows)
        ]
        solutions = stream.learn(problems, solvers, self._scheme.is_present(totals), self.n_jobs)
        stream.n_rows, stream.totals, stream.counts = n_seen, running, terms.counts
        self._terms, self._stream = terms, stream
        self._write_pass(solutions, X, members)
        return self

    def fit_source(
        self, source: Any, *, memory: int | str = "2G", checkpoint: Any = None, checkpoint_seconds: float = 60.0
    ) -> PegasosClassifier:
        """Train on rows that need not fit into memory: the same problem, the same certificate.

        A thread reads blocks while those in memory are trained on; what does not matter any more is not read again.
        One class is trained against the rest; all classes while a block is in memory. The parameters of the model mean
        what they mean for `fit`; those that need all rows at hand are refused. The result does not depend on the
        memory. For ``solver="pegasos"`` nothing of the rows need stay.

        Parameters
        ----------
        source : path, or source of blocks
            A file that `pegasos.data.open_source` opens, or what it returns. Sample weights are not part of a source.
        memory : int or str, default="2G"
            Bytes for blocks, dual variables and weights, as a number or with a unit, "500M". The interpreter and its
            libraries take 0.3 to 0.4 GB besides.
        checkpoint : path, optional
            A file that the state of the run is written to. A fit that finds one there goes on from it, and ends where
            it would have ended without the interruption. It stays when the fit is over.
        checkpoint_seconds : float, default=60
            How often it is written.

        Examples
        --------
        >>> import numpy as np
        >>> from pegasos import PegasosClassifier
        >>> from pegasos.data import ArraySource
        >>> X = np.random.default_rng(0).normal(size=(1000, 5))
        >>> source = ArraySource(X, X[:, 0] > 0.3, block_rows=200)
        >>> model = PegasosClassifier(lam=1e-3, random_state=0).fit_source(source, memory="1M")
        >>> model.certificate_.relative_gap <= 1e-3
        True
        """
        fit_source(self, source, Plan.of(memory, checkpoint, checkpoint_seconds))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read_training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, Any, npt.NDArray[np.float64] | None]:
        threads, narrow = threads_of(self.n_jobs), not self._is_fine
        rows, y = read_rows_and_target(self, X, y, self._bias, reset=True, threads=threads, narrow=narrow)
        if self._is_free:
            rows = rows.with_bias(natural_bias(rows.squared_norms))
        return rows, y, check_weights(sample_weight, rows.n_rows)

    def _shared(self, rows: Rows, n_problems: int) -> Rows:
        return rows if n_problems == 1 else rows.in_threads(1)

    def _collection(self, X: Any, rows: Rows) -> Any:
        return X if hasattr(self, "feature_names_in_") else rows.values

    def _read_prior(self, classes: npt.NDArray[Any], rows: Rows) -> LinearPrior:
        names = getattr(self, "feature_names_in_", None)
        return LinearPrior.read(self.prior, classes, self._scheme, names, rows.n_features)

    def _offsets(self, X: Any, rows: Rows) -> list[npt.NDArray[np.float64]] | None:
        return None if self._prior is None else list(np.ascontiguousarray(self._prior.scores(rows).T))

    def _carried(self, rows: Rows) -> list[Carried] | None:
        return None if self._prior is None else self._prior.carried(rows.bias)

    def _read_rows_again(self, X: Any, y: Any) -> tuple[Rows, Any]:
        return read_rows_and_target(self, X, y, self._terms.bias, reset=False, threads=threads_of(self.n_jobs))

    @property
    def _is_fine(self) -> bool:
        """Whether double is called for: single precision weights carry a gap of 1e-5.

        Next to a good prior the losses can be smaller than what single precision leaves of a score.
        """
        return self.prior is not None or (self.tol is not None and self.tol < 1e-5)

    def _solver(self, rows: Rows, n: int, *, is_joint: bool = False, single: bool = True) -> Solver:
        # Pegasos adds up more and smaller steps than single precision can.
        narrow = single and rows.dtype == np.float32 and not self._is_fine and float(rows.squared_norms.max()) < 1e12
        dtype = np.float32 if narrow else np.float64
        if self.solver == "pegasos":
            return self._pegasos_for(n, np.float64, is_joint=is_joint)
        ascent = JointAscent(dtype) if is_joint else SplitAscent(dtype)
        if self.solver == "dual":
            solver: Any = ascent
        elif self.solver == "cutting_plane":
            solver = CuttingPlane()
        else:
            pegasos = self._pegasos_for(n, dtype, is_joint=is_joint)
            solver = (JointAuto if is_joint else Auto)(pegasos, ascent, self.tol)
        return FreeIntercept(solver, self.tol) if self._is_free else solver

    def _pegasos_for(self, n: int, dtype: npt.DTypeLike, *, is_joint: bool, at_most_all: bool = False) -> Pegasos:
        pegasos = self._pegasos(n, dtype, at_most_all=at_most_all)
        return JointPegasos(**vars(pegasos)) if is_joint else pegasos

    def _warm_states(self, solvers: Sequence[Any], problems: Sequence[Any], n_rows: list[int], seed: int) -> list[Any]:
        stream, nothing = getattr(self, "_stream", None), [None] * len(problems)
        shapes = [problems[0].weights_shape] * len(problems)
        if not self.warm_start or stream is None or [w.shape for w in stream.weights] != shapes:
            return nothing
        if not hasattr(self, "_terms") or self._terms.multi_class != self.multi_class:
            return nothing
        alphas = self._alphas()
        fits = [len(alpha) for alpha in alphas] == n_rows
        states: list[Any] = nothing
        for k, solver in enumerate(solvers):
            if isinstance(solver, Pegasos):
                point = stream.states[k], stream.weights[k]
                states[k] = solver.resume(problems[k], *point, step=stream.steps[k], seed=seed)
            elif fits:
                states[k] = solver.enter(problems[k], alphas[k], seed)
        return states

    def _settle(self, problem: Problem, solution: Solution) -> Solution:
        """Only a state of Pegasos goes on, with the next block of a stream; others have arrays as long as the rows."""
        solution = super()._settle(problem, solution)
        return solution if isinstance(solution.state, PegasosState) else replace(solution, state=None)

    def _remember(self, solutions: list[Solution], n_rows: int, terms: Terms, seed: int) -> None:
        self._stream = Stream.after(solutions, n_rows, terms, seed)

    def _weights(self, bias: float) -> npt.NDArray[np.float64]:
        coef, intercept = self.coef_, self.intercept_
        if self._prior is not None:  # what is regularised is the difference
            coef, intercept = coef - self._prior.coef, intercept - self._prior.intercept
        carried = _quotient(intercept, bias) if bias > 0.0 else np.zeros(len(intercept))
        return np.column_stack([coef, carried]).astype(np.float64)

    def _weight_lengths(self, certificate: Certificate) -> npt.NDArray[np.float64]:
        lengths = np.linalg.norm(self.coef_, axis=1)
        # Of all classes at once there is one vector, in the space of the joint feature map.
        is_joint = len(certificate.parts) < len(lengths)
        return np.atleast_1d(np.linalg.norm(lengths)) if is_joint else np.asarray(lengths)

    def _weight_products(self) -> npt.NDArray[np.float64]:
        return np.asarray(self.coef_ @ self.coef_.T, np.float64)

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        weights = np.column_stack([self.coef_, self.intercept_]).astype(np.float64)
        return scores_of(read_values(self, X), weights, threads_of(self.n_jobs))

    def _scores_of(self, rows: Rows) -> npt.NDArray[np.float64]:
        weights = np.column_stack([self.coef_, self.intercept_ / (rows.bias or 1.0)]).astype(np.float64)
        scores = np.empty((rows.n_rows, len(weights)))
        _core.scores(rows.native, weights, scores)
        return scores if rows.bias else scores + self.intercept_  # no column for it, but a prior may have one

    def _scores_with_lengths(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Any, Rows]:
        rows = read_rows(self, X, self._terms.bias).in_threads(threads_of(self.n_jobs))
        lengths = np.sqrt(np.square(self.coef_).sum(axis=1) + np.square(self.intercept_))
        rounding = np.finfo(np.float64).eps * (rows.n_features + 2) * lengths
        return self._scores_of(rows), rows.lengths, rounding, rows

    def _weights_as_attributes(self, weights: npt.NDArray[np.float64], X: Any) -> dict[str, Any]:
        coef, intercept = weights[:, :-1].copy(), self._bias * weights[:, -1]
        if self._prior is not None:
            coef, intercept = coef + self._prior.coef, intercept + self._prior.intercept
        return {"coef_": coef, "intercept_": intercept, "_prior": self._prior}

    def _write_zero(self, X: Any) -> None:
        """The model before any row counted."""
        self.__dict__.update(self._weights_as_attributes(np.vstack(self._stream.weights), X))
        self.status_ = "No row had a weight above 0 so far; the model is the prior, or the zero vector."

    def _write(self, solutions: list[Solution], trace: Trace, X: Any, members: list[Members]) -> None:
        super()._write(solutions, trace, X, members)
        if isinstance(members[0], slice):  # of the same rows: there may be many, and no room to sort their numbers
            is_support = np.logical_or.reduce([_any_class(solution.alpha > 0.0) for solution in solutions])
            self.support_ = np.flatnonzero(is_support)
            return
        each = zip(members, (solution.alpha for solution in solutions), strict=True)
        self.support_ = np.unique(
            np.concatenate([numbers(mine, len(alpha))[_any_class(alpha > 0.0)] for mine, alpha in each])
        )


def _any_class(is_above: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    return is_above if is_above.ndim == 1 else np.asarray(is_above.any(axis=1))


def _quotient(intercept: npt.NDArray[np.float64], bias: float) -> npt.NDArray[np.float64]:
    """The weights of the constant column whose products with its value are these intercepts, to the last bit."""
    found = intercept / bias
    for near in (np.nextafter(found, -np.inf), np.nextafter(found, np.inf)):
        found = np.where((found * bias != intercept) & (near * bias == intercept), near, found)
    return found
