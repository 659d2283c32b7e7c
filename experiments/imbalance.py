"""Rare classes: costs that balance them against LIBLINEAR's, and what balanced draws reach within a few epochs.

    python -m experiments.imbalance [--quick]

Writes docs/experiments/imbalance.json and the page made from it; ``--quick`` takes one split and writes nothing.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from textwrap import fill
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from experiments import command, data, judging, pages, pictures
from pegasos import PegasosClassifier

seed = 0
costs = {"w8a": 0.1, "sms_spam": 1.0, "kddcup99": 0.1}  # C of every machine on a data set
rare_connection = "portsweep"
kdd_rows = 60_000
epochs = (1, 2, 5)
measures: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "balanced accuracy": lambda y, scores: balanced_accuracy_score(y, scores > 0),
    "average precision": average_precision_score,
    "AUC": roc_auc_score,
}

Split = tuple[sp.csr_matrix, np.ndarray, sp.csr_matrix, np.ndarray]


def splits(name: str, n_splits: int) -> Iterator[Split]:
    """Training rows, whether each is of the rare class, test rows, and the same of them."""
    arrays = data.read(name)
    X, y = data.matrix(arrays), arrays["y"] > 0
    if name == "kddcup99":
        names = bytes(arrays["class_names__txt"]).decode("utf8").split("\0")
        y, is_test = arrays["y"] == names.index(rare_connection), arrays["split"] == 1
        X.data = np.log1p(np.abs(X.data))  # counts and bytes spread over nine orders of magnitude
        train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
        X = MaxAbsScaler().fit(X[train]).transform(X)
        samples = StratifiedShuffleSplit(n_splits, train_size=min(kdd_rows, len(train) // 2), random_state=seed)
        parts = [(train[part], test) for part, _ in samples.split(train, y[train])]
    else:
        parts = list(StratifiedShuffleSplit(n_splits, test_size=0.25, random_state=seed).split(X, y))
    for train, test in parts:
        rows, others = X[train], X[test]
        if name == "sms_spam":
            weights = TfidfTransformer().fit(rows)
            rows, others = (sp.csr_matrix(weights.transform(part), dtype=np.float32) for part in (rows, others))
        yield rows, y[train], others, y[test]


def machines(name: str, y: np.ndarray) -> dict[str, Any]:
    """What is compared, all with the same C, intercept and loss."""
    C = costs[name]
    ratio = float(np.sqrt((~y).sum() / y.sum()))
    exact = {"C": C, "random_state": seed}
    found: dict[str, Any] = {
        "LinearSVC": LinearSVC(loss="hinge", max_iter=100_000, **exact),
        "LinearSVC, balanced": LinearSVC(loss="hinge", max_iter=100_000, class_weight="balanced", **exact),
        "ours": PegasosClassifier(**exact),
        "ours, root of the ratio": PegasosClassifier(class_weight={True: ratio, False: 1.0}, **exact),
        "ours, balanced": PegasosClassifier(class_weight="balanced", **exact),
    }
    few = {"solver": "pegasos", "class_weight": "balanced", "tol": None, **exact}
    for n_epochs in epochs:
        for sampling in ("shuffle", "balanced"):
            word = f"Pegasos, balanced, {_epochs(n_epochs)}, {sampling}"
            found[word] = PegasosClassifier(sampling=sampling, max_iter=n_epochs, **few)
    return found


def _epochs(n_epochs: int) -> str:
    return "1 epoch" if n_epochs == 1 else f"{n_epochs} epochs"


def measured(model: Any, split: Split, best: float) -> dict[str, float]:
    """What a machine reaches on the test rows, how far its objective is from the best, and how long it took."""
    X, y, test_X, test_y = split
    begun = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - begun
    scores = model.decision_function(test_X)
    found = {name: float(measure(test_y, scores)) for name, measure in measures.items()}
    if model.class_weight == "balanced" and hasattr(model, "certificate_"):
        found["objective"] = model.certificate_.primal / best
    return found | {"seconds": seconds}


def measure(quick: bool) -> dict[str, Any]:
    """Each machine on each split, and copies against costs."""
    warnings.simplefilter("error", ConvergenceWarning)  # of which ours is one
    results: dict[str, Any] = {"found": _of_splits(1 if quick else 5), "seed": seed, "copies": copies()}
    return results | {"picture": "imbalance.png"}


def _of_splits(n_splits: int) -> list[dict[str, Any]]:
    found = []
    for name, C in costs.items():
        values: dict[str, list[dict[str, float]]] = {}
        n_train, n_rare = 0, 0
        for split in splits(name, n_splits):
            X, y, _, _ = split
            n_train, n_rare = len(y), int(y.sum())
            exact = PegasosClassifier(C=C, class_weight="balanced", tol=1e-6, max_iter=10_000, random_state=seed)
            best = exact.fit(X, y).certificate_.primal
            for word, model in machines(name, y).items():
                values.setdefault(word, []).append(measured(model, split, best))
        for word, rows in values.items():
            numbers = {key: _mean_and_spread([row[key] for row in rows]) for key in rows[0]}
            setting = {"data": name, "C": C, "n_train": n_train, "n_rare": n_rare, "n_splits": n_splits}
            found.append({**setting, "machine": word, **numbers})
            print(name, word, numbers, flush=True)
    return found


def copies() -> dict[str, Any]:
    """A cost of as many times as the rare class is rarer, and the rare rows that many times: how far apart."""
    X, y, _, _ = next(splits("sms_spam", 1))
    times = round((len(y) - int(y.sum())) / int(y.sum()))
    again = np.concatenate([np.arange(len(y)), np.repeat(np.flatnonzero(y), times - 1)])
    exact = {"C": costs["sms_spam"], "tol": 1e-8, "max_iter": 10_000, "random_state": seed}
    one = PegasosClassifier(class_weight={1: float(times)}, **exact).fit(X, y)
    other = PegasosClassifier(**exact).fit(X[again], y[again])
    apart = float(np.linalg.norm(one.coef_ - other.coef_) / np.linalg.norm(other.coef_))
    return {"data": "sms_spam", "times": times, "apart": float(f"{apart:.2g}")}


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the notes say of costs."""
    value = {(each["data"], each["machine"]): each["balanced accuracy"] for each in results["found"]}
    n_splits = results["found"][0]["n_splits"]
    names = list(dict.fromkeys(each["data"] for each in results["found"]))

    def gain(name: str) -> judging.Interval:
        """In points; the two machines' spreads over the splits as if they were independent, which is the safe side."""
        (balanced, its_spread), (plain, spread) = value[name, "ours, balanced"], value[name, "ours"]
        error = np.hypot(its_spread, spread) / np.sqrt(max(n_splits - 1, 1))
        return judging.around(100 * (balanced - plain), 100 * float(error), n_splits)

    gains = {name: gain(name) for name in names}
    same = results["copies"]
    return [
        pages.claim(
            pages.notes,
            "costs of N / (2 N+) and N / (2 N-) help where one class is rare.",
            judging.together(*(each.verdict(least=0.0) for each in gains.values())),
            "They raise balanced accuracy by "
            + ", ".join(f"{each} points ({name})" for name, each in gains.items())
            + ".",
        ),
        pages.claim(
            pages.notes,
            "with one red point for ten blue ones, such costs are the same as ten copies of the red point.",
            judging.every([same["apart"] < 1e-3]),
            f"On {same['data']}, a cost of {same['times']} for the rare class and {same['times']} copies of its "
            f"samples give weights that differ by {same['apart']:.1g} of their length, with a tolerance of 1e-8.",
        ),
    ]


