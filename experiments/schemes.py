"""Which way of telling many classes apart, when lam is tuned for each: linear and RBF machines on up to 15 data sets.

    python -m experiments.schemes [--quick]

Writes docs/experiments/schemes.json and the page made from it; ``--quick`` takes two small data sets and writes
nothing.
"""

import sys
import tracemalloc
import warnings
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from experiments import command, data, judging, multiclass, pages, pictures
from pegasos import GapWarning, KernelPegasosClassifier, PegasosClassifier

words = multiclass.words
grids = {"linear": [10.0**-k for k in range(-1, 6)], "rbf": [10.0**-k for k in range(1, 7)]}
schemes = {"linear": ("ovr", "ovo", "crammer_singer"), "rbf": ("ovr", "ovo")}
most_rows = {"linear": 1500, "rbf": 1500}
seeds = {"linear": (0, 1), "rbf": (0, 1, 2)}
_TOL_OF_SEARCH, _TOL = 1e-2, 1e-3
_FAR = 0.02  # below the best accuracy: two in a row end a search, which goes from large to small lam
_NOISE = 0.005  # smaller differences of accuracy count as none
rifkin = "Rifkin, Klautau: In defense of one-vs-all classification. JMLR 5, 2004"
hsu = "Hsu, Lin: A comparison of methods for multiclass support vector machines. IEEE Trans. Neural Networks 13, 2002"


def stored(name: str) -> Callable[[], tuple[Any, np.ndarray]]:
    """The rows of a file with their labels."""

    def read() -> tuple[Any, np.ndarray]:
        arrays = data.read(name)
        return data.matrix(arrays), arrays["y"]

    return read


def joined(task: Callable[[], multiclass.Task]) -> Callable[[], tuple[Any, np.ndarray]]:
    """All rows of a task of the other experiment."""

    def read() -> tuple[Any, np.ndarray]:
        found = task()
        rows = (found.X, found.X_test)
        return sp.vstack(rows, "csr") if sp.issparse(found.X) else np.vstack(rows), np.r_[found.y, found.y_test]

    return read


sources: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    **{name: stored(name) for name in ("letter", "satimage", "shuttle", "covtype", "dna", "isolet", "usps")},
    **{name: stored(name) for name in ("mnist", "fashion_mnist", "ocr_letters")},
    "reuters21578, 10 topics": joined(multiclass.reuters),
    "trec6": joined(multiclass.trec6),
}


