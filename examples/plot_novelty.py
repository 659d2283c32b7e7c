"""Novelty detection: regions that contain all but a share nu of the data, for nu of 0.01, 0.1 and 0.3.

Run as ``python examples/plot_novelty.py [folder]``; the pictures go to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pegasos import KernelPegasosOneClass
from pegasos.plots import NoveltyDisplay


def main(folder: str = "docs/images") -> None:
    """Two moons, and where they end."""
    X, _ = make_moons(400, noise=0.1, random_state=0)
    across, up = np.meshgrid(np.linspace(-1.8, 2.8, 120), np.linspace(-1.2, 1.8, 120))
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.2), layout="constrained", sharey=True)
    for ax, nu in zip(axes, (0.01, 0.1, 0.3), strict=True):
        model = KernelPegasosOneClass(gamma=4.0, nu=nu, random_state=0).fit(X)
        outside, support = np.mean(model.predict(X) == -1), len(model.support_) / len(X)
        print(
            f"nu {nu}: {outside:.3f} outside, {support:.3f} support vectors, gap {model.certificate_.relative_gap:.1e}"
        )
        scores = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
        ax.contourf(across, up, scores, levels=[0.0, np.inf], colors=["#56B4E9"], alpha=0.3)
        ax.contour(across, up, scores, levels=[0.0], colors=["#0072B2"])
        ax.scatter(*X.T, s=5, color=np.where(model.predict(X) == -1, "#D55E00", "0.4"))
        ax.set(title=f"nu = {nu}: {outside:.1%} outside", xlabel="x1")
    axes[0].set_ylabel("x2")
    figure.savefig(Path(folder) / "novelty.png", dpi=60)
    elsewhere = np.random.default_rng(0).uniform([-1.8, -1.2], [2.8, 1.8], (400, 2))
    drawn = NoveltyDisplay.from_estimator(model, np.concatenate([X, elsewhere]), np.repeat([1, -1], 400))
    drawn.plot(title="nu = 0.3: moons and uniform points").figure_.savefig(Path(folder) / "scores.png", dpi=80)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
