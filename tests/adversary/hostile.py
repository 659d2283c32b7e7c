"""Arrays, weights and labels changed at random: a model or an error message, never a crash."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosOneClass,
    PegasosRegressor,
    svm,
)
from pegasos.errors import PegasosError

_strange = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 1e200)


def some_matrix(random: np.random.Generator) -> Any:
    """Rows of any type and form, some of their bytes changed."""
    X: Any = random.normal(size=(int(random.integers(2, 30)), int(random.integers(1, 6))))
    if random.random() < 0.3:
        X[random.integers(len(X)), random.integers(X.shape[1])] = random.choice(_strange)
    with np.errstate(all="ignore"):
        if random.random() < 0.2:
            X *= 10.0 ** random.uniform(-320, 300)
        X = X.astype(random.choice(["float32", "float64", "float16", "int8", "int64"])) if random.random() < 0.5 else X
    if random.random() < 0.6:
        form = random.choice(["csr", "csc", "coo", "bsr"])
        X = sp.random(*X.shape, density=0.5, random_state=int(random.integers(100)), format=form)
        if random.random() < 0.7:
            _break(X, random)
        return X
    if random.random() < 0.2:
        return X[::2, ::-1]
    return np.asfortranarray(X) if random.random() < 0.2 else X


def _break(X: Any, random: np.random.Generator) -> None:
    names = ("row", "col") if X.format == "coo" else ("indices", "indptr")
    array = getattr(X, str(random.choice(names)))
    if len(array):
        array[random.integers(len(array))] = random.choice([-1, 0, 1, 7, 1000, 2**30, -(2**31)])


def _settings(random: np.random.Generator) -> dict[str, Any]:
    settings: dict[str, Any] = {"max_iter": 3, "random_state": 0, "time_budget": 1.0}
    if random.random() < 0.3:
        settings[str(random.choice(["lam", "C"]))] = 10.0 ** random.uniform(-320, 300)
    if random.random() < 0.3:
        settings["regularize_intercept"] = False
    return settings


def _kernel(random: np.random.Generator) -> str:
    return str(random.choice(["rbf", "poly", "laplacian", "chi2", "linear"]))


def _schemes(random: np.random.Generator) -> dict[str, str]:
    return {"multi_class": str(random.choice(["ovr", "ovo"]))}


_ESTIMATORS: list[Any] = [
    lambda random: PegasosClassifier(**_settings(random), **_schemes(random)),
    lambda random: PegasosClassifier(multi_class="crammer_singer", max_iter=3, random_state=0),
    lambda random: PegasosClassifier(loss="squared_hinge", **_settings(random)),
    lambda random: PegasosClassifierCV(lams=3, cv=2, max_iter=3, random_state=0),
    lambda random: KernelPegasosClassifier(_kernel(random), **_settings(random), **_schemes(random)),
    lambda random: PegasosRegressor(**_settings(random)),
    lambda random: KernelPegasosRegressor(_kernel(random), **_settings(random)),
    lambda random: PegasosOneClass(nu=0.3, max_iter=3, random_state=0, time_budget=1.0),
    lambda random: svm.SVC(C=10.0 ** random.uniform(-20, 20), max_iter=100, time_budget=1.0),
    lambda random: svm.SVR(C=10.0 ** random.uniform(-20, 20), max_iter=100, time_budget=1.0),
    lambda random: svm.NuSVC(nu=0.2, max_iter=100, time_budget=1.0),
    lambda random: svm.OneClassSVM(max_iter=100, time_budget=1.0),
    lambda random: svm.LinearSVC(C=10.0 ** random.uniform(-20, 20), max_iter=10, time_budget=1.0),
]


def hunt(random: np.random.Generator) -> dict[str, int]:
    """One input to one estimator."""
    X = some_matrix(random)
    y = random.integers(0, int(random.integers(1, 4)), X.shape[0])
    weights = None if random.random() < 0.6 else random.choice([*_strange, 1.0, -1.0], X.shape[0])
    make = _ESTIMATORS[int(random.integers(len(_ESTIMATORS)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = make(random).fit(X, y, sample_weight=weights)
            model.predict(X)
            if hasattr(model, "certified"):
                model.certified(X)
        except (PegasosError, ValueError) as error:  # scikit-learn's checks raise ValueError
            return {"hostile arrays refused": 1} if str(error).strip() else {"errors without words": 1}
    return {"hostile arrays learnt from": 1}