def split(name: str, limit: int, seed: int) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Training and test rows, scaled by the former, and labels; classes of fewer than six rows are left out."""
    X, y = sources[name]()
    counts = dict(zip(*np.unique(y, return_counts=True), strict=True))
    keep = np.flatnonzero([counts[label] >= 6 for label in y])
    keep = np.random.default_rng(seed).permutation(keep)[: 2 * limit + 1000]
    size = min(limit, 2 * len(keep) // 3)
    X, X_test, y, y_test = train_test_split(X[keep], y[keep], train_size=size, random_state=seed)
    scaler = (MaxAbsScaler() if sp.issparse(X) or name == "dna" else StandardScaler()).fit(X)
    return scaler.transform(X).astype(np.float32), scaler.transform(X_test).astype(np.float32), y, y_test


def machine(kind: str, scheme: str, lam: float, tol: float) -> Any:
    """One machine, in one thread."""
    make = PegasosClassifier if kind == "linear" else KernelPegasosClassifier
    return make(lam=lam, multi_class=scheme, tol=tol, n_jobs=1, random_state=0)


def tuned(kind: str, scheme: str, X: Any, y: np.ndarray) -> tuple[float, float]:
    """The lam of the best accuracy on a held-out third, the larger one of equals, and the seconds of the search."""
    half, rest, y_half, y_rest = train_test_split(X, y, test_size=1 / 3, random_state=0)
    begun = process_time()
    scores: list[float] = []
    for lam in grids[kind]:
        scores.append(machine(kind, scheme, lam, _TOL_OF_SEARCH).fit(half, y_half).score(rest, y_rest))
        if max(scores[-2:]) < max(scores) - _FAR:
            break
    return grids[kind][int(np.argmax(scores))], process_time() - begun


def measured(kind: str, scheme: str, parts: tuple[Any, Any, np.ndarray, np.ndarray]) -> dict[str, float]:
    """Accuracy on the test rows, processor seconds of search, fit and prediction, and the peak of memory of a fit."""
    X, X_test, y, y_test = parts
    lam, searched = tuned(kind, scheme, X, y)
    begun = process_time()
    model = machine(kind, scheme, lam, _TOL).fit(X, y)
    fitted = process_time()
    accuracy = model.score(X_test, y_test)
    predicted = process_time()
    tracemalloc.start()
    machine(kind, scheme, lam, _TOL).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "accuracy": round(float(accuracy), 4),
        "lam": lam,
        "relative_gap": model.certificate_.relative_gap,
        "search": searched,
        "fit": fitted - begun,
        "predict": 1e6 * (predicted - fitted) / len(y_test),
        "megabytes": peak / 2**20,
    }


def measure(quick: bool) -> dict[str, Any]:
    """Every way on every data set, for several drawings of the rows."""
    begun, found = perf_counter(), {}
    warnings.simplefilter("ignore", GapWarning)
    for kind, ways in schemes.items():
        for name in ("iris", "wine") if quick else sources:
            runs: dict[str, list[dict[str, float]]] = {scheme: [] for scheme in ways}
            for seed in seeds[kind][: 1 if quick else None]:
                parts = split(name, most_rows[kind], seed)
                for scheme, each in runs.items():
                    each.append(measured(kind, scheme, parts))
            means = {
                scheme: {key: float(f"{np.mean([run[key] for run in each]):.4g}") for key in each[0]}
                | {"spread": round(float(np.std([run["accuracy"] for run in each])), 4)}
                for scheme, each in runs.items()
            }
            sizes = {"n_rows": len(parts[2]), "n_features": parts[0].shape[1], "n_classes": len(np.unique(parts[2]))}
            found.setdefault(kind, {})[name] = sizes | {"schemes": means}
            print(kind, name, {scheme: (m["accuracy"], m["fit"]) for scheme, m in means.items()}, flush=True)
    results = {
        "n_seeds": {kind: len(each) for kind, each in seeds.items()},
        "seconds": round(perf_counter() - begun),
        "found": found,
    }
    return results | {"picture": "schemes.png"}


def compared(found: dict[str, Any], one: str, other: str) -> dict[str, Any]:
    """How one way fares against another, over all data sets of a machine."""
    pairs = [(each["schemes"][one], each["schemes"][other]) for each in found.values()]
    gains = np.array([a["accuracy"] - b["accuracy"] for a, b in pairs])
    times = [a["fit"] / b["fit"] for a, b in pairs]
    return {
        "gain_over_data": judging.interval(100 * gains),
        "time_over_data": judging.interval(np.log(times)),
        "ahead": int((gains > _NOISE).sum()),
        "behind": int((gains < -_NOISE).sum()),
        "gain": float(gains.mean()),
        "least": float(gains.min()),
        "time": float(np.exp(np.mean(np.log(times)))),
    }


def _told(found: dict[str, Any], one: str, other: str) -> str:
    each = compared(found, one, other)
    return (
        f"{words[one]} is ahead of {words[other]} by more than {100 * _NOISE:g} points on {each['ahead']} of "
        f"{len(found)} data sets and behind on {each['behind']} ({100 * each['gain']:+.1f} points on average, "
        f"{100 * each['least']:+.1f} at worst), in {each['time']:.2g} times the time"
    )


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the two papers say of tuned machines."""
    found = results["found"]
    tied = {kind: compared(found[kind], "ovo", "ovr") for kind in found}
    return [
        pages.claim(
            rifkin,
            "with well-tuned SVMs one against the rest is as accurate as any other scheme (shown for kernels).",
            tied["rbf"]["gain_over_data"].verdict(most=100 * _NOISE),
            f"With a kernel, one against one differs from one against the rest by {tied['rbf']['gain_over_data']} "
            "points of accuracy over the data sets. "
            f"RBF: {_told(found['rbf'], 'ovo', 'ovr')}. Linear: {_told(found['linear'], 'ovo', 'ovr')}; "
            f"{_told(found['linear'], 'crammer_singer', 'ovr')}.",
        ),
        pages.claim(
            hsu,
            "one against one is more suitable for practical use: as accurate, and faster to train.",
            judging.together(
                *(each["gain_over_data"].verdict(least=-100 * _NOISE) for each in tied.values()),
                *(each["time_over_data"].verdict(most=0.0) for each in tied.values()),
            ),
            f"RBF: {tied['rbf']['time']:.2g} times the time (logarithm {tied['rbf']['time_over_data']}) and "
            f"{tied['rbf']['gain_over_data']} points; linear: {tied['linear']['time']:.2g} times the time (logarithm "
            f"{tied['linear']['time_over_data']}) and {tied['linear']['gain_over_data']} points.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Accuracies of the ways on each data set."""
    figure, panels = pictures.panels(2, width=5.2, height=5.0)
    for axes, (kind, found) in zip(panels, results["found"].items(), strict=True):
        columns = {words[s]: [each["schemes"][s]["accuracy"] for each in found.values()] for s in schemes[kind]}
        errors = {words[s]: [each["schemes"][s]["spread"] for each in found.values()] for s in schemes[kind]}
        pictures.dots(axes, list(found), columns, errors)
        axes.set(title=f"{kind}, lam tuned", xlabel="accuracy")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    pictures.save(figure, results["picture"])


def _table(found: dict[str, Any], kind: str, key: str, form: str) -> str:
    header = ["data", "rows", "features", "classes", *(words[scheme] for scheme in schemes[kind])]
    return pages.table(
        header,
        [
            [name, each["n_rows"], each["n_features"], each["n_classes"]]
            + [form.format(each["schemes"][scheme][key]) for scheme in schemes[kind]]
            for name, each in found.items()
        ],
    )


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    parts = []
    for kind, found in results["found"].items():
        name = {"linear": "Linear machines", "rbf": "RBF kernel"}[kind]
        for title, key, form in (
            ("accuracy on the test rows", "accuracy", "{:.3f}"),
            ("the lam chosen, mean", "lam", "{:.1g}"),
            ("relative gap at the end of the fit", "relative_gap", "{:.1g}"),
            ("processor seconds of a fit", "fit", "{:.3g}"),
            ("processor seconds of the search for lam", "search", "{:.3g}"),
            ("microseconds per predicted row", "predict", "{:.2g}"),
            ("peak megabytes of a fit in addition to the rows", "megabytes", "{:.2g}"),
        ):
            parts.append(f"## {name}: {title}\n\n{_table(found, kind, key, form)}")
    body = "\n".join(parts)
    return f"""# Multiclass schemes, lam tuned for each

If you choose `multi_class`: how do accuracy, time and memory of the schemes compare, when lam is tuned for each?

Generated by `python -m experiments.schemes` from `schemes.json`.

{pages.claims(results)}
![Accuracy of each scheme on each data set, with its standard deviation]({results["picture"]})

Each draw has at most {most_rows["linear"]:,} training samples. Numbers are means of {results["n_seeds"]["linear"]}
draws for linear models and of {results["n_seeds"]["rbf"]} for the RBF kernel (gamma="scale"). Features have mean 0 and
variance 1; sparse ones are divided by their largest value. lam is chosen on a held-out third of the training data, from
10, 1, ... 1e-5 for linear models and from 1e-1, 1e-2, ... 1e-6 for the kernel. The search goes from large to small and
ends after two values that are {100 * _FAR:g} points below the best. Fits of the search end at a proved relative gap of
{_TOL_OF_SEARCH:g}, the final fit at {_TOL:g}. All fits use one thread; the run took {results["seconds"]} seconds.

{body}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