def _mean_and_spread(values: list[float]) -> tuple[float, float]:
    return round(float(np.mean(values)), 4), round(float(np.std(values)), 4)


def draw(results: dict[str, Any]) -> None:
    """What each machine reaches, a panel for each data set."""
    names = list(dict.fromkeys(each["data"] for each in results["found"]))
    figure, panels = pictures.panels(1, len(names), width=8.4, height=3.0)
    for axes, name in zip(panels, names, strict=True):
        mine = [each for each in results["found"] if each["data"] == name]
        columns = {key: [each[key][0] for each in mine] for key in measures}
        spreads = {key: [each[key][1] for each in mine] for key in measures}
        pictures.dots(axes, [each["machine"] for each in mine], columns, spreads)
        axes.set(title=name)
    panels[-1].set_xlabel("on the test data")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    found = results["found"]
    names = list(dict.fromkeys(each["data"] for each in found))
    parts = []
    for name in names:
        mine = [each for each in found if each["data"] == name]
        first = mine[0]
        parts.append(
            f"## {name}\n\n{first['n_train']} training rows, {first['n_rare']} of them of the rare class "
            f"({first['n_rare'] / first['n_train']:.2%}); C={first['C']:g}.\n\n"
            + pages.table(["machine", *measures, "objective", "seconds"], [_row(each) for each in mine])
        )
    tables = "\n".join(parts)
    return f"""# Imbalanced classes: class weights and balanced sampling

If one of your classes is rare: what do class weights and balanced sampling change? Measured on three data sets.

Generated by `make experiments-imbalance` from `imbalance.json`; means over {found[0]["n_splits"]} splits, ± the
standard deviation. On each data set, all models have the same C and a regularized intercept. The names in the tables:

- `LinearSVC` is LIBLINEAR with the hinge loss; "ours" is `PegasosClassifier` with a relative gap of at most 1e-3.
- "balanced" models have the class weights N / (2 N_class). With "root of the ratio", the rare class has a weight of
  the square root of the ratio of the class sizes.
- "Pegasos" models end after a few epochs. They draw samples by shuffled epochs, or from the two classes in turn
  (`sampling="balanced"`).
- "Objective" is the balanced objective on the training data, divided by its minimum.

w8a and sms_spam (tf-idf) are split at random, with three quarters for training. kddcup99 is {rare_connection} against
everything else, with {kdd_rows} samples drawn from the official training part, and the whole official test part.

{pages.claims(results)}
![Balanced accuracy, average precision and AUC of each machine]({results["picture"]})

Means over the splits; the bars are the standard deviation.

{tables}
## Summary

{_sentences(found, names)}"""


