"""Decision boundaries: two moons with a kernel, and three species of iris with linear boundaries.

Run as ``python examples/plot_boundary.py [folder]``; the pictures go to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.plots import BoundaryDisplay


def main(folder: str = "docs/images") -> None:
    """Train to a coarse gap with Pegasos, so that the undecided region is visible."""
    X, y = make_moons(200, noise=0.15, random_state=0)
    model = KernelPegasosClassifier(gamma=2.0, lam=1e-2, tol=3e-3, solver="pegasos", random_state=0).fit(X, y)
    print(f"moons: {model.certified(X).mean():.1%} of the rows certified")
    drawn = BoundaryDisplay.from_estimator(model, X, y).plot(title="two moons, RBF kernel")
    drawn.figure_.savefig(Path(folder) / "boundary.png", dpi=90)
    data = load_iris()
    X, y = data.data[:, 2:], data.target_names[data.target]
    machine = PegasosClassifier(lam=1e-2, multi_class="crammer_singer", tol=1e-3, random_state=0)
    flowers = make_pipeline(StandardScaler(), machine).fit(X, y)
    print(f"iris: {flowers.score(X, y):.1%} of the rows right")
    drawn = BoundaryDisplay.from_estimator(flowers, X, y).plot(title="iris, all classes at once")
    drawn.ax_.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    drawn.figure_.savefig(Path(folder) / "boundary-classes.png", dpi=90)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
