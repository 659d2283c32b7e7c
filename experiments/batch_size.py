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
            "with T steps fixed, more samples in each (k = |A_t|) come closer to the optimum.",
            times("steps", -1).verdict(most=0.0),
            f"After {results['fixed']['steps']['at']} steps the objective is {100 * median['steps'][0]:.2g} % above "
            f"the optimum with one sample per step, and {100 * median['steps'][-1]:.2g} % with {batches[-1]}. (The "
            f"logarithm of the ratio is {times('steps', -1)} over the seeds.)",
        ),
        pages.claim(
            pages.slides,
            "with kT visits fixed, small batches do as well as single samples, and only large ones do worse.",
            judging.together(
                *(times("visits", at).verdict(most=np.log(1.5)) for at in small),
                times("visits", -1).verdict(least=np.log(1.5)),
            ),
            f"After {results['fixed']['visits']['at']} visits the excess is {100 * median['visits'][0]:.2g} % with one "
            f"sample per step, and {100 * median['visits'][-1]:.3g} % with {batches[-1]}. Up to 16 samples per step, "
            f"it is at most {np.exp(max(times('visits', at).high for at in small)):.3g} times that of single samples "
            "(upper ends of the intervals).",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """Medians, and the range between the seeds."""
    figure, panels = pictures.panels(2)
    words = {"steps": "T = {} steps", "visits": "kT = {} visits"}
    for axes, (name, each) in zip(panels, results["fixed"].items(), strict=True):
        excess = np.array(each["excess"])
        look = next(pictures.looks())
        axes.fill_between(results["batch_size"], excess.min(axis=1), excess.max(axis=1), color=look["color"], alpha=0.2)
        axes.loglog(results["batch_size"], np.median(excess, axis=1), **look)
        axes.set(xlabel="k, samples per step", ylabel="objective over optimum, minus 1")
        axes.set_title(words[name].format(each["at"]) + " fixed")
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [k, *(f"{np.median(each['excess'][at]):.3g}" for each in results["fixed"].values())]
        for at, k in enumerate(results["batch_size"])
    ]
    header = ["k", *(f"{name} = {each['at']}" for name, each in results["fixed"].items())]
    return f"""# Mini-batch size: samples per step

If you set `batch_size`: how many samples should each Pegasos step use?

Generated by `python -m experiments.batch_size` from `batch_size.json`. Pegasos draws k samples for each step. The
slides use abstracts of astrophysics, which are not available. Here review text (`movie_reviews`, tf-idf) replaces them,
with lam = {results["lam"]:g}, about the same C = 1 / (lam N). The excess is (objective - optimum) / optimum of the last
iterate; the table has its medians over {results["seeds"]} seeds. The optimum, {results["optimum"]:.6g}, is proved.

{pages.claims(results)}
![Excess over the optimum against samples per step: falling for fixed T, flat at first for kT]({results["picture"]})

{pages.table(header, rows)}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
