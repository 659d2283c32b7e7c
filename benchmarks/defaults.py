"""Default against default: what an estimator gives to a user who sets nothing.

    python -m benchmarks.defaults [--repeat 3] [names ...]

LinearSVC(), SGDClassifier(), SVC(), PegasosClassifier() and KernelPegasosClassifier(), with nothing set but
`random_state=0`, on scikit-learn's bundled data and, where PEGASOS_DATA is set, on real data: at most 10,000 training
samples and 10,000 test samples. Tables are standardized by their training part; sparse rows are divided by their
length.

Each estimator minimizes an objective of its own. Its gap is measured against the optimum of that objective:
(P - D) / P, P and D being sums over its binary problems. P is computed here from the fitted coefficients in double
precision. D is a lower bound: for linear models that of a fit with the same objective to a gap of 1e-7, for kernel
models the dual value of the model's own coefficients (`kernels/objective.py`). Times are processor seconds of `fit`,
summed over threads, the best of `repeat` runs; a fit of more than five seconds is not repeated. results/defaults.json
has the results, and `python -m benchmarks.page` puts them into docs/speed.md.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC, LinearSVC

from benchmarks import collection, tables
from benchmarks.kernels.objective import gap, one_against_one, one_against_rest
from experiments.pages import table
from pegasos import KernelPegasosClassifier, PegasosClassifier

RESULTS = Path(__file__).parent / "results" / "defaults.json"
_BUNDLED: dict[str, Callable[..., Any]] = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}
_REAL = ("a9a", "covtype", "letter", "magic04", "mnist", "reuters_svmlight", "satimage", "spambase", "usps", "w8a")
_MOST_ROWS = 10_000
_LONG = 5.0  # seconds
_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")


class Data(NamedTuple):
    """Training and test part of a data set."""

    rows: Any
    labels: np.ndarray
    test_rows: Any
    test_labels: np.ndarray


def main() -> None:
    """Measure, print and write; results of other data sets are kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets; by default all at hand")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # LinearSVC's at max_iter: the gap says the same
    at_hand = [*_BUNDLED, *(_REAL if "PEGASOS_DATA" in os.environ else ())]
    order = [*_BUNDLED, *_REAL]
    rows = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    for name in arguments.names or at_hand:
        new = measure(name, load(name), arguments.repeat)
        rows = sorted([*(row for row in rows if row["data"] != name), new], key=lambda row: order.index(row["data"]))
        print(render([new]), flush=True)
        content = {"versions": tables.versions(_PACKAGES), "machine": tables.machine(), "rows": rows}
        RESULTS.write_text(json.dumps(content, indent=1) + "\n")


