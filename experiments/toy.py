"""Two toy data sets in the plane: a linear machine on clouds that a line separates, an RBF machine on two moons.

python -m experiments.toy [--quick]
"""

import sys
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_moons

from experiments import command, judging, pages, pictures
from pegasos import KernelPegasosClassifier, PegasosClassifier

sigma = 0.5
reported = {"clouds": 0.982, "moons": 0.967}
noises = (0.1, 0.15, 0.2, 0.25)  # of the moons; the report does not say


def clouds(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that a line separates, with a gap about as wide as a fifth of them."""
    X, y = make_blobs(n, centers=[[-2.0, -1.0], [2.0, 1.0]], cluster_std=0.8, random_state=seed)
    along = X @ np.array([2.0, 1.0]) / np.sqrt(5.0)
    X += np.where(y == 1, np.maximum(0.2 - along, 0.0), np.minimum(-0.2 - along, 0.0))[:, None] * [0.9, 0.45]
    return X, y


def moons(noise: float) -> Any:
    """Two half circles in each other, with noise."""
    return lambda n, seed: make_moons(n, noise=noise, random_state=seed)


def cases() -> dict[str, tuple[Any, Any]]:
    """Data and machines, with the parameters of the report."""
    curved = KernelPegasosClassifier("rbf", C=0.1, gamma=0.5 / sigma**2, random_state=0)
    straight: dict[str, tuple[Any, Any]] = {"clouds": (clouds, PegasosClassifier(C=1.0, random_state=0))}
    return straight | {f"moons, noise {noise:g}": (moons(noise), curved) for noise in noises}


def measure(quick: bool) -> dict[str, Any]:
    """Accuracies on rows of the fit and on new ones, over draws of the data."""
    n, draws = (300, 3) if quick else (1000, 20)
    found = {}
    for name, (make, model) in cases().items():
        scores = []
        for seed in range(draws):
            (X, y), (new_X, new_y) = make(n, seed), make(n, 1000 + seed)
            model.fit(X, y)
            scores.append((model.score(X, y), model.score(new_X, new_y)))
        of_fit, of_new = np.mean(scores, axis=0)
        found[name] = {
            "model": repr(model),
            "rows_of_the_fit": round(float(of_fit), 4),
            "new_rows": round(float(of_new), 4),
            "lowest": round(float(np.min(scores, axis=0)[1]), 4),
            "draws": [round(new, 4) for _, new in scores],
            "reported": reported[name.partition(",")[0]],
        }
    return {"n": n, "draws": draws, "found": found, "picture": "toy.png"}


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the report says. It does not tell the noise of its moons: some noise must do."""
    found = results["found"]
    new = {name: judging.interval([100 * value for value in each["draws"]]) for name, each in found.items()}
    moon = {name: each for name, each in new.items() if name != "clouds"}
    verdicts = {name: each.verdict(least=100 * found[name]["reported"]) for name, each in moon.items()}
    order = (judging.HELD, judging.UNDECIDED, judging.FAILED)
    best = min(verdicts.values(), key=order.index)
    return [
        pages.claim(
            pages.report,
            "a linear machine with C=1 reaches 98.2 % on a toy data set that a line separates.",
            new["clouds"].verdict(least=98.2),
            f"{new['clouds']} % of new rows.",
        ),
        pages.claim(
            pages.report,
            "an RBF machine with C=0.1 and sigma=0.5 reaches 96.7 % on scikit-learn's two moons.",
            best,
            "Of new rows "
            + ", ".join(f"{each} % with noise {name.split()[-1]} ({verdicts[name]})" for name, each in moon.items())
            + "; the report does not tell its noise.",
        ),
    ]


def draw(results: dict[str, Any]) -> None:
    """The decision boundaries."""
    figure, panels = pictures.panels(2)
    for axes, name in zip(panels, ("clouds", "moons, noise 0.15"), strict=True):
        make, model = cases()[name]
        X, y = make(results["n"], 0)
        pictures.boundary(axes, model.fit(X, y), X, y)
        axes.set(title=f"{name}: {model.score(X, y):.1%} of the rows of the fit", xlabel="x1", ylabel="x2")
    pictures.save(figure, results["picture"])


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    keys = ("rows_of_the_fit", "new_rows", "lowest", "reported")
    rows = [
        [name, f"`{each['model']}`", *(f"{each[key]:.4f}" for key in keys)] for name, each in results["found"].items()
    ]
    header = ["data", "machine", "rows of the fit", "new rows", "lowest of the draws", "reported"]
    return f"""# Toy data

Made by `python -m experiments.toy` from `toy.json`. Accuracies, means over {results["draws"]} draws of {results["n"]}
rows to fit on and as many new ones. The report does not say how its data were made: the clouds here are two Gaussian
ones, moved apart until a line separates them, and the moons have noise of several strengths.

{pages.claims(results)}
![Decision boundaries]({results["picture"]})

The line is where the machine changes its mind, the dashed ones are the margin, and circles are mistakes.

{pages.table(header, rows)}"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
