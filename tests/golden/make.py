"""Writes the golden files of the present layout: ``python -m tests.golden.make``.

Run it once, when the layout changes or a kind of model is added; existing files are not changed,
for they stand for the models that people have kept.
"""

import json
import warnings
from pathlib import Path

import numpy as np

from pegasos import (
    AutoPegasos,
    AutoPegasosRegressor,
    KernelPegasosOneClass,
    KernelPegasosRegressor,
    PegasosOneClass,
    PegasosRegressor,
    PegasosRegressorCV,
)
from pegasos.persistence.models import _LAYOUT
from tests.unit.persistence.mutations import X, sources, two

FOLDER = Path(__file__).parent / f"layout-{_LAYOUT}"


def plain(rows):
    """Rows as JSON has them."""
    if isinstance(rows, np.ndarray):
        return rows.tolist()
    if isinstance(rows[0], tuple):  # graphs
        return [[np.asarray(getattr(a, "toarray", lambda a=a: a)()).tolist(), labels] for a, labels in rows]
    return [item.tolist() if isinstance(item, np.ndarray) else item for item in rows]


def models():
    """Name, model and rows of each golden file."""
    for number, (model, rows, _) in enumerate(sources()):
        yield f"{number:02}-{type(model).__name__}", model, rows
    auto = AutoPegasos(time_budget=None, n_trials=3, cv=2, random_state=0).fit(X, two)
    yield "19-AutoPegasos", auto, X
    settings = {"lam": 1e-2, "epsilon": 0.1, "random_state": 0}
    yield "20-PegasosRegressor", PegasosRegressor(**settings).fit(X, X[:, 0]), X
    yield "21-KernelPegasosRegressor", KernelPegasosRegressor(**settings).fit(X, X[:, 0]), X
    yield "22-PegasosOneClass", PegasosOneClass(nu=0.3, random_state=0).fit(X + 3.0), X + 3.0
    yield "23-KernelPegasosOneClass", KernelPegasosOneClass(nu=0.3, random_state=0).fit(X), X
    yield "24-PegasosRegressorCV", PegasosRegressorCV(3, cv=2, random_state=0).fit(X, X[:, 0]), X
    search = AutoPegasosRegressor(time_budget=None, n_trials=3, cv=2, random_state=0).fit(X, X[:, 0])
    yield "25-AutoPegasosRegressor", search, X


def write(name, model, rows):
    """The model, and beside it what it says of some rows."""
    path = FOLDER / f"{name}.pegasos"
    if path.exists():
        return
    model.save(path)
    told = {"rows": plain(rows), "predict": model.predict(rows).tolist()}
    if hasattr(model, "decision_function"):
        told["decision_function"] = model.decision_function(rows).tolist()
    path.with_suffix(".json").write_text(json.dumps(told), encoding="utf8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in models():
            write(*each)
