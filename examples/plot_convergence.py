"""Pegasos and the automatic solver on the breast cancer data: objective, lower bound, gap, and the paper's bound.

Run as ``python examples/plot_convergence.py [folder]``; the pictures go to the folder, by default ``docs/images``.
"""

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

from pegasos import GapWarning, PegasosClassifier
from pegasos.plots import ConvergenceDisplay


def main(folder: str = "docs/images") -> None:
    """Run the published algorithm, then ten problems at once by the automatic solver."""
    X, y = load_breast_cancer(return_X_y=True)
    published = {"solver": "pegasos", "projection": True, "average": "uniform", "max_iter": 300}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)  # it is not asked to reach tol
        model = PegasosClassifier(lam=1e-2, **published, random_state=0).fit(scale(X), y)
    print(model.status_)
    drawn = ConvergenceDisplay.from_estimator(model).plot(title="averaged Pegasos, breast cancer, lam = 0.01")
    drawn.figure_.savefig(Path(folder) / "convergence.png", dpi=100)
    X, y = load_digits(return_X_y=True)
    model = PegasosClassifier(lam=1e-3, random_state=0).fit(X / 16.0, y)
    print(model.status_)
    drawn = ConvergenceDisplay.from_estimator(model).plot(by="epoch", title="digits, one against the rest")
    drawn.figure_.savefig(Path(folder) / "convergence-classes.png", dpi=100)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
