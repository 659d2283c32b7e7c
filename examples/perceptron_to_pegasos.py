"""From the perceptron to Pegasos, by changing the step rule on one stream.

    perceptron        on a mistake       w <- w + sign x
    with a margin     below a margin 1   w <- (1 - eta lam) w + eta sign x       a constant step: NORMA
    Pegasos           below a margin 1   w <- (1 - 1/t) w + 1/(lam t) sign x     the step falls as 1/t

All rules see the same samples once, in the same order. Prints a table and, if matplotlib is installed, draws the
cumulative mistakes and their share.

    python examples/perceptron_to_pegasos.py [picture.png]
"""

from __future__ import annotations

import sys

import numpy as np

from pegasos import PegasosClassifier, steps
from pegasos.online import Norma, PassiveAggressive, Perceptron
from pegasos.plots import MistakesDisplay

lam = 5e-3
once = {"max_iter": 1, "shuffle": False, "fit_intercept": False}
rules = {
    "perceptron": Perceptron(prediction="last", **once),
    "averaged perceptron": Perceptron(prediction="averaged", **once),
    "PA-I, C = 1": PassiveAggressive(C=1.0, variant="pa-1", **once),
    "margin, constant step": Norma("linear", eta=0.05, lam=lam, tau=None, **once),
}


def stream(n_rows: int = 10_000, n_features: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit length on both sides of a plane; a tenth of the labels is wrong."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_features)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    codes = (X @ random.normal(size=n_features) > 0.0).astype(np.intp)
    return X, np.where(random.random(n_rows) < 0.1, 1 - codes, codes)


def objective(X: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """lam/2 |w|^2 plus the mean hinge loss: what Pegasos minimizes."""
    margins = np.where(codes == 1, 1.0, -1.0) * (X @ weights)
    return float(lam / 2.0 * weights @ weights + np.maximum(0.0, 1.0 - margins).mean())


def pegasos(X: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """One pass of Pegasos: rows and mistakes so far, the mean loss on the way, the weights."""
    walk = steps(X, codes, lam=lam, sampling="sequential", fit_intercept=False, n_steps=len(codes))
    margins, weights = np.empty(len(codes)), np.empty(0)
    for step in walk:
        margins[step.number - 1], weights = step.margins[0], step.coef
    seen = np.arange(1, len(codes) + 1)
    return np.stack([seen, np.cumsum(margins <= 0.0)], axis=1), float(np.maximum(0.0, 1.0 - margins).mean()), weights


def main(picture: str | None = None) -> None:
    """Run each rule over the stream once, and compare."""
    X, codes = stream()
    best = PegasosClassifier(lam=lam, fit_intercept=False, random_state=0).fit(X, codes).certificate_.dual
    print(f"{'step rule':24}{'mistakes':>10}{'share':>8}{'mean loss':>11}{'P(w)':>9}   (P is at least {best:.4f})")
    found = {}
    for name, learner in rules.items():
        learner.fit(X, codes)
        linear = learner.coef_[0] if hasattr(learner, "coef_") else learner.dual_coef_[0] @ learner.support_vectors_
        found[name] = learner.mistake_curve_, learner.loss_curve_[-1, 1] / len(codes), linear
    found["Pegasos"] = pegasos(X, codes)
    for name, (curve, loss, weights) in found.items():
        mistakes = int(curve[-1, 1])
        share, reached = mistakes / len(codes), objective(X, codes, weights)
        print(f"{name:24}{mistakes:10d}{share:8.3f}{loss:11.4f}{reached:9.4f}")
    if picture is not None:
        draw({name: curve for name, (curve, _, _) in found.items()}, picture)


def draw(curves: dict[str, np.ndarray], picture: str) -> None:
    """Mistakes, and their share, against rows seen; the averaged perceptron makes those of the perceptron."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no picture.")
        return
    figure = Figure(figsize=(9.5, 4.0), layout="constrained")
    whole, early = figure.subplots(1, 2)
    mistakes = MistakesDisplay({name: curve for name, curve in curves.items() if name != "averaged perceptron"})
    mistakes.plot(whole, legend=False)
    mistakes.plot(early, share=True, legend=False)
    n_rows = curves["Pegasos"][-1, 0]
    whole.plot([0, n_rows], [0, 0.1 * n_rows], color="0.6", linestyle=":", label="mislabeled samples")
    early.axhline(0.1, color="0.6", linestyle=":")
    early.set(xlim=(100, None), ylim=(0, 0.5))
    figure.suptitle("One stream, four step rules")
    whole.legend(frameon=False)
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:2])
