"""The regularization path of the breast cancer data, and lam chosen by five-fold cross-validation.

Run as ``python examples/choosing_lam.py [folder]``; the two pictures go to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pegasos import LamPathDisplay, PegasosClassifierCV, lam_path


def main(folder: str = "docs/images") -> None:
    """Follow the path, choose lam, draw both."""
    data = load_breast_cancer()
    X, y = scale(data.data), data.target
    path = lam_path(X, y, random_state=0)
    print(path)
    drawn = LamPathDisplay.from_path(path, feature_names=data.feature_names).plot(title="breast cancer, scaled")
    drawn.figure_.savefig(Path(folder) / "lam-path.png", dpi=100)
    plt.close(drawn.figure_)
    model = PegasosClassifierCV(20, n_jobs=2, random_state=0).fit(X, y)
    simple = PegasosClassifierCV(20, one_standard_error=True, n_jobs=2, random_state=0).fit(X, y)
    print(f"best mean at lam = {model.lam_:.3g}, within one standard error up to {simple.lam_:.3g}")
    print(model.status_)
    drawn = LamPathDisplay.from_estimator(model).plot(title="breast cancer, five folds")
    drawn.figure_.savefig(Path(folder) / "lam-scores.png", dpi=100)
    plt.close(drawn.figure_)


if __name__ == "__main__":
    main(*sys.argv[1:])
