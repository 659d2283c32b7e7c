"""The kernel support vector machine with its certificate."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from pegasos.certificate import Certificate, balanced, certify, certify_around, intercept_reach
from pegasos.deadline import TimeIsUp, within
from pegasos.errors import PegasosError
from pegasos.estimators import _attributes
from pegasos.estimators import _parameters as check
from pegasos.estimators._base import CertifiedClassifier, can_stream, default_lam, satisfied
from pegasos.estimators._budget import reduced
from pegasos.estimators._inputs import check_weights, keeps_on_failure
from pegasos.estimators._items import (
    IndefiniteKernelWarning,
    any_kernel,
    as_collection,
    check_target,
    doubt,
    is_matrix,
    joined,
    kernel_of,
    read_items,
    words,
)
from pegasos.estimators._kernel_stream import KernelStream, of_block
from pegasos.estimators._prior import ScoredPrior
from pegasos.estimators._reductions import solve_all, worst_status
from pegasos.estimators._schemes import Members, OneVsRest, Pairs
from pegasos.estimators._small_pairs import SmallPairs, most_rows, solve_together
from pegasos.estimators._targets import (
    Terms,
    check_classes,
    class_totals,
    costs_of,
    distinct,
    encode_known,
)
from pegasos.estimators._watching import n_frames, with_callbacks
from pegasos.gram import KernelRows, is_quick, with_fast_products
from pegasos.kernels import Kernel, Precomputed
from pegasos.kernels.base import Items, unit_of
from pegasos.kernels.vector import VectorKernel, Vectors, is_light
from pegasos.problem import Problem, Rows, constant
from pegasos.solution import Solution, Status, Trace
from pegasos.solvers.auto import Auto
from pegasos.solvers.blas import one_thread_of_blas
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Model, Solver, Stop, Watcher
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import natural_bias
from pegasos.solvers.kernel_pegasos import KernelPegasos, KernelPegasosState
from pegasos.solvers.mapped import FreeMapped, Mapped

_mapped_from = 200  # rows: below, the kernel matrix costs nothing
_rows_per_thread = 1000  # pairs of fewer rows are solved one after the other: starting threads would take longer
_least_epochs = 100  # that pairs which are solved together must be allowed
_block_bytes = 1 << 24  # of a block of kernel values at predict
_single_from, _weak = 2000, 100.0  # rows from which a table of single precision pays, where no coefficient is larger
_doubtful = 0.25  # of the gap to prove: more than this must not hang on single precision
_quick_values = 1 << 24  # kernel values in double for which there is time after a budget has ended
_largest_error = 0.05  # of a score in single precision, at worst: where more is possible, scores are in double
_at_once = 128  # values that are added up in single precision
_out_of_time = (Status.TIME, Status.INTERRUPTED)


def _is_precomputed(model: Any) -> bool:
    kernel = model.kernel
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def _can_stream(model: Any) -> bool:
    """A precomputed matrix knows only the rows of one fit; the pairs of a stream would have to share support."""
    if model.multi_class == "ovo":
        raise AttributeError("a stream of a kernel machine is not offered with multi_class='ovo'; use 'ovr'.")
    return can_stream(model) and not _is_precomputed(model)


def _with_support(
    rows: KernelRows,
    n_support: int,
    sign: npt.NDArray[np.int8],
    cost: npt.NDArray[np.float64],
    terms: Terms,
    *,
    offset: npt.NDArray[np.float64],
) -> Problem:
    """The problem of a block behind support vectors that cost nothing: they only carry their part of the weights."""
    return Problem(
        rows,
        np.concatenate([np.ones(n_support, np.int8), sign]),
        np.concatenate([np.zeros(n_support), cost]),
        np.concatenate([np.zeros(n_support), offset]),
        terms.lam,
        terms.total,
    )


def _certified_again(problem: Problem, solution: Solution, tol: float | None) -> Solution:
    """The same point with the proof that other kernel values give it."""
    certificate = certify(problem, solution.weights, solution.alpha)
    is_open = solution.status is Status.CERTIFIED and tol is not None and certificate.relative_gap > tol
    return replace(solution, certificate=certificate, status=Status.ROUNDING if is_open else solution.status)


def _warm_state(solver: Any, problem: Problem, alpha: Any, state: KernelPegasosState | None, seed: int) -> Any:
    if not isinstance(solver, KernelPegasos):
        return solver.enter(problem, alpha, seed)
    return None if state is None else solver.resume(problem, state)


class KernelPegasosClassifier(CertifiedClassifier):
    """Kernel support vector machine that proves how good its solution is.

    Minimises ``lam/2 |w|^2 + (1/N) sum_i cost_i max(0, 1 - y_i (<w, phi(x_i)> + b))`` over the weights w of the feature
    space that the kernel stands for, and stops when the result is *provably* within a relative duality gap of ``tol``,
    or at ``max_iter`` or ``time_budget``; it always hands over the certificate it reached.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "chi2", "intersection", "precomputed" (X is the kernel matrix); a kernel
        of `pegasos.kernels`, on vectors, strings, graphs, series or mixed records; or a function ``k(x, z)`` of two
        items or ``k(X, Z)`` of two collections.
    lam : float, default=1e-4
        Strength of the regularisation.
    C : float, optional
        The other convention: sets ``lam = 1 / (C N)``, N being the sum of the sample weights. Give one of the two.
        ``inf`` asks for a hard margin: where the classes cannot be separated, the fit proves that and ends.
    gamma : "scale", "auto" or float, default="scale"
        Width of "rbf", "laplacian", "chi2", factor of "poly"; "scale" is ``1 / (n_features * X.var())``, "auto"
        ``1 / n_features``.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1.0
        Of "poly".
    solver : {"auto", "pegasos", "decomposition"}, default="auto"
        "pegasos" is the published algorithm and nothing else; "decomposition" climbs the dual on working sets, as
        SVM-light and SMO do, to any gap; "auto" is decomposition, or linear dual ascent on explicit features where the
        kernel has them.
    batch_size, sampling, projection, average
        Of Pegasos, as in `PegasosClassifier`.
    fit_intercept : bool, default=True
    regularize_intercept : bool, default=True
        The intercept is the weight of a constant feature of value ``intercept_scaling``, regularised like the others.
        False: it is free, as in the textbook and in LIBSVM; the certificate is that of the joint problem. For the
        solver "pegasos" and in a stream it must be True.
    intercept_scaling : float, default=1.0
        A larger value regularises the intercept less.
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: one problem a class, against the rest, which share the kernel matrix; or one for each
        pair of classes, over the rows of those two, each with a table of its own. ``lam`` means what it means for two
        classes alone, ``C`` what it means in LIBSVM. Streams and ``max_support`` need "ovr".
    class_weight : dict, "balanced" or None, default=None
        What multiplies the cost of a mistake on each class; "balanced" is ``N / (n_classes * N_class)``.
    prior : fitted classifier, (coef, intercept) or None, default=None
        What was learnt before, from other data: any fitted model with ``decision_function`` and ``classes_``. Its
        scores are added to those that are learnt here, ``score(x) = prior(x) + <v, phi(x)> + b``, and only v is
        regularised, ``lam/2 |v|^2``: a large ``lam`` leaves the prior as it is, a small one lets the data overrule it.
        The model keeps the prior, uncopied, and asks it whenever it predicts. Classes are matched by label. In a
        stream it is that of the first call.
    tol : float or None, default=1e-3
        The relative duality gap at which the fit ends. None: run ``max_iter`` epochs.
    max_iter : int, default=1000
        Epochs at most: for Pegasos as many visits as there are rows, for decomposition as many coordinate steps.
    time_budget : float, optional
        Seconds at most, to within one block of kernel columns.
    certified_share : float, optional
        Go on after ``tol`` is reached until this share of the training rows, by sample weight, has a certified
        prediction: one that no exact solution changes (`certified`). The gap then falls below ``tol`` as far as that
        takes, within ``max_iter`` and ``time_budget``; ``status_`` says what was reached. 0.99 is a good value where
        predictions matter and the objective does not.
    cache_size : float, default=1000
        Megabytes for columns of the kernel matrix; the matrix of the working set takes up to 512 more.
    max_support : int, optional
        Support vectors at most. Those that matter least are dropped, in a stream after each block; the certificate says
        what that cost.
    probability : bool, default=False
        Whether to fit `predict_proba` as well: Platt's method on scores of five folds (fewer where a class has fewer
        rows), so that a fit takes six times as long. Each fit has an equal share of ``time_budget``.
    warm_start : bool, default=False
        Begin the next fit on the same rows where the last one ended.
    n_jobs : int, optional
        Threads for the problems of several classes, when the kernel matrix fits into the cache; with "ovo" as many as
        have room there for the matrices of their pairs. The result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1: a line for each certificate.

    Attributes
    ----------
    support_ : array of int
        Training rows that have a say, for any class.
    support_vectors_ : those rows, in the form they came in
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support); with "ovo" (n_pairs, n_support)
        ``score(x) = dual_coef_ @ K(support_vectors_, x) + intercept_``, plus the score of the prior, if there is one.
        Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...; a score is positive for the second class of a pair, as for
        two classes.
    intercept_ : array of shape (1,) or (n_classes,); with "ovo" (n_pairs,)
    kernel_ : Kernel
        The kernel used, its parameters settled.
    classes_ : array of shape (n_classes,)
    certificate_ : Certificate
        primal, dual, gap, relative_gap, weight_radius, and one part for each binary problem.
    status_ : str
        Why the fit ended, and what is proved.
    alpha_ : array of shape (n_rows,) or (n_classes, n_rows); with "ovo" a list of n_pairs arrays
        The dual point: 0 <= alpha_i <= cost_i. That of a pair has an entry for each row of its two classes, in the
        order of the rows.
    margin_ : float, or array of shape (n_problems,)
        The geometric margin of the rows of the fit: the least distance on the right side of the boundary, negative
        where a row is on the wrong side.
    trace_ : Trace
        Columns step, epoch, seconds, primal, dual, gap: ``dict(est.trace_)``.
    n_iter_ : int
        Epochs, of the problem that took the most.
    n_steps_ : int
        Steps, of all problems.
    n_features_in_ : int, when items are rows of numbers
    feature_names_in_ : array of str, when X has names

    Notes
    -----
    While a fit with ``tol`` of at least 1e-5 runs, kernel values are computed and kept in float32 for float32 rows, and
    for 2,000 rows or more while C is at most 100. The certificate at the end is that of the kernel in double; where it
    differs by a quarter of ``tol``, the fit goes on in double. Where ``time_budget`` leaves no time for that, the
    certificate has room for what single precision may have lost. At predict, scores come from float32 values where
    these are off by 0.05 at worst (1e-5 is usual), and from values in double elsewhere and for every row whose class
    would be open.

    The kernel matrix is never formed unless it fits into ``cache_size``. Sparse rows with more than 2 % of entries are
    copied into a dense array for the solver when that takes less than 256 MB; dense rows are copied once when a quarter
    of the columns fits into the cache, so that no kernel value is computed twice.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM. Mathematical
    Programming 127, 2011. Joachims: Making large-scale SVM learning practical. 1999.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pegasos import KernelPegasosClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = KernelPegasosClassifier(gamma=2.0, lam=1e-3, random_state=0).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.score(X, y)
    0.995

    A kernel on strings:

    >>> from pegasos.kernels import Spectrum
    >>> words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"]
    >>> KernelPegasosClassifier(Spectrum(2), lam=0.1).fit(words, [0, 0, 0, 1, 1, 1]).predict(["ababab", "cdc"])
    array([0, 1])
    """

    kernel_: Kernel
    _prior: ScoredPrior | None
    _states: list[Any]
    _stream: KernelStream
    _solvers = ("auto", "pegasos", "decomposition")
    _saved = _attributes.kernel

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        lam: float = default_lam,
        C: float | None = None,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
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
        max_iter: int = 1000,
        time_budget: float | None = None,
        certified_share: float | None = None,
        cache_size: float = 1000,
        max_support: int | None = None,
        probability: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.lam = lam
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
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
        self.cache_size = cache_size
        self.max_support = max_support
        self.probability = probability
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelPegasosClassifier:
        """Train until the gap is proved, or a budget ends.

        Parameters
        ----------
        X : array or CSR of shape (n_rows, n_features), or a collection of what the kernel takes
            A list of strings, of graphs, of arrays; a frame of mixed records; with kernel="precomputed" the square
            kernel matrix.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 is the same as that row twice, a row of weight 0 the same as no row.
        """
        try:
            return self._fit(X, y, sample_weight)
        finally:
            for name in ("_training", "_is_doubted"):
                self.__dict__.pop(name, None)

    @available_if(_can_stream)
    @keeps_on_failure
    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: Any = None
    ) -> KernelPegasosClassifier:
        """One pass of kernel Pegasos over a block of rows; the step count goes on.

        Support vectors of earlier blocks stay, within ``max_support``. The certificate speaks of the last block alone:
        the rows before are gone. A block whose weights are all 0 is skipped.

        Parameters
        ----------
        X : as in `fit`
        y : array of shape (n_rows,)
        classes : array of shape (n_classes,), optional
            All classes that will ever come; needed at the first call.
        sample_weight : array of shape (n_rows,), optional
        """
        self._check_stream_parameters()
        begun = perf_counter()
        given = X
        first = not hasattr(self, "_stream")
        if first:
            kernel, X, y, weights = self._read(X, y, sample_weight)
        else:
            kernel, X = self.kernel_, as_collection(self, self.kernel_, X, reset=False)
            y = check_target(X, y)
            weights = check_weights(sample_weight, len(y))
        known = check_classes(classes, None if first else self.classes_)
        codes = encode_known(y, known, weights)
        totals, counts = (class_totals(codes, len(known), each) for each in (weights, None))
        self._prior = self._prior_of_stream(known, None, first=first)
        offsets = self._offsets(given, None)
        n_problems = self._scheme.n_problems(len(known))
        nothing = _safe_indexing(X, np.arange(0))
        stream = KernelStream.begin(n_problems, len(known), self._seed(), nothing) if first else copy(self._stream)
        together = joined(stream.support, X) if stream.n_support else X
        items = kernel.read(together)  # what cannot be read is refused before anything changes
        if first:
            self.kernel_, self.classes_, self._stream = kernel, known, stream
            self._write_zero()
        if totals.sum() == 0.0:
            return self
        running = stream.totals + totals
        mean_weight = float(running.sum()) / (stream.n_rows + len(y))
        terms = self._terms_of(known, running, counts, total=len(y) * mean_weight)
        rows = self._kernel_rows(kernel, items, self._bias, double=True)
        old = stream.n_support
        cost = costs_of(codes, weights, terms.factors)
        signs = OneVsRest().signs(codes, len(known))
        if offsets is None:
            offsets = [constant(0.0, len(y))] * len(signs)
        pairs = zip(signs, offsets, strict=True)
        problems = [_with_support(rows, old, sign, cost, terms, offset=offset) for sign, offset in pairs]
        solver = KernelPegasos(self._pegasos(len(y), np.float64, at_most_all=True))
        solutions = stream.learn(problems, solver, self.max_support, together, begun)
        stream.n_rows, stream.totals = stream.n_rows + len(y), running
        self._terms, self._states, self._stream = terms, [], stream
        members = self._scheme.members(codes, len(known))
        self._write_pass([of_block(solution, old) for solution in solutions], X, members)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = _is_precomputed(self)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.multi_class == "crammer_singer":
            raise PegasosError(
                "multi_class='crammer_singer' is for linear machines (PegasosClassifier); with a kernel use 'ovr' or "
                "'ovo'."
            )
        check.check_positive("cache_size", self.cache_size)
        if self.max_support is not None:
            check.check_count("max_support", self.max_support)
            if self._is_free:
                raise PegasosError(
                    f"max_support={self.max_support!r} needs a regularised intercept: dropping support vectors would "
                    "unbalance a free one; give regularize_intercept=True."
                )
            if self.multi_class == "ovo":
                raise PegasosError(
                    f"max_support={self.max_support!r} is not offered with multi_class='ovo', whose pairs share their "
                    "support vectors; use multi_class='ovr'."
                )

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Kernel, Any, npt.NDArray[Any], npt.NDArray[np.float64] | None]:
        """The kernel settled, X as a collection, the labels and the weights."""
        if isinstance(self.kernel, str):
            check.check_word("kernel", self.kernel, words)
            X = as_collection(self, any_kernel(self.kernel), X, reset=True)
            y = check_target(X, y)
            weights = check_weights(sample_weight, len(y))
            return kernel_of(self, X, weights), X, y, weights
        kernel = kernel_of(self, X, None)
        X = as_collection(self, kernel, X, reset=True)
        y = check_target(X, y)
        return kernel, X, y, check_weights(sample_weight, len(y))

    def _read_training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[KernelRows | Rows, Any, npt.NDArray[np.float64] | None]:
        try:
            with within(self._time_share):
                kernel, X, y, weights = self._read(X, y, sample_weight)
                items = kernel.read(X)
                sentence = doubt(kernel, items)
                self._is_doubted = sentence is not None
                if sentence is not None:
                    warnings.warn(sentence, IndefiniteKernelWarning, stacklevel=4 + n_frames)
                self._training = kernel, X
                return self._rows_of(kernel, items, y, weights), y, weights
        except TimeIsUp as error:
            raise PegasosError(
                f"time_budget={self.time_budget} ended while the kernel was reading the items, before any step; give "
                "more time, fewer items, or a kernel that reads them faster."
            ) from error

    def _rows_of(
        self, kernel: Kernel, items: Items, y: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None
    ) -> KernelRows | Rows:
        """The items as rows of a problem: through the map of the kernel where that is faster."""
        through_map = self.solver == "auto" and self.max_support is None and len(items) >= _mapped_from
        if through_map and kernel.has_features:
            mapped = Rows.of(kernel.map(items)[0], self._bias)
            return mapped.with_bias(natural_bias(mapped.squared_norms)) if self._is_free else mapped
        return self._kernel_rows(kernel, items, self._bias, strength=self._strength(items, y, weights))

    def _strength(self, items: Items, y: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None) -> float:
        """The largest coefficient that a row can have; infinite where that is not known, or the pairs are small."""
        total, largest = (len(items), 1.0) if weights is None else (weights.sum(), float(weights.max(initial=0.0)))
        if self.C is None and not (self.lam is not None and total > 0.0):
            return np.inf
        if self.multi_class == "ovo" and 2 * len(items) // max(2, len(distinct(y))) < _single_from:
            return np.inf
        return float(largest * (1.0 / (self.lam * total) if self.C is None else self.C))

    def _collection(self, X: Any, rows: KernelRows | Rows) -> Any:
        return X if hasattr(self, "feature_names_in_") else self._training[1]

    def _read_prior(self, classes: npt.NDArray[Any], rows: Any) -> ScoredPrior:
        return ScoredPrior.read(self.prior, classes, self._scheme, getattr(self, "feature_names_in_", None))

    def _offsets(self, X: Any, rows: Any) -> list[npt.NDArray[np.float64]] | None:
        return None if self._prior is None else list(np.ascontiguousarray(self._prior.scores(X).T))

    def _read_rows_again(self, X: Any, y: Any) -> tuple[KernelRows, Any]:
        items = read_items(self, self.kernel_, X, reset=False)
        return self._kernel_rows(self.kernel_, items, self._terms.bias, double=True), check_target(X, y)

    def _kernel_rows(
        self, kernel: Kernel, items: Items, bias: float, *, double: bool = False, strength: float = np.inf
    ) -> KernelRows:
        """``strength`` is the largest coefficient of a row of cost 1: it multiplies the rounding of kernel values."""
        fine = double or (self.tol is not None and self.tol < 1e-5)
        is_large = self.tol is not None and strength <= _weak and len(items) >= _single_from
        room = self.cache_size * 2.0**20
        single = is_large and isinstance(kernel, VectorKernel)
        return KernelRows.of(kernel, items, bias, cache_bytes=room, double=fine, single=single)

    def _solver(self, rows: KernelRows | Rows, n: int, *, is_joint: bool = False, single: bool = True) -> Solver:
        if isinstance(rows, Rows):
            linear = self._pegasos(n, np.float64), DualAscent(np.float64), self.tol
            return FreeMapped(Auto(*linear), self.tol) if self._is_free else Mapped(*linear)
        if self.solver == "pegasos":
            return KernelPegasos(self._pegasos(n, np.float64))
        return Decomposition(self.tol, self._is_free)

    def _solve_all(
        self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop, **settings: Any
    ) -> list[Solution]:
        """Small pairs are solved together; those that are not certified so, as all others, by the driver."""
        if not self._are_small(problems, solvers, stop) or any(state is not None for state in settings["states"]):
            return super()._solve_all(problems, solvers, stop, **settings)
        assert isinstance(problems, Pairs)
        assert isinstance(problems.rows, KernelRows)
        problems.rows.load(np.arange(problems.rows.n_rows))
        assert stop.tol is not None
        small = SmallPairs(problems, problems.rows, self._is_free)
        found = solve_together(small, stop.tol, check.threads_of(self.n_jobs))
        solutions = []
        for k, (solution, watcher) in enumerate(zip(found, settings["watchers"], strict=True)):
            if solution is not None:
                watcher.on_review(solution.trace.rows[0])
                solutions.append(solution)
            else:
                run = {"seed": settings["seed"], "n_jobs": 1, "states": [None], "watchers": [watcher]}
                solutions += solve_all([problems[k]], [solvers[k]], stop, settle=self._settle, **run)
        return solutions

    def _are_small(self, problems: Sequence[Problem], solvers: Sequence[Solver], stop: Stop) -> bool:
        """Whether these are pairs of few rows in double, to be solved to a gap, with nobody who looks on at epochs."""
        if not isinstance(problems, Pairs) or not isinstance(problems.rows, KernelRows):
            return False
        rows = problems.rows
        is_plain = stop.tol is not None and stop.time_budget is None and not stop.is_hard
        is_small = rows.holds_all and rows.n_rows <= most_rows and rows.dtype == np.float64
        is_seen = bool(getattr(self, "_skl_callbacks", None)) or not isinstance(solvers[0], Decomposition)
        return is_plain and is_small and not is_seen and self.max_iter >= _least_epochs

    def _jobs(self, problems: Sequence[Problem]) -> int | None:
        rows = problems.rows if isinstance(problems, Pairs) else problems[0].rows
        if not isinstance(rows, KernelRows) or len(problems) == 1:
            return super()._jobs(problems)
        if isinstance(problems, Pairs):
            return self._jobs_of_pairs(problems, rows)
        if not rows.holds_all or not isinstance(rows.kernel, VectorKernel) or self.time_budget is not None:
            return 1  # the table is written to: one problem at a time
        rows.load(np.arange(rows.n_rows))
        return super()._jobs(problems)

    def _jobs_of_pairs(self, pairs: Pairs, rows: KernelRows) -> int:
        """As many at a time as have room for their tables; one where starting threads takes longer than the pairs."""
        # Where a kernel value is computed faster than it is fetched, each pair computes its own.
        if rows.holds_all and not is_quick(rows.items) and self.time_budget is None:
            rows.load(np.arange(rows.n_rows))
        if not isinstance(rows.kernel, VectorKernel | Precomputed):
            return 1
        largest = max(len(mine) for mine in pairs.members)
        if rows.holds_all and largest < _rows_per_thread:
            return 1
        at_once: int = min(check.threads_of(self.n_jobs), int(rows.cache_bytes // (largest**2 * rows.dtype.itemsize)))
        return max(1, at_once)

    def _threads_within(self, problems: Sequence[Problem]) -> AbstractContextManager[Any]:
        # The products of a pair are small: threads of BLAS would wait for each other longer than they work.
        if not isinstance(problems, Pairs) or not isinstance(problems.rows, KernelRows):
            return super()._threads_within(problems)
        items = problems.rows.items
        return nullcontext() if isinstance(items, Vectors) and is_light(items) else one_thread_of_blas()

    def _warm_states(
        self, solvers: Sequence[Solver], problems: Sequence[Problem], n_rows: list[int], seed: int
    ) -> list[Any]:
        alphas, states = self._alphas(), getattr(self, "_states", None) or [None] * len(problems)
        same = hasattr(self, "_terms") and self._terms.multi_class == self.multi_class
        if not self.warm_start or not same or [len(alpha) for alpha in alphas] != n_rows:
            return [None] * len(problems)
        return [
            _warm_state(solver, problem, alpha, state, seed)
            for solver, problem, alpha, state in zip(solvers, problems, alphas, states, strict=True)
        ]

    def _settle(self, problem: Problem, solution: Solution) -> Solution:
        """A pair is done with, in double where it must be, before its rows and their table go."""
        solution = super()._settle(problem, solution)
        if self.multi_class != "ovo":
            return solution
        if not isinstance(solution.state, KernelPegasosState):  # it may hold on to the table
            solution = replace(solution, state=None)
        solution, is_open = self._proved_in_double(problem, solution)
        if is_open:
            solution = replace(self._in_double([problem], [solution], [0])[1][0], state=None)
        return solution

    def _proved_in_double(self, problem: Problem, solution: Solution) -> tuple[Solution, bool]:
        """The solution with a certificate of the kernel in double, and whether the solver must go on in double.

        Where time has run out and that would take long, it has room for what single precision may have lost instead.
        """
        rows = problem.rows
        if not isinstance(rows, KernelRows) or rows.dtype == np.float64 or isinstance(rows.kernel, Precomputed):
            return solution, False
        n_values = rows.n_rows * int(np.count_nonzero(solution.weights))
        if solution.status in _out_of_time and n_values > _quick_values:
            return self._proved_on(replace(problem, rows=rows.counting_single()), solution), False
        again = KernelRows.of(rows.kernel, rows.items, rows.bias, cache_bytes=0.0, double=True)
        proved = self._proved_on(replace(problem, rows=again), solution)
        if self.tol is None or solution.status in _out_of_time:
            return proved, False
        before, now = solution.certificate, proved.certificate
        change = abs(now.primal - before.primal) + abs(now.dual - before.dual)
        is_lost = solution.status is Status.CERTIFIED and now.relative_gap > self.tol
        return proved, is_lost or change > _doubtful * self.tol * now.primal

    def _proved_on(self, problem: Problem, solution: Solution) -> Solution:
        """The same point with the certificate and the reach of the intercept that these kernel values give it."""
        if not self._is_free:
            return replace(solution, certificate=certify(problem, solution.weights, solution.alpha))
        even = balanced(problem, solution.alpha)
        certificate = certify_around(problem, solution.weights, even, solution.intercept)
        reach = intercept_reach(problem, solution.alpha, solution.intercept, certificate.weight_radius)
        return replace(solution, certificate=certificate, intercept_reach=reach)

    def _finish(self, problems: Sequence[Problem], solutions: list[Solution]) -> list[Solution]:
        if self.multi_class == "ovo":
            return solutions
        found = [self._proved_in_double(*each) for each in zip(problems, solutions, strict=True)]
        solutions = [solution for solution, _ in found]
        doubtful = [k for k, (_, is_open) in enumerate(found) if is_open]
        if doubtful:
            problems, solutions = self._in_double(problems, solutions, doubtful)
        elif self.max_support is not None and isinstance(problems[0].rows, KernelRows):
            problems = self._with_double_rows(problems)
        return reduced(problems, solutions, self.max_support)

    def _with_double_rows(self, problems: Sequence[Problem]) -> list[Problem]:
        """The same problems with kernel values in double."""
        rows = problems[0].rows
        assert isinstance(rows, KernelRows)
        if rows.dtype == np.float64:
            return list(problems)
        rows.release()
        again = self._kernel_rows(rows.kernel, rows.items, rows.bias, double=True)
        return [replace(problem, rows=again) for problem in problems]

    def _in_double(
        self, problems: Sequence[Problem], solutions: list[Solution], doubtful: list[int]
    ) -> tuple[list[Problem], list[Solution]]:
        """Go on from there with kernel values in double: single precision cannot prove the gap of these problems."""
        problems = self._with_double_rows(problems)
        again, solutions = problems[0].rows, solutions.copy()
        assert isinstance(again, KernelRows)
        if self.solver == "pegasos":  # the published algorithm and nothing else: only the proof is made anew
            for k in doubtful:
                solutions[k] = _certified_again(problems[k], solutions[k], self.tol)
            return problems, solutions
        mine = [problems[k] for k in doubtful]
        solver: Any = self._solver(again, again.n_rows)
        states = [solver.enter(problems[k], solutions[k].alpha, 0) for k in doubtful]
        spent = max((row.seconds for solution in solutions for row in solution.trace.rows), default=0.0)
        left = None if self._time_share is None else max(0.0, self._time_share - spent)
        found = solve_all(
            mine,
            [solver] * len(mine),
            Stop(self.tol, self.max_iter, left, np.inf == self.C),
            seed=0,
            n_jobs=self._jobs(mine),
            states=states,
            watchers=[Watcher() for _ in mine],
            settle=super()._settle,
        )
        for k, solution in zip(doubtful, found, strict=True):
            solutions[k] = solutions[k].followed_by(solution)
        return problems, solutions

    def _remember(self, solutions: list[Solution], n_rows: int, terms: Terms, seed: int) -> None:
        states = [solution.state for solution in solutions]
        self._states = [state if isinstance(state, KernelPegasosState) else None for state in states]
        self._n_training = n_rows
        steps = [solution.n_steps for solution in solutions]
        traces = [Trace() for _ in solutions]
        self._stream = KernelStream(
            n_rows, terms.totals, seed, steps, self.support_vectors_, self.dual_coef_, None, 0, traces
        )

    def _points(
        self, problems: Sequence[Problem], members: list[Members], alphas: list[npt.NDArray[np.float64]], X: Any
    ) -> Any:
        if isinstance(self.kernel_, Precomputed) or not (self._is_foreign or self._stream.traces[0].rows):
            own = [weights[mine] for weights, mine in zip(self._weights(self._terms.bias), members, strict=True)]
            return zip(problems, own, alphas, strict=True)
        # The weights belong to the support vectors, which may be of any block of a stream, or of others' rows.
        block = as_collection(self, self.kernel_, X, reset=False)
        each = [block] if isinstance(members[0], slice) else (_safe_indexing(block, mine) for mine in members)
        behind = map(self._behind_support, each)
        rows = [*behind] * len(problems) if isinstance(members[0], slice) else behind
        points = zip(problems, rows, self.dual_coef_, alphas, strict=True)
        return (self._beside_support(*point) for point in points)

    def _behind_support(self, block: Any) -> KernelRows:
        """The rows of a block, in front of them the support vectors."""
        items = self.kernel_.read(joined(self.support_vectors_, block))
        return self._kernel_rows(self.kernel_, items, self._terms.bias, double=True)

    def _beside_support(
        self, problem: Problem, rows: KernelRows, coefficients: npt.NDArray[np.float64], alpha: Any
    ) -> tuple[Problem, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The problem behind support vectors, the weights, which are theirs, and the dual point."""
        old = len(self.support_)
        terms = replace(self._terms, lam=problem.lam, total=problem.total)
        return (
            _with_support(rows, old, problem.sign, problem.cost, terms, offset=problem.offset),
            np.concatenate([coefficients, np.zeros(len(alpha))]),
            np.concatenate([np.zeros(old), alpha]),
        )

    def _weights(self, bias: float) -> npt.NDArray[np.float64]:
        weights = np.zeros((len(self.dual_coef_), self._n_training))
        weights[:, self.support_] = self.dual_coef_
        return weights

    def _stacked(self, models: Sequence[Model | Solution], members: list[Members], X: Any) -> npt.NDArray[np.float64]:
        """The coefficients of all rows, for each problem."""
        if isinstance(members[0], slice):
            return super()._stacked(models, members, X)
        coefficients = np.zeros((len(models), _num_samples(X)))
        for row, mine, model in zip(coefficients, members, models, strict=True):
            row[mine] = model.weights
        return coefficients

    def _weights_as_attributes(self, weights: npt.NDArray[np.float64], X: Any) -> dict[str, Any]:
        if not hasattr(self, "_training"):  # a pass: the model is that of the whole stream
            return {"_prior": self._prior, **self._stream.as_attributes(self._bias)}
        kernel, collection = self._training
        support = np.flatnonzero(np.any(weights, axis=0))
        is_known = not isinstance(kernel, Precomputed)
        return {
            "kernel_": kernel,
            "support_": support,
            "support_vectors_": _safe_indexing(collection, support) if is_known else np.empty((0, 0)),
            "dual_coef_": weights[:, support],
            "intercept_": self._bias**2 * weights.sum(axis=1),
            "_prior": self._prior,
        }

    def _write(self, solutions: list[Solution], trace: Trace, X: Any, members: list[Members]) -> None:
        super()._write(solutions, trace, X, members)
        if self.__dict__.get("_is_doubted", False):
            reason = "" if worst_status(solutions) in satisfied else f" {worst_status(solutions).value}"
            self.status_ = f"The kernel is not positive semi-definite: the certificate proves nothing.{reason}"

    def _write_zero(self) -> None:
        """The model before any row counted."""
        self.__dict__.update(self._stream.as_attributes(self._bias))
        self.status_ = "No row had a weight above 0 so far; the model is the prior, or the zero vector."

    def _weight_lengths(self, certificate: Certificate) -> npt.NDArray[np.float64]:
        if self._prior is not None:
            return np.full(len(certificate.parts), np.nan)
        carried = 0.0 if self._bias == 0.0 else np.ravel(self.intercept_) / self._bias
        squares = np.array([part.squared_norm for part in certificate.parts]) - np.square(carried)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(squares))

    def _weight_products(self) -> npt.NDArray[np.float64]:
        if self._prior is not None:
            raise PegasosError("the geometric margin needs |w|, and that of the prior is not known.")
        if isinstance(self.kernel_, Precomputed):
            raise PegasosError("the geometric margin needs the kernel of the support vectors, which the model lacks.")
        if not len(self.support_):
            return np.zeros((len(self.dual_coef_), len(self.dual_coef_)))
        scores = self._scores_of(self.kernel_.read(self.support_vectors_)) - self.intercept_
        return np.asarray(self.dual_coef_ @ scores)

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        own = self._own_scores(X)
        return own if self._prior is None else own + self._prior.scores(X)

    def _own_scores(self, X: Any) -> npt.NDArray[np.float64]:
        if isinstance(self.kernel_, Precomputed):
            X = as_collection(self, self.kernel_, X, reset=False)
            block = self.kernel_.read_against(X, self._n_training, self.support_)
            return np.asarray(block @ self.dual_coef_.T + self.intercept_)
        items = read_items(self, self.kernel_, X, reset=False)
        return self._scores_of(items)

    def _scores_of(self, items: Items) -> npt.NDArray[np.float64]:
        if not len(self.support_):
            return np.tile(np.asarray(self.intercept_, np.float64), (len(items), 1))
        support = with_fast_products(self.kernel_.read(self.support_vectors_))
        if self.kernel_.has_features:
            mine, theirs = self.kernel_.map(items, support)
            return np.asarray(mine @ (theirs.T @ self.dual_coef_.T) + self.intercept_)
        if self.kernel_.result_type(items, support) == np.float64:
            return np.asarray(self._sums_of(items, support, np.dtype(np.float64)) + self.intercept_)
        return self._scores_from_single(items, support)

    def _scores_from_single(self, items: Items, support: Items) -> npt.NDArray[np.float64]:
        """Scores from kernel values in single precision; in double where those leave the class open."""
        unit = unit_of(np.float32)
        error = _value_error(self.kernel_, (items, support), np.float32) + (_at_once + 8.0) * unit
        reach = error * (np.abs(self.dual_coef_) @ self._lengths_alone(support))
        double = np.dtype(np.float64)
        lengths = self._lengths_alone(items)
        if not float(lengths.max(initial=0.0)) * float(reach.max()) <= _largest_error:
            return np.asarray(self._sums_of(items, support, double) + self.intercept_)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._sums_of(items, support, np.dtype(np.float32)) + self.intercept_
            is_settled = self._fitted_scheme.certified(scores, lengths[:, None] * reach, len(self.classes_))
        again = np.flatnonzero(~is_settled)
        if len(again) > 0:
            scores[again] = self._sums_of(items.take(again), support, double) + self.intercept_
        return np.asarray(scores)

    def _sums_of(self, items: Items, support: Items, dtype: np.dtype[Any]) -> npt.NDArray[np.float64]:
        """The sums over the support vectors, from kernel values of this type; few are added up in single precision."""
        scores = np.zeros((len(items), len(self.dual_coef_)))
        coefficients = self.dual_coef_.T.astype(dtype)
        stretch = _at_once if dtype == np.float32 else len(coefficients)
        n_at_once = max(1, min(len(items), _block_bytes // (coefficients.itemsize * len(support))))
        block = np.empty((n_at_once, len(support)), coefficients.dtype)
        for begin in range(0, len(items), n_at_once):
            part = items.take(np.arange(begin, min(begin + n_at_once, len(items))))
            self.kernel_.fill(part, support, block[: len(part)], 0.0)
            for first in range(0, len(support), stretch):
                mine = slice(first, first + stretch)
                scores[begin : begin + len(part)] += block[: len(part), mine] @ coefficients[mine]
        return scores

    def _scores_with_lengths(self, X: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Any, Items]:
        if isinstance(self.kernel_, Precomputed):
            raise PegasosError("certified needs k(x, x) of new rows, which a precomputed matrix does not hold.")
        given, X = X, as_collection(self, self.kernel_, X, reset=False)
        # In double: what is certified must not hang on the rounding of a score.
        items = self.kernel_.read(X.astype(np.float64) if is_matrix(self.kernel_, X) else X)
        lengths = np.sqrt(self.kernel_.evaluate_diagonal(items) + self._terms.bias**2)
        scores = self._scores_of(items)
        if self._prior is not None:
            scores += self._prior.scores(given)
        if not len(self.support_):
            return scores, lengths, 0.0, items
        support = self.kernel_.read(self.support_vectors_)
        error = _value_error(self.kernel_, (items, support), np.float64)
        error += (len(self.support_) + 8.0) * unit_of(np.float64)
        reach = np.sqrt(self.kernel_.evaluate_diagonal(support) + self._terms.bias**2)
        return scores, lengths, error * (np.abs(self.dual_coef_) @ reach), items

    def _lengths_alone(self, items: Items) -> npt.NDArray[np.float64]:
        """|x| without the constant column."""
        return np.sqrt(self.kernel_.evaluate_diagonal(items))


def _value_error(kernel: Kernel, collections: tuple[Items, ...], dtype: npt.DTypeLike) -> float:
    """How far a kernel value of two items of these collections may be off, over the lengths of both."""
    return max(kernel.value_error(items, dtype) for items in collections)
