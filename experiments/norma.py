"""Pegasos against NORMA, on one problem: objective and test error over the rows visited.

python -m experiments.norma [--quick]
"""

import sys
from time import process_time
from typing import Any

import numpy as np

from experiments import command, data, pages, pictures
from pegasos.online import Norma
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos

lam = 1e-3  # with the fewer rows of the review text, about the C = 1 / (lam N) that the paper has for the abstracts
first_steps = (4.0, 16.0, 64.0)  # p of eta = p / sqrt(t)
block = 90


def measure(quick: bool) -> dict[str, Any]:
    """Curves of both, over seeds; NORMA with each of the first steps."""
    problem, (test_X, test_sign) = data.text_problem("movie_reviews", lam)
    best = run(problem, DualAscent(), Stop(tol=1e-6))
    epochs, seeds = (1, 1) if quick else (8, 1)
    n = problem.rows.n_rows
    goals = np.unique(np.round(np.geomspace(block, epochs * n, 16) / block).astype(int) * block).tolist()

    def seen(weights: np.ndarray) -> tuple[float, float]:
        scores = np.asarray(test_X @ weights[:-1])
        return data.objective(problem, weights), float(np.mean(np.where(scores > 0, 1, -1) != test_sign))

    curves = {"Pegasos": [_pegasos(problem, goals, seed, seen) for seed in range(seeds)]}
    for p in first_steps[:1] if quick else first_steps:
        curves[f"NORMA, p={p:g}"] = [_norma(problem, goals, seed, p, seen) for seed in range(seeds)]
    medians = {name: np.median(each, axis=0).tolist() for name, each in curves.items()}
    results = {
        "lam": lam,
        "seeds": seeds,
        "rows": goals,
        "test_rows": len(test_sign),
        "optimum": best.certificate.dual,
        "error_of_optimum": seen(best.weights)[1],
        "curves": {
            name: {"objective": one[0], "error": one[1], "seconds": one[2]}
            for name, one in ((name, np.transpose(each).tolist()) for name, each in medians.items())
        },
    }
    return results | {"picture": "norma.png", "claims": _claims(results)}


def _pegasos(problem: Any, goals: list[int], seed: int, seen: Any) -> list[tuple[float, float, float]]:
    solver = Pegasos(sampling="uniform")
    state, seconds, curve = solver.start(problem, seed), 0.0, []
    for goal in goals:
        before = process_time()
        solver.advance_to(problem, state, goal)
        seconds += process_time() - before
        curve.append((*seen(solver.point(problem, state)[0]), seconds))
    return curve


def _norma(problem: Any, goals: list[int], seed: int, p: float, seen: Any) -> list[tuple[float, float, float]]:
    """With a step of p / sqrt(t), which is kept for a block of rows."""
    random, X, sign = np.random.default_rng(seed), problem.rows.values, problem.sign
    model = Norma("linear", lam=problem.lam, tau=None, fit_intercept=False)
    seconds, curve, done = 0.0, [], 0
    while done < goals[-1]:
        rows = random.integers(len(sign), size=block)
        model.set_params(eta=p / np.sqrt(done + block))
        before = process_time()
        model.partial_fit(X[rows], sign[rows], classes=[-1, 1])
        seconds += process_time() - before
        done += block
        if done in goals:
            weights = np.append(np.asarray(model.support_vectors_.T @ model.dual_coef_[0]), 0.0)
            curve.append((*seen(weights), seconds))
    return curve


def _claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    ours = results["curves"]["Pegasos"]
    name = min(list(results["curves"])[1:], key=lambda name: results["curves"][name]["objective"][-1])
    other = results["curves"][name]
    ends = [each["objective"][-1] / results["optimum"] for each in (ours, other)]
    behind = [row for row, a, b in zip(results["rows"], ours["objective"], other["objective"], strict=True) if a > b]
    chance = float(np.sqrt(2.0 * ours["error"][-1] * (1.0 - ours["error"][-1]) / results["test_rows"]))
    return [
        pages.claim(
            pages.slides,
            "on text, Pegasos comes down to the optimum of the objective faster than NORMA.",
            ends[0] < ends[1],
            f"After {results['rows'][-1]} rows the objective is {ends[0]:.2f} times the optimum with Pegasos and "
            f"{ends[1]:.2f} times with the best NORMA (p={name.partition('=')[2]}), which was ahead up to row "
            f"{max(behind, default=0)}.",
        ),
        pages.claim(
            pages.slides,
            "Pegasos has the smaller test error, too.",
            other["error"][-1] - ours["error"][-1] > chance,
            f"{ours['error'][-1]:.1%} of the test rows against {other['error'][-1]:.1%}, and chance alone "
            f"makes differences of {chance:.1%} on {results['test_rows']} rows; the exact solution has "
            f"{results['error_of_optimum']:.1%}.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Objective and error over the rows."""
    figure, panels = pictures.panels(2)
    for (name, each), look in zip(results["curves"].items(), pictures.looks(), strict=False):
        panels[0].loglog(results["rows"], each["objective"], label=name, **look)
        panels[1].semilogx(results["rows"], each["error"], label=name, **look)
    panels[0].axhline(results["optimum"], color="0.4", linewidth=1)
    panels[0].set(ylabel="objective", title="the line is the optimum")
    panels[1].axhline(results["error_of_optimum"], color="0.4", linewidth=1)
    panels[1].set(ylabel="share of test rows that are wrong", ylim=(0.0, 0.6), title="the line is the exact solution")
    for axes in panels:
        axes.set_xlabel("rows visited")
    panels[1].legend(fontsize=8)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [name, f"{each['objective'][-1]:.4g}", f"{each['objective'][-1] / results['optimum']:.2f}",
         f"{each['error'][-1]:.4f}", f"{each['seconds'][-1]:.3g}"]
        for name, each in results["curves"].items()
    ]  # fmt: skip
    header = ["machine", "objective", "over the optimum", "test error", "seconds of the processor"]
    return f"""# Pegasos against NORMA

Made by `python -m experiments.norma` from `norma.json`. The slides compare the two on abstracts of astrophysics, which
are not to be had; review text (`movie_reviews`, tf-idf) stands in, with lam = {results["lam"]:g}, about the same
C = 1 / (lam N). Both draw rows at random; NORMA's step is p / sqrt(t), with several p, kept for {block} rows at a time.
Medians over {results["seeds"]} seed(s), after {results["rows"][-1]} rows.

{pages.claims(results)}
![Objective and test error]({results["picture"]})

{pages.table(header, rows)}
Seconds are those of the two implementations here: Pegasos keeps weights, `Norma` a sum of kernels, also where the
kernel is linear. The optimum is {results["optimum"]:.6g}.
"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
