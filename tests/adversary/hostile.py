"""Arrays, weights and labels changed at random: a model or an error message, never a crash."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV
from pegasos.errors import PegasosError

_strange = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 1e200)


def some_matrix(random: np.random.Generator) -> Any:
    """Rows of any type and form, some of their bytes changed."""
    X: Any = random.normal(size=(int(random.integers(2, 30)), int(random.integers(1, 6))))
    if random.random() < 0.3:
        X[random.integers(len(X)), random.integers(X.shape[1])] = random.choice(_strange)
    with np.errstate(all="ignore"):
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


def hunt(random: np.random.Generator) -> dict[str, int]:
    """One input to one estimator."""
    X = some_matrix(random)
    y = random.integers(0, int(random.integers(1, 4)), X.shape[0])
    weights = None if random.random() < 0.6 else random.choice([*_strange, 1.0, -1.0], X.shape[0])
    settings = {"max_iter": 3, "random_state": 0, "time_budget": 1.0}
    kernels = ["rbf", "poly", "laplacian", "chi2", "linear"]
    make = [
        lambda: PegasosClassifier(**settings),
        lambda: PegasosClassifier(multi_class="ovo", regularize_intercept=False, **settings),
        lambda: PegasosClassifierCV(lams=3, cv=2, max_iter=3, random_state=0),
        lambda: KernelPegasosClassifier(str(random.choice(kernels)), **settings),
    ][int(random.integers(4))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = make().fit(X, y, sample_weight=weights)
            model.predict(X)
            model.certified(X)
        except (PegasosError, ValueError) as error:  # scikit-learn's checks raise ValueError
            return {"hostile arrays refused": 1} if str(error).strip() else {"errors without words": 1}
    return {"hostile arrays learnt from": 1}
