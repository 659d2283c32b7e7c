"""How Pegasos grows with rows and with features, linear and with a kernel: steps to a fixed error, seconds of steps.

python -m experiments.growth [--quick]
"""

import sys
from time import process_time
from typing import Any

import numpy as np
from scipy import stats

from experiments import command, judging, pages, pictures, walking
from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.kernels import RBF

lam = 1e-3
few_features = 20
error = {"linear": 0.02, "kernel": 0.1}  # the objective over the optimum, minus 1
n_steps = {"linear": 100_000, "kernel": 1000}
_FLAT = 0.15  # the largest power that does not count as growth
_STRAIGHT = 0.3  # the largest share of a quadratic part in linear growth


def generated(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length about 1 on two sides of a plane, one in ten or so on the wrong one."""
    random = np.random.default_rng(d)
    plane = random.standard_normal(d, dtype=np.float32)
    X = random.standard_normal((n, d), dtype=np.float32) / np.float32(np.sqrt(d))
    noisy = X @ plane + 0.3 * random.standard_normal(n, dtype=np.float32)
    return X, np.where(noisy > 0, 1, -1).astype(np.int8)


def machine_of(kind: str, seed: int, **settings: Any) -> Any:
    """Pegasos as in the paper, linear or with a Gaussian kernel."""
    return walking.pegasos(lam, seed, None if kind == "linear" else RBF(gamma=1.0), **settings)


def optimum_of(kind: str, X: np.ndarray, sign: np.ndarray) -> float:
    """A proved lower bound, a relative 1e-4 below the optimum at most."""
    settings = {"lam": lam, "fit_intercept": False, "tol": 1e-4, "random_state": 0}
    exact = PegasosClassifier(**settings) if kind == "linear" else KernelPegasosClassifier(RBF(gamma=1.0), **settings)
    return float(exact.fit(X, sign).certificate_.dual)


def steps_to_error(kind: str, n: int, seeds: int) -> list[int]:
    """Steps until the objective is near enough, looked at when there are a tenth more than at the last look."""
    X, sign = generated(n, few_features)
    goal = optimum_of(kind, X, sign) * (1.0 + error[kind])
    walks = (walking.objectives(machine_of(kind, seed), X, sign, walking.tenth_more(500)) for seed in range(seeds))
    return [next(steps for steps, primal in walk if primal <= goal) for walk in walks]


def seconds_of_steps(kind: str, n: int, d: int, repeats: int) -> list[float]:
    """Seconds of the processor for a fixed number of steps: of fits of as many, less those of fits of one step.

    So neither reading nor the certificate counts, of which every fit has one: none is longer than an epoch. With a
    kernel a certificate has as many terms as there are steps, and is counted with them.
    """
    X, sign = generated(n, d)
    room = {} if kind == "linear" else {"cache_size": 0.01}  # next to none for kernel columns
    each = min(n, n_steps[kind])
    n_fits = n_steps[kind] // each

    def seconds(seed: int, steps: int) -> float:
        before = process_time()
        for fit in range(n_fits):
            machine_of(kind, seed * n_fits + fit, max_steps=steps, **room).fit(X, sign)
        return process_time() - before

    seconds(0, 1)  # the first fit also pays for imports
    base = min(seconds(seed, 1) for seed in range(repeats))
    return [max(seconds(seed, each) - base, 1e-6) for seed in range(repeats)]


def slope_of(sizes: list[int], values: list[list[float]]) -> dict[str, float]:
    """The power with which values grow, by least squares on the logarithms of the medians, with 95 % either way.

    Also how much of the medians a straight line explains: one that does not begin at 0 is linear growth, too.
    """
    medians = np.median(values, axis=1)
    fit, line = stats.linregress(np.log(sizes), np.log(medians)), stats.linregress(sizes, medians)
    width = float(stats.t.ppf(0.975, max(len(sizes) - 2, 1)) * fit.stderr)
    explained = float(np.sign(line.slope) * line.rvalue**2)
    return {"slope": round(float(fit.slope), 3), "either_way": round(width, 3), "line": round(explained, 3)}


def measure(quick: bool) -> dict[str, Any]:
    """All of it: what grows how."""
    repeats = 2 if quick else 3
    sizes = {
        ("linear", "rows"): [2000 * 4**k for k in range(3 if quick else 5)],
        ("kernel", "rows"): [1000 * 2**k for k in range(2 if quick else 4)],
        ("linear", "features"): [500 * 2**k for k in range(3 if quick else 5)],
        ("kernel", "features"): [500 * 2**k for k in range(3 if quick else 5)],
    }
    found = []
    for (kind, what), each in sizes.items():
        if what == "rows":
            steps = [steps_to_error(kind, n, repeats) for n in each]
            found.append(_entry(kind, "steps to a fixed error", what, each, steps))
            timed = each if kind == "linear" else [8 * n for n in each]  # fewer cost no more than what is around them
            seconds = [seconds_of_steps(kind, n, few_features, repeats) for n in timed]
        else:
            timed, seconds = each, [seconds_of_steps(kind, 1000, d, repeats) for d in each]
        found.append(_entry(kind, "seconds of fixed steps", what, timed, seconds))
    results = {"lam": lam, "error": error, "n_steps": n_steps, "features": few_features, "found": found}
    return results | {"picture": "growth.png"}


def _entry(kind: str, measured: str, against: str, sizes: list[int], values: list[list[float]]) -> dict[str, Any]:
    rounded = [[float(f"{value:.4g}") for value in each] for each in values]
    name = {"kind": kind, "measured": measured, "against": against}
    print(name, slope_of(sizes, values), flush=True)
    return name | {"sizes": sizes, "values": rounded} | slope_of(sizes, rounded)


def curvature(each: dict[str, Any]) -> judging.Interval:
    """The quadratic part at the largest size, over the linear one, of a parabola through all measurements."""
    sizes = np.repeat(each["sizes"], len(each["values"][0])) / each["sizes"][-1]
    values = np.ravel(each["values"])
    design = np.stack([np.ones_like(sizes), sizes, sizes**2], axis=1) / values[:, None]  # relative errors are alike
    (_, linear, square), squares, *_ = np.linalg.lstsq(design, np.ones_like(values), rcond=None)
    spread = float(squares[0]) / (len(values) - 3) if len(squares) else 0.0
    covariance = spread * np.linalg.inv(design.T @ design)
    slope = np.array([0.0, -square / linear**2, 1.0 / linear])
    return judging.around(square / linear, float(np.sqrt(slope @ covariance @ slope)), len(values) - 2)


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the sources say of growth."""
    by = {(each["kind"], each["measured"].split()[0], each["against"]): each for each in results["found"]}

    def power(*key: str) -> judging.Interval:
        each = by[key]
        return judging.Interval(each["slope"] - each["either_way"], each["slope"] + each["either_way"])

    def bend(*key: str) -> judging.Interval:
        return curvature(by[key])

    def straight(*key: str) -> str:
        return (
            f"At the largest size, the quadratic part of the growth is {bend(*key)} times the linear part; within ± "
            f"{_STRAIGHT} times counts as a straight line. The power is {power(*key)}"
        )

    return [
        pages.claim(
            pages.slides,
            "the run time of linear Pegasos to a given accuracy does not depend on the number of rows.",
            power("linear", "steps", "rows").verdict(-_FLAT, _FLAT),
            f"Steps to a fixed error grow as the rows to the power {power('linear', 'steps', 'rows')}.",
        ),
        pages.claim(
            pages.report,
            "the time of linear Pegasos does not vary with the number of rows, since each step uses one of them.",
            power("linear", "seconds", "rows").verdict(-_FLAT, _FLAT),
            f"Seconds of {n_steps['linear']} steps grow as the rows to the power "
            f"{power('linear', 'seconds', 'rows')}. This growth comes from rows that no longer fit into the "
            "processor's cache.",
        ),
        pages.claim(
            pages.report,
            "the time of linear Pegasos grows linearly with the number of features.",
            bend("linear", "seconds", "features").verdict(-_STRAIGHT, _STRAIGHT),
            straight("linear", "seconds", "features") + ".",
        ),
        pages.claim(
            pages.report,
            "with a kernel, the time of a fixed number of steps grows linearly with the number of rows.",
            bend("kernel", "seconds", "rows").verdict(-_STRAIGHT, _STRAIGHT),
            straight("kernel", "seconds", "rows")
            + ", since part of the time does not depend on the rows. Steps to a fixed error grow as the rows to the "
            f"power {power('kernel', 'steps', 'rows')}.",
        ),
        pages.claim(
            pages.report,
            "with a kernel, the time grows linearly with the number of features.",
            bend("kernel", "seconds", "features").verdict(-_STRAIGHT, _STRAIGHT),
            straight("kernel", "seconds", "features")
            + ", since part of a step, such as the exponential of each entry, does not depend on the features.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """One panel for each thing measured."""
    figure, panels = pictures.panels(3, 2, width=4.2, height=3.2)
    for axes, each in zip(panels, results["found"], strict=True):
        look = list(pictures.looks())[0 if each["kind"] == "linear" else 1]
        values = np.array(each["values"])
        axes.loglog(each["sizes"], np.median(values, axis=1), **look)
        axes.fill_between(each["sizes"], values.min(axis=1), values.max(axis=1), color=look["color"], alpha=0.2)
        middle = float(np.median(values))
        axes.set(xlabel=each["against"], ylabel=each["measured"], ylim=(middle / 30, middle * 30))
        axes.set_xticks(each["sizes"], [f"{size:,}" for size in each["sizes"]])
        axes.minorticks_off()
        axes.set_title(f"{each['kind']}: power {each['slope']:.2f} ± {each['either_way']:.2f}", fontsize=10)
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [each["kind"], each["measured"], each["against"], f"{each['sizes'][0]} to {each['sizes'][-1]}",
         f"{np.median(each['values'][0]):.3g}", f"{np.median(each['values'][-1]):.3g}",
         f"{each['slope']:.2f} ± {each['either_way']:.2f}", f"{each['line']:.3f}"]
        for each in results["found"]
    ]  # fmt: skip
    header = ["machine", "measured", "against", "from, to", "at the first", "at the last", "power", "line"]
    return f"""# How training time grows with samples and features

If you plan for larger data: how does the training time of Pegasos grow with the number of samples ("rows") and
features?

Generated by `python -m experiments.growth` from `growth.json`. Data of every size is generated from the same plane and
noise, with samples of length about 1. It has {results["features"]} features where the number of rows varies, and 1000
rows where the number of features varies. lam is {results["lam"]:g}, and each step draws one row. The columns:

- "steps to a fixed error": steps until the last iterate has an objective within {results["error"]["linear"]:.0%}
  (kernel: {results["error"]["kernel"]:.0%}) of the optimum
- "seconds of fixed steps": processor time of {results["n_steps"]["linear"]} steps (kernel:
  {results["n_steps"]["kernel"]}, with no kernel columns cached)
- "power": the slope of a least-squares line through the logarithms of the medians, ± half the width of its 95 %
  interval
- "line": the share of the variance of the medians that a straight line explains, with a minus sign if the line falls

{pages.claims(results)}
![Steps and seconds against rows and features, on logarithmic axes, each with its power]({results["picture"]})

{pages.table(header, rows)}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
