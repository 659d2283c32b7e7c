"""The hinge loss and the 0-1 loss that it replaces, against the margin y h(x).

The 0-1 loss counts mistakes; the hinge is convex, never below it, and requires a margin of 1.

    python examples/hinge_loss.py [picture.png]
"""

import sys

import numpy as np
from matplotlib.figure import Figure


def main(picture: str = "docs/images/hinge_loss.png") -> None:
    """Draw both losses into a file."""
    margin = np.linspace(-2.0, 2.5, 451)
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(margin, np.maximum(0.0, 1.0 - margin), color="C0", linewidth=2, label="hinge: max(0, 1 - y h(x))")
    # Two pieces: a step has no slope, and no line between.
    axes.plot([-2.0, 0.0], [1.0, 1.0], color="C1", linewidth=2, label="classification: 1 where y h(x) < 0")
    axes.plot([0.0, 2.5], [0.0, 0.0], color="C1", linewidth=2)
    axes.plot([0.0], [0.0], "o", color="C1", markersize=6)
    axes.plot([0.0], [1.0], "o", color="C1", markersize=6, markerfacecolor="white")
    axes.axvspan(0.0, 1.0, color="0.93", zorder=0)
    axes.text(0.5, 2.2, "right, but within\nthe margin", ha="center", va="center", color="0.35")
    axes.set(xlabel="margin y h(x)", ylabel="loss", xlim=(-2.0, 2.5), ylim=(-0.1, 3.1))
    axes.legend(frameon=False)
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:2])
