"""Perceptron, passive-aggressive, confidence-weighted, NORMA and Pegasos on one stream: mistakes so far.

python -m experiments.mistakes [--quick]
"""

import sys
from typing import Any

import numpy as np

from experiments import command, data, judging, pages, pictures
from pegasos import PegasosClassifier, steps
from pegasos.online import ConfidenceWeighted, Norma, PassiveAggressive, Perceptron
from pegasos.plots import MistakesDisplay

lam = 1e-4
passes = 50


def learners() -> dict[str, Any]:
    """Those with a rule of their own, none of them tuned."""
    common = {"max_iter": 1, "shuffle": False, "fit_intercept": False}
    return {
        "perceptron": Perceptron(**common),
        "passive-aggressive": PassiveAggressive(**common),
        "confidence-weighted (CW)": ConfidenceWeighted("cw", **common),
        "confidence-weighted (AROW)": ConfidenceWeighted("arow", **common),
        "NORMA": Norma("linear", lam=lam, tau=None, **common),
    }


def measure(quick: bool) -> dict[str, Any]:
    """Mistakes on orders of the rows, errors afterwards, and how near the objective of the SVM many passes come."""
    X, sign, is_test = data.text("reuters21578")
    test_X, test_sign = X[is_test], sign[is_test]
    X, sign = X[~is_test], sign[~is_test]
    if quick:
        X, sign = X[:1500], sign[:1500]
    exact = PegasosClassifier(lam, fit_intercept=False, tol=1e-4, random_state=0).fit(X, sign)
    marks = np.unique(np.geomspace(10, len(sign), 25).round().astype(int)).tolist()
    names, orders = [*learners(), "Pegasos"], 1 if quick else 5
    curves: dict[str, Any] = {name: [] for name in names}
    errors: dict[str, Any] = {name: [] for name in names}
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(sign))
        rows, signs = X[order], sign[order]
        for name, learner in learners().items():
            learner.fit(rows, signs)
            curves[name].append(np.interp(marks, *np.vstack([[0, 0], learner.mistake_curve_]).T).tolist())
            errors[name].append(1.0 - learner.score(test_X, test_sign))
        seen, weights = _pegasos(rows, signs, marks)
        curves["Pegasos"].append(seen)
        errors["Pegasos"].append(float(np.mean(np.where(test_X @ weights > 0, 1, -1) != test_sign)))
    results = {
        "rows": len(sign),
        "orders": orders,
        "lam": lam,
        "at": marks,
        "mistakes": {name: np.mean(each, axis=0).round(1).tolist() for name, each in curves.items()},
        "mistakes_at_the_end": {name: [round(one[-1]) for one in each] for name, each in curves.items()},
        "test_error": {name: round(float(np.mean(each)), 4) for name, each in errors.items()},
        "test_error_of_the_svm": round(1.0 - exact.score(test_X, test_sign), 4),
        "passes": passes,
        "excess": _excess(X, sign, exact.certificate_.dual, orders),
    }
    return results | {"picture": "mistakes.png"}


def _pegasos(rows: Any, signs: np.ndarray, marks: list[int]) -> tuple[list[int], np.ndarray]:
    """Mistakes so far at the marks, each row judged before it is learnt from, and the weights at the end."""
    mistakes, found, weights = 0, [], np.zeros(rows.shape[1])
    walk = steps(rows, signs, lam=lam, sampling="sequential", fit_intercept=False, n_steps=len(signs))
    for step in walk:
        mistakes += bool(step.margins[0] <= 0.0)
        if step.number in marks:
            found.append(mistakes)
        weights = step.coef
    return found, weights


def _excess(X: Any, sign: np.ndarray, optimum: float, seeds: int) -> dict[str, list[float]]:
    """Objective of the SVM over its optimum, minus 1, after many passes; weights get their best length first."""
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        for name, learner in learners().items():
            if name == "NORMA":
                continue  # whose terms would be as many as the rows visited
            learner.set_params(max_iter=passes, shuffle=True, random_state=seed).fit(X, sign)
            lengths = np.geomspace(1e-3, 1e3, 121)
            least = min(data.hinge_objective(X, sign, lam, length * learner.coef_[0]) for length in lengths)
            found.setdefault(name, []).append(least / optimum - 1.0)
        settings = {"solver": "pegasos", "fit_intercept": False, "tol": None, "max_iter": passes, "random_state": seed}
        walked = PegasosClassifier(lam, **settings).fit(X, sign)
        found.setdefault("Pegasos", []).append(walked.certificate_.primal / optimum - 1.0)
    return {name: [float(f"{value:.3g}") for value in values] for name, values in found.items()}


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the slides say; "converges" is an excess of at most a tenth after the last pass."""
    excess = {name: judging.interval(values) for name, values in results["excess"].items()}
    nearest = min((name for name in excess if name != "Pegasos"), key=lambda name: excess[name].middle)
    return [
        pages.claim(
            pages.slides,
            "online learners typically do not converge to the solution of the SVM; Pegasos does.",
            judging.together(excess["Pegasos"].verdict(most=0.1), excess[nearest].verdict(least=0.1)),
            f"After {results['passes']} passes, the relative excess of Pegasos over the optimum is "
            f"{excess['Pegasos'].middle:.3f} ± {excess['Pegasos'].half:.3f}; the closest of the other learners, "
            f"{nearest}, has {excess[nearest]} ({results['orders']} orders of the stream).",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Mistakes over rows."""
    figure, (axes,) = pictures.panels(1, width=6.5, height=4.2)
    curves = {name: np.transpose([results["at"], counts]) for name, counts in results["mistakes"].items()}
    MistakesDisplay(curves).plot(axes)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [name, _mistakes(results, name), f"{results['test_error'][name]:.4f}",
         f"{np.mean(results['excess'][name]):.3g}" if name in results["excess"] else ""]
        for name in results["mistakes"]
    ]  # fmt: skip
    header = ["learner", "mistakes in one pass", "test error after it", f"excess after {results['passes']} passes"]
    return f"""# Online learners compared on one stream

If you choose an online learner: how many mistakes does each make on one stream of text, and which of them converge?

Generated by `python -m experiments.mistakes` from `mistakes.json`. The stream has {results["rows"]} texts of
Reuters-21578 (acquisitions against the rest, tf-idf), each predicted before it is learned from. Numbers are means over
{results["orders"]} orders, ± their 95 % intervals. No learner is tuned; Pegasos and NORMA have lam =
{results["lam"]:g}. "Excess" is the SVM objective for that lam, divided by its optimum, minus 1. The other learners do
not control the length of their weights, so theirs are first scaled to the length with the lowest objective. The exact
SVM has a test error of {results["test_error_of_the_svm"]:.4f}.

{pages.claims(results)}
![Cumulative mistakes against samples seen, for six online learners]({results["picture"]})

{pages.table(header, rows)}
The slides distinguish the learners by their rates: one for all examples (perceptron), one for each example
(passive-aggressive), one for each example and feature (confidence-weighted). Here a rate for each feature adds little,
because tf-idf already gives large values to rare words.
"""


def _mistakes(results: dict[str, Any], name: str) -> str:
    found = judging.interval(results["mistakes_at_the_end"][name])
    return f"{found.middle:.0f} ± {found.half:.0f}"


if __name__ == "__main__":
    command.run(sys.modules[__name__])
