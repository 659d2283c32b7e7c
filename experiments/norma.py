"""Pegasos against NORMA, on one problem: objective and test error over the rows visited.

python -m experiments.norma [--quick]
"""

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from experiments import command, data, judging, pages, pictures
from pegasos import PegasosClassifier, steps
from pegasos.online import Norma

lam = 1e-3  # with the fewer rows of the review text, about the C = 1 / (lam N) that the paper has for the abstracts
first_steps = (4.0, 16.0, 64.0)  # p of eta = p / sqrt(t)
block = 90


def measure(quick: bool) -> dict[str, Any]:
    """Curves of both, over seeds; NORMA with each of the first steps."""
    X, sign, is_test = data.text("movie_reviews")
    X, sign, test_X, test_sign = X[~is_test], sign[~is_test], X[is_test], sign[is_test]
    best = PegasosClassifier(lam, fit_intercept=False, tol=1e-6, random_state=0).fit(X, sign)
    epochs, seeds = (1, 2) if quick else (8, 20)
    n = len(sign)
    goals = np.unique(np.round(np.geomspace(block, epochs * n, 16) / block).astype(int) * block).tolist()

    def seen(weights: np.ndarray) -> tuple[float, float]:
        scores = np.asarray(test_X @ weights)
        is_wrong = np.where(scores > 0, 1, -1) != test_sign
        return data.hinge_objective(X, sign, lam, weights), float(np.mean(is_wrong))

    curves = {"Pegasos": [_pegasos(X, sign, goals, seed, seen) for seed in range(seeds)]}
    for p in first_steps:
        curves[f"NORMA, p={p:g}"] = [_norma(X, sign, goals, seed, p=p, seen=seen) for seed in range(seeds)]
    results = {
        "lam": lam,
        "seeds": seeds,
        "rows": goals,
        "test_rows": len(test_sign),
        "optimum": best.certificate_.dual,
        "error_of_optimum": seen(best.coef_[0])[1],
        "same_as_the_estimator": _same_as_the_estimator(X, sign),
        "curves": {name: _summary(np.array(each)) for name, each in curves.items()},
    }
    return results | {"picture": "norma.png"}


def _summary(curves: np.ndarray) -> dict[str, list[float]]:
    """Medians over the seeds at each goal, and the ends of all seeds."""
    objective, error = np.median(curves, axis=0).T.tolist()
    ends = {"objectives_at_the_end": curves[:, -1, 0], "errors_at_the_end": curves[:, -1, 1]}
    return {"objective": objective, "error": error} | {name: values.round(6).tolist() for name, values in ends.items()}


def _pegasos(X: Any, sign: np.ndarray, goals: list[int], seed: int, seen: Any) -> list[tuple[float, float]]:
    walk = steps(X, sign, lam=lam, sampling="uniform", fit_intercept=False, n_steps=goals[-1], seed=seed)
    return [seen(step.coef) for step in walk if step.number in goals]


def _norma(X: Any, sign: np.ndarray, goals: list[int], seed: int, *, p: float, seen: Any) -> list[tuple[float, float]]:
    """With a step of p / sqrt(t), which is kept for a block of rows."""
    random, weights, curve = np.random.default_rng(seed), np.zeros(X.shape[1]), []
    for done in range(block, goals[-1] + 1, block):
        rows = random.integers(len(sign), size=block)
        weights = norma_steps(X[rows], sign[rows], weights, p / np.sqrt(done))
        if done in goals:
            curve.append(seen(weights))
    return curve


def norma_steps(X: sp.csr_matrix, sign: np.ndarray, weights: np.ndarray, eta: float) -> np.ndarray:
    """NORMA with a linear kernel keeps weights: shrink by 1 - eta lam, and add eta y x where y <w, x> < 1."""
    weights, scale = weights.copy(), 1.0
    for y, begin, end in zip(sign.tolist(), X.indptr[:-1], X.indptr[1:], strict=True):
        values, places = X.data[begin:end], X.indices[begin:end]
        is_short = y * scale * float(values @ weights[places]) < 1.0
        scale *= 1.0 - eta * lam
        if is_short:
            weights[places] += (eta * y / scale) * values
    return scale * weights


