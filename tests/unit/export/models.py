"""Fitted models of every kind, small; each is fitted once."""

import atexit
from functools import cache

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.kernels import RBF, ChiSquared, Exp, Intersection, Laplacian, Linear, Polynomial
from pegasos.online import ConfidenceWeighted, KernelPerceptron, PassiveAggressive, Perceptron

X, CODES = load_iris(return_X_y=True)
X = minmax_scale(X)  # not negative, as histograms must be
NAMES = np.array(["setosa", "versicolor", "virginica"])[CODES]
NUMBERS = np.array([10, -3, 7])[CODES]
PAIR = np.where(CODES == 1, 5, -2)
NEW = np.abs(X[::3] + np.random.default_rng(0).normal(scale=0.1, size=X[::3].shape))

_linear = {"lam": 1e-2, "random_state": 0}
_kernel = {"C": 2.0, "random_state": 0}

MODELS = {
    "linear, two": lambda: PegasosClassifier(**_linear).fit(X, PAIR),
    "linear, two, no intercept": lambda: PegasosClassifier(**_linear, fit_intercept=False).fit(X, PAIR),
    "linear, two, free": lambda: PegasosClassifier(**_linear, regularize_intercept=False).fit(X, PAIR),
    "linear, rest": lambda: PegasosClassifier(**_linear, intercept_scaling=2.0).fit(X, NUMBERS),
    "linear, pairs": lambda: PegasosClassifier(**_linear, multi_class="ovo").fit(X, NUMBERS),
    "linear, joint": lambda: PegasosClassifier(**_linear, multi_class="crammer_singer").fit(X, NUMBERS),
    "linear, joint of two": lambda: PegasosClassifier(**_linear, multi_class="crammer_singer").fit(X, PAIR),
    "linear, prior": lambda: PegasosClassifier(**_linear, prior=model_of("linear, rest")).fit(X, NUMBERS),
    "perceptron": lambda: Perceptron(random_state=0).fit(X, NUMBERS),
    "passive-aggressive": lambda: PassiveAggressive(random_state=0).fit(X, PAIR),
    "confidence-weighted": lambda: ConfidenceWeighted(random_state=0).fit(X, NUMBERS),
    "rbf, two": lambda: KernelPegasosClassifier(RBF(0.5), **_kernel).fit(X, PAIR),
    "rbf, rest": lambda: KernelPegasosClassifier(RBF(sigma=1.5), **_kernel).fit(X, NUMBERS),
    "rbf, pairs": lambda: KernelPegasosClassifier(RBF(0.5), **_kernel, multi_class="ovo").fit(X, NUMBERS),
    "poly, pairs": lambda: KernelPegasosClassifier(Polynomial(2, 0.3, 1.0), **_kernel, multi_class="ovo").fit(
        X, NUMBERS
    ),
    "linear kernel": lambda: KernelPegasosClassifier(Linear(), **_kernel).fit(X, PAIR),
    "kernel perceptron": lambda: KernelPerceptron(RBF(0.5), random_state=0).fit(X, PAIR),
    "laplacian": lambda: KernelPegasosClassifier(Laplacian(0.3), **_kernel).fit(X, NUMBERS),
    "chi2": lambda: KernelPegasosClassifier(ChiSquared(0.4), **_kernel).fit(X, PAIR),
    "intersection": lambda: KernelPegasosClassifier(Intersection(), **_kernel).fit(X, PAIR),
    "algebra": lambda: KernelPegasosClassifier(0.5 * RBF(0.5) * Exp(0.01 * Linear()) + Linear() ** 2, **_kernel).fit(
        X, NUMBERS
    ),
    "probability, two": lambda: PegasosClassifier(**_linear, probability=True).fit(X, PAIR),
    "probability, rest": lambda: PegasosClassifier(**_linear, probability=True).fit(X, NUMBERS),
    "probability, pairs": lambda: KernelPegasosClassifier(RBF(0.5), **_kernel, multi_class="ovo", probability=True).fit(
        X, NUMBERS
    ),
    "probability, joint": lambda: PegasosClassifier(**_linear, multi_class="crammer_singer", probability=True).fit(
        X, NUMBERS
    ),
    "kernel on a prior": lambda: KernelPegasosClassifier(RBF(0.5), **_kernel, prior=model_of("linear, rest")).fit(
        X, NUMBERS
    ),
    "kernel on a kernel": lambda: KernelPegasosClassifier(RBF(0.5), **_kernel, prior=model_of("laplacian")).fit(
        X, NUMBERS
    ),
    "names": lambda: PegasosClassifier(**_linear).fit(X, NAMES),
}


@cache
def model_of(name):
    """The model of this name."""
    return MODELS[name]()


# Beside some libraries a module outlives the interpreter, and nanobind calls what is kept in it a leak.
atexit.register(model_of.cache_clear)
