"""What is proved of Pegasos beside what is measured: with and without projection, last iterate, average and tail.

python -m experiments.bound [--quick]
"""

import sys
from itertools import product
from textwrap import fill
from typing import Any

import numpy as np
from scipy import stats

from experiments import command, data, judging, pages, pictures, walking
from pegasos import PegasosClassifier
from pegasos.theory import suboptimality_bound

lam = 1e-3
averages = {"last iterate": None, "average": "uniform", "tail average": "tail"}


def measure(quick: bool) -> dict[str, Any]:
    """How far above the optimum, over seeds."""
    X, sign = data.training_text("movie_reviews")
    exact = PegasosClassifier(lam, fit_intercept=False, tol=1e-9, max_iter=10_000, random_state=0)
    best = exact.fit(X, sign).certificate_.dual
    seeds, longest = (2, 1e4) if quick else (20, 1e6)
    steps = np.unique(np.geomspace(10, longest, 6 if quick else 21).round().astype(int)).tolist()
    curves = {}
    for (name, average), projection in product(averages.items(), (False, True)):
        excess = [
            [
                primal - best
                for _, primal in walking.objectives(
                    walking.pegasos(lam, seed, projection=projection, average=average), X, sign, steps
                )
            ]
            for seed in range(seeds)
        ]
        curves[f"{name}, projected" if projection else name] = [float(f"{v:.4g}") for v in np.mean(excess, axis=0)]
    largest = float(np.sqrt(X.multiply(X).sum(axis=1).max()))
    bound = suboptimality_bound(steps, lam, largest).tolist()
    results = {"lam": lam, "largest_norm": largest, "optimum": best, "seeds": seeds, "steps": steps, "bound": bound}
    results["curves"] = curves
    return results | {"picture": "bound.png"}


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the sources say."""
    curves, bound, steps = results["curves"], np.array(results["bound"]), np.array(results["steps"])
    ratio = np.array(curves["average, projected"]) / bound
    last = np.array(curves["last iterate"]) * results["lam"] * steps / (results["largest_norm"] ** 2 * np.log(steps))
    late, ends = steps >= 1000, curves["average, projected"][-1]
    line = stats.linregress(np.log(steps[late]), np.log(np.array(curves["average, projected"])[late]))
    slope = judging.around(float(line.slope), float(line.stderr), int(late.sum()) - 1)
    return [
        pages.claim(
            pages.exercise,
            "with projection, the average of T iterates lies at most c (1 + ln T) / (2 lam T) above the optimum, "
            "c = (sqrt(lam) + R)^2.",
            judging.every(ratio <= 1.0),
            f"At every T it lies below the bound, at most {ratio.max():.2g} of it, {ratio[-1]:.2g} at the end.",
        ),
        pages.claim(
            pages.exercise,
            "the average tends to the optimum.",
            slope.verdict(most=0.0),
            f"From 1000 steps on its excess falls as T to the power {slope}, to {ends:.2g}.",
        ),
        pages.claim(
            pages.lecture,
            "the last iterate, too, lies within C R^2 log T / (lam T) of the optimum, with C a constant.",
            judging.every(last <= 1.0),
            f"A constant of {last.max():.2g} is enough at every T, on average over the seeds, without a projection.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """All curves beside the bound."""
    figure, (axes,) = pictures.panels(1, width=7.0, height=4.4)
    axes.loglog(results["steps"], results["bound"], color="black", linewidth=2, label="bound")
    for (name, excess), look in zip(results["curves"].items(), pictures.looks(), strict=False):
        axes.loglog(results["steps"], excess, label=name, **look)
    axes.set(xlabel="steps T", ylabel="objective above the optimum")
    axes.legend(fontsize=8)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    shown = [at for at, step in enumerate(results["steps"]) if at % 5 == 0 or step == results["steps"][-1]]
    rows = [[name, *(f"{each[at]:.2g}" for at in shown)] for name, each in results["curves"].items()]
    rows.insert(0, ["bound", *(f"{results['bound'][at]:.2g}" for at in shown)])
    header = ["", *(f"T = {results['steps'][at]}" for at in shown)]
    return f"""# The bound and the measured distance

Made by `python -m experiments.bound` from `bound.json`. Pegasos with rows drawn uniformly, on review text
(`movie_reviews`, tf-idf, rows of norm at most R = {results["largest_norm"]:.3g}), lam = {results["lam"]:g}; objective
minus optimum, means over {results["seeds"]} seeds. The optimum, {results["optimum"]:.6g}, is proved to a relative gap
of 1e-9.

{pages.claims(results)}
![Distance to the optimum and its bound]({results["picture"]})

{pages.table(header, rows)}
{_words(results)}"""


def _words(results: dict[str, Any]) -> str:
    curves, steps = results["curves"], results["steps"]
    begin, end = (curves["average"][at] / curves["average, projected"][at] for at in (0, -1))
    ends = ", ".join(f"{name} {curves[name][-1]:.2g}" for name in averages)
    return (
        fill(
            f"Without the projection the average has {begin:.3g} times the excess after {steps[0]} steps and "
            f"{end:.3g} times after {steps[-1]}: it matters at the beginning only. At the end, without projection: "
            f"{ends}. The tail average restarts at each epoch that is a power of two, so that it forgets the first "
            "steps, which the average of all carries along.",
            120,
        )
        + "\n"
    )


if __name__ == "__main__":
    command.run(sys.modules[__name__])
