"""The kernelized perceptron on four points, step by step, as on the slides.

    python -m experiments.kernel_perceptron [--quick]

The slides name four points, x1 and x4 positive, x2 and x3 negative, and not where they are. Here they are the corners
of a square: no line separates them, the quadratic kernel of the same slides does.
"""

import sys
from typing import Any

import numpy as np

from experiments import command, judging, pages, pictures
from pegasos.online import KernelPerceptron

points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
signs = np.array([1, -1, -1, 1])


def kernel(x: np.ndarray, z: np.ndarray) -> float:
    """(<x, z> + 1)^2."""
    return float((x @ z + 1.0) ** 2)


def by_hand() -> list[dict[str, Any]]:
    """The steps of the slides: alpha_i <- alpha_i + y_i where y_i f(x_i) <= 0, until a pass changes nothing."""
    alpha, steps = np.zeros(4, dtype=int), []
    for passes in range(1, 100):
        changed = False
        for i in range(4):
            terms = [alpha[j] * kernel(points[j], points[i]) for j in range(4)]
            score = float(sum(terms))
            wrong = signs[i] * score <= 0.0
            alpha[i] += signs[i] if wrong else 0
            changed |= bool(wrong)
            steps.append(
                {"pass": passes, "point": f"x{i + 1}", "sign": int(signs[i]), "f": score, "wrong": bool(wrong),
                 "alpha": alpha.tolist()}
            )  # fmt: skip
        if not changed:
            return steps
    return steps


def model(max_iter: int) -> KernelPerceptron:
    """The library's, on the same points in the same order."""
    return KernelPerceptron(
        "poly", degree=2, gamma=1.0, coef0=1.0, fit_intercept=False, shuffle=False, max_iter=max_iter
    ).fit(points, signs)


def alphas_of(fitted: KernelPerceptron) -> list[int]:
    """Its alphas: a support vector may be there more than once."""
    alpha = np.zeros(4)
    np.add.at(alpha, fitted.support_, fitted.dual_coef_[0])
    return [round(value) for value in alpha.tolist()]


def measure(quick: bool) -> dict[str, Any]:
    """By hand and by the library; a quick run is not shorter."""
    steps = by_hand()
    n_passes = steps[-1]["pass"]
    after = [alphas_of(model(k)) for k in range(1, n_passes + 1)]
    same = all(after[k] == steps[4 * k + 3]["alpha"] for k in range(n_passes))
    return {"steps": steps, "after_each_pass": after, "same": same, "picture": "kernel_perceptron.png"}


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the slides do step by step."""
    steps = results["steps"]
    first = [step["alpha"] for step in steps[:2]]
    return [
        pages.claim(
            pages.slides,
            "of four points, the first is misclassified and its alpha becomes 1; the second is predicted positive, "
            "and its "
            "alpha becomes -1.",
            judging.every([first == [[1, 0, 0, 0], [1, -1, 0, 0]]]),
            f"f(x1) = {steps[0]['f']:g}, so alpha = {first[0]}; f(x2) = {steps[1]['f']:g}, so alpha = {first[1]}.",
        ),
        pages.claim(
            pages.slides,
            "the kernelized perceptron stops when all points are classified correctly.",
            judging.every([results["same"], not any(step["wrong"] for step in steps[-4:])]),
            f"After {steps[-1]['pass']} passes all points are right; `KernelPerceptron` has the same alphas after "
            "each pass.",
        ),
    ]


def shown_passes(results: dict[str, Any]) -> list[int]:
    """The passes that have a panel in the picture: the first, the middle one and the last."""
    n_passes = len(results["after_each_pass"])
    return sorted({1, (n_passes + 1) // 2, n_passes})


def wrong_after(results: dict[str, Any], passes: int) -> list[str]:
    """The points that are misclassified with the alphas after a pass."""
    alpha = results["after_each_pass"][passes - 1]
    scores = [sum(a * kernel(z, x) for a, z in zip(alpha, points, strict=True)) for x in points]
    return [f"x{i + 1}" for i, score in enumerate(scores) if signs[i] * score <= 0.0]


def draw(results: dict[str, Any]) -> None:
    """Where the function changes its sign after some of the passes."""
    shown = shown_passes(results)
    figure, panels = pictures.panels(len(shown), width=3.6, height=3.4)
    for axes, passes in zip(panels, shown, strict=True):
        pictures.boundary(axes, model(passes), points, signs)
        axes.set(title=f"after pass {passes}", xlabel="x1", ylabel="x2")
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    rows = [
        [step["pass"], step["point"], f"{step['sign']:+d}", f"{step['f']:g}", "wrong" if step["wrong"] else "right",
         ", ".join(str(value) for value in step["alpha"])]
        for step in results["steps"]
    ]  # fmt: skip
    return f"""# The kernelized perceptron, step by step

The example of the slides with numbers, for students: check each step of the kernelized perceptron yourself.

Generated by `python -m experiments.kernel_perceptron` from `kernel_perceptron.json`. The slides visit four points in
turn, x1 (+1), x2 (-1), x3 (-1) and x4 (+1), and do not say where they are. Here they are the corners of a square,
(0, 0), (0, 1), (1, 0) and (1, 1), which no line separates. The kernel is quadratic, k(x, z) = (<x, z> + 1)^2, and
f(x) = sum_j alpha_j k(x_j, x). If y_i f(x_i) is not above 0, alpha_i becomes alpha_i + y_i.

{pages.claims(results)}
![The four points and the curve on which f is 0, after three of the passes; rings mark mistakes]({results["picture"]})

{pages.wrapped(_rings(results))}

The table has f at the moment when a point is visited, before alpha changes:

{pages.table(["pass", "point", "y", "f", "", "alpha after it"], rows)}"""


def _rings(results: dict[str, Any]) -> str:
    """What the rings in the picture are."""
    found = [(passes, ", ".join(wrong_after(results, passes)) or "none") for passes in shown_passes(results)]
    return (
        "Rings mark the points that are wrong once the pass is over: "
        + "; ".join(f"after pass {passes}, {names}" for passes, names in found)
        + ". (A point on the curve, where f is 0, counts as wrong.)"
    )


if __name__ == "__main__":
    command.run(sys.modules[__name__])
