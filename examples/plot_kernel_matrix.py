"""The RBF kernel matrix of handwritten digits.

Run as ``python examples/plot_kernel_matrix.py [folder]``; the picture goes to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from pegasos.kernels import RBF
from pegasos.plots import KernelMatrixDisplay


def main(folder: str = "docs/images") -> None:
    """Compare a hundred and fifty digits of five kinds."""
    X, y = load_digits(n_class=5, return_X_y=True)
    drawn = KernelMatrixDisplay.from_kernel(RBF(0.1), X[:150] / 16.0, y[:150]).plot(title="digits, RBF kernel")
    print(f"mean kernel value {drawn.matrix.mean():.3f}")
    drawn.figure_.savefig(Path(folder) / "kernel-matrix.png", dpi=80)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