def _same_as_the_estimator(X: sp.csr_matrix, sign: np.ndarray) -> bool:
    """Whether these steps are those of `Norma`, which keeps a sum of kernels also where the kernel is linear."""
    model = Norma("linear", lam=lam, eta=1.0, tau=None, fit_intercept=False)
    model.partial_fit(X[:300], sign[:300], classes=[-1, 1])
    theirs = np.asarray(model.support_vectors_.T @ model.dual_coef_[0]).ravel()
    return bool(np.allclose(norma_steps(X[:300], sign[:300], np.zeros(X.shape[1]), 1.0), theirs, atol=1e-5))


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the slides show, at the end and over the seeds; the best NORMA is taken."""
    curves, optimum = results["curves"], results["optimum"]
    ours = curves["Pegasos"]
    name = min(list(curves)[1:], key=lambda name: float(np.median(curves[name]["objectives_at_the_end"])))
    other = curves[name]
    objective = judging.interval(
        np.subtract(other["objectives_at_the_end"], ours["objectives_at_the_end"]) / optimum * 100
    )
    errors = np.subtract(other["errors_at_the_end"], ours["errors_at_the_end"])
    rate, n = float(np.mean(ours["errors_at_the_end"])), results["test_rows"]
    chance = np.sqrt(2.0 * rate * (1.0 - rate) / n)
    error = judging.around(
        100 * float(errors.mean()), 100 * float(np.hypot(errors.std(ddof=1) / np.sqrt(len(errors)), chance)), n
    )
    behind = [row for row, a, b in zip(results["rows"], ours["objective"], other["objective"], strict=True) if a > b]
    ends = [float(np.median(each["objectives_at_the_end"])) / optimum for each in (ours, other)]
    return [
        pages.claim(
            pages.slides,
            "on text, Pegasos approaches the optimum of the objective faster than NORMA.",
            objective.verdict(least=0.0),
            f"After {results['rows'][-1]} samples the objective is {ends[0]:.2f} times the optimum with Pegasos and "
            f"{ends[1]:.2f} times with the best NORMA (p={name.partition('=')[2]}), which was ahead up to sample "
            f"{max(behind, default=0)}. The difference is {objective} % of the optimum over {results['seeds']} seeds.",
        ),
        pages.claim(
            pages.slides,
            "Pegasos has the smaller test error, too.",
            error.verdict(least=0.0),
            f"Pegasos misclassifies {rate:.1%} of the test data, NORMA {np.mean(other['errors_at_the_end']):.1%}, and "
            f"the exact solution {results['error_of_optimum']:.1%}. The difference between the first two is {error} "
            f"points, including the sampling error of {n} test samples.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Objective and error over the rows."""
    figure, panels = pictures.panels(2)
    for (name, each), look in zip(results["curves"].items(), pictures.looks(), strict=False):
        panels[0].loglog(results["rows"], each["objective"], label=name, **look)
        panels[1].semilogx(results["rows"], each["error"], label=name, **look)
    panels[0].axhline(results["optimum"], color="0.4", linewidth=1)
    panels[0].set(ylabel="objective", title="objective (line: optimum)")
    panels[1].axhline(results["error_of_optimum"], color="0.4", linewidth=1)
    panels[1].set(ylabel="test error", ylim=(0.0, 0.6), title="test error (line: exact solution)")
    for axes in panels:
        axes.set_xlabel("samples visited")
    panels[1].legend(fontsize=8)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [name, f"{each['objective'][-1]:.4g}", f"{each['objective'][-1] / results['optimum']:.2f}",
         f"{each['error'][-1]:.4f}"]
        for name, each in results["curves"].items()
    ]  # fmt: skip
    header = ["machine", "objective", "over the optimum", "test error"]
    return f"""# Pegasos against NORMA

For readers of the slides, and for you if you use `Norma`: how fast do Pegasos and NORMA approach the same optimum?

Generated by `python -m experiments.norma` from `norma.json`. The slides use abstracts of astrophysics, which are not
available. Here review text (`movie_reviews`, tf-idf) replaces them, with lam = {results["lam"]:g}, about the same
C = 1 / (lam N). Both learners draw samples at random. NORMA's step length is p / sqrt(t), for several p, updated every
{block} samples. Numbers are medians over {results["seeds"]} seeds, after {results["rows"][-1]} samples.

{pages.claims(results)}
![Objective and test error against samples visited, for Pegasos and three step lengths of NORMA]({results["picture"]})

{pages.table(header, rows)}
The optimum is {results["optimum"]:.6g}. NORMA's steps are computed on weights here, as its kernel is linear; they are
those of `pegasos.online.Norma` ({"checked" if results["same_as_the_estimator"] else "which they are not"} on 300 rows).
"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
