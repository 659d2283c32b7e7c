"""The share of certified predictions for fits with decreasing gaps: by the ellipsoid, and by the ball alone.

Run as ``python examples/plot_certified.py [folder]``; the picture goes to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pegasos import PegasosClassifier
from pegasos.plots import CertifiedShareDisplay


def main(folder: str = "docs/images") -> None:
    """Ten digits, rows that were not seen."""
    X, y = load_digits(return_X_y=True)
    X, new, y, _ = train_test_split(X / 16.0, y, test_size=0.3, random_state=0)
    model = PegasosClassifier(lam=1e-3, random_state=0)
    drawn = CertifiedShareDisplay.from_estimator(model, X, y, X_val=new).plot(title="ten digits, held-out data")
    print(f"{drawn.shares[4]:.1%} certified at a gap of {drawn.gaps[4]:.1e}, {drawn.balls[4]:.1%} by the ball alone")
    drawn.figure_.savefig(Path(folder) / "certified.png", dpi=100)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
