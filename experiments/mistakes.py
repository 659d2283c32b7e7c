"""Perceptron, passive-aggressive, confidence-weighted, NORMA and Pegasos on one stream: mistakes so far.

python -m experiments.mistakes [--quick]
"""

import sys
from typing import Any

import numpy as np

from experiments import command, data, pages, pictures
from pegasos import PegasosClassifier
from pegasos.online import ConfidenceWeighted, Norma, PassiveAggressive, Perceptron
from pegasos.solvers.pegasos import Pegasos

lam = 1e-4
passes = 50
_why = " Rates for each feature add nothing here: tf-idf has given rare words their large values already."


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
        "test_error": {name: round(float(np.mean(each)), 4) for name, each in errors.items()},
        "test_error_of_the_svm": round(1.0 - exact.score(test_X, test_sign), 4),
        "passes": passes,
        "excess": _excess(X, sign, exact.certificate_.dual),
    }
    return results | {"picture": "mistakes.png", "claims": _claims(results)}


def _pegasos(rows: Any, signs: np.ndarray, marks: list[int]) -> tuple[list[int], np.ndarray]:
    """Mistakes so far at the marks, each row judged before it is learnt from."""
    problem = data.problem_of(rows, signs, lam)
    solver = Pegasos(sampling="sequential")
    state, mistakes, found = solver.start(problem, 0), 0, []
    for t in range(len(signs)):
        begin, end = rows.indptr[t], rows.indptr[t + 1]
        # The scale is positive: it does not change a sign.
        score = rows.data[begin:end] @ state.weights[rows.indices[begin:end]]
        mistakes += bool(signs[t] * score <= 0.0)
        solver.advance_to(problem, state, t + 1)
        if t + 1 in marks:
            found.append(mistakes)
    return found, solver.point(problem, state)[0][:-1]


def _excess(X: Any, sign: np.ndarray, optimum: float) -> dict[str, float]:
    """Objective of the SVM over its optimum, minus 1, after many passes; weights get their best length first."""
    problem, found = data.problem_of(X, sign, lam), {}
    for name, learner in learners().items():
        if name == "NORMA":
            continue  # whose terms would be as many as the rows visited
        learner.set_params(max_iter=passes, shuffle=True, random_state=0).fit(X, sign)
        weights = np.append(learner.coef_[0], 0.0)
        lengths = np.geomspace(1e-3, 1e3, 121)
        found[name] = min(data.objective(problem, length * weights) for length in lengths) / optimum - 1.0
    solver = Pegasos()
    state = solver.start(problem, 0)
    solver.advance_to(problem, state, passes * len(sign))
    found["Pegasos"] = data.objective(problem, solver.point(problem, state)[0]) / optimum - 1.0
    return {name: float(f"{value:.3g}") for name, value in found.items()}


def _claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    ends = {name: each[-1] for name, each in results["mistakes"].items()}
    finer = min(ends["confidence-weighted (CW)"], ends["confidence-weighted (AROW)"])
    excess = results["excess"]
    nearest = min(value for name, value in excess.items() if name != "Pegasos")
    return [
        pages.claim(
            pages.slides,
            "the perceptron has one rate for all examples, passive-aggressive one for each example, "
            "confidence-weighted one for each example and feature: each is to learn faster than the one before.",
            ends["perceptron"] > ends["passive-aggressive"] > finer,
            f"In one pass over {results['rows']} rows they make {ends['perceptron']:.0f}, "
            f"{ends['passive-aggressive']:.0f} and {finer:.0f} mistakes; Pegasos makes {ends['Pegasos']:.0f}."
            + ("" if ends["passive-aggressive"] > finer else _why),
        ),
        pages.claim(
            pages.slides,
            "online learners typically do not converge to the solution of the SVM; Pegasos does.",
            excess["Pegasos"] < 0.1 < nearest,
            f"After {results['passes']} passes the objective of the nearest of the others is {nearest:.0%} above the "
            f"optimum, that of Pegasos {excess['Pegasos']:.1%}.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Mistakes over rows."""
    figure, (axes,) = pictures.panels(1, width=6.5, height=4.2)
    for (name, counts), look in zip(results["mistakes"].items(), pictures.looks(), strict=False):
        axes.plot(results["at"], counts, label=name, **look)
    axes.set(xlabel="rows seen", ylabel="mistakes so far")
    axes.legend(fontsize=8)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [name, f"{counts[-1]:.0f}", f"{results['test_error'][name]:.4f}",
         f"{results['excess'][name]:.3g}" if name in results["excess"] else ""]
        for name, counts in results["mistakes"].items()
    ]  # fmt: skip
    header = ["learner", "mistakes in one pass", "test error after it", f"excess after {results['passes']} passes"]
    return f"""# One stream, six learners

Made by `python -m experiments.mistakes` from `mistakes.json`. Reuters-21578 (acquisitions against the rest, tf-idf),
{results["rows"]} training rows, each judged before it is learnt from; means over {results["orders"]} orders. No learner
is tuned; Pegasos and NORMA have lam = {results["lam"]:g}. "Excess" is the objective of the SVM with that lam over its
optimum, minus 1; the weights of learners without a length of their own get the best one first. The SVM itself has a
test error of {results["test_error_of_the_svm"]:.4f}.

{pages.claims(results)}
![Mistakes so far]({results["picture"]})

{pages.table(header, rows)}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
