"""The largest weights by feature name, and the weights of images shown as images.

Run as ``python examples/plot_weights.py [folder]``; the pictures go to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

from pegasos import PegasosClassifier
from pegasos.plots import WeightsDisplay


def main(folder: str = "docs/images") -> None:
    """Train on measurements of cells, and on digits."""
    data = load_breast_cancer()
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(scale(data.data), data.target_names[data.target])
    drawn = WeightsDisplay.from_estimator(model, feature_names=data.feature_names).plot(top=16)
    drawn.figure_.savefig(Path(folder) / "weights.png", dpi=100)
    X, y = load_digits(return_X_y=True)
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X / 16.0, y)
    print(model.status_)
    drawn = WeightsDisplay.from_estimator(model, shape=(8, 8)).plot()
    drawn.figure_.savefig(Path(folder) / "weights-images.png", dpi=100)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
