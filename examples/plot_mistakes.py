"""Mistakes of four online learners on one pass over the digits.

Run as ``python examples/plot_mistakes.py [folder]``; the picture goes to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from pegasos.online import ConfidenceWeighted, KernelPerceptron, PassiveAggressive, Perceptron
from pegasos.plots import MistakesDisplay


def main(folder: str = "docs/images") -> None:
    """Let each learner see the rows once, in the same order."""
    X, y = load_digits(return_X_y=True)
    kinds = {
        "perceptron": Perceptron,
        "passive-aggressive": PassiveAggressive,
        "AROW": ConfidenceWeighted,
        "kernel perceptron": KernelPerceptron,
    }
    learners = {name: kind().partial_fit(X / 16.0, y, classes=range(10)) for name, kind in kinds.items()}
    for name, learner in learners.items():
        print(f"{name:20}{learner.mistakes_:5d} mistakes on {len(y)} rows")
    drawn = MistakesDisplay.from_estimators(learners).plot(title="digits, one pass")
    drawn.figure_.savefig(Path(folder) / "mistakes.png", dpi=100)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
