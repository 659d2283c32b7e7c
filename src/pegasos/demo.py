"""The main job on data that comes with scikit-learn: train, print what is proved, draw the gap falling, report.

Run as ``python -m pegasos.demo [folder]``; pictures and report go to the folder, by default ``demo``.
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
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from pegasos import KernelPegasosClassifier, PegasosClassifier, report
from pegasos.plots import BoundaryDisplay, SolversDisplay
from pegasos.plots._style import pyplot

_columns = (
    ("data", "{:<26}"),
    ("accuracy", "{:>8}"),
    ("epochs", "{:>6}"),
    ("seconds", "{:>7}"),
    ("primal", "{:>9}"),
    ("dual", "{:>9}"),
    ("relative gap", "{:>12}"),
)


def data_sets() -> dict[str, tuple[Any, Any, Any, Any]]:
    """Three small data sets as train_X, test_X, train_y, test_y, transformed by what the training part shows."""
    sources = {
        "breast cancer": (load_breast_cancer(return_X_y=True), StandardScaler()),
        "digits, 10 classes": (load_digits(return_X_y=True), FunctionTransformer(lambda X: X / 16.0)),
        "two moons, Nystroem map": (
            make_moons(2000, noise=0.15, random_state=0),
            Nystroem(gamma=2.0, n_components=100, random_state=0),
        ),
    }
    found = {}
    for name, ((X, y), transform) in sources.items():
        train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0)
        found[name] = (transform.fit_transform(train_X), transform.transform(test_X), train_y, test_y)
    return found


def train(name: str, train_X: Any, test_X: Any, train_y: Any, test_y: Any) -> PegasosClassifier:
    """Fit to the training part, and print a line of the table."""
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
    print(f"    {sure:.0%} of the test data: every exact solution predicts the same class")
    return model


def draw_gaps(models: dict[str, PegasosClassifier], path: Path) -> None:
    """The relative gap of each model against epochs; for several classes, that of the slowest."""
    slowest = {
        name: max(model.trace_.parts, key=lambda part: float(part["epoch"][-1])) for name, model in models.items()
    }
    drawn = SolversDisplay.from_traces(slowest, by="epoch").plot(title="How far from the best possible, at most")
    drawn.ax_.axhline(1e-4, color="0.5", linestyle="--", linewidth=1)
    drawn.ax_.annotate("tol", (drawn.ax_.get_xlim()[0], 1e-4), xytext=(4, 4), textcoords="offset points")
    _save(drawn, path)


def draw_boundary(path: Path) -> None:
    """A kernel machine on two moons: boundary, margins, support vectors, and where the decision is proved."""
    X, y = make_moons(200, noise=0.15, random_state=0)
    model = KernelPegasosClassifier(gamma=2.0, lam=1e-2, tol=3e-3, random_state=0).fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y).plot(title="two moons, RBF kernel")
    _save(drawn, path)


def _save(drawn: Any, path: Path) -> None:
    drawn.figure_.savefig(path, dpi=100)
    pyplot().close(drawn.figure_)


def write_report(model: PegasosClassifier, path: Path) -> None:
    """A page about the model of the first data set, on the rows it was not trained on."""
    data = load_breast_cancer()
    _, test_X, _, test_y = data_sets()["breast cancer"]
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
    """Train on each data set, print the table, write the pictures and the report."""
    pyplot().switch_backend("Agg")  # raises an error at once if matplotlib is missing
    Path(folder).mkdir(parents=True, exist_ok=True)
    print("  ".join(how.format(name) for name, how in _columns))
    models = {name: train(name, *parts) for name, parts in data_sets().items()}
    gaps, boundary, page = (Path(folder) / name for name in ("gap.png", "boundary.png", "report.html"))
    draw_gaps(models, gaps)
    draw_boundary(boundary)
    write_report(models["breast cancer"], page)
    print(f"\nThe gap falling: {gaps}\nA boundary, and where it is proved: {boundary}")
    print(f"A report of the first model, to open in a browser: {page}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
