"""The kernel support vector machine with its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

from pegasos import checks as check
from pegasos.docstrings import documented_by
from pegasos.errors import PegasosError
from pegasos.estimators._training import TrainedClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.parameters import ClassificationParameters
from pegasos.estimators.reading import ReadsItems
from pegasos.layouts import classes as layout
from pegasos.machines.approximated import Approximated
from pegasos.machines.joint_kernel import JointKernel
from pegasos.machines.kernel import Kernel


@documented_by(PegasosClassifier)
@dataclass(eq=False, repr=False)
class KernelPegasosClassifier(ReadsItems, TrainedClassifier, ClassificationParameters):
    """Kernel support vector machine that proves how good its solution is.

    Minimizes ``lam/2 |w|^2 + (1/N) sum_i cost_i loss(1 - y_i (<w, phi(x_i)> + b))`` over the weights w of the feature
    space of the kernel, and stops when the result is *provably* within a relative duality gap of ``tol``, or at
    ``max_iter`` or ``time_budget``; it always returns the certificate it reached.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "chi2", "intersection", "precomputed" (X is the kernel matrix); a kernel
        of `pegasos.kernels`, on vectors, strings, graphs, series or mixed records; or a function ``k(x, z)`` of two
        items or ``k(X, Z)`` of two collections.
    lam, C, nu, loss, smoothing
        As in `PegasosClassifier`.
    gamma : "scale", "auto" or float, default="scale"
        Width of "rbf", "laplacian", "chi2", factor of "poly"; "scale" is ``1 / (n_features * X.var())``, "auto"
        ``1 / n_features``.
    sigma : float, optional
        Width of "rbf" instead of ``gamma``: ``exp(-|x - z|^2 / (2 sigma^2))``.
    degree : int, default=3
        Parameter of "poly".
    coef0 : float, default=1.0
        Parameter of "poly".
    solver : {"auto", "pegasos", "decomposition", "smo"}, default="auto"
        "pegasos" is the published algorithm alone; "decomposition" is dual ascent by pairs, as in SVM-light and SMO,
        to any gap, and "smo" is another name for it; "auto" is
        decomposition, or a linear solver on explicit features if the kernel has them.
    batch_size, sampling, projection, average, fit_intercept, regularize_intercept, intercept_scaling, class_weight
        As in `PegasosClassifier`.
    multi_class : {"auto", "ovr", "ovo", "crammer_singer"}, default="ovr"
        More than two classes: one problem per class, against the rest, which share the kernel matrix; or one per
        pair of classes, on the samples of those two, each with its own kernel matrix. ``lam`` has the same meaning as
        for two classes alone, ``C`` the same as in LIBSVM. "crammer_singer": one joint problem, as in
        `PegasosClassifier`, on a factor of the kernel matrix, which may take as much memory as the matrix itself; it
        needs ``solver="auto"``. ``max_support`` needs "ovr", streams "ovr" or "ovo". "auto" is "ovr".
    prior : fitted classifier, (coef, intercept) or None, default=None
        A model learned from other data: any fitted model with ``decision_function`` and ``classes_``. Its scores are
        added to the learned ones, ``score(x) = prior(x) + <v, phi(x)> + b``, and only v is regularized,
        ``lam/2 |v|^2``: a large ``lam`` keeps the prior, a small one lets the data override it. The model
        holds a reference to the prior and calls it to predict. Classes are matched by label. In a stream, the
        prior of the first call is used.
    max_iter : int, default=1000
        Maximum number of epochs: as many visits (Pegasos) or coordinate steps (decomposition) as there are samples.
    max_steps : int, optional
        With ``solver="pegasos"``: the fit ends after this many steps, also in the middle of an epoch, unless ``tol``
        (checked at ends of epochs), ``max_iter`` or ``time_budget`` ends it earlier. With ``tol=None`` the result is
        that of as many `pegasos.steps`, up to the rounding of sums in blocks.
    time_budget : float, optional
        Time limit in seconds, kept to within one block of kernel columns.
    certified_share : float, optional
        Continue after ``tol`` is reached until this share of the training data, by sample weight, has a certified
        prediction: one that no exact solution changes (`certified`). The gap then falls below ``tol`` as far as
        necessary, within ``max_iter`` and ``time_budget``; ``status_`` states the share reached. Use 0.99 if
        predictions matter more than the objective.
    cache_size : float, default=1000
        Megabytes for columns of the kernel matrix; the matrix of the active samples comes in addition.
    approximation : int or "auto", optional
        Train on this many explicit features, built from as many training samples (pivoted Cholesky), with the linear
        solvers: much faster on many samples, and the model has at most that many support vectors. "auto" stops when
        1e-4 of the trace of the kernel matrix is left. The objective in ``certificate_`` is that of the exact
        problem, its lower bound that of the approximation; ``certify`` proves the gap to the exact optimum.
    max_support : int, optional
        Maximum number of support vectors. The least important are dropped, in a stream after each block; the
        certificate shows what that cost.
    n_jobs : int, optional
        Threads for the problems of several classes, if the kernel matrix fits into the cache; with "ovo", as many as
        the cache has room for. The result does not depend on it.
    tol, probability, warm_start, random_state, verbose
        As in `PegasosClassifier`.

    Attributes
    ----------
    support_ : array of int
        Indices of training samples that contribute to a score, for any class.
    support_vectors_ : those rows, in the form they came in
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support); with "ovo" (n_pairs, n_support)
        ``score(x) = dual_coef_ @ K(support_vectors_, x) + intercept_``, plus the score of the prior, if there is one.
        Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...; a score is positive for the second class of a pair, as for
        two classes.
    intercept_ : array of shape (1,) or (n_classes,); with "ovo" (n_pairs,)
    kernel_ : Kernel
        The kernel used, with parameters such as ``gamma`` computed from X.
    classes_, certificate_, status_, alpha_, margin_, trace_, n_iter_, n_steps_, lam_, fitted_
        As in `PegasosClassifier`.
    n_features_in_ : int, when items are rows of numbers
    feature_names_in_ : array of str, when X has names

    Notes ----- While a fit with ``tol`` of at least 1e-5 runs, kernel values are computed and kept in float32 for
    float32 rows, and for 2,000 rows or more while C is at most 100. The final certificate is for the kernel in double
    precision; if it differs by a quarter of ``tol``, the fit continues in double precision. If ``time_budget`` leaves
    no time for that, the certificate includes an allowance for what single precision may have lost. At predict, scores
    are computed from float32 values where their error is at most 0.05 (1e-5 is typical), and in double precision
    otherwise and for every sample whose class would be undecided.

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

    _saved = layout.kernel
    approximation: int | str | None = field(default=None, kw_only=True)

    def _check_parameters(self) -> None:
        self._check_classification(("auto", "pegasos", "decomposition", "smo"))
        self._check_kernel()
        self._check_approximation()
        self._check_joint()
        if self.max_support is not None and self.multi_class == "ovo":
            raise PegasosError(
                f"max_support={self.max_support!r} is not supported with multi_class='ovo', whose pairs share "
                "their support vectors; use multi_class='ovr'."
            )

    def _check_joint(self) -> None:
        """What the problem of all classes at once does not support with a kernel."""
        if self.multi_class != "crammer_singer":
            return
        if self.solver != "auto":
            raise PegasosError(
                f"multi_class='crammer_singer' with a kernel is solved by solver='auto'; got solver={self.solver!r}."
            )
        for name in ("approximation", "max_support"):
            if getattr(self, name) is not None:
                raise PegasosError(
                    f"{name}={getattr(self, name)!r} is not supported with multi_class='crammer_singer'; use 'ovr'."
                )

    def _check_approximation(self) -> None:
        if self.approximation is None:
            return
        if isinstance(self.approximation, str):
            check.check_word("approximation", self.approximation, ("auto",))
        else:
            check.check_count("approximation", self.approximation)
        if self.solver != "auto":
            raise PegasosError(f"approximation is solved by solver='auto'; got solver={self.solver!r}.")
        if self.max_support is not None:
            raise PegasosError("give approximation or max_support: an approximation has its own support vectors.")
        if self._choice.is_precomputed:
            raise PegasosError("approximation does not support a precomputed kernel matrix.")

    def _machine(self) -> Kernel:
        if self.multi_class == "crammer_singer":
            return JointKernel(self._choice, float(self.cache_size))
        if self.approximation is None:
            return super()._machine()
        return Approximated(self._choice, float(self.cache_size), approximation=self.approximation)

    def _why_not_a_stream(self) -> str | None:
        if self.approximation is not None:
            return "partial_fit does not support approximation, whose features are those of one fit."
        if self.multi_class == "crammer_singer":
            return "partial_fit of a kernel machine does not support multi_class='crammer_singer'; use 'ovr' or 'ovo'."
        if self.multi_class == "ovo" and self.average is not None:
            return (
                f"partial_fit of a kernel machine with multi_class='ovo' does not support average={self.average!r}, "
                "since pairs take different numbers of steps; give average=None, or use 'ovr'."
            )
        return super()._why_not_a_stream()
