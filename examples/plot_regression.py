"""Regression: predictions with bounds on the exact ones, a tube with its support vectors, and quantiles.

Run as ``python examples/plot_regression.py [folder]``; the pictures go to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosRegressor, PegasosRegressor
from pegasos.plots import PredictionsDisplay, TubeDisplay

QUANTILES = (0.1, 0.5, 0.9)


def waves(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A sine whose noise grows from left to right."""
    random = np.random.default_rng(seed)
    x = random.uniform(0.0, 6.0, n)
    return x[:, None], np.sin(x) + (0.05 + 0.15 * x) * random.normal(size=n)


def coverage(models: list, X: np.ndarray, y: np.ndarray) -> str:
    """The share of targets below each quantile."""
    shares = (f"{np.mean(y <= model.predict(X)):.2f}" for model in models)
    return ", ".join(f"{wanted} -> {share}" for wanted, share in zip(QUANTILES, shares, strict=True))


def main(folder: str = "docs/images") -> None:
    """One picture each of predictions, of residuals, of a tube and of quantiles."""
    X, y = load_diabetes(return_X_y=True)
    X, new, y, target = train_test_split(X, y, test_size=0.3, random_state=0)
    scaler = StandardScaler().fit(X)
    X, new = scaler.transform(X), scaler.transform(new)
    model = PegasosRegressor(C=1.0, epsilon=20.0, regularize_intercept=False, tol=1e-2, random_state=0).fit(X, y)
    drawn = PredictionsDisplay.from_estimator(model, new, target).plot(title="diabetes, held-out data, tol=1e-2")
    print(f"diabetes: R2 {model.score(new, target):.2f} on held-out data; {model.status_}")
    drawn.figure_.savefig(Path(folder) / "predictions.png", dpi=100)

    drawn.plot(kind="residuals", title="residuals, held-out data").figure_.savefig(
        Path(folder) / "residuals.png", dpi=100
    )

    x = np.sort(np.random.default_rng(0).uniform(0.0, 6.0, 80))
    wave = np.sin(x) + np.random.default_rng(1).normal(scale=0.15, size=80)
    smooth = KernelPegasosRegressor(C=2.0, gamma=0.5, epsilon=0.2, tol=3e-2, random_state=0).fit(x[:, None], wave)
    tube = TubeDisplay.from_estimator(smooth, x[:, None], wave).plot(title="a sine with noise, tol=3e-2")
    print(f"sine: {len(tube.support_)} of 80 samples are support vectors")
    tube.figure_.savefig(Path(folder) / "tube.png", dpi=100)

    shared = {"loss": "quantile", "regularize_intercept": False, "random_state": 0}
    linear = [PegasosRegressor(lam=1e-3, quantile=q, **shared).fit(X, y) for q in QUANTILES]
    print(f"diabetes, held-out data, share of targets below each quantile: {coverage(linear, new, target)}")

    X, y = waves(600, 0)
    curves = [KernelPegasosRegressor(gamma=0.5, C=1.0, quantile=q, **shared).fit(X, y) for q in QUANTILES]
    print(f"waves, held-out data, share of targets below each quantile: {coverage(curves, *waves(5000, 1))}")
    _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ax.scatter(X[:, 0], y, s=6, color="0.6", linewidth=0.0)
    grid = np.linspace(0.0, 6.0, 300)[:, None]
    for quantile, curve, dash in zip(QUANTILES, curves, ("--", "-", "-."), strict=True):
        ax.plot(grid[:, 0], curve.predict(grid), dash, label=f"quantile {quantile}")
    ax.set(xlabel="x", ylabel="y", title="three certified quantiles of 600 samples")
    ax.legend(frameon=False)
    ax.figure.savefig(Path(folder) / "quantiles.png", dpi=100)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
