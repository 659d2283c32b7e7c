"""What C does to an outlier: the larger C, the more influence it has.

Two clouds, and one point of the right-hand class in the left-hand cloud. With a small C the boundary ignores it; with a
large C the boundary turns until the point is classified correctly, and the margin is narrow.

    python examples/outlier.py [picture.png]
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from pegasos import PegasosClassifier


def points() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds of 20 and an outlier."""
    random = np.random.default_rng(3)
    left, right = random.normal([-2.0, 0.0], 0.6, (20, 2)), random.normal([2.0, 0.0], 0.6, (20, 2))
    return np.vstack([left, right, [[-1.0, 1.6]]]), np.repeat([-1, 1, 1], [20, 20, 1])


def main(picture: str = "docs/images/outlier.png") -> None:
    """Three values of C side by side: boundary, strip of the margin, slack."""
    X, y = points()
    figure = Figure(figsize=(10.5, 3.9), layout="constrained")
    xs, ys = np.meshgrid(np.linspace(-4.2, 4.2, 300), np.linspace(-2.6, 2.6, 300))
    for axes, C in zip(figure.subplots(1, 3, sharey=True), (0.02, 0.5, 100.0), strict=True):
        model = PegasosClassifier(C=C, regularize_intercept=False, tol=1e-6).fit(X, y)
        slack = np.maximum(0.0, 1.0 - model.margin(X, y))
        scores = model.decision_function(np.c_[xs.ravel(), ys.ravel()]).reshape(xs.shape)
        axes.contourf(xs, ys, scores, levels=[-1.0, 1.0], colors=["0.9"])
        axes.contour(xs, ys, scores, levels=[-1, 0, 1], colors="0.3", linestyles=["--", "-", "--"], linewidths=1.2)
        for sign, color, marker in ((-1, "C0", "o"), (1, "C1", "s")):
            axes.scatter(*X[y == sign].T, c=color, marker=marker, s=26, edgecolors="white", linewidths=0.5, zorder=3)
        axes.scatter(*X[-1], s=130, facecolors="none", edgecolors="black", zorder=4)
        half_width = 1.0 / np.linalg.norm(model.coef_)
        axes.set_title(f"C = {C:g}: margin {half_width:.2f}, slack {slack.sum():.1f}", fontsize=11)
        axes.set(xlabel="x1", xlim=(-4.2, 4.2), ylim=(-2.6, 2.6))
        print(f"C = {C:g}: margin {half_width:.2f}, sum of slack {slack.sum():.2f}")
    figure.axes[0].set_ylabel("x2")
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
