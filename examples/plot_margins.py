"""Margins and losses on held-out data.

Run as ``python examples/plot_margins.py [folder]``; the pictures go to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier
from pegasos.plots import LossDisplay, MarginDisplay


def main(folder: str = "docs/images") -> None:
    """Train on one half, look at the other."""
    data = load_breast_cancer()
    y = data.target_names[data.target]
    X, new_X, y, new_y = train_test_split(data.data, y, test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), PegasosClassifier(lam=1e-2, random_state=0)).fit(X, y)
    print(f"{model.score(new_X, new_y):.1%} of the new rows right")
    drawn = MarginDisplay.from_estimator(model, new_X, new_y).plot(title="breast cancer, held-out data")
    drawn.figure_.savefig(Path(folder) / "margins.png", dpi=100)
    drawn = LossDisplay.from_estimator(model, new_X, new_y).plot(title="breast cancer, held-out data")
    drawn.figure_.savefig(Path(folder) / "loss.png", dpi=100)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
