"""scikit-learn's SGDClassifier: stochastic sub-gradient steps, plain and averaged.

lam        alpha = lam: its objective is alpha/2 |w|^2 + mean loss, which is P.
intercept  its own is not regularised and has a slower rate for CSR, so a column of ones is appended and
           fit_intercept=False.
stopping   its tol watches the training loss and promises nothing, so tol=None and a ladder of epochs.
untimed    appending the column.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from benchmarks.problems import Problem

_epochs = (1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300)


class Sgd:
    """The last weights, or the mean of those of all steps."""

    def __init__(self, name: str, *, average: bool):
        self.name = name
        self._average = average

    def prepare(self, problem: Problem) -> Problem:
        ones = np.ones((len(problem.y), 1), dtype=np.float32)
        if sp.issparse(problem.X):
            return Problem(problem.name, sp.csr_matrix(sp.hstack([problem.X, ones], format="csr")), problem.y)
        return Problem(problem.name, np.hstack([problem.X, ones]), problem.y)

    def ladder(self, target: float) -> tuple[int, ...]:
        return _epochs

    def fit(self, data: Problem, lam: float, setting: float) -> tuple[np.ndarray, float]:
        model = SGDClassifier(
            loss="hinge",
            alpha=lam,
            fit_intercept=False,
            tol=None,
            max_iter=setting,
            average=self._average,
            random_state=0,
        )
        model.fit(data.X, data.y)
        return model.coef_[0, :-1], float(model.coef_[0, -1])


SOLVERS = (Sgd("SGD", average=False), Sgd("SGD averaged", average=True))
