"""The main job on data that comes with scikit-learn: train, print what is proved, draw the gap falling, report.

Run as ``python -m pegasos.demo [folder]``; picture and report go to the folder, by default ``demo``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier, report

_columns = (
    ("data", "{:<26}"),
    ("accuracy", "{:>8}"),
    ("epochs", "{:>6}"),
    ("seconds", "{:>7}"),
    ("primal", "{:>9}"),
    ("dual", "{:>9}"),
    ("relative gap", "{:>12}"),
)


def data_sets() -> dict[str, tuple[Any, Any]]:
    """Three small data sets: two bundled with scikit-learn, one generated."""
    cancer, cancer_y = load_breast_cancer(return_X_y=True)
    digits, digits_y = load_digits(return_X_y=True)
    moons, moons_y = make_moons(2000, noise=0.15, random_state=0)
    bent = Nystroem(gamma=2.0, n_components=100, random_state=0).fit_transform(moons)
    return {
        "breast cancer": (StandardScaler().fit_transform(cancer), cancer_y),
        "digits, 10 classes": (digits / 16.0, digits_y),
        "two moons, Nystroem map": (bent, moons_y),
    }


def train(name: str, X: Any, y: Any) -> PegasosClassifier:
    """Fit on three quarters of the rows, and print a line of the table."""
    train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0)
    if sys.stdout.isatty():
        print(f"training on {name} ...", end="\r", flush=True)
    begun = perf_counter()
    model = PegasosClassifier(lam=1e-3, tol=1e-4, n_jobs=2, random_state=0)
    model.fit(train_X, train_y)
    seconds = perf_counter() - begun
    proof = model.certificate_
    values = (
        name,
        f"{model.score(test_X, test_y):.3f}",
        model.n_iter_,
        f"{seconds:.3f}",
        f"{proof.primal:.6f}",
        f"{proof.dual:.6f}",
        f"{proof.relative_gap:.1e}",
    )
    print("  ".join(how.format(value) for (_, how), value in zip(_columns, values, strict=True)))
    print(f"    {proof}")
    sure = float(np.mean(model.certified(test_X)))
    print(f"    {sure:.0%} of the test rows: no exact solution can predict them otherwise")
    return model


def draw(models: dict[str, PegasosClassifier], path: Path) -> None:
    """The relative gap of each model against epochs; of several classes, that of the slowest."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    styles = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"))
    for (name, model), (colour, marker) in zip(models.items(), styles, strict=True):
        trace = max(model.trace_.parts, key=lambda part: float(part["epoch"][-1]))
        axes.loglog(trace["epoch"], trace["gap"] / trace["primal"], color=colour, marker=marker, label=name)
    axes.axhline(1e-4, color="0.4", linestyle="--", linewidth=1)
    axes.annotate("tol", (axes.get_xlim()[0], 1e-4), xytext=(4, 4), textcoords="offset points", color="0.3")
    axes.set_xlabel("epochs (passes over the rows)")
    axes.set_ylabel("proved relative duality gap")
    axes.set_title("How far from the best possible, at most")
    axes.legend(frameon=False)
    axes.grid(True, which="major", alpha=0.25)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def write_report(model: PegasosClassifier, path: Path) -> None:
    """A page about the model of the first data set, on the rows it was not trained on."""
    data = load_breast_cancer()
    X, y = data_sets()["breast cancer"]
    _, test_X, _, test_y = train_test_split(X, y, random_state=0)
    report.write(
        model,
        test_X,
        test_y,
        path,
        title="Breast cancer, benign (1) or malignant (0)",
        trained_on="three quarters of the Wisconsin diagnostic data",
        feature_names=data.feature_names,
    )


def main(folder: str = "demo") -> None:
    """Train on each data set, print the table, write the picture and the report."""
    print("  ".join(how.format(name) for name, how in _columns))
    models = {name: train(name, X, y) for name, (X, y) in data_sets().items()}
    picture = Path(folder) / "gap.png"
    draw(models, picture)
    print(f"\nThe gap falling: {picture}")
    page = Path(folder) / "report.html"
    write_report(models["breast cancer"], page)
    print(f"A report of the first model, to open in a browser: {page}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
