"""How good the probabilities are: Brier scores and log losses against scikit-learn's calibration.

    python -m experiments.probabilities [--quick]

Writes docs/experiments/probabilities.json and the page made from it; ``--quick`` takes fewer rows and one split, and
writes nothing.
"""

import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from experiments import command, data, pages, pictures
from pegasos import PegasosClassifier

cost = 1.0
n_splits = 5
n_train, n_test = 3000, 3000
methods = ("PegasosClassifier(probability=True)", "CalibratedClassifierCV(LinearSVC())")


def problems() -> dict[str, tuple[Any, np.ndarray]]:
    """Rows, scaled, and labels: two classes, and several."""
    found = {}
    for name, scaler in {
        "a9a": MaxAbsScaler(),
        "spambase": StandardScaler(),
        "sms_spam": TfidfTransformer(),
        "w8a": MaxAbsScaler(),
        "satimage": StandardScaler(),
        "usps": MaxAbsScaler(),
    }.items():
        arrays = data.read(name)
        rows = scaler.fit_transform(data.matrix(arrays))
        found[name] = sp.csr_matrix(rows) if sp.issparse(rows) else rows, arrays["y"]
    return found


def scores_of(model: Any, rows: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """One method on one split: Brier score (summed over classes, halved), log loss, contradictions, seconds."""
    begun = perf_counter()
    model.fit(rows[train], y[train])
    seconds = perf_counter() - begun
    found = model.predict_proba(rows[test])
    is_right = model.classes_ == y[test][:, None]
    contradictions = model.classes_[found.argmax(axis=1)] != model.predict(rows[test])
    return {
        "brier": float(0.5 * np.square(found - is_right).sum(axis=1).mean()),
        "log_loss": float(log_loss(y[test], np.maximum(found, 1e-15), labels=model.classes_)),
        "contradictions": int(contradictions.sum()),
        "seconds": seconds,
    }


def measure(quick: bool) -> dict[str, Any]:
    """All problems, all splits, both methods: means and the standard error of the difference."""
    warnings.simplefilter("ignore")
    rows_of = {}
    for name, (rows, y) in problems().items():
        sizes = {"train_size": min(n_train, len(y) // 2), "test_size": min(n_test, len(y) // 2)}
        sizes = {key: value // 4 for key, value in sizes.items()} if quick else sizes
        splits = StratifiedShuffleSplit(1 if quick else n_splits, random_state=0, **sizes)
        found: dict[str, list[dict[str, float]]] = {method: [] for method in methods}
        for train, test in splits.split(rows, y):
            for method, model in _models().items():
                found[method].append(scores_of(model, rows, y, train, test))
        classes = len(np.unique(y))
        rows_of[name] = {"n_classes": classes, "copies": _copies(rows), **sizes, "methods": _summary(found)}
        print(name, rows_of[name]["methods"], flush=True)
    results = {"cost": cost, "n_splits": n_splits, "problems": rows_of}
    return results | {"picture": "probabilities.png"}


def _copies(rows: Any) -> int:
    """How many rows are the same as an earlier one."""
    keys = np.asarray(rows @ np.random.default_rng(0).normal(size=rows.shape[1])).ravel()
    return int(len(keys) - len(np.unique(keys)))


def _models() -> dict[str, Any]:
    theirs = LinearSVC(C=cost, loss="hinge", max_iter=100_000)
    models = (
        PegasosClassifier(C=cost, probability=True, random_state=0),
        CalibratedClassifierCV(theirs, cv=5, ensemble=False),
    )
    return dict(zip(methods, models, strict=True))


def _summary(found: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    summary: dict[str, Any] = {
        method: {key: float(np.mean([one[key] for one in ours])) for key in ours[0]} for method, ours in found.items()
    }
    mine, theirs = ([one["brier"] for one in found[method]] for method in methods)
    difference = np.subtract(mine, theirs)
    summary["difference"] = float(difference.mean())
    summary["standard_error"] = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(mine) > 1 else 0.0
    return summary


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """None: the notes call the class of the highest score the most probable one, and mean nothing else by it."""
    return []


def draw(results: dict[str, Any]) -> None:
    """Brier scores, and how far ours is from theirs."""
    found = {name: one["methods"] for name, one in results["problems"].items()}
    figure, (left, right) = pictures.panels(2, width=4.8)
    pictures.dots(left, list(found), {method: [one[method]["brier"] for one in found.values()] for method in methods})
    left.set(title="Brier score (lower is better)", xlabel="mean over the splits")
    left.legend(loc="best", fontsize=7)
    difference = {"ours - theirs": [one["difference"] for one in found.values()]}
    spread = {"ours - theirs": [2 * one["standard_error"] for one in found.values()]}
    pictures.dots(right, list(found), difference, spread)
    right.axvline(0.0, color="0.4", linewidth=1, linestyle="--")
    right.set(title="Ours minus theirs, ± two standard errors", xlabel="difference of Brier scores", yticklabels=[])
    right.locator_params(axis="x", nbins=5)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page."""
    lines = []
    for name, one in results["problems"].items():
        ours, theirs = (one["methods"][method] for method in methods)
        lines.append(
            [
                f"{name}, {one['n_classes']} classes",
                f"{ours['brier']:.4f}",
                f"{theirs['brier']:.4f}",
                f"{one['methods']['difference']:+.4f} ± {one['methods']['standard_error']:.4f}",
                f"{ours['log_loss']:.3f} / {theirs['log_loss']:.3f}",
                f"{ours['contradictions']:.1f} / {theirs['contradictions']:.1f}",
                f"{ours['seconds']:.2f} / {theirs['seconds']:.2f}",
            ]
        )
    worse = [
        name
        for name, one in results["problems"].items()
        if one["methods"]["difference"] > 2.0 * one["methods"]["standard_error"] + 1e-4
    ]
    verdict = "nowhere worse beyond two standard errors" if not worse else f"worse on {', '.join(worse)}"
    copies = ", ".join(f"{name} {one['copies']:,}" for name, one in results["problems"].items())
    header = ["data", "Brier, ours", "Brier, theirs", "difference", "log loss", "contradictions", "seconds"]
    return (
        "# Calibration of predict_proba\n\nIf you use `predict_proba`: how well is it calibrated, compared with "
        "scikit-learn?\n\n"
        f"`PegasosClassifier(C={results['cost']:g}, probability=True)` against scikit-learn's\n"
        f'`CalibratedClassifierCV(LinearSVC(C={results["cost"]:g}, loss="hinge"), ensemble=False)`, both by Platt\'s '
        f"method on five folds;\n{results['n_splits']} random splits, mean of the test parts. The Brier score is half "
        "the squared distance of the probabilities from the\ntruth. Contradictions are test rows where the likeliest "
        "class is not the one predicted. Pairs of numbers are ours / scikit-learn's.\n\n"
        f"![Brier scores of both methods, and their difference]({results['picture']})\n\n"
        f"{pages.table(header, lines)}\n"
        f"Our probabilities are {verdict}.\n\n"
        "Some rows occur more than once. In pegasos, all copies of a row share a fold; in scikit-learn they are "
        "spread over several, so "
        "that a model\nhas seen some of the rows it scores. The random splits of this table also put copies of "
        f"training rows into the test part,\nwhich favors such a model. Copies: {copies}.\n\n"
        "`make experiments-probabilities` makes this page; the numbers are in\n"
        "[probabilities.json](probabilities.json).\n"
    )


if __name__ == "__main__":
    command.run(sys.modules[__name__])
