"""NORMA: stochastic gradient descent in the space of a kernel, truncated to its last terms.

    f <- (1 - eta lam) f;     if sign f(x) < rho:   f <- f + eta cost sign k(x, .)

the gradient steps of lam/2 |f|^2 + max(0, rho - sign f(x)) - nu rho. Without nu, rho is 1; with it, rho moves too, by
eta cost (nu - 1) where the margin is missed and eta cost nu where not, so that about a share nu of the rows misses it.
Old terms have shrunk: all but the last tau of them are dropped.

Kivinen, Smola, Williamson: Online learning with kernels. IEEE Transactions on Signal Processing 52, 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.online.base import WeighsClasses
from pegasos.online.kernel import KernelOnlineClassifier
from pegasos.solvers.kernel_online import KernelOnlineLearner, NormaStep


@dataclass(eq=False, repr=False, kw_only=True)
class Norma(WeighsClasses, KernelOnlineClassifier):
    """NORMA: online gradient descent with a kernel, truncated.

    ``f <- (1 - eta lam) f; if sign f(x) < rho: f <- f + eta cost sign k(x, .)``. With a constant step it forgets, so it
    follows a drifting target. Several classes: one function per class, against the rest; they share the support
    vectors.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelPerceptron`.
    eta : float, default=0.5
        Step size.
    lam : float, default=1e-3
        Strength of the regularization; ``eta * lam`` must be below 1.
    nu : float, optional
        Between 0 and 1: the margin rho is adjusted so that about this share of the samples misses it. Default: rho = 1.
    tau : int or None, default=1000
        Maximum number of terms; the oldest are dropped first. None keeps all of them.
    class_weight : dict, "balanced" or None, default=None
        Factor on the loss of each class; in a stream "balanced" uses the samples seen so far.
    gamma, degree, coef0, fit_intercept, max_iter, shuffle, random_state
        As in `KernelPerceptron`. The constant feature of the intercept shrinks like the others.

    Attributes
    ----------
    rho_ : array of shape (1,) or (n_classes,)
        The current margin.
    support_, support_vectors_, dual_coef_, intercept_, kernel_, classes_
        As in `KernelPerceptron`.
    mistakes_, mistake_curve_, loss_curve_, n_steps_, n_iter_
        As in `Perceptron`.

    Notes
    -----
    A ``sample_weight`` multiplies the loss of its row, and so the step ``eta``.

    References
    ----------
    Kivinen, Smola, Williamson: Online learning with kernels. IEEE Transactions on Signal Processing 52, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pegasos.online import Norma
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> model = Norma(gamma=2.0, tau=50, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> len(model.support_)
    50
    """

    eta: float = 0.5
    lam: float = 1e-3
    nu: float | None = None
    tau: int | None = 1000

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.check_positive("eta", self.eta)
        check.check_positive("lam", self.lam)
        if not self.eta * self.lam < 1.0:
            raise PegasosError(f"eta * lam must be below 1, got {self.eta * self.lam!r}; use a smaller eta.")
        if self.nu is not None:
            check.check_positive("nu", self.nu)
            if not self.nu < 1.0:
                raise PegasosError(f"nu must be None or between 0 and 1, got {self.nu!r}.")
        if self.tau is not None:
            check.check_count("tau", self.tau)

    def _learner(self) -> KernelOnlineLearner:
        nu = None if self.nu is None else float(self.nu)
        return KernelOnlineLearner(NormaStep(float(self.eta), float(self.lam), nu), self.tau, "oldest", self._bias)

    def _model(self, state: Any, rows: Any) -> dict[str, Any]:
        return super()._model(state, rows) | {"rho_": state.rho.copy()}
