"""The number of rows in a Pegasos step: at a fixed number of steps, and at a fixed number of rows visited.

python -m experiments.batch_size [--quick]
"""

import sys
from collections import deque
from typing import Any

import numpy as np

from experiments import command, data, judging, pages, pictures
from pegasos import PegasosClassifier
from pegasos import steps as steps_of

lam = 1e-3  # with the fewer rows of the review text, about the C = 1 / (lam N) that the paper has for the abstracts


def measure(quick: bool) -> dict[str, Any]:
    """The excess over the optimum, over seeds."""
    X, sign, is_test = data.text("movie_reviews")
    X, sign = X[~is_test], sign[~is_test]
    best = PegasosClassifier(lam, fit_intercept=False, tol=1e-6, random_state=0).fit(X, sign).certificate_.dual
    batches = [1, 4, 16, 64, 256] if quick else [2**k for k in range(11)]
    seeds = 2 if quick else 10
    fixed = {
        "steps": {"at": 1000, "excess": _excess(X, sign, best, batches, steps=lambda k: 1000, seeds=seeds)},
        "visits": {
            "at": 20_000,
            "excess": _excess(X, sign, best, batches, steps=lambda k: max(1, 20_000 // k), seeds=seeds),
        },
    }
    results = {"lam": lam, "optimum": best, "seeds": seeds, "batch_size": batches, "fixed": fixed}
    return results | {"picture": "batch_size.png"}


def _excess(X: Any, sign: np.ndarray, best: float, batches: list[int], *, steps: Any, seeds: int) -> list[list[float]]:
    found = []
    for k in batches:
        found.append([])
        for seed in range(seeds):
            settings = {"batch_size": k, "sampling": "uniform", "fit_intercept": False, "seed": seed}
            (last,) = deque(steps_of(X, sign, lam=lam, n_steps=steps(k), **settings), maxlen=1)
            found[-1].append(float(f"{data.hinge_objective(X, sign, lam, last.coef) / best - 1.0:.4g}"))
    return found


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the slides show; "as well as" is an excess of at most 1.5 times."""
    batches = results["batch_size"]
    logs = {name: np.log(each["excess"]) for name, each in results["fixed"].items()}
    median = {name: np.exp(np.median(each, axis=1)) for name, each in logs.items()}

    def times(name: str, at: int) -> judging.Interval:
        """The logarithm of the excess over that of single rows, seed by seed."""
        return judging.interval(logs[name][at] - logs[name][0])

    small = [at for at, k in enumerate(batches) if 1 < k <= 16]
    return [
        pages.claim(
            pages.slides,
            "with T steps fixed, more rows in each (k = |A_t|) come closer to the optimum.",
            times("steps", -1).verdict(most=0.0),
            f"After {results['fixed']['steps']['at']} steps the objective is {100 * median['steps'][0]:.2g} % above "
            f"the optimum with one row per step and {100 * median['steps'][-1]:.2g} % with {batches[-1]}: the "
            "logarithm "
            f"of their ratio is {times('steps', -1)} over the seeds.",
        ),
        pages.claim(
            pages.slides,
            "with kT rows visited fixed, small batches do as well as single rows, and only large ones do worse.",
            judging.together(
                *(times("visits", at).verdict(most=np.log(1.5)) for at in small),
                times("visits", -1).verdict(least=np.log(1.5)),
            ),
            f"After {results['fixed']['visits']['at']} rows the excess is {100 * median['visits'][0]:.2g} % with one "
            f"row per step and {100 * median['visits'][-1]:.3g} % with {batches[-1]}. With up to 16 rows per step it "
            f"is at most {np.exp(max(times('visits', at).high for at in small)):.2g} times that of single rows (the "
            "upper end of the intervals).",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Medians, and the range between the seeds."""
    figure, panels = pictures.panels(2)
    words = {"steps": "T = {} steps", "visits": "kT = {} rows visited"}
    for axes, (name, each) in zip(panels, results["fixed"].items(), strict=True):
        excess = np.array(each["excess"])
        look = next(pictures.looks())
        axes.fill_between(results["batch_size"], excess.min(axis=1), excess.max(axis=1), color=look["color"], alpha=0.2)
        axes.loglog(results["batch_size"], np.median(excess, axis=1), **look)
        axes.set(xlabel="k, rows per step", ylabel="objective over optimum, minus 1")
        axes.set_title(words[name].format(each["at"]) + " fixed")
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [k, *(f"{np.median(each['excess'][at]):.3g}" for each in results["fixed"].values())]
        for at, k in enumerate(results["batch_size"])
    ]
    header = ["k", *(f"{name} = {each['at']}" for name, each in results["fixed"].items())]
    return f"""# Mini-batch size: rows per step

For anyone choosing `batch_size`. After this page you know how many rows each Pegasos step should use.

Generated by `python -m experiments.batch_size` from `batch_size.json`. Pegasos draws k rows for each step. The slides
show this on abstracts of astrophysics, which are not available; review text (`movie_reviews`, tf-idf) is used instead,
with lam = {results["lam"]:g}, about the same C = 1 / (lam N). Numbers are (objective - optimum) / optimum of the last
iterate, medians over {results["seeds"]} seeds; the optimum, {results["optimum"]:.6g}, is proved.

{pages.claims(results)}
![The excess against the rows per step]({results["picture"]})

{pages.table(header, rows)}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
