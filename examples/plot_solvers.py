"""The proved gap against time, for three solvers on one problem.

Run as ``python examples/plot_solvers.py [folder]``; the picture goes to the folder, by default ``docs/images``.
"""

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from pegasos import GapWarning, PegasosClassifier
from pegasos.plots import SolversDisplay


def main(folder: str = "docs/images") -> None:
    """Fit the digits, even against odd, by each solver."""
    X, y = load_digits(return_X_y=True)
    models = {
        "auto": PegasosClassifier(lam=1e-4, tol=1e-5, random_state=0),
        "dual": PegasosClassifier(lam=1e-4, tol=1e-5, solver="dual", random_state=0),
        "pegasos": PegasosClassifier(lam=1e-4, tol=1e-5, solver="pegasos", max_iter=300, random_state=0),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)  # Pegasos alone does not reach tol
        for name, model in models.items():
            print(f"{name:10}{model.fit(X / 16.0, y % 2).certificate_}")
    drawn = SolversDisplay.from_estimators(models).plot(title="digits, even against odd, lam = 0.0001")
    drawn.figure_.savefig(Path(folder) / "solvers.png", dpi=100)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
