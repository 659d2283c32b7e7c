"""From the perceptron to Pegasos, by exchanging the step rule on one stream.

    perceptron        on a mistake       w <- w + sign x
    with a margin     below a margin 1   w <- (1 - eta lam) w + eta sign x       a constant step: NORMA
    Pegasos           below a margin 1   w <- (1 - 1/t) w + 1/(lam t) sign x     the step falls as 1/t

All three run the same loop over the same rows in the same order. Prints a table; where matplotlib is there, draws the
cumulative mistakes and their share.

    python examples/perceptron_to_pegasos.py [picture.png]
"""

from __future__ import annotations

import sys

import numpy as np

from pegasos import PegasosClassifier
from pegasos.plots import MistakesDisplay
from pegasos.problem import Rows
from pegasos.solvers.kernel_online import NormaStep
from pegasos.solvers.online import Labels, OnlineLearner, PassiveAggressiveStep, PegasosStep, PerceptronStep

lam = 1e-3
rules = {
    "perceptron": OnlineLearner(PerceptronStep()),
    "averaged perceptron": OnlineLearner(PerceptronStep(), "averaged"),
    "PA-I, C = 1": OnlineLearner(PassiveAggressiveStep("pa-1", 1.0)),
    "margin, constant step": OnlineLearner(NormaStep(eta=0.05, lam=lam)),
    "Pegasos": OnlineLearner(PegasosStep(lam)),
}


def stream(n_rows: int = 50_000, n_features: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit length on both sides of a plane; a tenth of the labels is wrong."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_features)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    codes = (X @ random.normal(size=n_features) > 0.0).astype(np.intp)
    return X, np.where(random.random(n_rows) < 0.1, 1 - codes, codes)


def objective(X: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """lam/2 |w|^2 plus the mean hinge loss: what Pegasos minimises."""
    margins = np.where(codes == 1, 1.0, -1.0) * (X @ weights)
    return float(lam / 2.0 * weights @ weights + np.maximum(0.0, 1.0 - margins).mean())


def main(picture: str | None = None) -> None:
    """Run each rule over the stream once, and compare."""
    X, codes = stream()
    rows, labels = Rows.of(X, 0.0), Labels(codes, np.ones(len(codes)))
    order = np.arange(len(codes), dtype=np.uint32)
    best = PegasosClassifier(lam=lam, fit_intercept=False, random_state=0).fit(X, codes).certificate_.dual
    print(f"{'step rule':24}{'mistakes':>10}{'share':>8}{'mean loss':>11}{'P(w)':>9}   (P is at least {best:.4f})")
    curves = {}
    for name, learner in rules.items():
        state = learner.start(1, X.shape[1])
        learner.advance(state, rows, labels, order)
        curves[name], _ = state.curve.up_to(state.counters)
        now, weights = state.counters, learner.weights(state)[0, :-1]
        share, loss = now.mistakes / now.step, now.loss / now.step
        print(f"{name:24}{now.mistakes:10d}{share:8.3f}{loss:11.4f}{objective(X, codes, weights):9.4f}")
    if picture is not None:
        draw(curves, picture)


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
    whole.plot([0, n_rows], [0, 0.1 * n_rows], color="0.6", linestyle=":", label="labels that are wrong")
    early.axhline(0.1, color="0.6", linestyle=":")
    early.set(xlim=(100, None), ylim=(0, 0.5))
    figure.suptitle("One stream, one loop, four step rules")
    whole.legend(frameon=False)
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:2])
