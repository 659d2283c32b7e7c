"""The perceptron in the space of a kernel, with a budget on its support vectors.

    if sign f(x) <= 0:   f <- f + cost sign k(x, .);     more support vectors than the budget: drop one

Freund, Schapire: Large margin classification using the perceptron algorithm. Machine Learning 37, 1999. The budget:
dropping the oldest as Dekel, Shalev-Shwartz, Singer: The Forgetron. SIAM Journal on Computing 37, 2008 (without its
shrinking); dropping one at random, which has a bound on mistakes: Cavallanti, Cesa-Bianchi, Gentile: Tracking the best
hyperplane with a simple budget perceptron. Machine Learning 69, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pegasos import checks as check
from pegasos.online.kernel import KernelOnlineClassifier
from pegasos.solvers.kernel_online import KernelOnlineLearner
from pegasos.solvers.online import PerceptronStep


@dataclass(eq=False, repr=False, kw_only=True)
class KernelPerceptron(KernelOnlineClassifier):
    """Kernel perceptron, with a budget on support vectors.

    ``if sign f(x) <= 0: f <- f + cost sign k(x, .)``. Several classes: one function per class, against the rest; they
    share the support vectors.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "chi2", "intersection", "precomputed" (X is the kernel matrix; no
        `partial_fit`); a kernel of `pegasos.kernels`, on vectors, strings, graphs, series or records; or a function.
    budget : int, optional
        Maximum number of support vectors; without it, memory grows with the mistakes.
    removal : {"oldest", "random"}, default="oldest"
        Which support vector is removed when there are too many.
    gamma : "scale", "auto" or float, default="scale"
        Width of "rbf", "laplacian", "chi2", factor of "poly"; a stream takes "scale" from its first block.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1.0
        Of "poly".
    fit_intercept : bool, default=True
        Adds 1 to the kernel: the intercept is the weight of a constant feature.
    max_iter, shuffle, random_state
        As in `Perceptron`; random_state also selects what "random" removes.

    Attributes
    ----------
    support_ : array of int
        Samples of the last call that are support vectors, the oldest first; in a stream, positions in the previous
        ``support_vectors_`` followed by the block.
    support_vectors_ : those items, in the form they came in
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        ``score(x) = dual_coef_ @ K(support_vectors_, x) + intercept_``.
    intercept_ : array of shape (1,) or (n_classes,)
    kernel_ : Kernel
        The kernel used, with parameters such as ``gamma`` computed from X.
    classes_, mistakes_, mistake_curve_, loss_curve_, n_steps_, n_iter_
        As in `Perceptron`.
    n_features_in_ : int, when items are rows of numbers

    Notes
    -----
    A ``sample_weight`` is the length of the sample's step, as in `Perceptron`.

    References
    ----------
    Freund, Schapire: Large margin classification using the perceptron algorithm. Machine Learning 37, 1999. Cavallanti,
    Cesa-Bianchi, Gentile: Tracking the best hyperplane with a simple budget perceptron. Machine Learning 69, 2007.

    Examples
    --------
    >>> from pegasos.kernels import Spectrum
    >>> from pegasos.online import KernelPerceptron
    >>> words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"]
    >>> model = KernelPerceptron(Spectrum(2), budget=4, random_state=0).fit(words, [0, 0, 0, 1, 1, 1])
    >>> model.predict(["ababab", "cdc"])
    array([0, 1])
    """

    budget: int | None = None
    removal: str = "oldest"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.budget is not None:
            check.check_count("budget", self.budget)
        check.check_word("removal", self.removal, ("oldest", "random"))

    def _learner(self) -> KernelOnlineLearner:
        removal: Any = self.removal
        return KernelOnlineLearner(PerceptronStep(), self.budget, removal, self._bias)
