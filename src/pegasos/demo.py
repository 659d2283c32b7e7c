"""Train on data that comes with scikit-learn, print what is proved, draw the gap falling, and write a report.

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

_TOL = 1e-4
_COLUMNS = (
    ("data", "{:<26}"),
    ("accuracy", "{:>8}"),
    ("epochs", "{:>6}"),
    ("seconds", "{:>7}"),
    ("primal", "{:>9}"),
    ("dual", "{:>9}"),
    ("relative gap", "{:>12}"),
)


def data_sets() -> dict[str, tuple[Any, Any, Any, Any]]:
    """Three small data sets as train_X, test_X, train_y, test_y, scaled by their training part."""
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
    """Fit the training part, and print one line of the table."""
    if sys.stdout.isatty():
        print(f"training on {name} ...", end="\r", flush=True)
    begun = perf_counter()
    model = PegasosClassifier(lam=1e-3, tol=_TOL, n_jobs=2, random_state=0)
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
    print("  ".join(how.format(value) for (_, how), value in zip(_COLUMNS, values, strict=True)))
    print(f"    {proof}")
    sure = float(np.mean(model.certified(test_X)))
    print(f"    {sure:.0%} of the predictions on test data cannot change: every exact solution makes them")
    return model


def gap_curves() -> dict[str, tuple[Any, Any]]:
    """Epochs and relative gap of dual ascent on each data set, from the zero model on.

    Dual ascent is certified several times on its way, where "auto" may reach ``tol`` in one go. At zero the objective
    is 1 and its lower bound 0. For several classes, the slowest one is shown.
    """
    curves = {}
    for name, (X, _, y, _) in data_sets().items():
        model = PegasosClassifier(lam=1e-3, tol=_TOL, solver="dual", random_state=0).fit(X, y)
        part = max(model.trace_.parts, key=lambda each: float(each["epoch"][-1]))
        curves[name] = np.append(0.0, part["epoch"]), np.append(1.0, part["gap"] / part["primal"])
    return curves


def draw_gaps(path: Path) -> None:
    """The proved relative gap falling, on each data set."""
    curves = gap_curves()
    drawn = SolversDisplay(curves, xlabel="epochs of dual ascent").plot(title="How far from the optimum, at most")
    for line, curve in zip(drawn.lines_, curves.values(), strict=True):
        line.set_data(*curve)  # the display leaves out x = 0, which its logarithmic axis cannot show
        line.set_markevery(1)
    drawn.ax_.set(xscale="linear", xlim=(0.0, None))
    drawn.ax_.axhline(_TOL, color="0.5", linestyle="--", linewidth=1)
    drawn.ax_.annotate("tol", (0.0, _TOL), xytext=(4, 4), textcoords="offset points")
    _save(drawn, path)


def draw_boundary(path: Path) -> None:
    """A kernel machine on two moons: boundary, margins, support vectors, and where predictions are certified."""
    X, y = make_moons(200, noise=0.15, random_state=0)
    model = KernelPegasosClassifier(gamma=2.0, lam=1e-2, tol=3e-3, solver="pegasos", random_state=0).fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y).plot(title="two moons, RBF kernel")
    _save(drawn, path)


def _save(drawn: Any, path: Path) -> None:
    drawn.figure_.savefig(path, dpi=100)
    pyplot().close(drawn.figure_)


def write_report(model: PegasosClassifier, path: Path) -> None:
    """An HTML report on the model of the first data set, computed from its test part."""
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
    print("  ".join(how.format(name) for name, how in _COLUMNS))
    models = {name: train(name, *parts) for name, parts in data_sets().items()}
    gaps, boundary, page = (Path(folder) / name for name in ("gap.png", "boundary.png", "report.html"))
    draw_gaps(gaps)
    draw_boundary(boundary)
    write_report(models["breast cancer"], page)
    print(f"\nHow the gap fell: {gaps}\nA decision boundary, and where predictions can still change: {boundary}")
    print(f"A report on the first model, to open in a browser: {page}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
