"""What C does, and how to choose it: a validation part of 30 % against cross-validation.

python -m experiments.choosing_c [--quick]
"""

import sys
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from experiments import command, data, judging, pages, pictures
from pegasos import PegasosClassifier

costs = np.logspace(-2, 2, 9)
names = ("sms_spam", "sentence_polarity", "movie_reviews")
n_rows = 1200  # to choose and fit on
_WHY = " With so few held-out samples, differences below about two points are chance."


def accuracies(X: Any, y: np.ndarray, splits: Any) -> np.ndarray:
    """For each C, the mean over pairs of rows to fit on and rows to judge by."""
    return np.mean([[model_of(C).fit(X[a], y[a]).score(X[b], y[b]) for C in costs] for a, b in splits], axis=0)


def model_of(C: float) -> PegasosClassifier:
    """The machine; lam = 1 / (C N)."""
    return PegasosClassifier(C=C, tol=1e-3, max_iter=5000, random_state=0)


def slack_of(model: PegasosClassifier, X: Any, y: np.ndarray) -> float:
    """The mean of max(0, 1 - y score)."""
    return float(np.mean(np.maximum(0.0, 1.0 - y * model.decision_function(X))))


def last_best(values: np.ndarray) -> int:
    """The smallest C of the best accuracy."""
    return int(np.argmax(values))


def measure(quick: bool) -> dict[str, Any]:
    """The curves of one split, and what each way of choosing reaches over splits."""
    found = [_data_set(name, 1 if quick else 6) for name in (names[:1] if quick else names)]
    results = {"C": costs.tolist(), "n_rows": n_rows, "found": found}
    return results | {"picture": "choosing_c.png"}


def _data_set(name: str, draws: int) -> dict[str, Any]:
    X, y, _ = data.text(name)
    outer = StratifiedShuffleSplit(draws, train_size=min(n_rows, X.shape[0] // 2), random_state=0)
    reached: dict[str, list[float]] = {"70/30": [], "5 folds": [], "best on the test rows": []}
    chosen: dict[str, list[float]] = {"70/30": [], "5 folds": []}
    curve: dict[str, Any] = {}
    for draw, (train, test) in enumerate(outer.split(X, y)):
        fits = [model_of(C).fit(X[train], y[train]) for C in costs]
        of_test = np.array([fit.score(X[test], y[test]) for fit in fits])
        ways = {
            "70/30": StratifiedShuffleSplit(1, test_size=0.3, random_state=draw),
            "5 folds": StratifiedKFold(5, shuffle=True, random_state=draw),
        }
        for way, splitter in ways.items():
            at = last_best(accuracies(X[train], y[train], splitter.split(X[train], y[train])))
            reached[way].append(float(of_test[at]))
            chosen[way].append(float(costs[at]))
        reached["best on the test rows"].append(float(of_test.max()))
        if draw == 0:
            curve = {
                "slack": [float(f"{slack_of(fit, X[train], y[train]):.4g}") for fit in fits],
                "train_error": [round(1.0 - fit.score(X[train], y[train]), 4) for fit in fits],
                "test_error": (1.0 - of_test).round(4).tolist(),
                "length": [float(f"{np.linalg.norm(fit.coef_):.4g}") for fit in fits],
            }
    return {"data": name, "curve": curve, "reached": reached, "chosen": chosen}


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the sources say."""
    found = results["found"]
    falls = (
        np.diff(each["curve"]["slack"]).max() <= 0.002  # the tolerance leaves so much open
        and np.diff(np.log(each["curve"]["length"])).min() >= -0.02
        for each in found
    )
    lost = {
        each["data"]: judging.interval(
            100 * np.subtract(each["reached"]["best on the test rows"], each["reached"]["70/30"])
        )
        for each in found
    }
    folds = [np.mean(each["reached"]["5 folds"]) - np.mean(each["reached"]["70/30"]) for each in found]
    spread = [float(np.mean([np.std(np.log10(each["chosen"][way])) for each in found])) for way in ("70/30", "5 folds")]
    return [
        pages.claim(
            pages.slides,
            "C trades the margin against the slack of the training rows: a larger C means less slack and a narrower "
            "margin.",
            judging.every(falls),
            "With every larger C the weights are longer or, at the end, equally long, so the margin 1/|w| narrows. "
            f"The mean slack falls ({', '.join(_range(each) for each in found)}).",
        ),
        pages.claim(
            pages.slides,
            "C should be chosen on a validation set: 70 % for training, 30 % for validation.",
            judging.together(*(each.verdict(most=1.0) for each in lost.values())),
            "The C chosen on the validation set is less accurate than the best C in hindsight by "
            f"{', '.join(f'{each} points ({name})' for name, each in lost.items())}; the claim allows one point. Five "
            f"folds, at five times the cost, change the accuracy by {100 * float(np.mean(folds)):+.2f} points and vary "
            f"less: the standard deviation of the C chosen is {spread[1]:.2f} powers of ten, against {spread[0]:.2f} "
            "with one split." + _WHY,
        ),
    ]


def _range(each: dict[str, Any]) -> str:
    slack = each["curve"]["slack"]
    return f"{each['data']}: {slack[0]:.2g} to {slack[-1]:.2g}"


def draw(results: dict[str, Any]) -> None:
    """Errors over C for each data set."""
    figure, panels = pictures.panels(len(results["found"]), width=3.9)
    for axes, each in zip(panels, results["found"], strict=True):
        looks = pictures.looks()
        for key, label in (("train_error", "training data"), ("test_error", "test data")):
            axes.semilogx(results["C"], each["curve"][key], label=label, **next(looks))
        other = axes.twinx()
        other.loglog(results["C"], 1.0 / np.array(each["curve"]["length"]), label="margin 1/|w|", **next(looks))
        other.set_ylabel("margin 1/|w|", color=pictures.colors[2])
        axes.set(xlabel="C", ylabel="error", title=each["data"], ylim=(-0.02, None))
        axes.legend(fontsize=8)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    ways = ("70/30", "5 folds", "best on the test rows")
    rows = [
        [each["data"], *(f"{np.mean(each['reached'][way]):.4f} ± {np.std(each['reached'][way]):.4f}" for way in ways),
         *(f"{np.median(each['chosen'][way]):g}" for way in ways[:2])]
        for each in results["found"]
    ]  # fmt: skip
    draws = len(results["found"][0]["reached"]["70/30"])
    header = ["data", *ways, "median C, 70/30", "median C, 5 folds"]
    return f"""# Choosing C

What does C do, and how well will a held-out split or cross-validation choose it for you?

Generated by `python -m experiments.choosing_c` from `choosing_c.json`. Each of {draws} draws takes up to
{results["n_rows"]} texts (tf-idf) for choosing C and for training, and the others for testing. {len(results["C"])}
values of C from {results["C"][0]:g} to {results["C"][-1]:g} are tried. The smallest one with the best accuracy is
chosen, and the model is refitted on all training texts. C multiplies the losses where lam multiplies |w|^2/2, so
lam = 1 / (C N): a larger C is a smaller lam.

{pages.claims(results)}
![Training error, test error and margin against C, for three data sets]({results["picture"]})

Accuracy on the test rows, means ± the standard deviation over the draws:

{pages.table(header, rows)}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
