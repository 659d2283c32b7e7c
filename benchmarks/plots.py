"""Seconds against the distance from the optimum, all solvers: one picture a data set, and one of all for the README."""

from pathlib import Path

import numpy as np

from benchmarks.tables import Row
from pegasos.plots import SolversDisplay

_folder = Path(__file__).parent / "results"
_overview = Path(__file__).parents[1] / "docs" / "images" / "benchmark.png"
_styles = {
    "pegasos": ("#000000", "o", 2.4),
    "LinearSVC": ("#E69F00", "s", 1.0),
    "LIBLINEAR": ("#D55E00", "D", 1.0),
    "Snap ML x1": ("#56B4E9", "^", 1.0),
    "Snap ML x2": ("#0072B2", "v", 1.0),
    "SGD": ("#009E73", "x", 1.0),
    "SGD averaged": ("#5FAE57", "+", 1.0),
    "Vowpal Wabbit": ("#CC79A7", "*", 1.0),
    "skglm": ("#8C6BB1", "P", 1.0),
}
_looks = {
    name: {"color": color, "marker": marker, "linewidth": width, "linestyle": "-", "markevery": 1}
    for name, (color, marker, width) in _styles.items()
}


def draw(rows: list[Row]) -> None:
    """Write the pictures."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row.problem for row in rows))
    for name in names:
        lams = sorted({row.lam for row in rows if row.problem == name}, reverse=True)
        figure, axes = plt.subplots(1, len(lams), figsize=(5 * len(lams), 4), layout="constrained", squeeze=False)
        _panels(axes[0], [row for row in rows if row.problem == name])
        figure.legend(*_handles(axes), loc="outside lower center", ncols=5, frameon=False)
        figure.savefig(_folder / f"{name}.png", dpi=110)
        plt.close(figure)
    wide = -(-len(names) // 2)
    figure, axes = plt.subplots(2, wide, figsize=(3.1 * wide, 6), layout="constrained", squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        _panels([ax], sorted((row for row in rows if row.problem == name), key=lambda row: -row.lam)[:1])
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    figure.legend(*_handles(axes), loc="outside lower center", ncols=9, frameon=False)
    _overview.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(_overview, dpi=110)
    plt.close(figure)


def _panels(axes: list, rows: list[Row]) -> None:
    for ax, row in zip(axes, rows, strict=False):
        SolversDisplay.from_runs(row.runs).plot(ax, looks=_looks, legend=False)
        ax.set_title(f"{row.problem}, lam = {row.lam:g}", fontsize=10)
        ax.set_ylim(top=2.0)


def _handles(axes: np.ndarray) -> tuple[list, list]:
    """Each solver once, in the order of the styles."""
    found = {label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    names = [name for name in _styles if name in found]
    return [found[name] for name in names], names