def _row(each: dict[str, Any]) -> list[str]:
    objective = _times(each["objective"][0]) if "objective" in each else ""
    numbers = (f"{mean:.3f} ± {spread:.3f}" for mean, spread in (each[key] for key in measures))
    return [each["machine"], *numbers, objective, f"{each['seconds'][0]:.2f}"]


def _sentences(found: list[dict[str, Any]], names: list[str]) -> str:
    value = {(each["data"], each["machine"]): each for each in found}

    def change(one: str, other: str, keys: list[str]) -> str:
        return "; ".join(
            f"{name} " + ", ".join(f"{value[name, one][key][0] - value[name, other][key][0]:+.3f}" for key in keys)
            for name in names
        )

    apart = max(
        abs(value[name, f"ours{word}"][key][0] - value[name, f"LinearSVC{word}"][key][0])
        for name in names
        for word in ("", ", balanced")
        for key in measures
    )
    both = list(measures)[:2]
    lines = [
        f"- Ours and LIBLINEAR's are the same model: no mean differs by more than {apart:.4f}.",
        f"- Effect of balanced class weights on balanced accuracy and average precision: "
        f"{change('ours, balanced', 'ours', both)}. They move the threshold toward the rare class; the ranking does "
        "not necessarily improve.",
    ]
    for n_epochs in epochs:
        one, other = (f"Pegasos, balanced, {_epochs(n_epochs)}, {word}" for word in ("balanced", "shuffle"))
        above = "; ".join(
            f"{name} {_times(value[name, one]['objective'][0])} and {_times(value[name, other]['objective'][0])}"
            for name in names
        )
        lines.append(
            f"- Effect of balanced sampling after {_epochs(n_epochs)}, on balanced accuracy and average precision: "
            f"{change(one, other, both)}. Objectives with and without, divided by the minimum: {above}."
        )
    return "\n".join(fill(line, 120, subsequent_indent="  ") for line in lines) + "\n"


def _times(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 10.0 else f"{ratio:.0f}"


if __name__ == "__main__":
    command.run(sys.modules[__name__])
