"""Many classes: one against the rest, one against one and Crammer-Singer, on six data sets, beside LinearSVC.

    python -m experiments.multiclass [--quick]

Writes docs/experiments/multiclass.json and the page made from it; ``--quick`` takes few rows and writes nothing.
"""

import math
import sys
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

from experiments import command, data, judging, pages, pictures
from pegasos import GapWarning, PegasosClassifier

tol = 1e-3
words = {"ovr": "one against the rest", "ovo": "one against one", "crammer_singer": "Crammer-Singer"}
_LONG = 2.0  # seconds: what takes longer is timed once


@dataclass(frozen=True)
class Task:
    """Training and test rows in float32, their labels, and C."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    C: float


def task_of(rows: Any, labels: np.ndarray, is_test: np.ndarray, C: float) -> Task:
    """The two parts of the rows."""
    rows = rows.astype(np.float32)
    return Task(rows[~is_test], labels[~is_test], rows[is_test], labels[is_test], C)


def letter() -> Task:
    """Sixteen measurements from 0 to 15; the last 4,000 rows are the test rows."""
    arrays = data.read("letter")
    n = len(arrays["y"])
    return task_of(arrays["X"] / 15.0, arrays["y"], np.arange(n) >= 4 * n // 5, 10.0)


def satimage() -> Task:
    """Brightness of a pixel and its neighbors in four bands, by 255; a random quarter are the test rows."""
    arrays = data.read("satimage")
    is_test = np.random.default_rng(0).permutation(len(arrays["y"])) < len(arrays["y"]) // 4
    return task_of(arrays["X"] / 255.0, arrays["y"], is_test, 10.0)


def usps() -> Task:
    """Pixels from -1 to 1."""
    arrays = data.read("usps")
    return task_of(arrays["X"], arrays["y"], arrays["split"] == 1, 0.1)


def mnist() -> Task:
    """Pixels from 0 to 1."""
    arrays = data.read("mnist")
    return task_of(np.divide(arrays["X"], 255, dtype=np.float32), arrays["y"], arrays["split"] == 1, 0.1)


def trec6() -> Task:
    """Words of questions."""
    arrays = data.read("trec6")
    return _texts(arrays, arrays["y"], np.ones(len(arrays["y"]), bool))


def reuters() -> Task:
    """The documents of exactly one of the ten largest topics."""
    arrays = data.read("reuters21578")
    n, topics = len(arrays["y"]), arrays["Y_indices"]
    largest = np.argsort(-np.bincount(topics), kind="stable")[:10]
    of_row = np.repeat(np.arange(n), np.diff(arrays["Y_indptr"]))
    chosen = np.isin(topics, largest)
    labels = np.zeros(n, np.int64)
    labels[of_row[chosen]] = topics[chosen]
    return _texts(arrays, labels, np.bincount(of_row[chosen], minlength=n) == 1)


def _texts(arrays: dict[str, np.ndarray], labels: np.ndarray, chosen: np.ndarray) -> Task:
    """Counts of words as tf-idf, the weights of the words learnt from the training rows."""
    parts = arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]
    counts, is_test = sp.csr_matrix(parts, shape=tuple(arrays["shape"])), arrays["split"] == 1
    weighting = TfidfTransformer().fit(counts[chosen & ~is_test])
    return task_of(sp.csr_matrix(weighting.transform(counts[chosen])), labels[chosen], is_test[chosen], 1.0)


tasks: dict[str, Callable[[], Task]] = {
    "letter": letter,
    "satimage": satimage,
    "usps": usps,
    "mnist": mnist,
    "reuters21578, 10 topics": reuters,
    "trec6": trec6,
}


def machines(C: float) -> dict[str, Any]:
    """All with the same C, an intercept regularized as a constant feature of 1, and one thread."""
    ours = {f"ours, {words[word]}": PegasosClassifier(C=C, multi_class=word, tol=tol, random_state=0) for word in words}
    svc = LinearSVC(C=C, loss="hinge", tol=tol, random_state=0)
    joint = LinearSVC(C=C, multi_class="crammer_singer", tol=tol, random_state=0)
    theirs = {
        "LinearSVC, one against the rest": svc,
        "LinearSVC, one against one": OneVsOneClassifier(svc),
        "LinearSVC, Crammer-Singer": joint,
    }
    return ours | theirs


def measured(model: Any, task: Task) -> dict[str, Any]:
    """Test accuracy, and seconds of the fit: the best of three, unless it takes long.

    All machines use one thread. Its own time says more on a machine with other work than the time of the clock.
    """
    seconds: list[float] = []
    elapsed: list[float] = []
    while len(seconds) < 3 and sum(elapsed) < _LONG:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begun, begun_here = perf_counter(), process_time()
            model.fit(task.X, task.y)
            seconds.append(process_time() - begun_here)
            elapsed.append(perf_counter() - begun)
    ended_early = any(issubclass(each.category, ConvergenceWarning | GapWarning) for each in caught)
    proof = getattr(model, "certificate_", None)
    return {
        "accuracy": round(float(model.score(task.X_test, task.y_test)), 4),
        "seconds": float(f"{min(seconds):.3g}"),
        "elapsed": float(f"{min(elapsed):.3g}"),
        "ended_early": ended_early,
        "relative_gap": None if proof is None else float(f"{proof.relative_gap:.2g}"),
        "certified": None if proof is None else round(float(model.certified(task.X_test).mean()), 4),
    }


def measure(quick: bool) -> dict[str, Any]:
    """Every machine on every task."""
    found = {}
    begun = perf_counter()
    for name, read in tasks.items():
        task = read()
        if quick:
            task = Task(task.X[:300], task.y[:300], task.X_test, task.y_test, task.C)
        results = {}
        for label, model in machines(task.C).items():
            results[label] = measured(model, task)
            print(name, label, results[label], flush=True)
        found[name] = {
            "n_rows": len(task.y),
            "n_features": task.X.shape[1],
            "n_classes": len(np.unique(task.y)),
            "C": task.C,
            "machines": results,
        }
    results_of_all = {"tol": tol, "seconds": round(perf_counter() - begun), "tasks": found}
    return results_of_all | {"picture": "multiclass.png"}


def _cell(result: dict[str, Any], key: str) -> str:
    mark = "*" if result["ended_early"] else ""
    return f"{result[key]:.4f}{mark}" if key == "accuracy" else f"{result[key]:.3g}{mark}"


def _table(results: dict[str, Any], key: str) -> str:
    found = results["tasks"]
    labels = list(next(iter(found.values()))["machines"])
    rows = [[name, *(_cell(task["machines"][label], key) for label in labels)] for name, task in found.items()]
    return pages.table(["data", *labels], rows)


def outcome(results: dict[str, Any]) -> str:
    """The result, in one sentence made from the numbers."""
    each = [task["machines"] for task in results["tasks"].values()]
    rest, pairs = ([task[f"ours, {words[word]}"] for task in each] for word in ("ovr", "ovo"))
    better = sum(pair["accuracy"] > one["accuracy"] for one, pair in zip(rest, pairs, strict=True))
    gain = float(np.mean([pair["accuracy"] - one["accuracy"] for one, pair in zip(rest, pairs, strict=True)]))
    ratios = [pair["seconds"] / one["seconds"] for one, pair in zip(rest, pairs, strict=True)]
    ratio = math.exp(float(np.mean(np.log(ratios))))
    return (
        f"With the same C, one against one is more accurate than one against the rest on {better} of {len(each)} data "
        f"sets, by {100 * gain:.1f} points on average over all, and takes {ratio:.2g} times as long (geometric mean, "
        f"from {min(ratios):.2g} to {max(ratios):.2g})."
    )


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the sources say of the three ways."""
    rest, pairs, joint = (
        {name: each["machines"][f"ours, {way}"] for name, each in results["tasks"].items()}
        for way in ("one against the rest", "one against one", "Crammer-Singer")
    )
    times = [pairs[name]["seconds"] / rest[name]["seconds"] for name in rest]
    logs = judging.interval(np.log(times))
    ahead = [name for name in rest if joint[name]["accuracy"] >= rest[name]["accuracy"]]
    gain = judging.interval([100 * (joint[name]["accuracy"] - rest[name]["accuracy"]) for name in rest])
    return [
        pages.claim(
            pages.slides,
            "the drawback of one against one is its time: K (K - 1) / 2 classifiers where one against the rest has K.",
            logs.verdict(least=0.0),
            f"It takes {np.exp(logs.middle):.2g} times as long on average, from {min(times):.2g} to {max(times):.2g} "
            f"(the logarithm is {logs} over {len(rest)} data sets): more classifiers, but each sees only the rows of "
            "two "
            "classes, which are easier to separate.",
        ),
        pages.claim(
            pages.notes,
            "one against the rest has trouble with points between its classifiers; training all classes at once "
            "(Crammer-Singer) is the alternative.",
            gain.verdict(least=0.0),
            f"Crammer-Singer is at least as accurate on {len(ahead)} of {len(rest)} data sets, and {gain} points more "
            "accurate on average.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Accuracy and seconds of the machines on each data set."""
    found = results["tasks"]
    figure, panels = pictures.panels(2, width=5.2, height=4.2)
    for axes, key in zip(panels, ("accuracy", "seconds"), strict=True):
        labels = next(iter(found.values()))["machines"]
        columns = {label: [task["machines"][label][key] for task in found.values()] for label in labels}
        pictures.dots(axes, list(found), columns)
    panels[0].set(title="Accuracy on the test data", xlabel="accuracy")
    panels[1].set(title="Time of a fit", xlabel="processor seconds", xscale="log", yticklabels=[])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    found = results["tasks"].items()
    sizes = pages.table(
        ["data", "training rows", "features", "classes", "C"],
        [[name, task["n_rows"], task["n_features"], task["n_classes"], f"{task['C']:g}"] for name, task in found],
    )
    certified = pages.table(
        ["data", *(words[word] for word in words)],
        [
            [
                name,
                *(
                    f"{result['certified']:.3f}"
                    for label, result in task["machines"].items()
                    if label.startswith("ours")
                ),
            ]
            for name, task in found
        ],
    )
    return f"""# Multiclass schemes with one C for all

If you choose `multi_class`: how do accuracy, time and certified predictions of the schemes compare, with the same C?
([Another page](schemes.md) tunes each scheme separately.)

Generated by `make experiments-multiclass` from `multiclass.json`.

{textwrap.fill(outcome(results), 120)}

{pages.claims(results)}
![Accuracy and time of each machine on each data set]({results["picture"]})

{sizes}
Linear machines on float32 rows. The features of letter are divided by 15, pixels by 255; text is tf-idf. C is one
number per data set, not tuned, and the same for all models; the intercept is the weight of a constant feature of 1,
regularized; one thread. Ours end at a proved relative gap of {results["tol"]:g}, LinearSVC by its own rule with
tol={results["tol"]:g}; a star means that it stopped at its limit of 1,000 iterations instead. From Reuters, the
documents with exactly one of the ten largest topics are used; one topic has no such document among the training rows,
and one a single document. With one C, one against one regularizes a pair as if its rows were the whole data set (see
[which one](../multiclass.md#which-one)). The run took {results["seconds"]} seconds.

## Accuracy on the test rows

{_table(results, "accuracy")}
## Processor seconds for a fit

{_table(results, "seconds")}
## Share of test predictions that no exact solution would change

{certified}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
