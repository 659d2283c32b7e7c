"""How the pictures of the experiments look: colors that all eyes tell apart, and a line style beside each."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from experiments import pages

# Okabe and Ito.
colors = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), "-")
_MARKERS = ("o", "s", "^", "D", "v", "P", "x")


def looks() -> Iterator[dict[str, Any]]:
    """Colour, line and marker of one curve after the other."""
    for color, line, marker in zip(colors, _LINES, _MARKERS, strict=True):
        yield {"color": color, "linestyle": line, "marker": marker, "markersize": 4}


def panels(n_columns: int, n_rows: int = 1, width: float = 4.6, height: float = 3.6) -> tuple[Any, Any]:
    """A figure and its axes, without frames on top and at the right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(width * n_columns, height * n_rows), layout="constrained", squeeze=False
    )
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes.ravel()


def dots(
    axes: Any,
    rows: Sequence[str],
    columns: Mapping[str, Sequence[float | None]],
    errors: Mapping[str, Sequence[float]] = MappingProxyType({}),
) -> None:
    """A line for each row, from above, and on it a mark for each column that has a value there."""
    for (name, values), look in zip(columns.items(), looks(), strict=False):
        there = [k for k, value in enumerate(values) if value is not None]
        spread = [errors[name][k] for k in there] if name in errors else None
        axes.errorbar(
            [values[k] for k in there], there, xerr=spread, **{**look, "linestyle": "none", "markersize": 6}, label=name
        )
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)


def save(figure: Any, name: str) -> None:
    """Beside the pages."""
    import matplotlib.pyplot as plt

    pages.folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(pages.folder / name, dpi=120)
    plt.close(figure)


def boundary(axes: Any, model: Any, X: Any, y: Any) -> None:
    """Rows in a plane, what a model says of it, and its margin; rings mark rows with y f(x) <= 0."""
    import numpy as np

    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    across, along = np.meshgrid(np.linspace(low[0], high[0], 160), np.linspace(low[1], high[1], 160))
    scores = model.decision_function(np.column_stack([across.ravel(), along.ravel()])).reshape(across.shape)
    axes.contourf(across, along, scores, levels=[-np.inf, 0, np.inf], colors=("#56B4E9", "#E69F00"), alpha=0.25)
    axes.contour(across, along, scores, levels=[-1, 0, 1], colors="black", linestyles=("--", "-", "--"), linewidths=1)
    for label, color, marker in zip(model.classes_, colors, "os", strict=False):
        axes.scatter(*X[y == label].T, s=9, color=color, marker=marker, label=f"class {label}")
    # A score of 0 decides nothing: it is a mistake for both classes, whatever `predict` makes of it.
    wrong = np.where(y == model.classes_[1], 1.0, -1.0) * model.decision_function(X) <= 0.0
    axes.scatter(*X[wrong].T, s=40, facecolors="none", edgecolors="black", label="mistake")
    axes.legend(loc="best", fontsize=7)