def load(name: str) -> Data:
    """A stratified random split, scaled by its training part."""
    X, y = _BUNDLED[name](return_X_y=True) if name in _BUNDLED else _real(name)
    n_train = min(_MOST_ROWS, 3 * len(y) // 4)
    n_test = min(_MOST_ROWS, len(y) - n_train)
    train_X, test_X, train_y, test_y = train_test_split(
        X, y, train_size=n_train, test_size=n_test, random_state=0, stratify=y
    )
    if sp.issparse(X):
        return Data(sp.csr_matrix(normalize(train_X)), train_y, sp.csr_matrix(normalize(test_X)), test_y)
    scaler = StandardScaler().fit(train_X)
    return Data(scaler.transform(train_X), train_y, scaler.transform(test_X), test_y)


def _real(name: str) -> tuple[Any, np.ndarray]:
    X, y = collection.read(Path(os.environ["PEGASOS_DATA"]) / f"{name}.npz")
    return X.astype(np.float64), y


def measure(name: str, data: Data, repeat: int) -> dict[str, Any]:
    """All estimators on one data set."""
    classes = len(np.unique(data.labels))
    row: dict[str, Any] = {"data": name, "shape": list(data.rows.shape), "classes": classes, "estimators": {}}
    for estimator, measured_gap in _ESTIMATORS:
        seconds, model = _best(lambda estimator=estimator: estimator(random_state=0), data, repeat)
        row["estimators"][estimator.__name__] = {
            "seconds": seconds,
            "accuracy": float(model.score(data.test_rows, data.test_labels)),
            "gap": measured_gap(model, data.rows, data.labels),
        }
    return row


def _best(make: Callable[[], Any], data: Data, repeat: int) -> tuple[float, Any]:
    best = np.inf
    for _ in range(repeat):
        begun = time.process_time()
        model = make().fit(data.rows, data.labels)
        best = min(best, time.process_time() - begun)
        if best > _LONG:
            break
    return best, model


def _linear_gap(model: Any, X: Any, y: np.ndarray) -> float:
    """Of LinearSVC, SGDClassifier and PegasosClassifier: lam/2 |w|^2 + mean loss, one class against the rest."""
    settings: dict[str, Any] = {
        "LinearSVC": {"C": 1.0, "loss": "squared_hinge"},
        "SGDClassifier": {"lam": 1e-4, "regularize_intercept": False},
        "PegasosClassifier": {"lam": 1e-4},
    }[type(model).__name__]
    exact = PegasosClassifier(**settings, tol=1e-7, time_budget=600.0).fit(X, y)
    lam, power = float(exact.lam_), 2 if settings.get("loss") else 1
    positive = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    signs = np.where(y[:, None] == positive, 1.0, -1.0)
    shortfalls = np.maximum(0.0, 1.0 - signs * (X @ model.coef_.T + model.intercept_))
    squares = np.sum(np.square(model.coef_), axis=1)
    if settings.get("regularize_intercept", True):
        squares = squares + np.square(model.intercept_)
    primal = float(np.sum(lam / 2 * squares + np.mean(shortfalls**power, axis=0)))
    return (primal - exact.certificate_.dual) / primal


def _kernel_gap(model: Any, X: Any, y: np.ndarray) -> float:
    """Of SVC, one pair of classes after the other, and of KernelPegasosClassifier, one class against the rest."""
    gamma = 1.0 / (X.shape[1] * _variance(X))
    if isinstance(model, SVC):
        return gap(X, gamma, model.C, one_against_one(model, y)).relative
    return gap(X, gamma, 1.0 / (model.lam * len(y)), one_against_rest(model, y)).relative


def _variance(X: Any) -> float:
    """The variance of all entries, from which both take ``gamma="scale"``."""
    return float(X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var())


_ESTIMATORS: tuple[tuple[type, Callable[[Any, Any, np.ndarray], float]], ...] = (
    (LinearSVC, _linear_gap),
    (SGDClassifier, _linear_gap),
    (PegasosClassifier, _linear_gap),
    (SVC, _kernel_gap),
    (KernelPegasosClassifier, _kernel_gap),
)


def render(rows: list[dict[str, Any]]) -> str:
    """One line per data set; time, test accuracy and gap of each estimator."""
    names = [estimator.__name__ for estimator, _ in _ESTIMATORS]
    lines = [
        [
            f"{row['data']}, {row['shape'][0]:,} x {row['shape'][1]:,}, {row['classes']} classes",
            *(_cell(row["estimators"][name]) for name in names),
        ]
        for row in rows
    ]
    return table(["data", *(f"`{name}()`" for name in names)], lines)


def _cell(one: dict[str, float]) -> str:
    size = one["gap"]
    gap_shown = "< 1e-6" if size < 1e-6 else f"{size:.0e}" if size < 0.01 else f"{size:.2f}"
    milliseconds = 1e3 * one["seconds"]
    time_shown = f"{milliseconds:,.0f}" if milliseconds >= 100.0 else f"{milliseconds:.2g}"
    return f"{time_shown} ms, {one['accuracy']:.3f}, {gap_shown}"


def summary(rows: list[dict[str, Any]]) -> str:
    """Means over the data sets, for each estimator."""
    parts = []
    for estimator, _ in _ESTIMATORS:
        found = [row["estimators"][estimator.__name__] for row in rows]
        accuracy = np.mean([one["accuracy"] for one in found])
        reached = sum(one["gap"] <= 1e-3 for one in found)
        parts.append(f"`{estimator.__name__}()` {accuracy:.3f} and {reached}")
    return f"Mean accuracy, and data sets of {len(rows)} with a gap of at most 1e-3: {', '.join(parts)}."


if __name__ == "__main__":
    main()
